package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

const looseFile = `mode = "yolo" # all of it
[auto]
max_bytes = 1000000
session_files = 3
[[rule]]
paths = ["gen/"]
action = "allow"
[[rule]]
paths = ["db/"]
action = "deny"
[[grant]]
ops = ["edit", "create"]
paths = [
  "docs/*.md",
]
expires = "2030-01-31T18:00:00+02:00"
[approve]
require_tty = false
`

// trusting returns sources with one file, of which the given bytes are trusted.
func trusting(text, trusted string) Sources {
	in := repository(text)
	in.Trusted = []Trusted{{File: RepositoryFile, Data: []byte(trusted)}}
	return in
}

func TestTrusted(t *testing.T) {
	c, notices, err := Load(trusting(looseFile, looseFile))
	if err != nil {
		t.Fatal(err)
	}
	if c.Policy.Mode != change.ModeYolo || c.Policy.MaxBytes != 1000000 || c.Policy.SessionFiles != 3 || len(c.Policy.Rules) != 2 || !c.RequireTTY || c.Policy.Untrusted != nil {
		t.Errorf("%+v", c)
	}
	if len(notices) != 1 || notices[0].Key != "approve.require_tty" {
		t.Errorf("%v", notices)
	}
	if len(c.Grants) != 1 {
		t.Fatalf("%+v", c.Grants)
	}
	g := c.Grants[0]
	if g.Void != "" || g.Expires != "2030-01-31T16:00:00Z" || g.Source != ".correx.toml:11" || !strings.HasPrefix(g.ID, "g-") || len(g.ID) != 12 || g.Scope != "project" {
		t.Errorf("%+v", g)
	}
}

// TestUntrustedLoosensNothing: with any byte changed, only what tightens counts, of the file as it is and as it was trusted.
func TestUntrustedLoosensNothing(t *testing.T) {
	for name, in := range map[string]Sources{
		"never trusted": repository(looseFile),
		"edited":        trusting(looseFile+"\n", looseFile),
		"deleted":       {Trusted: []Trusted{{File: RepositoryFile, Data: []byte(looseFile)}}},
		"empty":         trusting("", looseFile),
		"the other's":   {Repository: Source{RepositoryFile, []byte(looseFile)}, Trusted: []Trusted{{File: LocalFile, Data: []byte(looseFile)}}},
	} {
		c, notices, err := Load(in)
		if err != nil {
			t.Fatal(err)
		}
		if way := looser(Default(), c); way != "" || c.Policy.SessionFiles != 3 || !slices.ContainsFunc(c.Policy.Rules, func(r tiers.Rule) bool { return r.Action == tiers.ActionDeny }) {
			t.Errorf("%s: looser in %q: %+v", name, way, c.Policy)
		}
		if slices.ContainsFunc(c.Grants, func(g Grant) bool { return g.Void == "" }) {
			t.Errorf("%s: %+v", name, c.Grants)
		}
		count := 0
		for _, n := range notices {
			count += strings.Count(n.Text, "correx trust")
		}
		there := len(in.Repository.Data) > 0
		if (c.Policy.Untrusted != nil) != there || count == 0 {
			t.Errorf("%s: %v, %+v", name, notices, c.Policy.Untrusted)
		}
		if there && (c.Policy.Untrusted.Mode != change.ModeYolo || c.Policy.Untrusted.MaxBytes != 1000000) {
			t.Errorf("%s: %+v", name, c.Policy.Untrusted)
		}
	}
}

// TestTrustNeverHelpsAnother: what one file is trusted to loosen does not silence what the other tightens.
func TestTrustNeverHelpsAnother(t *testing.T) {
	in := trusting("[auto]\nmax_bytes = 10\n", "[auto]\nmax_bytes = 10\n")
	local := "[auto]\nmax_bytes = 5\n[[rule]]\npaths = ['gen/']\naction = 'ask'\n"
	in.Local = Source{LocalFile, []byte(local)}
	in.Repository.Data = []byte(looseFile)
	in.Trusted[0].Data = []byte(looseFile)
	c, _, err := Load(in)
	if err != nil || c.Policy.MaxBytes != 5 {
		t.Fatalf("%+v, %v", c.Policy, err)
	}
	p := c.Policy
	p.Mode = change.ModeAuto
	f := tiers.FileFacts{PreImageStored: true, File: change.FileChange{Path: "gen/a", Op: change.OpEdit, Base: change.Pin{Kind: change.KindFile}, Proposed: change.Pin{Kind: change.KindFile}}}
	if v := tiers.Judge(tiers.Facts{Files: []tiers.FileFacts{f}, Origin: change.OriginShadow}, p).Verdict; v.Outcome != change.Ask || v.SettledBy != "rule:.correx.local.toml:3" {
		t.Errorf("%+v", v)
	}
}

