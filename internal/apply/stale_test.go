package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/faultfs"
)

// refuse lands s after spoil changed the tree, expects an error that no journal and no change follow, and returns it.
func refuse(t *testing.T, s scenario, spoil func(root string)) error {
	t.Helper()
	root, state := build(t, s.before)
	l, store := s.landing()
	spoil(root)
	before, dirs := read(t, root)
	e := newEngine(t, root, store, nil)
	checked := e.Check(context.Background(), l.Steps)
	var c counter
	out, err := e.Land(context.Background(), l, c.commit)
	if err == nil || c.n > 0 || out.Landed != nil {
		t.Fatalf("landed: %v, %d commits, %+v", err, c.n, out)
	}
	if checked == nil || checked.Error() != err.Error() {
		t.Errorf("Check says %v, Land %v", checked, err)
	}
	after, dirsAfter := read(t, root)
	if fmt.Sprint(after) != fmt.Sprint(before) || !slices.Equal(dirs, dirsAfter) {
		t.Errorf("the tree changed: %v %v, was %v %v", after, dirsAfter, before, dirs)
	}
	expectNoJournal(t, state)
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestStaleNamesEveryPath(t *testing.T) {
	s := scenario{
		"many", layout{"a": file("a"), "b": file("b"), "c": file("c"), "d/e": file("e"), "l": lnk("x")},
		layout{"a": file("A"), "b": script("b"), "d/e": file("E"), "l": lnk("y"), "n": file("n"), "o/p": file("p")},
	}
	err := refuse(t, s, func(root string) {
		write(t, root, "a", file("mine"))
		must(t, os.Chmod(filepath.Join(root, "b"), 0o600))
		must(t, os.Remove(filepath.Join(root, "c")))
		must(t, os.RemoveAll(filepath.Join(root, "d")))
		must(t, os.Remove(filepath.Join(root, "l")))
		must(t, os.Mkdir(filepath.Join(root, "l"), 0o755))
		write(t, root, "n", file("n"))
		must(t, os.WriteFile(filepath.Join(root, "o"), []byte("o"), 0o644))
	})
	var stale *StaleError
	if !errors.As(err, &stale) {
		t.Fatal(err)
	}
	want := map[change.Path]change.Pin{
		"a": file("mine").pin(), "b": {Kind: change.KindFile, Perm: 0o600, Size: 1, SHA256: file("b").pin().SHA256}, "c": change.Absent(),
		"d/e": change.Absent(), "l": {Kind: change.KindDir}, "n": file("n").pin(), "o": {Kind: change.KindFile},
	}
	for _, p := range stale.Paths {
		found, ok := want[p.Path]
		if !ok || !found.Equal(p.Found) || p.Found.Exists() != found.Exists() {
			t.Errorf("%q: found %+v, want %+v", p.Path, p.Found, found)
		}
		delete(want, p.Path)
	}
	if len(want) > 0 {
		t.Errorf("not named: %v", want)
	}
}

func TestFolderThatHoldsMoreThanTheSet(t *testing.T) {
	s := scenario{"pkg", layout{"pkg/a": file("1"), "pkg/sub/b": file("2")}, layout{"pkg": file("now a file")}}
	for extra, make := range map[change.Path]func(string) error{
		"pkg/mine":     func(p string) error { return os.WriteFile(p, []byte("mine"), 0o644) },
		"pkg/sub/mine": func(p string) error { return os.WriteFile(p, []byte("mine"), 0o644) },
		"pkg/empty":    func(p string) error { return os.Mkdir(p, 0o755) },
		"pkg/.git":     func(p string) error { return os.Mkdir(p, 0o755) },
	} {
		err := refuse(t, s, func(root string) { must(t, make(filepath.Join(root, string(extra)))) })
		var stale *StaleError
		if !errors.As(err, &stale) || len(stale.Paths) != 1 || stale.Paths[0].Path != extra || stale.Paths[0].Expected.Exists() {
			t.Errorf("%q: %v", extra, err)
		}
	}
	err := refuse(t, s, func(root string) {
		must(t, os.RemoveAll(filepath.Join(root, "pkg")))
		must(t, os.WriteFile(filepath.Join(root, "pkg"), []byte("other"), 0o644))
	})
	var stale *StaleError
	if !errors.As(err, &stale) || len(stale.Paths) != 3 {
		t.Errorf("another file in its place: %v", err)
	}
}

func TestUnsafePaths(t *testing.T) {
	outside := t.TempDir()
	deep := scenario{"deep", layout{"x": file("x")}, layout{"x": file("x"), "sub/dir/f": file("f")}}
	edit := scenario{"edit", layout{"sub/f": file("f")}, layout{"sub/f": file("g")}}
	for name, c := range map[string]struct {
		s     scenario
		spoil func(root string)
	}{
		"link out": {deep, func(root string) { must(t, os.Symlink(outside, filepath.Join(root, "sub"))) }},
		"link in": {deep, func(root string) {
			must(t, os.Mkdir(filepath.Join(root, "real"), 0o755))
			must(t, os.Symlink("real", filepath.Join(root, "sub")))
		}},
		"submodule": {deep, func(root string) {
			must(t, os.Mkdir(filepath.Join(root, "sub"), 0o755))
			must(t, os.WriteFile(filepath.Join(root, "sub/.git"), []byte("gitdir: x"), 0o644))
		}},
		"nested repository": {edit, func(root string) { must(t, os.Mkdir(filepath.Join(root, "sub/.git"), 0o755)) }},
	} {
		err := refuse(t, c.s, c.spoil)
		var unsafe *UnsafeError
		if !errors.As(err, &unsafe) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
	err := refuse(t, edit, func(root string) {
		must(t, os.Rename(filepath.Join(root, "sub"), filepath.Join(root, "real")))
		must(t, os.Symlink("real", filepath.Join(root, "sub")))
	})
	var stale *StaleError
	var unsafe *UnsafeError
	if !errors.As(err, &unsafe) && !errors.As(err, &stale) {
		t.Errorf("an edit behind a link: %v", err)
	}
}

func TestForbiddenNames(t *testing.T) {
	bad := []string{
		".git", ".git/config", "a/.git/hooks/x", ".GIT/x", ".Git", ".gıt", ".gİt", ".git.", ".git ", ".git. .", ".git::$INDEX_ALLOCATION/x",
		".git:x", `.git\config`, "GIT~1/config", "git~1", "Git~12", ".g\u200cit", ".\u200dgit/x", "\ufeff.git", ".gi\u00adt", ".git\ufe0f",
		".g\u2060it", ".correx-x", "a/.correx-1-2", ".CORREX-x", ".cor\u200crex-x", "..", "a/../b", "/a", "", "a//b", "a\x00",
	}
	for _, p := range bad {
		if forbidden(change.Path(p)) == "" {
			t.Errorf("%q is allowed", p)
		}
	}
	good := []string{
		".gitignore", ".gitattributes", "git", "agit", ".github/x", ".git2", "git~", "git~x", "a.git", ".correx.toml", ".correxed", "x.correx-1",
		".gitmodules", "\xff.git", "..git", "...", " .git",
	}
	for _, p := range good {
		if why := forbidden(change.Path(p)); why != "" {
			t.Errorf("%q is refused: %s", p, why)
		}
	}
	for _, p := range []change.Path{".git/hooks/pre-commit", ".correx-x"} {
		s := scenario{"bad", layout{}, layout{p: file("x")}}
		err := refuse(t, s, func(string) {})
		var unsafe *UnsafeError
		if !errors.As(err, &unsafe) || unsafe.Path != p {
			t.Errorf("%q: %v", p, err)
		}
	}
}

func FuzzForbidden(f *testing.F) {
	for _, s := range []string{".git", ".g\u200cit/x", "a/GIT~1", ".correx-", "ok/path", "\xff\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		why := forbidden(change.Path(raw))
		if _, err := change.ParsePath(raw); err != nil && why == "" {
			t.Fatalf("%q is no path and is allowed", raw)
		}
		for part := range strings.SplitSeq(raw, "/") {
			if strings.EqualFold(strings.TrimRight(part, " ."), ".git") && why == "" {
				t.Fatalf("%q is allowed", raw)
			}
		}
	})
}

func TestStepsThatMakeNoSense(t *testing.T) {
	a, b := file("a").pin(), file("b").pin()
	none := change.Absent()
	for name, steps := range map[string][]change.Step{
		"twice":               {{Path: "f", Base: a, Result: b}, {Path: "f", Base: a, Result: none}},
		"nothing":             {{Path: "f", Base: none, Result: none}},
		"file and below":      {{Path: "f", Base: a, Result: b}, {Path: "f/x", Base: none, Result: a}},
		"both new":            {{Path: "f", Base: none, Result: b}, {Path: "f/x", Base: none, Result: a}},
		"both gone":           {{Path: "f", Base: a, Result: none}, {Path: "f/x", Base: a, Result: none}},
		"three levels":        {{Path: "f", Base: a, Result: none}, {Path: "f/x", Base: none, Result: a}, {Path: "f/x/y", Base: none, Result: a}},
		"edit below a new":    {{Path: "f", Base: none, Result: b}, {Path: "f/x", Base: a, Result: b}},
		"gone below a folder": {{Path: "f", Base: a, Result: none}, {Path: "f/x", Base: none, Result: a}, {Path: "f/y", Base: a, Result: none}},
		"folder":              {{Path: "f", Base: change.Pin{Kind: change.KindDir}, Result: a}},
		"submodule":           {{Path: "f", Base: none, Result: change.Pin{Kind: change.KindSubmodule}}},
	} {
		root, _ := build(t, layout{"x": file("x")})
		e := newEngine(t, root, memory{}, nil)
		err := e.Check(context.Background(), steps)
		var bad *StepsError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// wrongImages returns other bytes than were asked for, and an error at their end, as a damaged store does.
type wrongImages struct {
	memory
	bad string
}

func (w wrongImages) Open(sha string) (io.ReadCloser, error) {
	if sha == w.bad {
		return io.NopCloser(io.MultiReader(strings.NewReader("other bytes"), failing{})), nil
	}
	return w.memory.Open(sha)
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("bytes do not match their digest") }

func TestImagesAreNeededAndChecked(t *testing.T) {
	s := scenario{"edit", layout{"f": file("old")}, layout{"f": file("new"), "l": lnk("target")}}
	l, store := s.landing()
	for _, n := range []node{file("old"), file("new"), lnk("target")} {
		for _, images := range []Images{
			wrongImages{store, n.pin().SHA256},
			func() Images {
				less := memory{}
				for sha, text := range store {
					if sha != n.pin().SHA256 {
						less[sha] = text
					}
				}
				return less
			}(),
			// A store that does not notice: the read-back does.
			func() Images {
				other := memory{}
				for sha, text := range store {
					other[sha] = text
				}
				if n.text != "old" {
					other[n.pin().SHA256] = strings.Repeat("?", len(n.text))
				}
				return other
			}(),
		} {
			root, state := build(t, s.before)
			e := newEngine(t, root, images, nil)
			var c counter
			_, err := e.Land(context.Background(), l, c.commit)
			if m, ok := images.(memory); ok && n.text == "old" && m[n.pin().SHA256] == "old" {
				if err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err == nil || c.n > 0 || errors.Is(err, ErrUnfinished) {
				t.Errorf("image of %q spoilt: %v", n.text, err)
			}
			expectTree(t, root, s.before)
			expectNoJournal(t, state)
		}
	}
}

func TestCancelAtEveryStep(t *testing.T) {
	for _, s := range scenarios {
		for at := 1; ; at++ {
			ctx, cancel := context.WithCancel(context.Background())
			n := 0
			f := &faults{Fault: faultfs.Fault{Before: func(string) {
				if n++; n == at {
					cancel()
				}
			}}}
			r := newTrial(t, s, f)
			e := newEngine(t, r.root, r.store, f)
			_, err := e.Land(ctx, r.l, r.commit)
			cancel()
			if (err == nil) != r.committed || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s at %d: committed %v, %v", s.name, at, r.committed, err)
			}
			r.expectWhole(t)
			if n < at {
				break
			}
		}
	}
}

// TestFolderMovedUnderTheEngine renames the folder and puts another one in its place, at each step.
func TestFolderMovedUnderTheEngine(t *testing.T) {
	s := scenario{"moved", layout{"src/f": file("old"), "src/gone": file("g")}, layout{"src/f": file("new"), "src/n": file("n")}}
	for _, slow := range []bool{false, true} {
		for at := 1; ; at++ {
			n := 0
			f := &faults{slow: slow}
			r := newTrial(t, s, f)
			old, src := filepath.Join(r.root, "src_old"), filepath.Join(r.root, "src")
			f.Before = func(string) {
				if n++; n == at {
					must(t, os.Rename(src, old))
					must(t, os.Mkdir(src, 0o755))
				}
			}
			_, _, err := r.land(t)
			if n < at {
				break
			}
			f.Before = nil
			if slow && err != nil {
				// The stand-in for a slow disk goes by paths and cannot follow the folder.
				continue
			}
			want := layout{"src_old/f": file("old"), "src_old/gone": file("g")}
			if r.committed {
				want = layout{"src_old/f": file("new"), "src_old/n": {text: "n", perm: 0o666 &^ umask(t)}}
			}
			if (err == nil) != r.committed {
				t.Errorf("at %d (%s): committed %v, %v", at, f.Trace()[at-1], r.committed, err)
			}
			got, _ := read(t, r.root)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("at %d (%s): %v, want %v, %v", at, f.Trace()[at-1], got, want, err)
			}
		}
	}
}

func TestHardLinkIsSplitNotWrittenThrough(t *testing.T) {
	s := scenario{"link", layout{"a": file("v1")}, layout{"a": file("v2")}}
	root, _ := build(t, s.before)
	if err := os.Link(filepath.Join(root, "a"), filepath.Join(root, "b")); err != nil {
		t.Skip("no hard links here:", err)
	}
	l, store := s.landing()
	e := newEngine(t, root, store, nil)
	var c counter
	if _, err := e.Land(context.Background(), l, c.commit); err != nil {
		t.Fatal(err)
	}
	expectTree(t, root, layout{"a": file("v2"), "b": file("v1")})
}

func TestManyFolders(t *testing.T) {
	s := scenario{"many", layout{}, layout{}}
	for i := range maxOpen + 150 {
		p := change.Path(fmt.Sprintf("d%04d/f", i))
		s.before[p], s.after[p] = file("old"), file("new")
	}
	for _, word := range []string{"commit", "journal clear"} {
		f := &faults{Fault: faultfs.Fault{At: 1, Only: func(op string) bool { return op == word }}}
		r := newTrial(t, s, f)
		if _, _, err := r.land(t); err == nil {
			t.Fatal("nothing failed")
		} else if errors.Is(err, ErrUnfinished) {
			if _, _, err := r.recover(t, nil); err != nil {
				t.Fatal(err)
			}
		}
		r.expectWhole(t)
	}
}

func TestWorkingNamesRemovedAfterACrash(t *testing.T) {
	s := scenario{"edit", layout{"d/f": file("old"), "l": lnk("a"), "p": {text: "p", perm: 0o640}}, layout{"d/f": file("new"), "l": lnk("b"), "p": {text: "q", perm: 0o640}}}
	everyStep(t, func(at int) *faults { return &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}} }, func(t *testing.T, f *faults) {
		r := newTrial(t, s, f)
		if _, died, err := r.land(t); !died {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		// What git clean does to untracked names.
		got, _ := read(t, r.root)
		for p := range got {
			if strings.HasPrefix(p.Base(), reservedPrefix) {
				must(t, os.Remove(filepath.Join(r.root, string(p))))
			}
		}
		if _, _, err := r.recover(t, nil); err != nil {
			t.Fatal(err)
		}
		r.expectWhole(t)
	})
}

func TestNothingIsWrittenByLooking(t *testing.T) {
	s := scenarios[len(scenarios)-1]
	root, state := build(t, s.before)
	l, store := s.landing()
	f := &faults{}
	e := newEngine(t, root, store, f)
	must(t, e.Check(context.Background(), l.Steps))
	if p, err := e.Pending(); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
	if ok, err := e.Recover(context.Background(), nil, nil); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	for _, op := range f.Trace() {
		word, _, _ := strings.Cut(op, " ")
		if !slices.Contains([]string{"folder", "self", "lstat", "readdir", "opendir", "pin", "writers", "journal"}, word) {
			t.Errorf("looking did %q", op)
		}
	}
	if entries, err := os.ReadDir(state); err != nil || len(entries) > 0 {
		t.Errorf("state: %v, %v", entries, err)
	}
	if _, err := os.Lstat(filepath.Join(state, lockName)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a lock was taken")
	}
}
