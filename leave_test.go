package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/textdiff/textdifftest"
)

// gitsOwn are spellings that some file system, or git itself, takes for git's own folder.
func gitsOwn() []string {
	return []string{
		".GIT", ".Git", "git~1", "GIT~1", "GIT~2", "git~10", ".git ", ".git.", ".git . .", ".git::$INDEX_ALLOCATION", ".g\u200cit", ".gi\u00adt", "\ufeff.git",
		".git\u200f", ".g\u0131t", ".\uff47it", ".gIt\\config", ".g\u2060it", ".git\u200d.", ".g\u034fit",
	}
}

// TestSpellingsOfGit: no change below git's own folder is let in under another spelling, as a folder or a file, at the root
// or deep in the tree, by anybody; and no such name is made.
func TestSpellingsOfGit(t *testing.T) {
	t.Parallel()
	s := newSite(t, files(1))
	s.correx(0, s.repo, "mode", "yolo", "--yes")
	shadow := s.shadow()
	before, err := readTree(s.repo)
	if err != nil {
		t.Fatal(err)
	}
	names := gitsOwn()
	for i, name := range names {
		for _, p := range []string{filepath.Join("file", fmt.Sprint(i), name), filepath.Join("folder", fmt.Sprint(i), "sub", name, "config")} {
			p = filepath.Join(shadow, p)
			if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte("[core]\n"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	sets := decodeSets(t, s.correx(5, shadow, "submit", "--each", "--json"))
	for _, set := range sets {
		if set.State != "denied" {
			t.Errorf("%s is %s", set.Files[0].Path, set.State)
		}
		s.correx(6, s.repo, "approve", fmt.Sprint(set.ID))
	}
	if len(sets) != 2*len(names) {
		t.Errorf("%d sets for %d names", len(sets), 2*len(names))
	}
	if now, err := readTree(s.repo); err != nil || len(before.differs(now)) > 0 {
		t.Errorf("changed: %q %v", before.differs(now), err)
	}
}

// TestPathsNamedOutside: no command takes a path that leaves the repository or the shadow.
func TestPathsNamedOutside(t *testing.T) {
	t.Parallel()
	s := newSite(t, files(2))
	shadow := s.shadow()
	s.put(filepath.Join(s.dir, "outside"), "outside\n")
	for i := range 2 {
		s.put(filepath.Join(shadow, fmt.Sprintf("f%d.txt", i)), "new\n")
	}
	s.correx(3, shadow, "submit")
	for _, path := range []string{"..", "../outside", "/etc/passwd", filepath.Join(s.dir, "outside"), "a/../../outside", "f0.txt/../../outside", ".git/../../outside"} {
		for _, c := range []struct {
			dir  string
			args []string
		}{
			{shadow, []string{"submit", path}}, {shadow, []string{"shadow", "reset", path}}, {s.repo, []string{"approve", "1", "--only", path}},
		} {
			s.correx(2, c.dir, c.args...)
		}
	}
	s.holds(filepath.Join(s.repo, "f0.txt"), "base\n")
	s.holds(filepath.Join(shadow, "f0.txt"), "new\n")
	s.holds(filepath.Join(s.dir, "outside"), "outside\n")
	s.correx(0, s.repo, "approve", "1")
}

// swap puts something else in the place of dir, the folder that a set is about, or of a folder above it. What stood there is
// moved aside, and outside is a folder with the same content.
type swap struct {
	name, path string
	// exit is what landing ends with: 5 behind a link, 6 where something else than the base stands.
	exit int
	do   func(p, outside string) error
}

func swaps() []swap {
	link := func(to string) func(string, string) error {
		return func(p, outside string) error { return os.Symlink(filepath.Join(outside, to), p) }
	}
	return []swap{
		{"folder becomes a link out", "up/dir", 5, link("up/dir")},
		{"parent becomes a link out", "up", 5, link("up")},
		{"folder becomes a link to git's own", "up/dir", 5, func(p, _ string) error { return os.Symlink("../.git", p) }},
		{"folder becomes a link to itself, aside", "up/dir", 5, func(p, _ string) error { return os.Symlink("dir.aside", p) }},
		{"folder becomes a link to the root", "up/dir", 5, func(p, _ string) error { return os.Symlink("..", p) }},
		{"folder becomes a file", "up/dir", 6, func(p, _ string) error { return os.WriteFile(p, []byte("file\n"), 0o644) }},
		{"folder is gone", "up/dir", 6, func(string, string) error { return nil }},
		{"folder becomes a repository of its own", "up/dir", 5, func(p, outside string) error {
			return errors.Join(os.CopyFS(p, os.DirFS(filepath.Join(outside, "up/dir"))), exec.Command("git", "init", "-q", p).Run())
		}},
		{"file becomes a link out", "up/dir/edited", 6, link("up/dir/edited")},
		{"file becomes a link to git's configuration", "up/dir/edited", 6, func(p, _ string) error { return os.Symlink("../../.git/config", p) }},
		{"file becomes a folder", "up/dir/edited", 6, func(p, _ string) error { return os.MkdirAll(filepath.Join(p, "x"), 0o755) }},
	}
}

// TestSwappedInBetween: what a person's disk becomes between the card and landing, undo and redo leads nothing out of the
// repository, nor into git's own folder: it is refused, and works once the folder is back.
func TestSwappedInBetween(t *testing.T) {
	t.Parallel()
	base := tree{"up/dir/edited": textdifftest.File("old\n"), "up/dir/gone": textdifftest.File("gone\n"), "up/dir/kept": textdifftest.File("kept\n")}
	want := tree{"up/dir/edited": textdifftest.File("new\n"), "up/dir/made": textdifftest.File("made\n"), "up/dir/kept": textdifftest.File("kept\n")}
	for _, w := range swaps() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(repo string) error { return replant(repo, base) })
			outside := filepath.Join(s.dir, "outside")
			if err := errors.Join(os.Mkdir(outside, 0o755), replant(outside, base)); err != nil {
				t.Fatal(err)
			}
			shadow := s.shadow()
			if err := replant(shadow, want); err != nil {
				t.Fatal(err)
			}
			s.correx(3, shadow, "submit")
			// around runs a command while the swap is in effect, and without it.
			around := func(args ...string) {
				t.Helper()
				p := filepath.Join(s.repo, w.path)
				if err := errors.Join(os.Rename(p, p+".aside"), w.do(p, outside)); err != nil {
					t.Fatal(err)
				}
				before := [3]snapshot{s.tree(s.repo), s.tree(outside), s.gits()}
				s.correx(w.exit, s.repo, args...)
				for i, now := range [3]snapshot{s.tree(s.repo), s.tree(outside), s.gits()} {
					if diff := before[i].differs(now); len(diff) > 0 {
						t.Errorf("%v changed %q", args, diff)
					}
				}
				if err := errors.Join(os.RemoveAll(p), os.Rename(p+".aside", p)); err != nil {
					t.Fatal(err)
				}
			}
			around("approve", "1")
			id := fmt.Sprint(decodeSets(t, s.correx(3, shadow, "submit", "--json"))[0].ID)
			s.correx(0, s.repo, "approve", id)
			s.grows("landed", s.repo, want)
			if err := replant(outside, want); err != nil {
				t.Fatal(err)
			}
			around("undo", id)
			s.correx(0, s.repo, "undo", id)
			s.grows("taken back", s.repo, base)
			if err := replant(outside, base); err != nil {
				t.Fatal(err)
			}
			around("redo")
			s.correx(0, s.repo, "redo")
			s.grows("done again", s.repo, want)
			s.correx(0, s.repo, "fsck")
		})
	}
}

func (s *site) tree(dir string) snapshot {
	s.t.Helper()
	t, err := readTree(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

// gits is what git keeps of the repository, without what correx keeps there.
func (s *site) gits() snapshot {
	t := s.tree(filepath.Join(s.repo, ".git"))
	for p := range t {
		if p == "correx" || strings.HasPrefix(p, "correx/") {
			delete(t, p)
		}
	}
	return t
}
