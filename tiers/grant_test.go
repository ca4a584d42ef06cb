package tiers

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

// grant makes a grant from words: "create,edit src/a b/".
func grant(t fataler, words string) Grant {
	t.Helper()
	list := strings.Fields(words)
	g := Grant{ID: "g-1", Scope: "session", Source: "e-1"}
	for _, op := range strings.Split(list[0], ",") {
		g.Ops = append(g.Ops, change.Op(op))
	}
	for _, text := range list[1:] {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatalf("%v", err)
		}
		g.Paths = append(g.Paths, p)
	}
	return g
}

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// verdictWith judges one file with the grant, in mode prompt, where every other change asks.
func verdictWith(f FileFacts, g Grant) change.Verdict {
	p := Default()
	p.Mode, p.Grants = change.ModePrompt, []Grant{g}
	return Judge(Facts{Files: []FileFacts{f}, Origin: change.OriginShadow}, p).Verdict
}

// TestGrantCovers tries each grant on what it names and on the neighbours of that.
func TestGrantCovers(t *testing.T) {
	executable := fact(change.OpCreate, "a")
	executable.File.Proposed.Perm = 0o755
	moved := fact(change.OpRename, "src/b")
	moved.File.OldPath, moved.File.Proposed, moved.File.Bytes = "src/a", moved.File.Base, 0
	edited := moved
	edited.File.Bytes = 1
	hidden := fact(change.OpEdit, "a")
	hidden.File.Hidden = 1
	rollback := fact(change.OpEdit, "a")
	rollback.Rollback = true
	recoded := fact(change.OpEdit, "a")
	recoded.Recoded = true
	copied := fact(change.OpCreate, "a")
	copied.CopyOf = ".env"
	outside := fact(change.OpSymlink, "a")
	outside.LinkOutside = true
	toEnv := fact(change.OpSymlink, "a")
	toEnv.LinkTarget = ".env"
	program := fact(change.OpEdit, "tools/run")
	program.GitProgram = "filter.x.clean"
	lost := fact(change.OpEdit, "a")
	lost.PreImageStored = false
	for _, c := range []struct {
		grant string
		file  FileFacts
		want  bool
	}{
		{"edit /src/a", fact(change.OpEdit, "src/a"), true},
		{"edit /src/a", fact(change.OpOverwrite, "src/a"), false},
		{"edit /src/a", fact(change.OpDelete, "src/a"), false},
		{"edit /src/a", fact(change.OpChmod, "src/a"), false},
		{"edit /src/a", fact(change.OpEdit, "src/b"), false},
		{"edit /src/a", fact(change.OpEdit, "src/A"), false},
		{"edit /src/a", fact(change.OpEdit, "src/aa"), false},
		{"edit /src/a", fact(change.OpEdit, "src/a."), false},
		{"edit /src/a", fact(change.OpEdit, "src/a/b"), false},
		{"edit /src/a", fact(change.OpEdit, "src"), false},
		{"edit /src/a", fact(change.OpEdit, "x/src/a"), false},
		{"edit /caf\u00e9", fact(change.OpEdit, "cafe\u0301"), false},
		{"edit /caf\u00e9", fact(change.OpEdit, "caf\u00e9"), true},
		{"edit a", fact(change.OpEdit, "x/a"), true},
		{"edit a", fact(change.OpEdit, "a/x"), true},
		{"edit /a", fact(change.OpEdit, "a/x"), false},
		{"edit ./a", fact(change.OpEdit, "a/x"), false},
		{"edit .github", fact(change.OpEdit, ".github/workflows/ci.yml"), false},
		{"edit .env", fact(change.OpEdit, ".env/x"), true},
		{"edit x", fact(change.OpEdit, "x/.env"), false},
		{"edit src/*", fact(change.OpEdit, "src/a"), true},
		{"edit src/*", fact(change.OpEdit, "src/a/b"), false},
		{"edit src/", fact(change.OpEdit, "src/a/b"), true},
		{"edit src/", fact(change.OpEdit, "src"), false},
		{"edit src/**", fact(change.OpEdit, "src/a/b"), true},
		{"edit src/**/b", fact(change.OpEdit, "src/b"), true},
		{"edit src/**/b", fact(change.OpEdit, "src/x/b/c"), false},
		{"edit {a,b}", fact(change.OpEdit, "b"), true},
		{"edit **", fact(change.OpEdit, "any/thing"), true},
		{"delete a", fact(change.OpDelete, "a"), true},
		{"create a", executable, false},
		{"create,chmod a", executable, true},
		{"rename /src/a /src/b", moved, true},
		{"rename /src/b", moved, false},
		{"rename /src/a", moved, false},
		{"create,delete /src/a /src/b", moved, false},
		{"rename /src/a /src/b", edited, false},
		{"rename,edit /src/a /src/b", edited, true},
		{"edit a", hidden, false},
		{"edit a", rollback, false},
		{"edit a", recoded, false},
		{"edit,overwrite a", recoded, true},
		{"edit a", lost, false},
		// Protected by default: the pattern has to name what protects it.
		{"edit .env", fact(change.OpEdit, ".env"), true},
		{"edit .env", fact(change.OpEdit, "x/.env"), true},
		{"edit /.env", fact(change.OpEdit, ".ENV"), false},
		{"edit **", fact(change.OpEdit, ".env"), false},
		{"edit *", fact(change.OpEdit, ".env"), false},
		{"edit .*", fact(change.OpEdit, ".env"), false},
		{"edit .en?", fact(change.OpEdit, ".env"), false},
		{"edit [.]env", fact(change.OpEdit, ".env"), false},
		{"edit {*,.env}", fact(change.OpEdit, ".env"), true},
		{"edit {*,a}", fact(change.OpEdit, ".env"), false},
		{"edit .env*", fact(change.OpEdit, ".env.local"), true},
		{"edit src/**", fact(change.OpEdit, "src/package.json"), false},
		{"edit **/package.json", fact(change.OpEdit, "src/package.json"), true},
		{"edit .github/**", fact(change.OpEdit, ".github/workflows/ci.yml"), false},
		{"edit .github/", fact(change.OpEdit, ".github/workflows/ci.yml"), false},
		{"edit .github/workflows/", fact(change.OpEdit, ".github/workflows/ci.yml"), true},
		{"edit .github/workflows/*.yml", fact(change.OpEdit, ".github/workflows/ci.yml"), true},
		{"edit .github/workflows/**", fact(change.OpEdit, ".github/workflows/.env"), false},
		{"edit .github/workflows/.env", fact(change.OpEdit, ".github/workflows/.env"), true},
		{"create a", copied, false},
		{"create a .env", copied, true},
		{"create ** a", copied, false},
		{"symlink a", outside, false},
		{"symlink a", toEnv, false},
		{"symlink a .env", toEnv, true},
		{"edit tools/*", program, false},
		{"edit tools/", program, false},
		{"edit tools/run", program, true},
		// No grant reaches what always asks.
		{"edit .correx.toml", fact(change.OpEdit, ".correx.toml"), false},
		{"edit .git/config", fact(change.OpEdit, ".git/config"), false},
	} {
		if c.file.File.Op == change.OpCopy || c.file.CopyOf != "" {
			c.grant = strings.Replace(c.grant, "create", "create,copy", 1)
		}
		v := verdictWith(c.file, grant(t, c.grant))
		if (v.Outcome == change.Auto) != c.want || c.want && v.SettledBy != "grant:g-1" {
			t.Errorf("%q on %s of %q: %+v", c.grant, c.file.File.Op, c.file.File.Path, v)
		}
	}
}

