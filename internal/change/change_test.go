package change

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePath(t *testing.T) {
	good := []string{"a", "a/b", ".git", "...", "a\nb", "-rf", "\xff\xfe", "a b", strings.Repeat("x", 255), "a/..b"}
	for _, raw := range good {
		if p, err := ParsePath(raw); err != nil || string(p) != raw {
			t.Errorf("ParsePath(%q) = %q, %v", raw, p, err)
		}
	}
	bad := []string{"", "/", "/a", "a/", "a//b", ".", "..", "a/./b", "a/../b", "../a", "a/..", "./a", "a\x00b"}
	for _, raw := range bad {
		if p, err := ParsePath(raw); err == nil {
			t.Errorf("ParsePath(%q) = %q, want an error", raw, p)
		}
	}
}

func TestPathParts(t *testing.T) {
	for _, c := range []struct {
		path, dir Path
		base      string
		ancestors int
	}{{"a", "", "a", 0}, {"a/b", "a", "b", 1}, {"a/b/c", "a/b", "c", 2}} {
		if c.path.Dir() != c.dir || c.path.Base() != c.base || len(c.path.Ancestors()) != c.ancestors {
			t.Errorf("%q: dir %q base %q ancestors %q", c.path, c.path.Dir(), c.path.Base(), c.path.Ancestors())
		}
		if c.dir.Join(c.base) != c.path {
			t.Errorf("%q joined again is %q", c.path, c.dir.Join(c.base))
		}
	}
	for _, c := range []struct {
		p, dir Path
		want   bool
	}{{"a/b", "a", true}, {"a", "a", true}, {"ab", "a", false}, {"a", "a/b", false}, {"a", "", true}} {
		if c.p.Under(c.dir) != c.want {
			t.Errorf("%q under %q is %v", c.p, c.dir, !c.want)
		}
	}
}

// TestPathJSON: no two paths become one text, and each comes back byte for byte.
func TestPathJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 1, 12).Draw(t, "raw")
		p, err := ParsePath(string(raw))
		if err != nil {
			t.Skip()
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Path
		if err := json.Unmarshal(text, &back); err != nil || back != p {
			t.Fatalf("%q became %s and came back as %q: %v", p, text, back, err)
		}
	})
}

func TestPathJSONRefusesWhatIsNoPath(t *testing.T) {
	for _, text := range []string{`"../x"`, `"/x"`, `"a//b"`, `{"b64":"Li4="}`, `3`, `{"b64":"!"}`} {
		var p Path
		if err := json.Unmarshal([]byte(text), &p); err == nil {
			t.Errorf("%s was read as %q", text, p)
		}
	}
}

func TestPinComparisons(t *testing.T) {
	file := Pin{Kind: KindFile, Perm: 0o644, Size: 3, SHA256: "aa"}
	group := file
	group.Perm = 0o664
	exec := file
	exec.Perm = 0o755
	link := Pin{Kind: KindSymlink, Size: 3, SHA256: "aa"}
	named := file
	named.OID = "12"
	for _, c := range []struct {
		name           string
		a, b           Pin
		equal, sameGit bool
	}{
		{"itself", file, file, true, true},
		{"other permission bits", file, group, false, true},
		{"executable bit", file, exec, false, false},
		{"a link with the same bytes", file, link, false, false},
		{"the git id counts for nothing", file, named, true, true},
		{"nothing twice", Absent(), Pin{}, true, true},
		{"nothing and something", Absent(), file, false, false},
	} {
		if c.a.Equal(c.b) != c.equal || c.b.Equal(c.a) != c.equal || c.a.SameForGit(c.b) != c.sameGit || c.b.SameForGit(c.a) != c.sameGit {
			t.Errorf("%s: Equal %v, SameForGit %v", c.name, c.a.Equal(c.b), c.a.SameForGit(c.b))
		}
	}
}

// TestDigestNamesEverything: any difference that landing would make changes the digest, and no other.
func TestDigestNamesEverything(t *testing.T) {
	base := FileChange{Path: "a", Op: OpEdit, Base: Pin{Kind: KindFile, Perm: 0o644, SHA256: "1", Size: 1}, Proposed: Pin{Kind: KindFile, Perm: 0o644, SHA256: "2", Size: 1}}
	of := func(edit func(*FileChange)) string {
		f := base
		edit(&f)
		return Digest([]FileChange{f})
	}
	same := of(func(*FileChange) {})
	for name, edit := range map[string]func(*FileChange){
		"path": func(f *FileChange) { f.Path = "b" }, "old path": func(f *FileChange) { f.OldPath = "b" },
		"op": func(f *FileChange) { f.Op = OpOverwrite }, "base": func(f *FileChange) { f.Base.SHA256 = "3" },
		"proposed": func(f *FileChange) { f.Proposed.SHA256 = "3" }, "mode": func(f *FileChange) { f.Proposed.Perm = 0o755 },
	} {
		if of(edit) == same {
			t.Errorf("another %s has the same digest", name)
		}
	}
	if of(func(f *FileChange) { f.Added = 7; f.Proposed.OID = "x" }) != same {
		t.Error("a count changes the digest")
	}
}

func TestStepsOfARename(t *testing.T) {
	f := FileChange{Path: "b", OldPath: "a", Op: OpRename, Base: Pin{Kind: KindFile, SHA256: "1"}, Proposed: Pin{Kind: KindFile, SHA256: "2"}}
	steps := f.Steps()
	if len(steps) != 2 || steps[0].Path != "a" || steps[0].Result.Exists() || steps[1].Path != "b" || steps[1].Base.Exists() {
		t.Fatalf("steps %+v", steps)
	}
}

func TestModesAreOrdered(t *testing.T) {
	order := []Mode{ModeDeny, ModePrompt, ModeAuto, ModeYolo}
	for i, a := range order {
		for j, b := range order {
			if a.StricterThan(b) != (i < j) {
				t.Errorf("%s stricter than %s: %v", a, b, !(i < j))
			}
		}
	}
	if !Mode("what").StricterThan(ModePrompt) {
		t.Error("an unknown mode is not the strictest")
	}
}
