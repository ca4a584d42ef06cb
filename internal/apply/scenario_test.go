package apply

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/faultfs"
)

// node is one file or symlink of a tree in memory.
type node struct {
	link bool
	text string
	perm uint32
}

func file(text string) node   { return node{text: text, perm: 0o644} }
func script(text string) node { return node{text: text, perm: 0o755} }
func lnk(target string) node  { return node{link: true, text: target} }

func (n node) pin() change.Pin {
	sum := sha256.Sum256([]byte(n.text))
	pin := change.Pin{Kind: change.KindFile, Perm: n.perm, Size: int64(len(n.text)), SHA256: hex.EncodeToString(sum[:])}
	if n.link {
		pin.Kind, pin.Perm = change.KindSymlink, 0
	}
	return pin
}

// layout is a tree: paths of files and symlinks.
type layout map[change.Path]node

// memory is a store of images.
type memory map[string]string

func (m memory) Open(sha string) (io.ReadCloser, error) {
	text, ok := m[sha]
	if !ok {
		return nil, fmt.Errorf("image %s: %w", sha, fs.ErrNotExist)
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (m memory) add(l layout) {
	for _, n := range l {
		m[n.pin().SHA256] = n.text
	}
}

// between returns the steps from one layout to another, and a store that holds both.
func between(before, after layout) ([]change.Step, memory) {
	store := memory{}
	store.add(before)
	store.add(after)
	paths := map[change.Path]bool{}
	for p := range before {
		paths[p] = true
	}
	for p := range after {
		paths[p] = true
	}
	var steps []change.Step
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		s := change.Step{Path: p, Base: change.Absent(), Result: change.Absent()}
		old, was := before[p]
		now, is := after[p]
		if was {
			s.Base = old.pin()
		}
		if is {
			s.Result = now.pin()
		}
		if !was || !is || old != now {
			steps = append(steps, s)
		}
	}
	return steps, store
}

func write(t *testing.T, root string, p change.Path, n node) {
	t.Helper()
	path := filepath.Join(root, string(p))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if n.link {
		if err := os.Symlink(n.text, path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(path, []byte(n.text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, os.FileMode(n.perm)); err != nil {
		t.Fatal(err)
	}
}

// build makes a new root holding l, and a state folder.
func build(t *testing.T, l layout) (root, state string) {
	t.Helper()
	base := faultfs.QuickDir(t)
	root, state = filepath.Join(base, "root"), filepath.Join(base, "state")
	for _, dir := range []string{root, state} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for p, n := range l {
		write(t, root, p, n)
	}
	return root, state
}

// read returns what root holds: files and symlinks, and folders apart.
func read(t *testing.T, root string) (layout, []string) {
	t.Helper()
	l, dirs := layout{}, []string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			dirs = append(dirs, rel)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			l[change.Path(rel)] = lnk(target)
			return err
		default:
			data, err := os.ReadFile(path)
			l[change.Path(rel)] = node{text: string(data), perm: uint32(info.Mode().Perm())}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, dirs
}

// foldersOf returns the folders that l implies.
func foldersOf(l layout) []string {
	set := map[string]bool{}
	for p := range l {
		for _, up := range p.Ancestors() {
			set[string(up)] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// emptied lists the folders that before has and after has not.
func emptied(before, after layout) []change.Path {
	var list []change.Path
	for _, dir := range foldersOf(before) {
		if !slices.Contains(foldersOf(after), dir) {
			list = append(list, change.Path(dir))
		}
	}
	return list
}

// expectTree compares root with want: files with permission bits, links, folders.
func expectTree(t *testing.T, root string, want layout) {
	t.Helper()
	got, dirs := read(t, root)
	for p, n := range want {
		if g, ok := got[p]; !ok {
			t.Errorf("%q is missing", p)
		} else if g != n {
			t.Errorf("%q holds %+v, want %+v", p, g, n)
		}
	}
	for p, n := range got {
		if _, ok := want[p]; !ok {
			t.Errorf("%q is there: %+v", p, n)
		}
	}
	if folders := foldersOf(want); !slices.Equal(dirs, folders) {
		t.Errorf("folders %q, want %q", dirs, folders)
	}
}

func expectNoJournal(t *testing.T, state string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(state, journalName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the journal is there: %v", err)
	}
}

// scenario is a landing from one layout to another.
type scenario struct {
	name          string
	before, after layout
}

// scenarios hold every shape that a landing can have.
var scenarios = []scenario{
	{"create", layout{"x": file("x")}, layout{"x": file("x"), "n": file("new")}},
	{"create deep", layout{"x": file("x")}, layout{"x": file("x"), "a/b/c": file("new"), "a/b/d": script("new"), "a/l": lnk("b/c")}},
	{"edit", layout{"a/f": file("old"), "x": file("x")}, layout{"a/f": file("new"), "x": file("x")}},
	{"edit private", layout{"f": {text: "old", perm: 0o640}}, layout{"f": {text: "new", perm: 0o640}}},
	{"chmod", layout{"f": file("same")}, layout{"f": script("same")}},
	{"delete", layout{"a/f": file("old"), "a/g": file("g")}, layout{"a/g": file("g")}},
	{"delete the last", layout{"a/b/f": file("old"), "x": file("x")}, layout{"x": file("x")}},
	{"empty files", layout{"gone": file(""), "f": file("")}, layout{"new": file(""), "f": file("x")}},
	{"rename", layout{"old/f": file("same"), "x": file("x")}, layout{"new/f": file("same"), "x": file("x")}},
	{"symlink retarget", layout{"l": lnk("a")}, layout{"l": lnk("b")}},
	{"symlinks", layout{"gone": lnk("a"), "x": file("x")}, layout{"new": lnk("../b"), "x": file("x")}},
	{"file to symlink", layout{"f": file("text")}, layout{"f": lnk("target")}},
	{"symlink to file", layout{"f": lnk("target")}, layout{"f": file("text")}},
	{"folder to file", layout{"pkg/a": file("1"), "pkg/b": file("2"), "pkg/sub/c": lnk("x")}, layout{"pkg": file("now a file")}},
	{"folder to symlink", layout{"pkg/a": file("1")}, layout{"pkg": lnk("elsewhere")}},
	{"file to folder", layout{"flat": file("f")}, layout{"flat/in": file("in"), "flat/sub/deep": script("d"), "flat/l": lnk("in")}},
	{"symlink to folder", layout{"flat": lnk("f")}, layout{"flat/in": file("in")}},
	{"odd names", layout{"a b/-x": file("1"), "\xff\n": file("2")}, layout{"a b/-x": file("3"), "\"q\"\t": file("4")}},
	{
		"all at once",
		layout{"d/edit": file("1"), "d/gone": file("2"), "pkg/a": file("3"), "flat": file("4"), "mv": file("5"), "l": lnk("6"), "m": file("7")},
		layout{"d/edit": file("one"), "pkg": file("p"), "flat/in": file("i"), "to/mv": file("5"), "l": lnk("six"), "m": script("7"), "n": file("n")},
	},
}

func (s scenario) landing() (Landing, memory) {
	steps, store := between(s.before, s.after)
	return Landing{ID: "e-" + s.name, Set: 7, Digest: "d", Steps: steps, RemoveFolders: emptied(s.before, s.after)}, store
}

// landed is what is in the tree after the landing: the layout after it, with permission bits as git and the umask make
// them.
func (s scenario) landed(t *testing.T) layout {
	t.Helper()
	mask := umask(t)
	out := layout{}
	for p, n := range s.after {
		old, ok := s.before[p]
		runs := n.perm&0o100 != 0
		switch {
		case n.link:
		case (!ok || old.link) && runs:
			n.perm = 0o777 &^ mask
		case !ok || old.link:
			n.perm = 0o666 &^ mask
		case runs == (old.perm&0o100 != 0):
			n.perm = old.perm
		case runs:
			n.perm = old.perm | old.perm&0o444>>2
		default:
			n.perm = old.perm &^ 0o111
		}
		out[p] = n
	}
	return out
}

// umask finds the umask out by making a file.
func umask(t *testing.T) uint32 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "probe")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o777)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return 0o777 &^ uint32(info.Mode().Perm())
}

// counter is a commit that counts its calls.
type counter struct {
	n       int
	landed  []change.Step
	removed []change.Folder
}

func (c *counter) commit(l Landed) error {
	c.n++
	c.landed, c.removed = l.Steps, l.Removed
	return nil
}

func TestLand(t *testing.T) {
	for _, slow := range []bool{false, true} {
		for _, s := range scenarios {
			t.Run(fmt.Sprintf("%s/slow %v", s.name, slow), func(t *testing.T) { landOne(t, s, &faults{slow: slow}) })
		}
	}
}

func landOne(t *testing.T, s scenario, f *faults) {
	root, state := build(t, s.before)
	l, store := s.landing()
	e := newEngine(t, root, store, f)
	if err := e.Check(context.Background(), l.Steps); err != nil {
		t.Fatal(err)
	}
	expectTree(t, root, s.before)
	var c counter
	out, err := e.Land(context.Background(), l, c.commit)
	if err != nil || c.n != 1 {
		t.Fatalf("Land: %v, %d commits", err, c.n)
	}
	want := s.landed(t)
	expectTree(t, root, want)
	expectNoJournal(t, state)
	if len(out.Kept) != 0 || len(out.Left) != 0 {
		t.Errorf("kept %v, left %v", out.Kept, out.Left)
	}
	if len(out.Landed) != len(l.Steps) || len(c.landed) != len(l.Steps) {
		t.Fatalf("%d steps landed, %d committed, want %d", len(out.Landed), len(c.landed), len(l.Steps))
	}
	for i, step := range out.Landed {
		if c.landed[i] != step {
			t.Errorf("committed %+v, landed %+v", c.landed[i], step)
		}
		if n, ok := want[step.Path]; ok != step.Result.Exists() || ok && n.pin() != step.Result {
			t.Errorf("step %q landed as %+v, the tree holds %+v", step.Path, step.Result, n)
		}
	}
	var made []string
	for _, p := range out.Folders {
		made = append(made, string(p))
	}
	wantMade := foldersMade(s)
	if !slices.Equal(made, wantMade) {
		t.Errorf("made %q, want %q", made, wantMade)
	}
	undo(t, s, root, out)
}

// foldersMade are the folders that creates need; those of a file that becomes a folder come with it.
func foldersMade(s scenario) []string {
	var list []string
	for _, dir := range foldersOf(s.after) {
		part := func(p change.Path) bool { return change.Path(dir).Under(p) }
		_, isFile := s.before[change.Path(dir)]
		inside := isFile
		for p := range s.before {
			inside = inside || part(p)
		}
		if !inside && !slices.Contains(foldersOf(s.before), dir) {
			list = append(list, dir)
		}
	}
	return list
}

// undo takes a landing back by another one.
func undo(t *testing.T, s scenario, root string, done Outcome) {
	t.Helper()
	_, store := s.landing()
	back := Landing{ID: "e-undo", Set: 8, RestorePerm: true, RemoveFolders: done.Folders}
	for _, step := range done.Landed {
		back.Steps = append(back.Steps, change.Step{Path: step.Path, Base: step.Result, Result: step.Base})
	}
	e := newEngine(t, root, store, nil)
	var c counter
	if _, err := e.Land(context.Background(), back, c.commit); err != nil {
		t.Fatalf("undo: %v", err)
	}
	expectTree(t, root, s.before)
}

func TestLargeContentIsStreamed(t *testing.T) {
	big := string(bytes.Repeat([]byte("0123456789abcdef"), 1<<16))
	s := scenario{"big", layout{"f": file(big)}, layout{"f": file(big + "tail"), "g": file(big + "other")}}
	landOne(t, s, &faults{})
}