func TestLoosens(t *testing.T) {
	got, err := Loosens(Source{}, Source{RepositoryFile, []byte(looseFile)})
	if diff := cmp.Diff([]Loosening{
		{1, 1, "mode", `"yolo" would loosen what holds without it`},
		{3, 3, "auto.max_bytes", "1000000 would loosen what holds without it"},
		{5, 7, "rule", `action "allow" would loosen what holds without it`},
		{11, 16, "grant", "would let pass what asks without it"},
	}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestGrantErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[[grant]]\nops = ['edit']\n":                                      `.correx.toml:1:3: "grant": has no "paths"`,
		"[[grant]]\npaths = ['a']\n":                                       `has no "ops"`,
		"[[grant]]\nops = []\npaths = ['a']\n":                             "names nothing",
		"[[grant]]\nops = ['fly']\npaths = ['a']\n":                        `"fly"`,
		"[[grant]]\nops = ['edit']\npaths = ['!a']\n":                      "no negation",
		"[[grant]]\nops = ['edit']\npaths = ['a']\nexact = 'abc'\n":        "64 digits",
		"[[grant]]\nops = ['edit']\npaths = ['a']\nexpires = 'soon'\n":     "expected a moment",
		"[[grant]]\nops = ['edit']\npaths = ['a']\nexpires = 2030-01-01\n": "expected a string",
		"[[grant]]\nops = ['edit']\npaths = ['a']\nscope = 'session'\n":    `"grant.scope": is not a key`,
		"[grant]\nops = ['edit']\npaths = ['a']\n":                         "expected [[grant]]",
		"grant.ops = ['edit']\n":                                           "stands in no grant",
		"[[grant]]\nops = ['edit']\npaths = ['a']\n[grant.x]\n":            "is not a key",
	} {
		_, _, err := Load(repository(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, notices, err := Load(user("[[grant]]\nops = ['edit']\npaths = ['a']\n"))
	if err != nil || len(notices) != 1 || !strings.Contains(notices[0].String(), "only in a repository's file") {
		t.Errorf("%v, %v", notices, err)
	}
}

func anyTable() *rapid.Generator[Table] {
	return rapid.Custom(func(t *rapid.T) Table {
		return Table{
			Ops:     rapid.SliceOfN(rapid.SampledFrom(change.Ops()), 1, 3).Draw(t, "ops"),
			Paths:   rapid.SliceOfN(rapid.SampledFrom([]string{"a", `/a\ `, `"q"`, `\\`, "{a,b}/**", "/é#x", "[!']'"}[:6]), 1, 3).Draw(t, "paths"),
			Exact:   rapid.SampledFrom([]string{"", strings.Repeat("0a", 32)}).Draw(t, "exact"),
			Expires: rapid.SampledFrom([]string{"", "2030-01-01T00:00:00Z"}).Draw(t, "expires"),
		}
	})
}

// splices checks that a grant goes into text and out again, and that every other byte stays.
func splices(t interface {
	Fatalf(format string, args ...any)
}, text string, table Table) {
	s := Source{RepositoryFile, []byte(text)}
	before, err := parse(s)
	out, g, aerr := AppendGrant(s, table)
	if err != nil {
		if aerr == nil {
			t.Fatalf("%q is no good file and took a grant", text)
		}
		return
	}
	if aerr != nil {
		t.Fatalf("%q: %v", text, aerr)
	}
	if there := slices.ContainsFunc(before.grants, func(e grantEntry) bool { return e.grant.ID == g.ID }); there || out == nil {
		if out != nil || !there {
			t.Fatalf("%q has %s: %t, and became %q", text, g.ID, there, out)
		}
		return
	}
	if !bytes.HasPrefix(out, s.Data) || bytes.HasSuffix(out, []byte("\n")) != (text == "" || strings.HasSuffix(text, "\n")) {
		t.Fatalf("%q became %q", text, out)
	}
	after, err := parse(Source{RepositoryFile, out})
	if err != nil || len(after.grants) != len(before.grants)+1 {
		t.Fatalf("%q: %v", out, err)
	}
	if !slices.Equal(g.Ops, table.Ops) || !slices.Equal(g.Texts, table.Paths) || g.Exact != table.Exact || g.Expires != table.Expires {
		t.Fatalf("%+v was written, %+v is read", table, g)
	}
	back, n, err := RemoveGrants(Source{RepositoryFile, out}, g.ID)
	if err != nil || n != 1 || !bytes.Equal(back, s.Data) {
		t.Fatalf("%q came back as %q, %d tables: %v", text, back, n, err)
	}
	if rest, n, err := RemoveGrants(s, "g-none"); err != nil || n != 0 || !bytes.Equal(rest, s.Data) {
		t.Fatalf("%q: %d, %v", rest, n, err)
	}
}

func TestSplice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := files().Draw(t, "file")
		text += rapid.SampledFrom([]string{"", "# end", "# end\n", "\n\n", "  "}).Draw(t, "end")
		if rapid.Bool().Draw(t, "crlf") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		splices(t, text, anyTable().Draw(t, "table"))
	})
}

