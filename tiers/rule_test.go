package tiers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

func pattern(t interface{ Fatal(...any) }, text string) Pattern {
	p, err := ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rule reads "allow edit,create src/** docs/" as a rule of the given source; ops "any" are none.
func rule(t interface{ Fatal(...any) }, source, text string) Rule {
	words := strings.Fields(text)
	r := Rule{Action: Action(words[0]), Source: source}
	for _, op := range strings.Split(words[1], ",") {
		if op != "any" {
			r.Ops = append(r.Ops, change.Op(op))
		}
	}
	for _, w := range words[2:] {
		r.Paths = append(r.Paths, pattern(t, w))
	}
	return r
}

func rules(t interface{ Fatal(...any) }, texts ...string) Policy {
	p := Default()
	for i, text := range texts {
		p.Rules = append(p.Rules, rule(t, fmt.Sprintf("c.toml:%d", i+1), text))
	}
	return p
}

func moved(from, to change.Path) FileFacts {
	return fact(change.OpRename, to, func(f *FileFacts) { f.File.OldPath = from })
}

func TestRules(t *testing.T) {
	edit := func(p change.Path) FileFacts { return fact(change.OpEdit, p) }
	for _, c := range []struct {
		rules string // separated by "|"
		file  FileFacts
		want  string
	}{
		// The last word among ask and allow; a deny wherever it stands.
		{"ask any src/", edit("src/a"), "ask T2 medium rule:c.toml:1: rule_ask"},
		{"ask any src/|allow any src/a", edit("src/a"), "auto T2 low rule:c.toml:2:"},
		{"allow any src/a|ask any src/", edit("src/a"), "ask T2 medium rule:c.toml:2: rule_ask"},
		{"deny any src/|allow any src/a", edit("src/a"), "deny T2 medium rule:c.toml:1: rule_deny"},
		{"allow any src/a|deny any src/|ask any **", edit("src/a"), "deny T2 medium rule:c.toml:2: rule_ask rule_deny"},
		{"deny any src/", edit("docs/a"), "auto T2 low envelope:"},
		// An allow lets pass what the envelope and the mode would ask about, and tells the reasons all the same.
		{"allow delete old/", fact(change.OpDelete, "old/a"), "auto T4 critical rule:c.toml:1: destructive_operation"},
		{"allow any .env.test", edit(".env.test"), "auto T3 high rule:c.toml:1: protected_target"},
		{"allow any a", fact(change.OpEdit, "a", func(f *FileFacts) { f.File.Bytes = 1 << 30 }), "auto T2 medium rule:c.toml:1: too_large budget"},
		// It is no way past what always asks or is refused.
		{"allow any **", edit(".correx.toml"), "ask T3 high protect:.correx*: protected_target"},
		{"allow any **", edit("x/.git/config"), "deny T4 critical protect:.git: protected_target"},
		{"allow any **", fact(change.OpEdit, "a", func(f *FileFacts) { f.Submodule = true }), "deny T3 high submodule: submodule"},
		{"allow any **", fact(change.OpEdit, "a", func(f *FileFacts) { f.UnderLink = true }), "deny T3 high outside_repository: outside_repository"},
		{"allow any **", fact(change.OpEdit, "a", func(f *FileFacts) { f.File.TooLarge = true }), "ask T2 medium envelope: too_large"},
		{"allow any **", fact(change.OpDelete, "a", func(f *FileFacts) { f.PreImageStored = false }), "ask T4 critical envelope: destructive_operation"},
		{"allow any **", fact("odd", "a"), "ask T4 critical unclassified: unclassified"},
		{"allow any **", fact(change.OpSymlink, "a", func(f *FileFacts) { f.LinkOutside = true }), "ask T3 high mode: symlink outside_repository"},
		// The neighbours of an allow.
		{"allow edit del/a", fact(change.OpDelete, "del/a"), "ask T4 critical mode: destructive_operation"},
		{"allow edit a", fact(change.OpOverwrite, "a"), "ask T2 medium envelope: overwrite"},
		{"allow delete del/a", fact(change.OpDelete, "del/b"), "ask T4 critical mode: destructive_operation"},
		{"allow delete del/a", fact(change.OpDelete, "del/A"), "ask T4 critical mode: destructive_operation"},
		{"allow delete del/\u00e9", fact(change.OpDelete, "del/e\u0301"), "ask T4 critical mode: destructive_operation"},
		{"allow delete del/e\u0301", fact(change.OpDelete, "del/\u00e9"), "ask T4 critical mode: destructive_operation"},
		{"allow rename in/", moved("in/a", "in/b"), "auto T4 critical rule:c.toml:1: destructive_operation"},
		{"allow rename in/", moved("in/a", "out/b"), "ask T4 critical mode: destructive_operation"},
		{"allow rename in/", moved("out/a", "in/b"), "ask T4 critical mode: destructive_operation"},
		{"allow rename in/ out/", moved("out/a", "in/b"), "auto T4 critical rule:c.toml:1: destructive_operation"},
		{"allow edit a", fact(change.OpEdit, "a", func(f *FileFacts) { f.File.Proposed.Perm = 0o755 }), "ask T2 medium envelope: executable"},
		{"allow edit,chmod a", fact(change.OpEdit, "a", func(f *FileFacts) { f.File.Proposed.Perm = 0o755 }), "auto T2 medium rule:c.toml:1: executable"},
		{"allow any pub/", fact(change.OpCreate, "pub/a", func(f *FileFacts) { f.CopyOf = ".env" }), "ask T3 high protect:.env*: protected_target"},
		{"allow any pub/", fact(change.OpSymlink, "pub/a", func(f *FileFacts) { f.LinkTarget = ".env" }), "ask T3 high protect:.env*: symlink protected_target"},
		{"allow any pub/", fact(change.OpSymlink, "pub/a", func(f *FileFacts) { f.LinkTarget = "src/a" }), "auto T2 medium rule:c.toml:1: symlink"},
		// A deny is past no spelling, no end of a rename, no other name of the same op.
		{"deny any secret/", edit("SECRET/a"), "deny T2 medium rule:c.toml:1: rule_deny"},
		{"deny any \u00e9/", edit("e\u0301/a"), "deny T2 medium rule:c.toml:1: rule_deny"},
		{"deny any s/", moved("s/a", "b"), "deny T4 critical rule:c.toml:1: destructive_operation rule_deny"},
		{"deny any s/", moved("b", "s/a"), "deny T4 critical rule:c.toml:1: destructive_operation rule_deny"},
		{"deny delete s/", moved("s/a", "b"), "deny T4 critical rule:c.toml:1: destructive_operation rule_deny"},
		{"deny delete s/", moved("b", "s/a"), "ask T4 critical mode: destructive_operation"},
		{"deny create s/", moved("b", "s/a"), "deny T4 critical rule:c.toml:1: destructive_operation rule_deny"},
		{"deny create s/", fact(change.OpCopy, "s/a"), "deny T2 medium rule:c.toml:1: rule_deny"},
		{"deny edit s/", fact(change.OpOverwrite, "s/a"), "deny T2 medium rule:c.toml:1: overwrite rule_deny"},
		{"deny edit s/", fact(change.OpRetype, "s/a"), "deny T4 critical rule:c.toml:1: symlink destructive_operation rule_deny"},
		{"deny create s/", fact(change.OpSymlink, "s/a"), "deny T2 medium rule:c.toml:1: symlink rule_deny"},
		{"deny any s/t/", fact(change.OpSymlink, "s"), "deny T2 medium rule:c.toml:1: symlink rule_deny"},
		{"deny edit s/", fact(change.OpCreate, "s/a"), "auto T2 low envelope:"},
		// What is only read is looked at by a rule that names the op.
		{"deny any original", fact(change.OpCopy, "a"), "auto T2 low envelope:"},
		{"deny copy original", fact(change.OpCopy, "a"), "deny T2 medium rule:c.toml:1: rule_deny"},
		{"deny symlink s/", fact(change.OpSymlink, "a", func(f *FileFacts) { f.LinkTarget = "s/x" }), "deny T2 medium rule:c.toml:1: symlink rule_deny"},
	} {
		p := rules(t, strings.Split(c.rules, "|")...)
		v := Judge(Facts{Files: []FileFacts{c.file}, Origin: change.OriginShadow}, p).Verdict
		if got := line(v); got != c.want {
			t.Errorf("%s, on %s %q:\n got %s\nwant %s", c.rules, c.file.File.Op, c.file.File.Path, got, c.want)
		}
	}
}

// TestRulesInEveryMode: what is denied or hard-protected passes in none, and an allow is not looked at in mode deny.
func TestRulesInEveryMode(t *testing.T) {
	p := rules(t, "allow any **", "ask any asked", "deny any denied")
	for mode, want := range map[change.Mode]string{
		change.ModeDeny: "deny deny deny deny deny", change.ModePrompt: "auto ask deny ask deny", change.ModeAuto: "auto ask deny ask deny",
		change.ModeYolo: "auto ask deny ask deny", "odd": "auto ask deny ask deny",
	} {
		p.Mode = mode
		var got []string
		for _, at := range []change.Path{"a", "asked", "denied", ".correx.toml", ".git/config"} {
			got = append(got, string(Judge(Facts{Files: []FileFacts{fact(change.OpEdit, at)}}, p).Outcome))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("mode %q: got %s, want %s", mode, s, want)
		}
	}
}

// TestRulesOfASet: a file that is allowed lifts nothing off the others of its set.
func TestRulesOfASet(t *testing.T) {
	p := rules(t, "allow any a b", "deny any d")
	for _, c := range []struct {
		files []FileFacts
		want  string
	}{
		{[]FileFacts{fact(change.OpDelete, "a"), fact(change.OpOverwrite, "b")}, "auto T4 critical rule:c.toml:1: multi_file overwrite destructive_operation"},
		{[]FileFacts{fact(change.OpDelete, "a"), fact(change.OpEdit, "c")}, "ask T4 critical auto.max_files: multi_file destructive_operation"},
		{[]FileFacts{fact(change.OpEdit, "a"), fact(change.OpDelete, "c")}, "ask T4 critical mode: multi_file destructive_operation"},
		{[]FileFacts{fact(change.OpEdit, "a"), fact(change.OpEdit, "d")}, "deny T2 medium rule:c.toml:2: multi_file rule_deny"},
	} {
		if got := line(Judge(Facts{Files: c.files, Origin: change.OriginShadow}, p).Verdict); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	p.MaxFiles = 2
	f := Facts{Files: []FileFacts{fact(change.OpDelete, "a"), fact(change.OpEdit, "c")}, Origin: change.OriginShadow}
	if got := line(Judge(f, p).Verdict); got != "auto T4 critical envelope: destructive_operation" {
		t.Errorf("what is allowed beside what is small: %s", got)
	}
	if got := line(Judge(Facts{Origin: change.OriginShadow}, p).Verdict); got != "ask T2 medium unclassified: unclassified" {
		t.Errorf("nothing is allowed where there is nothing: %s", got)
	}
}

// anyRule draws rules, of which many meet the paths that are drawn.
func anyRule() *rapid.Generator[Rule] {
	return rapid.Custom(func(t *rapid.T) Rule {
		return Rule{
			Paths: []Pattern{pattern(t, rapid.SampledFrom([]string{"**", "a", "b/", ".env*", "*.go", ".git", ".correx*", "/a/b"}).Draw(t, "path"))},
			Ops: rapid.SliceOfN(rapid.SampledFrom([]change.Op{
				change.OpCreate, change.OpEdit, change.OpDelete, change.OpRename, change.OpCopy, change.OpSymlink,
			}), 0, 2).Draw(t, "ops"),
			Action: rapid.SampledFrom([]Action{ActionAllow, ActionAsk, ActionDeny}).Draw(t, "action"),
			When:   anyWhen().Draw(t, "times"),
			Source: fmt.Sprintf("c.toml:%d", rapid.IntRange(1, 99).Draw(t, "line")),
		}
	})
}

// TestRulesTighten: another deny or ask never loosens, wherever it is put in, and another allow never tightens.
func TestRulesTighten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		more := p
		r := anyRule().Draw(t, "another")
		more.Rules = slices.Insert(slices.Clone(p.Rules), rapid.IntRange(0, len(p.Rules)).Draw(t, "at"), r)
		before, after := Judge(f, p), Judge(f, more)
		if r.Action == ActionAllow {
			before, after = after, before
		}
		for i := range f.Files {
			if !stricter(before.Files[i], after.Files[i]) {
				t.Fatalf("file %d: %+v with the stricter rules, %+v without", i, after.Files[i], before.Files[i])
			}
		}
		if !stricter(before.Verdict, after.Verdict) {
			t.Fatalf("%+v with the stricter rules, %+v without", after.Verdict, before.Verdict)
		}
	})
}