// TestGrantsOfASet: every file has to be covered, or small by itself; an exact grant covers its one set and nothing else.
func TestGrantsOfASet(t *testing.T) {
	p := Default()
	a, b, env := fact(change.OpEdit, "a"), fact(change.OpEdit, "b"), fact(change.OpEdit, ".env")
	judge := func(files []FileFacts, list ...Grant) Result {
		p.Grants = list
		return Judge(Facts{Files: files, Origin: change.OriginShadow}, p)
	}
	one, two := grant(t, "edit a"), grant(t, "edit b")
	two.ID = "g-2"
	if r := judge([]FileFacts{a, b}, two, one); r.Outcome != change.Auto || !slices.Equal(r.Grants, []string{"g-1", "g-2"}) || r.SettledBy != "grant:g-1" {
		t.Errorf("%+v", r)
	}
	if r := judge([]FileFacts{a, b}, one); r.Outcome != change.Ask || r.Grants != nil || !slices.Equal(r.Reasons, []change.Reason{change.MultiFile}) {
		t.Errorf("%+v", r)
	}
	if r := judge([]FileFacts{a}, one); r.SettledBy != "envelope" || r.Grants != nil {
		t.Errorf("a grant that nobody needs is used: %+v", r)
	}
	exact := grant(t, "edit a .env")
	exact.Exact = change.Digest([]change.FileChange{env.File, a.File})
	if r := judge([]FileFacts{a, env}, exact); r.Outcome != change.Auto {
		t.Errorf("%+v", r)
	}
	other := env
	other.File.Proposed.SHA256 = "other"
	for _, files := range [][]FileFacts{{env}, {a, other}, {a, env, b}} {
		if r := judge(files, exact); r.Outcome != change.Ask {
			t.Errorf("%+v passes: %+v", files, r)
		}
	}
	void := one
	void.Void = "expired"
	if r := judge([]FileFacts{a, b}, void, two); r.Outcome != change.Ask {
		t.Errorf("%+v", r)
	}
}

