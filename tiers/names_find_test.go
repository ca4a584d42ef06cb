package tiers

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

// TestTableFindsWhatThePatternsMeet compares the table with going through all patterns.
func TestTableFindsWhatThePatternsMeet(t *testing.T) {
	table := builtin()
	var names []string
	for _, n := range table.all {
		for _, part := range strings.Split(strings.NewReplacer("y{,a}ml", "yml", "**/", "", "*", "x", "{", "", "}", "").Replace(n.pattern.String()), "/") {
			if part != "" {
				names = append(names, part)
			}
		}
	}
	names = append(names, "src", "a.go", "GITHUB~1", ".GitHub", "x.PEM", ".env.local", "sub")
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "names")
		p := change.Path(strings.Join(list, "/"))
		s := spell(p)
		got, found := table.find(s)
		for i, n := range table.all {
			ended, above := n.pattern.meetsFolded(s)
			if (ended || above) && (!found || i < got) {
				t.Fatalf("%s meets %s (%d), the table found %d, %v", p, n.pattern, i, got, found)
			}
		}
		if found {
			if ended, above := table.all[got].pattern.meetsFolded(s); !ended && !above && !strings.Contains(string(p), "~") {
				t.Fatalf("%s does not meet %s, which the table found", p, table.all[got].pattern)
			}
		}
	})
}
