package tiers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

// TestExplainAgrees: the explanation is of the verdict that Judge gives, exactly one step settled it, the one the verdict
// names, and no rule and no limit is left out.
func TestExplainAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		r, steps := Explain(f, p)
		if diff := cmp.Diff(Judge(f, p), r); diff != "" {
			t.Fatal(diff)
		}
		settled, ruled := 0, 0
		for _, s := range steps {
			if s.Name == "" || s.Says == "" || s.Result == "" {
				t.Fatalf("incomplete: %+v", s)
			}
			if s.Settled {
				settled++
				if s.Name != r.SettledBy {
					t.Fatalf("%+v settled what %s did", s, r.SettledBy)
				}
			}
			if strings.HasPrefix(s.Name, "rule:") {
				ruled++
			}
		}
		if settled != 1 || ruled != len(p.Rules) {
			t.Fatalf("%d steps settled it, %d rules of %d: %+v, %+v", settled, ruled, len(p.Rules), r.Verdict, steps)
		}
		for _, key := range limitKeys() {
			if !slices.ContainsFunc(steps, func(s Step) bool { return s.Name == key }) {
				t.Fatalf("%q is left out of %+v", key, steps)
			}
		}
	})
}

func TestExplain(t *testing.T) {
	p := rules(t, "ask any **", "allow delete old/", "deny edit old/x", "deny any new/")
	p.Source = map[string]string{"auto.max_files": "c.toml:9"}
	p.MaxFiles = 0
	var got []string
	_, steps := Explain(Facts{Files: []FileFacts{fact(change.OpDelete, "old/.env")}, Origin: change.OriginShadow}, p)
	for _, s := range steps {
		line := fmt.Sprintf("%s | %s | %s | %s", s.Name, s.Source, s.Says, s.Result)
		if s.Settled {
			line += " <-"
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{
		`rule:c.toml:3 | c.toml:3 | deny edit of "old/x" | no match`,
		`rule:c.toml:4 | c.toml:4 | deny every op of "new/" | no match`,
		`rule:c.toml:1 | c.toml:1 | ask every op of "**" | overruled`,
		`rule:c.toml:2 | c.toml:2 | allow delete of "old/" | allow <-`,
		`mode |  | mode auto | not decisive`,
		`mode |  | deletes a file | overruled`,
		`protect:.env* |  | protected path ".env*" (may hold secrets) | overruled`,
		`auto.max_bytes |  | limit 65,536 | inside`,
		`auto.max_files | c.toml:9 | 1 file, limit 0 (c.toml:9) | overruled`,
		`auto.session_files |  | limit 20 | inside`,
		`auto.session_bytes |  | limit 262,144 | inside`,
	}, got); diff != "" {
		t.Error(diff)
	}
}
