package preflight

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"pgregory.net/rapid"
)

// drawThings draws a small tree and one made from it.
func drawThings(rt *rapid.T) (old, new things) {
	line := rapid.SampledFrom([]string{"a\n", "b\r\n", "\xff\n", "\u202ec\n", "}\n", "\n", "tail"})
	content := rapid.Custom(func(rt *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(rt, "lines"), "")
		if rapid.IntRange(0, 7).Draw(rt, "binary") == 0 {
			text += "\x00"
		}
		return text
	})
	any := rapid.Custom(func(rt *rapid.T) thing {
		switch rapid.IntRange(0, 5).Draw(rt, "kind") {
		case 0:
			return link(rapid.SampledFrom([]string{"x", "y/z", "../q"}).Draw(rt, "target"))
		case 1:
			return program(content.Draw(rt, "content"))
		}
		return file(content.Draw(rt, "content"))
	})
	names := rapid.SampledFrom([]change.Path{"a", "b", "c d", "e\tf", "g\xe9", "h", "i", "J", "j"})
	old = rapid.MapOfN(names, any, 0, 8).Draw(rt, "old")
	new = maps.Clone(old)
	for range rapid.IntRange(0, 6).Draw(rt, "edits") {
		p, q := names.Draw(rt, "path"), names.Draw(rt, "other")
		switch rapid.IntRange(0, 4).Draw(rt, "edit") {
		case 0:
			delete(new, p)
		case 1:
			new[p] = any.Draw(rt, "thing")
		case 2:
			if x, ok := new[p]; ok {
				delete(new, p)
				new[q] = x
			}
		case 3:
			if x, ok := new[p]; ok {
				new[q] = x
			}
		case 4:
			if x, ok := new[p]; ok && x.kind == change.KindFile {
				x.data += line.Draw(rt, "more")
				new[q] = x
			}
		}
	}
	return old, new
}

// TestCompareProperty follows the steps of the changes: whatever they are called, they lead from one tree to the other,
// and each path is in one of them.
func TestCompareProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old, new := drawThings(rt)
		images := memory{}
		files, err := Compare(images, images.ends(t, old, new), Options{})
		if err != nil {
			rt.Fatal(err)
		}
		state := map[change.Path]change.Pin{}
		for p, x := range old {
			state[p] = images.pin(t, x, true)
		}
		touched := map[change.Path]bool{}
		for _, f := range files {
			for _, s := range f.Steps() {
				if touched[s.Path] {
					rt.Fatalf("%q is in two changes: %+v", s.Path, files)
				}
				touched[s.Path] = true
				if have, ok := state[s.Path]; ok != s.Base.Exists() || !have.Equal(s.Base) && ok {
					rt.Fatalf("%s starts from %+v, the tree has %+v", short(f), s.Base, have)
				}
				delete(state, s.Path)
				if s.Result.Exists() {
					state[s.Path] = s.Result
				}
			}
		}
		for p, x := range new {
			if want := images.pin(t, x, true); !state[p].SameForGit(want) {
				rt.Fatalf("%q: %+v, want %+v", p, state[p], want)
			}
		}
		if len(state) != len(new) {
			rt.Fatalf("%d files, want %d", len(state), len(new))
		}
	})
}

// TestWritePatchProperty gives the patches of many random trees, each in a folder of its own, to git apply at once.
func TestWritePatchProperty(t *testing.T) {
	pair := rapid.Custom(func(rt *rapid.T) [2]things {
		old, new := drawThings(rt)
		return [2]things{old, new}
	})
	old, new, images := things{}, things{}, memory{}
	var patch bytes.Buffer
	for seed := range 150 {
		p := pair.Example(seed)
		at := func(tree things) things {
			moved := things{}
			for name, x := range tree {
				moved[change.Path(fmt.Sprintf("seed%03d/%s", seed, name))] = x
			}
			return moved
		}
		before, after := at(p[0]), at(p[1])
		maps.Copy(old, before)
		maps.Copy(new, after)
		files, err := Compare(images, images.ends(t, before, after), Options{MaxDiff: int64(20 + 10*(seed%10))})
		if err != nil {
			t.Fatal(err)
		}
		if err := WritePatch(&patch, images, files); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, old, new, patch.Bytes())
}