func anyGrant() *rapid.Generator[Grant] {
	return rapid.Custom(func(t *rapid.T) Grant {
		words := rapid.SampledFrom([]string{"**", "*", "a", "/a", "a/", "x/**", ".env", ".correx.toml", ".git/x", "x/AGENTS.md", "[!q]*", "{a,.env}"})
		g := grant(t, "edit "+strings.Join(rapid.SliceOfN(words, 1, 3).Draw(t, "paths"), " "))
		g.ID = rapid.SampledFrom([]string{"g-1", "g-2", "g-3"}).Draw(t, "id")
		g.Ops = rapid.OneOf(rapid.Just(change.Ops()), rapid.SliceOfN(rapid.SampledFrom(change.Ops()), 1, 3)).Draw(t, "ops")
		g.Void = rapid.SampledFrom([]string{"", "", "", "expired"}).Draw(t, "void")
		return g
	})
}

// TestGrantsNeverReach: a grant turns an ask that rests on limits, protected names or the mode into a pass, and nothing else:
// no refusal, no ask that always holds, no name that is hard-protected.
func TestGrantsNeverReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		with := p
		with.Grants = rapid.SliceOfN(anyGrant(), 1, 4).Draw(t, "grants")
		before, after := Judge(f, p), Judge(f, with)
		check := func(a, b change.Verdict, files ...FileFacts) {
			if !slices.Equal(a.Reasons, b.Reasons) || a.Tier != b.Tier || a.Risk != b.Risk {
				t.Fatalf("a grant changes what is found: %+v, %+v", a, b)
			}
			if a.Outcome == b.Outcome {
				if diff := cmp.Diff(a, b); diff != "" {
					t.Fatal(diff)
				}
				return
			}
			if a.Outcome != change.Ask || b.Outcome != change.Auto || !strings.HasPrefix(b.SettledBy, "grant:") || len(b.Why) > len(b.Reasons)+1 || !strings.HasPrefix(b.Why[len(b.Why)-1], "grant ") {
				t.Fatalf("from %+v to %+v", a, b)
			}
			for _, r := range []change.Reason{change.RuleAsk, change.RuleDeny, change.Unclassified, change.Submodule, change.NoSandbox} {
				if slices.Contains(b.Reasons, r) {
					t.Fatalf("passes %s: %+v", r, b)
				}
			}
			if p.Mode == change.ModeDeny {
				t.Fatalf("passes mode deny: %+v", b)
			}
			for _, file := range files {
				for _, at := range file.File.Paths() {
					if pr, ok := Protects(at, nil); ok && pr.Level >= HardAsk {
						t.Fatalf("%q passes: %+v", at, b)
					}
				}
			}
		}
		check(before.Verdict, after.Verdict, f.Files...)
		for i := range f.Files {
			check(before.Files[i], after.Files[i], f.Files[i])
			if strictness(after.Outcome) < strictness(after.Files[i].Outcome) {
				t.Fatalf("the set is judged more mildly than its file %d: %+v", i, after)
			}
		}
		if (len(after.Grants) > 0) != strings.HasPrefix(after.SettledBy, "grant:") {
			t.Fatalf("%+v names %v", after.Verdict, after.Grants)
		}
		r, steps := Explain(f, with)
		settled, looked := 0, 0
		for _, s := range steps {
			if s.Settled {
				settled++
			}
			if strings.HasPrefix(s.Name, "grant:") {
				looked++
			}
		}
		if settled != 1 || looked != len(with.Grants) || !cmp.Equal(r, after) {
			t.Fatalf("%d steps settled it, %d grants were looked at: %+v", settled, looked, steps)
		}
	})
}

