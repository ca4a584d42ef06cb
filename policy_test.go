package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// worked is one of the policies of docs/policy.md: its files, and what explain is said to answer under them.
type worked struct {
	name string
	// own and repository are the two files, empty for none.
	own, repository string
	// answers hold the arguments of explain and the verdict, or two with "or" between where the time of day tells.
	answers [][2]string
}

// workedPolicies reads the policies out of the page, so that what it says is what is tried.
func workedPolicies(t *testing.T) []worked {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, ok := strings.Cut(string(page), "\n## Five policies\n")
	if !ok {
		t.Fatal("the page has no chapter with five policies")
	}
	block := regexp.MustCompile("(?ms)^```toml\n(.*?)^```$")
	row := regexp.MustCompile("(?m)^\\| `(--op [^`]+)` \\| (auto|ask|deny)( or (?:auto|ask|deny))? \\|$")
	var list []worked
	for _, section := range strings.Split(chapter, "\n### ")[1:] {
		w := worked{}
		w.name, section, _ = strings.Cut(section, "\n")
		for _, m := range block.FindAllStringSubmatch(section, -1) {
			switch first, _, _ := strings.Cut(m[1], "\n"); first {
			case "# ~/.config/correx/config.toml":
				w.own = m[1]
			case "# .correx.toml":
				w.repository = m[1]
			default:
				t.Fatalf("%s: a file that is none: %q", w.name, first)
			}
		}
		for _, m := range row.FindAllStringSubmatch(section, -1) {
			w.answers = append(w.answers, [2]string{m[1], m[2] + m[3]})
		}
		list = append(list, w)
	}
	return list
}

// TestWorkedPolicies puts each policy of docs/policy.md in place and asks what the page says.
func TestWorkedPolicies(t *testing.T) {
	list := workedPolicies(t)
	if len(list) != 5 {
		t.Fatalf("%d policies, want 5", len(list))
	}
	for _, w := range list {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			if len(w.answers) < 3 || w.own+w.repository == "" {
				t.Fatalf("%d answers, files %q %q", len(w.answers), w.own, w.repository)
			}
			w.try(t)
		})
	}
}

func (w worked) try(t *testing.T) {
	s := newSite(t, func(repo string) error {
		for _, a := range w.answers {
			words := strings.Fields(a[0])
			p := filepath.Join(repo, words[2])
			if words[1] == "create" || strings.HasPrefix(words[2], ".git/") {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(p, []byte("one\ntwo\n"), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	own := filepath.Join(s.dir, "home", ".config", "correx", "config.toml")
	if w.repository != "" {
		s.put(filepath.Join(s.repo, ".correx.toml"), w.repository)
		s.correx(0, s.repo, "trust", "--yes")
	}
	if w.own != "" {
		s.put(own, w.own)
	}
	for _, a := range w.answers {
		args := append([]string{"explain", "--json"}, strings.Fields(a[0])...)
		var got struct {
			Verdict string
			By      string `json:"settled_by"`
		}
		if err := json.Unmarshal([]byte(s.correx(0, s.repo, args...)), &got); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(strings.Split(a[1], " or "), got.Verdict) {
			t.Errorf("explain %s: %s, settled by %s; the page says %s", a[0], got.Verdict, got.By, a[1])
		}
	}
}
