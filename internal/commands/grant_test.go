package commands

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/config"
)

func TestSplitPatterns(t *testing.T) {
	for list, want := range map[string][]string{
		"a":             {"a"},
		"a,b/c":         {"a", "b/c"},
		"{a,b},c":       {"{a,b}", "c"},
		`a\,b,c`:        {`a\,b`, "c"},
		"x{a,b}y{c,d},": {"x{a,b}y{c,d}", ""},
		"":              {""},
	} {
		if got := splitPatterns([]string{list}); !slices.Equal(got, want) {
			t.Errorf("%q: %q", list, got)
		}
	}
}

// TestUnchanged: an edit of any file of settings, and of what is trusted, is seen before something lands by itself.
func TestUnchanged(t *testing.T) {
	w := newWorld(t, map[string]string{".correx.toml": "mode = 'auto'\n"})
	for name, edit := range map[string]func(s *site){
		"the repository's": func(*site) { w.put(filepath.Join(w.repo, ".correx.toml"), "mode = 'auto' \n") },
		"the local one":    func(*site) { w.put(filepath.Join(w.repo, ".correx.local.toml"), "") },
		"one's own": func(*site) {
			w.put(filepath.Join(w.home, ".config/correx/config.toml"), "[approve]\nrequire_tty = false\n#\n")
		},
		"trust": func(s *site) {
			if err := s.trusts.Trust(config.RepositoryFile, []byte("x = 1")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		s, c := w.openSite()
		same := s.unchanged(c)
		if is, err := same(); err != nil || !is {
			t.Fatalf("%s: changed before: %v", name, err)
		}
		edit(s)
		if is, err := same(); err != nil || is {
			t.Errorf("%s: not seen: %v", name, err)
		}
		if name == "trust" {
			if err := s.trusts.Forget(config.RepositoryFile); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestExpiry: how long a grant counts is said in a unit, and is no time that has passed.
func TestExpiry(t *testing.T) {
	w := newWorld(t, nil)
	w.shadow()
	for _, text := range []string{"", "0", "soon", "-1h", "0s", "1.5d", "-1d", "0d", "99999999d", "9999999h"} {
		a := w.run(w.repo, "grant", "add", "--scope", "session", "--ops", "edit", "--paths", "a", "--expires", text)
		if a.code != codeUsage || !strings.Contains(a.stderr, "expected how long") {
			t.Errorf("%q: %+v", text, a)
		}
	}
	for _, text := range []string{"1s", "90m", "36h", "30d"} {
		w.must(codeDone, w.repo, "grant", "add", "--scope", "session", "--ops", "edit", "--paths", "a", "--expires", text)
	}
}