// TestRulesOrderOfDeny: in whatever order layers come, what is denied is denied, and by the same rules.
func TestRulesOrderOfDeny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		other := p
		other.Rules = rapid.Permutation(p.Rules).Draw(t, "in another order")
		a, b := Judge(f, p), Judge(f, other)
		denied := func(v change.Verdict) bool { return v.Outcome == change.Deny }
		if denied(a.Verdict) != denied(b.Verdict) || (denied(a.Verdict) && a.SettledBy != b.SettledBy) {
			t.Fatalf("%+v, in another order %+v", a.Verdict, b.Verdict)
		}
	})
}

// TestRulesAllowOnlyWhatTheyName: what passes by a rule is named by an allow in its op and at all its ends, and would pass
// in mode yolo.
func TestRulesAllowOnlyWhatTheyName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		yolo := p
		yolo.Mode = change.ModeYolo
		r, free := Judge(f, p), Judge(f, yolo)
		for i, v := range r.Files {
			if v.Outcome != change.Auto || !strings.HasPrefix(v.SettledBy, "rule:") {
				continue
			}
			c := f.Files[i].File
			named := slices.ContainsFunc(p.Rules, func(r Rule) bool {
				each := true
				for _, at := range c.Paths() {
					each = each && slices.ContainsFunc(r.Paths, func(p Pattern) bool { return p.Match(at) })
				}
				return r.Action == ActionAllow && each && (len(r.Ops) == 0 || slices.Contains(r.Ops, c.Op))
			})
			if !named || free.Files[i].Outcome != change.Auto || p.Mode == change.ModeDeny {
				t.Fatalf("%s %q passes by a rule: %+v, in mode yolo %+v", c.Op, c.Path, v, free.Files[i])
			}
		}
	})
}

// BenchmarkRules judges 1,000 files by as many patterns as a layer may hold.
func BenchmarkRules(b *testing.B) {
	facts := Facts{Origin: change.OriginCommit}
	for i := range 1000 {
		facts.Files = append(facts.Files, fact(change.OpEdit, change.Path(fmt.Sprintf("internal/commands/submit%d.go", i))))
	}
	p := Default()
	for i := range 1000 {
		p.Rules = append(p.Rules, rule(b, "c.toml:1", []string{"deny", "allow"}[i%2]+fmt.Sprintf(" any **/x%d/*.go", i)))
	}
	for b.Loop() {
		Judge(facts, p)
	}
}
