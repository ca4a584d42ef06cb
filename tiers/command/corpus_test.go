package command

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
)

// row is a command with the tier that the rules give it.
type row struct {
	text, area string
	tier       change.Tier
	// open says that an honest reader might choose another tier.
	open bool
}

var codePoint = regexp.MustCompile(`‹U\+([0-9A-F]+)›`)

// corpus reads testdata/NAME.tsv: command, tier, area and why, with one line on top. In a command ‹U+XXXX› is that code
// point, ⏎ a newline, ⇥ a tab and ␍ a carriage return.
func corpus(t testing.TB, name string) []row {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	decode := strings.NewReplacer("⏎", "\n", "⇥", "\t", "␍", "\r")
	var all []row
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			t.Fatalf("%s line %d has %d fields, want 4", name, i+2, len(f))
		}
		text := codePoint.ReplaceAllStringFunc(f[0], func(s string) string {
			n, _ := strconv.ParseInt(codePoint.FindStringSubmatch(s)[1], 16, 32)
			return string(rune(n))
		})
		all = append(all, row{decode.Replace(text), f[2], change.Tier(f[1]), strings.HasPrefix(f[3], "differ:")})
	}
	return all
}

// sets are the hand-written tables: all but the first were written before anything was measured on them, the fourth without a
// look at programs.txt either; the last is of single traps.
func sets() []string { return []string{"first", "second", "third", "fourth", "fifth", "traps"} }

// tally counts grades: equal to the row's, below it, above it.
type tally struct{ exact, lower, higher int }

func (c *tally) count(got, want change.Tier) {
	switch {
	case got == want:
		c.exact++
	case got < want:
		c.lower++
	default:
		c.higher++
	}
}

func (c *tally) share() float64 { return 100 * float64(c.exact) / float64(c.exact+c.lower+c.higher) }

// table is what two sets of counts look like for a person.
func table(counts map[string]*tally) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		c := counts[name]
		fmt.Fprintf(&b, "%-14s %4d rows  exact %5.1f%%  lower %3d  higher %3d\n", name, c.exact+c.lower+c.higher, c.share(), c.lower, c.higher)
	}
	return b.String()
}

// TestCorpus holds the grades of hand-written rows against what must never happen and what may happen seldom; -v shows all.
func TestCorpus(t *testing.T) {
	least := map[string]float64{"T1": 95, "T2": 90, "T3": 90, "T4": 100, "falsepos": 95, "all": 94}
	for _, name := range sets() {
		t.Run(name, func(t *testing.T) {
			counts := map[string]*tally{}
			for _, r := range corpus(t, name) {
				got := Grade(r.text, project())
				for _, k := range []string{r.area, string(r.tier), "all"} {
					if counts[k] == nil {
						counts[k] = &tally{}
					}
					counts[k].count(got.Tier, r.tier)
				}
				switch {
				case got.Tier < r.tier && !(r.open && r.tier < change.T3):
					t.Errorf("%s: %q is %s, want %s: %q", r.area, r.text, got.Tier, r.tier, got.Reasons)
				case got.Tier != r.tier:
					t.Logf("%s: %q is %s, want %s: %q", r.area, r.text, got.Tier, r.tier, got.Reasons)
				}
			}
			for k, want := range least {
				if c := counts[k]; c != nil && c.share() < want {
					t.Errorf("%s: exact in %.1f%%, want %.0f%%", k, c.share(), want)
				}
			}
			t.Log("\n" + table(counts))
		})
	}
}