// TestGrantNamesProtected: whatever the pattern, it covers a protected file only if it covers no unprotected one.
func TestGrantNamesProtected(t *testing.T) {
	texts := rapid.SampledFrom([]string{".env", ".github", "src", "/src", "/.github", ".env*", "*", "**", "?env", "{.,}env", ".e*", "src/**", ".github/**", ".github/*/ci.yml", "*.pem", "**/*.pem", "*.*", "package.*", "x{.pem,}"})
	probes := []change.Path{".env", ".env.local", "a", "src/a", "src/.env", ".github/x", ".github/workflows/ci.yml", ".github/z/ci.yml", "k.pem", "x", "x.pem", "env", "qenv", "package.json", "package.x", "q.q", ".eq"}
	rapid.Check(t, func(t *rapid.T) {
		p, err := ParsePattern(texts.Draw(t, "pattern"))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range p.single() {
			protects := false
			for _, at := range probes {
				_, protected := Protects(at, nil)
				protects = protects || protected && one.Names(at, nil)
			}
			for _, at := range probes {
				if _, protected := Protects(at, nil); protects && !protected && one.Names(at, nil) {
					t.Fatalf("%q names protected files, and %q", p, at)
				}
			}
		}
	})
}

func TestLiteralPattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := paths().Draw(t, "path")
		if rapid.Bool().Draw(t, "odd") {
			path = change.Path(rapid.StringMatching(`[a*?\[\]{}\\,! ^-]{1,6}(/[a*?\[\]{}\\,! ^-]{1,6})?`).Draw(t, "odd path"))
		}
		if _, err := change.ParsePath(string(path)); err != nil {
			return
		}
		p, err := LiteralPattern(path)
		if err != nil {
			return
		}
		if !p.literal() || !p.matchWhole(path) || p.matchWhole(path+"x") || p.matchWhole("x/"+path) || p.matchWhole(path+"/x") {
			t.Fatalf("%q does not name %q alone", p, path)
		}
	})
	for _, at := range []change.Path{"a\x01", "a\xff", change.Path(strings.Repeat("a", 300))} {
		if p, err := LiteralPattern(at); err == nil {
			t.Errorf("%q names %q", p, at)
		}
	}
	for _, at := range []change.Path{" a", "a ", "a\\", "**", "!a", "{a}"} {
		if p, err := LiteralPattern(at); err != nil || !p.Names(at, nil) {
			t.Errorf("%q: %q, %v", at, p, err)
		}
	}
}

// TestUntrusted: where a repository's settings would let a change pass if they were trusted, that is a reason.
func TestUntrusted(t *testing.T) {
	p := Default()
	loose := Default()
	loose.MaxBytes = 1 << 20
	p.Untrusted = &loose
	big := fact(change.OpEdit, "a")
	big.File.Bytes = 70000
	v := Judge(Facts{Files: []FileFacts{big}, Origin: change.OriginShadow}, p).Verdict
	if v.Outcome != change.Ask || v.SettledBy != "auto.max_bytes" || !slices.Equal(v.Reasons, []change.Reason{change.TooLarge, change.UntrustedConfig}) ||
		len(v.Why) != 2 || !strings.Contains(v.Why[1], "correx trust") {
		t.Errorf("%+v", v)
	}
	for _, f := range []FileFacts{fact(change.OpEdit, "a"), fact(change.OpEdit, ".env")} {
		if v := Judge(Facts{Files: []FileFacts{f}, Origin: change.OriginShadow}, p).Verdict; slices.Contains(v.Reasons, change.UntrustedConfig) {
			t.Errorf("%+v", v)
		}
	}
}

// TestLayersOfRules: the word of one file does not silence that of another, in whatever order they lie behind each other.
func TestLayersOfRules(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  change.Outcome
		by    string
	}{
		{[]string{"ask any a", "allow any a"}, change.Ask, "rule:c.toml:1"},
		{[]string{"allow any a", "ask any a"}, change.Ask, "rule:c.toml:2"},
		{[]string{"allow any a", "allow any a"}, change.Auto, "rule:c.toml:2"},
		{[]string{"deny any a", "allow any a"}, change.Deny, "rule:c.toml:1"},
	} {
		p := rules(t, c.words...)
		p.Mode = change.ModePrompt
		for i := range p.Rules {
			p.Rules[i].Layer = i
		}
		if v := Judge(Facts{Files: []FileFacts{fact(change.OpEdit, "a")}, Origin: change.OriginShadow}, p).Verdict; v.Outcome != c.want || v.SettledBy != c.by {
			t.Errorf("%v: %+v", c.words, v)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		for i := range p.Rules {
			p.Rules[i].Layer = rapid.IntRange(0, 2).Draw(t, "layer")
			p.Rules[i].Source = string(rune('a' + i))
		}
		other := p
		other.Rules = slices.Clone(p.Rules)
		slices.SortStableFunc(other.Rules, func(a, b Rule) int { return b.Layer - a.Layer })
		if a, b := Judge(f, p).Verdict, Judge(f, other).Verdict; a.Outcome != b.Outcome || !slices.Equal(a.Reasons, b.Reasons) {
			t.Fatalf("the order of layers matters: %+v, %+v", a, b)
		}
	})
}