// TestWritePatchKinds is for what the property does not draw: a kind of folder, and a case of letters.
func TestWritePatchKinds(t *testing.T) {
	big := numbered(60)
	for name, tt := range map[string][2]things{
		"file to folder":      {{"x": file(big)}, {"x/y": file(big), "x/z": file("z\n")}},
		"folder to file":      {{"x/y": file(big), "x/z": file("z\n")}, {"x": file(big)}},
		"folder to symlink":   {{"x/y": file("y\n")}, {"x": link("y")}},
		"case":                {{"Readme.md": file("hello\n")}, {"README.md": file("hello\n")}},
		"move onto another":   {{"a.md": file("draft\n"), "b.md": file(numbered(80))}, {"b.md": file("draft\n")}},
		"copy and rename":     {{"a": file(big)}, {"b": file(big), "c": program(big), "d": file(big + "more\n")}},
		"empty files":         {{"a/__init__.py": file(""), "a/m.py": file("k\n")}, {"a/m.py": file("k\n"), "b/__init__.py": file("")}},
		"rename with changes": {{"a": file(big)}, {"e f": program(numbered(60, 3, 50))}},
	} {
		t.Run(name, func(t *testing.T) {
			images := memory{}
			files, err := Compare(images, images.ends(t, tt[0], tt[1]), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var patch, again bytes.Buffer
			if err := WritePatch(&patch, images, files); err != nil {
				t.Fatal(err)
			}
			apply(t, tt[0], tt[1], patch.Bytes())
			if err := WritePatch(&again, images, files); err != nil || !bytes.Equal(patch.Bytes(), again.Bytes()) {
				t.Errorf("written again: %v", err)
			}
		})
	}
}

// TestWritePatchBroken: an image that is missing or short is an error, never a patch that looks whole.
func TestWritePatchBroken(t *testing.T) {
	for _, limit := range []int64{0, 10} {
		images := memory{}
		files, err := Compare(images, images.ends(t, things{"f": file(numbered(20))}, things{"f": file(numbered(20, 1))}), Options{MaxDiff: limit})
		if err != nil {
			t.Fatal(err)
		}
		sum := files[0].Proposed.SHA256
		images[sum] = images[sum][1:]
		if err := WritePatch(&bytes.Buffer{}, images, files); err == nil {
			t.Error("a short image was taken")
		}
		delete(images, sum)
		if err := WritePatch(&bytes.Buffer{}, images, files); err == nil {
			t.Error("a missing image was taken")
		}
	}
}

// apply has git apply patch to old in a fresh repository and compares with new.
func apply(t *testing.T, old, new things, patch []byte) {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s\n%.3000s", args, err, out, patch)
		}
	}
	git("init", "-q", "--template=")
	for p, x := range old {
		x.put(t, filepath.Join(dir, string(p)))
	}
	if len(patch) > 0 {
		git("apply", "--whitespace=nowarn", "-")
	}
	for p, x := range new {
		x.check(t, filepath.Join(dir, string(p)))
	}
	for p := range old {
		_, kept := new[p]
		info, err := os.Lstat(filepath.Join(dir, string(p)))
		if !kept && err == nil && !info.IsDir() {
			t.Errorf("%q is still there", p)
		}
	}
}

func (x thing) put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	err := error(nil)
	if x.kind == change.KindSymlink {
		err = os.Symlink(x.data, path)
	} else if err = os.WriteFile(path, []byte(x.data), 0o644); err == nil {
		err = os.Chmod(path, os.FileMode(x.perm))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (x thing) check(t *testing.T, path string) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if x.kind == change.KindSymlink {
		if target, err := os.Readlink(path); err != nil || target != x.data {
			t.Errorf("%q points to %q, %v, want %q", path, target, err, x.data)
		}
		return
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != x.data || info.Mode()&0o100 != os.FileMode(x.perm)&0o100 || !info.Mode().IsRegular() {
		t.Errorf("%q: %v, mode %s, got %q, want %q", path, err, info.Mode(), data, x.data)
	}
}
