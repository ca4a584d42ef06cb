package tiers

import (
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
)

// TestNameTable compares looking up a path with trying every pattern on it: the arrangement by letters and endings may miss none.
func TestNameTable(t *testing.T) {
	all := builtin().all
	met := 0
	for _, n := range all {
		name := strings.NewReplacer("**", "deep/er", "*", "x-1", "{,a}", "a", "?", "q").Replace(n.pattern.String())
		for _, p := range []string{name, "sub/" + name, name + "/in", strings.ToUpper(name), name + ".bak", "x" + name, "a.b." + name, strings.Trim(name, "."), name + "/" + name} {
			s := spell(change.Path(strings.TrimPrefix(p, "/")))
			want := len(all)
			for i, other := range all {
				if ended, above := other.pattern.meetsFolded(s); ended || above {
					want = i
					break
				}
			}
			got, ok := builtin().find(s)
			if got != want || ok != (want < len(all)) {
				t.Errorf("%q: found pattern %d, want %d", p, got, want)
			}
			if ok {
				met++
			}
		}
	}
	if met < len(all) {
		t.Errorf("%d paths met a pattern, of %d patterns", met, len(all))
	}
}