func FuzzSplice(f *testing.F) {
	for _, seed := range []string{"", "\ufeff", looseFile, everything, threeRules, "[[grant]]\nops = ['edit']\npaths = ['a']", "mode = 'auto' # x\r\n", "# only\r", "[[grant]]\n  ops = ['edit'] # why\n# c\npaths = [\n'a',\n]\n\n[auto]\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < maxBytes-4096 {
			splices(t, text, Table{Ops: []change.Op{change.OpEdit}, Paths: []string{`/a"\\b`}})
		}
	})
}

// TestRemoveGrants: a table goes from its header to its last setting; comments around it and everything else stay.
func TestRemoveGrants(t *testing.T) {
	table := "[[grant]]\nops = ['edit']\n# why\npaths = [\n  'a',\n] # yes\n"
	for _, c := range []struct{ before, after string }{
		{"# top\n", "# below\n\n[auto]\nmax_files = 2\n"},
		{"mode = 'auto'\n\n", ""},
		{"", "[[rule]]\npaths = ['a']\naction = 'ask'\n"},
		{"[[rule]]\npaths = ['a']\naction = 'ask'\n", "\n# end"},
		{"[[grant]]\nops = ['edit']\npaths = ['b']\n", "[[grant]]\nops = ['edit']\npaths = ['c']\n"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			fix := func(s string) string { return strings.ReplaceAll(s, "\n", end) }
			l, err := parse(Source{RepositoryFile, []byte(table)})
			if err != nil {
				t.Fatal(err)
			}
			got, n, err := RemoveGrants(Source{RepositoryFile, []byte(fix(c.before + "  " + table + c.after))}, l.grants[0].grant.ID)
			if err != nil || n != 1 || string(got) != fix(c.before+c.after) {
				t.Errorf("%q, %d, %v", got, n, err)
			}
		}
	}
}

func TestTrustStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "trust")
	s := TrustStore{Dir: dir, Repository: "/r/.git"}
	if list, err := s.Read(); err != nil || list != nil {
		t.Fatalf("%v, %v", list, err)
	}
	for _, text := range []string{"first", "mode = \"prompt\"\r\n# \u2603 <&>"} {
		if err := s.Trust(RepositoryFile, []byte(text)); err != nil {
			t.Fatal(err)
		}
		list, err := s.Read()
		if err != nil || len(list) != 1 || list[0].File != RepositoryFile || string(list[0].Data) != text {
			t.Fatalf("%+v, %v", list, err)
		}
	}
	if info, err := os.Stat(s.path(RepositoryFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if list, err := (TrustStore{Dir: dir, Repository: "/other/.git"}).Read(); err != nil || list != nil {
		t.Errorf("another repository trusts %+v, %v", list, err)
	}
	good, err := os.ReadFile(s.path(RepositoryFile))
	if err != nil {
		t.Fatal(err)
	}
	bad := func(name string, spoil func() error) {
		t.Helper()
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		var wrong *Error
		if _, err := s.Read(); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	at := s.path(RepositoryFile)
	bad("other content", func() error {
		return os.WriteFile(at, bytes.Replace(good, []byte("prompt"), []byte("yolo!!"), 1), 0o600)
	})
	bad("half", func() error { return os.WriteFile(at, good[:20], 0o600) })
	bad("another repository's", func() error {
		return os.WriteFile(at, bytes.Replace(good, []byte("/r/.git"), []byte("/x/.git"), 1), 0o600)
	})
	bad("a link", func() error { return errors.Join(os.Remove(at), os.Symlink(filepath.Join(dir, "x"), at)) })
	if err := errors.Join(os.Remove(at), os.WriteFile(at, good, 0o600)); err != nil {
		t.Fatal(err)
	}
	bad("a folder others write to", func() error { return os.Chmod(dir, 0o722) })
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Forget(RepositoryFile), s.Forget(RepositoryFile)); err != nil {
		t.Error(err)
	}
	if list, err := s.Read(); err != nil || list != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// TestGrantsExplained: template and example show a grant that loads, and the example explains every setting of one.
func TestGrantsExplained(t *testing.T) {
	data, err := os.ReadFile("../../.correx.toml.example")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range grantKeys() {
		if !strings.Contains(string(data), "\n#   "+strings.TrimPrefix(k.name, "grant.")+" ") {
			t.Errorf("the example does not explain %q", k.name)
		}
	}
	c, _, err := Load(trusting(string(data), string(data)))
	if err != nil || len(c.Grants) != 1 || c.Grants[0].Void != "" {
		t.Errorf("%+v, %v", c.Grants, err)
	}
	_, shown, ok := strings.Cut(string(Template()), "#   [[grant]]\n")
	shown, _, _ = strings.Cut(shown, "\n\n")
	c, _, err = Load(repository("[[grant]]\n" + strings.ReplaceAll("\n"+shown, "\n#   ", "\n")))
	if !ok || err != nil || len(c.Grants) != 1 {
		t.Errorf("%q: %+v, %v", shown, c.Grants, err)
	}
}
