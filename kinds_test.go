package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/textdiff/textdifftest"
	"pgregory.net/rapid"
)

type tree = textdifftest.Tree

// replant makes dir hold tree and nothing else, git's own folder apart. What is there already and the same stays untouched.
func replant(dir string, want tree) error {
	have, err := plant(dir)
	if err != nil {
		return err
	}
	for name := range have {
		if have[name] == want[name] {
			continue
		}
		p := filepath.Join(dir, name)
		if err := os.Remove(p); err != nil {
			return err
		}
		for p = filepath.Dir(p); p != dir; p = filepath.Dir(p) {
			if os.Remove(p) != nil {
				break // something else is in there
			}
		}
	}
	for name, n := range want {
		if have[name] == n {
			continue
		}
		p := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(p), 0o755)
		switch {
		case err != nil:
		case n.Mode == "120000":
			err = os.Symlink(n.Data, p)
		case n.Mode == "100755":
			err = os.WriteFile(p, []byte(n.Data), 0o755)
		default:
			err = os.WriteFile(p, []byte(n.Data), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plant reads what replant made.
func plant(dir string) (tree, error) {
	found := tree{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && p == filepath.Join(dir, ".git") {
				return fs.SkipDir
			}
			return err
		}
		name, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			to, err := os.Readlink(p)
			found[name] = textdifftest.Link(to)
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		if found[name] = textdifftest.File(string(data)); info.Mode()&0o100 != 0 {
			found[name] = textdifftest.Executable(string(data))
		}
		return err
	})
	return found, err
}

// grows fails the test unless dir holds exactly want.
func (s *site) grows(when, dir string, want tree) {
	s.t.Helper()
	have, err := plant(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for name := range want {
		if _, ok := have[name]; !ok {
			s.t.Errorf("%s: %.300q is missing", when, name)
		}
	}
	for name, n := range have {
		if w, ok := want[name]; !ok || w != n {
			s.t.Errorf("%s: %.300q is %s of %d bytes %.80q; want %s of %d bytes %.80q", when, name, n.Mode, len(n.Data), n.Data, w.Mode, len(w.Data), w.Data)
		}
	}
}

// applies gives a patch to git apply in a new repository that holds only base.
func (s *site) applies(patch string, base, want tree) {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "fresh")
	if err := errors.Join(os.Mkdir(dir, 0o755), replant(dir, base)); err != nil {
		s.t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"apply", "--whitespace=nowarn", "-"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, s.env, strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Fatalf("git %v: %v: %.2000s", args, err, out)
		}
	}
	s.grows("the patch", dir, want)
}

// wholeWay proposes that base becomes want, and follows it through the program: the patch that is shown, landing, undo and
// redo. git's index stays what it is. The set lands by itself or waits, as policy has it.
func (s *site) wholeWay(shadow string, base, want tree) {
	s.t.Helper()
	if err := replant(shadow, want); err != nil {
		s.t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(s.repo, ".git", "index"))
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := s.start(shadow, "submit", "--json")
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 3 {
		s.t.Fatalf("submit: exit %d: %.2000s %v", code, out, err)
	}
	sets := decodeSets(s.t, string(out))
	if len(sets) != 1 {
		s.t.Fatalf("%d sets: %.1000s", len(sets), out)
	}
	id := fmt.Sprint(sets[0].ID)
	s.applies(s.correx(0, s.repo, "diff", id, "--patch"), base, want)
	if sets[0].State == "pending" {
		s.grows("while it waits", s.repo, base)
		s.correx(0, s.repo, "approve", id)
	}
	s.grows("landed", s.repo, want)
	s.correx(0, s.repo, "undo", id)
	s.grows("taken back", s.repo, base)
	s.correx(0, s.repo, "redo")
	s.grows("done again", s.repo, want)
	if now, err := os.ReadFile(filepath.Join(s.repo, ".git", "index")); err != nil || !bytes.Equal(index, now) {
		s.t.Errorf("git's index changed: %v", err)
	}
	s.correx(0, s.repo, "fsck")
}

// TestKinds takes every kind of change through the whole program, all in one set, beside files that stay.
func TestKinds(t *testing.T) {
	t.Parallel()
	base, want := tree{}, tree{}
	add := func(dir string, old, new tree) {
		for name, n := range old {
			base[dir+"/"+name] = n
		}
		for name, n := range new {
			want[dir+"/"+name] = n
		}
	}
	for i, c := range textdifftest.Cases() {
		add(fmt.Sprintf("%03d", i), c.Old, c.New)
		add("stays", tree{fmt.Sprintf("%03d", i): textdifftest.File("stays\r\n")}, tree{fmt.Sprintf("%03d", i): textdifftest.File("stays\r\n")})
	}
	for _, name := range textdifftest.OddNames() {
		one := tree{name: textdifftest.File(name)}
		add("edited", one, tree{name: textdifftest.File("now\n")})
		add("created", nil, one)
		add("gone", one, nil)
		add("from", tree{name: textdifftest.File("moved\n" + name)}, nil)
		add("to", nil, tree{name: textdifftest.File("moved\n" + name)})
	}
	s := newSite(t, func(repo string) error { return replant(repo, base) })
	shadow := s.shadow()
	s.grows("a new shadow", shadow, base)
	s.wholeWay(shadow, base, want)
	s.wholeWay(shadow, want, base)
}

// TestKindsAlone takes the kinds that meet no other on their way through the program one at a time, with no other file in
// the repository than those that the change is about.
func TestKindsAlone(t *testing.T) {
	t.Parallel()
	for _, c := range textdifftest.Cases() {
		if !slices.Contains([]string{"delete empty", "file to folder", "folder to file", "folder to symlink", "swap", "rename by case", "binary deleted"}, c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			s := newSite(t, func(repo string) error { return replant(repo, c.Old) })
			s.wholeWay(s.shadow(), c.Old, c.New)
		})
	}
}

// drawTree draws a small tree whose names meet each other: files where another draw has folders.
func drawTree(rt *rapid.T) tree {
	names := rapid.SampledFrom([]string{"a", "a/b", "a/b/c", "d e", "d e/f\t", "g\xe9", "g\xc3\xa9", "-h", "H", "h", "i/j/k/l", "i/j/m", "n\n"})
	piece := rapid.SampledFrom([]string{"one\n", "two\r\n", "three\r", "\x00", "\xff\xfe", "\ufeff", "\u2028", "\f\n", "tail", "--- a/x\n", "+++ b/x\n", "\n", textdifftest.Numbered(30)})
	t := tree{}
	for range rapid.IntRange(0, 9).Draw(rt, "nodes") {
		name := names.Draw(rt, "name")
		data := strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(rt, "pieces"), "")
		switch rapid.IntRange(0, 5).Draw(rt, "kind") {
		case 0:
			seat(t, name, textdifftest.Link("to "+name))
		case 1:
			seat(t, name, textdifftest.Executable(data))
		default:
			seat(t, name, textdifftest.File(data))
		}
	}
	return t
}

// seat makes room for a node: what it cannot stand beside goes.
func seat(t tree, name string, n textdifftest.Node) {
	maps.DeleteFunc(t, func(other string, _ textdifftest.Node) bool {
		return strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/")
	})
	t[name] = n
}

// reworked draws what becomes of a tree: things go, come, move, change kind and mode, and are edited.
func reworked(rt *rapid.T, old tree) tree {
	t := maps.Clone(old)
	for name, n := range drawTree(rt) {
		switch rapid.IntRange(0, 2).Draw(rt, "edit") {
		case 0:
			seat(t, name, n)
		case 1:
			for from, was := range old {
				if t[from] == was && from < name {
					delete(t, from)
					seat(t, name, was)
					break
				}
			}
		case 2:
			delete(t, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		switch n := t[name]; rapid.IntRange(0, 5).Draw(rt, "touch") {
		case 0:
			n.Data += "x"
			t[name] = n
		case 1:
			if n.Mode = map[string]string{"100644": "100755", "100755": "100644", "120000": "100644"}[n.Mode]; n.Mode != "" {
				t[name] = n
			}
		}
	}
	return t
}

// TestRandomTrees takes many random trees, each in a folder of its own, through generations of random changes. A failure is
// repeated by running it again: the seeds are the numbers of the folders.
func TestRandomTrees(t *testing.T) {
	t.Parallel()
	const folders, generations = 60, 4
	grown := rapid.Custom(func(rt *rapid.T) []tree {
		line := []tree{drawTree(rt)}
		for range generations {
			line = append(line, reworked(rt, line[len(line)-1]))
		}
		return line
	})
	ages := make([]tree, generations+1)
	for i := range ages {
		ages[i] = tree{"stays": textdifftest.File("stays\n")}
	}
	for seed := range folders {
		for i, t := range grown.Example(seed) {
			for name, n := range t {
				ages[i][fmt.Sprintf("seed%02d/%s", seed, name)] = n
			}
		}
	}
	s := newSite(t, func(repo string) error { return replant(repo, ages[0]) })
	shadow := s.shadow()
	for i := range generations {
		s.wholeWay(shadow, ages[i], ages[i+1])
	}
}
