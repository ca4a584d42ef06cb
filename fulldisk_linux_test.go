package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/correx/correx/internal/textdiff/textdifftest"
)

// disk is a small file system of its own, which can be filled.
type disk struct {
	t       *testing.T
	dir     string
	ballast string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{t: t, dir: t.TempDir()}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("a full disk is not tried: no small file system can be mounted here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	d.ballast = filepath.Join(d.dir, "ballast")
	return d
}

// leave fills the disk but for so many bytes. Less than none makes room. The ballast is cut, not removed: another test's
// child process may hold it for a moment.
func (d *disk) leave(free int64) {
	d.t.Helper()
	var fs syscall.Statfs_t
	f, err := os.Create(d.ballast)
	if err == nil {
		err = syscall.Statfs(d.dir, &fs)
	}
	if err == nil && free >= 0 {
		err = syscall.Fallocate(int(f.Fd()), 0, 0, int64(fs.Bavail)*fs.Bsize-free)
	}
	if err == nil {
		err = errors.Join(f.Close(), syscall.Statfs(d.dir, &fs))
	}
	if free < 0 && err == nil {
		return
	}
	if left := int64(fs.Bavail) * fs.Bsize; err != nil || left != free {
		d.t.Fatalf("%d bytes are left, want %d: %v", left, free, err)
	}
}

// onFullDisk runs a command with no room, and again with a page more each time, until it does its work. Each time before, it
// says what is missing, the tree and git's index are what they were, and everything can be read.
func (s *site) onFullDisk(d *disk, want int, dir string, args ...string) string {
	s.t.Helper()
	before, err := readTree(s.repo)
	if err != nil {
		s.t.Fatal(err)
	}
	index := filepath.Join(s.repo, ".git", "index")
	indexed, err := os.ReadFile(index)
	if err != nil {
		s.t.Fatal(err)
	}
	const page, most = 4096, 4 << 20
	d.leave(0)
	if err := os.WriteFile(filepath.Join(d.dir, "probe"), make([]byte, 1), 0o600); !errors.Is(err, syscall.ENOSPC) {
		s.t.Fatalf("the disk is not full: %v", err)
	}
	for free := int64(0); free < most; free += page {
		d.leave(free)
		cmd := s.start(dir, args...)
		var out, words bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &words
		_ = cmd.Run() // the exit code is looked at
		if code := cmd.ProcessState.ExitCode(); code == want {
			s.t.Logf("correx %v: %d KiB", args, free/1024)
			d.leave(-1)
			return out.String()
		} else if code != 1 || !strings.Contains(out.String()+words.String(), "no space left on device") {
			s.t.Fatalf("correx %v with %d bytes left: exit %d: %s%s", args, free, code, out.String(), words.String())
		}
		now, err := readTree(s.repo)
		if err != nil {
			s.t.Fatal(err)
		}
		if diff := before.differs(now); len(diff) > 0 {
			s.t.Fatalf("correx %v with %d bytes left changed %q", args, free, diff)
		}
		if b, err := os.ReadFile(index); err != nil || !bytes.Equal(b, indexed) {
			s.t.Fatalf("correx %v with %d bytes left changed git's index: %v", args, free, err)
		}
		s.correx(0, s.repo, "status")
		s.correx(0, s.repo, "fsck")
	}
	s.t.Fatalf("correx %v does not do its work with %d bytes left", args, int64(most))
	return ""
}

// TestEveryCommandOnAFullDisk takes each command that writes over a disk that is full, then has a page, then two, until it can do its work,
// so that every step meets a full disk once. What failed can be done afterwards, and counts once.
func TestEveryCommandOnAFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	base, want := tree{}, tree{}
	for i := range 5 {
		name := fmt.Sprintf("d%d/f%d", i%2, i)
		base[name] = textdifftest.File(textdifftest.Numbered(400))
		want[name] = textdifftest.File(textdifftest.Numbered(500, 3, 77))
	}
	delete(want, "d0/f0")
	want["new/deep/f"] = textdifftest.Executable(textdifftest.Numbered(900))
	want["link"] = textdifftest.Link("new")
	s := newSiteIn(t, d.dir, func(repo string) error { return replant(repo, base) })

	shadow := strings.TrimSpace(s.onFullDisk(d, 0, s.repo, "shadow", "open"))
	s.grows("a new shadow", shadow, base)
	if err := replant(shadow, want); err != nil {
		t.Fatal(err)
	}
	sets := decodeSets(t, s.onFullDisk(d, 3, shadow, "submit", "--json"))
	if len(sets) != 1 || len(sets[0].Files) != 7 {
		t.Fatalf("submitted: %+v", sets)
	}
	id := fmt.Sprint(sets[0].ID)
	s.onFullDisk(d, 0, s.repo, "approve", id)
	s.grows("landed", s.repo, want)
	s.onFullDisk(d, 0, s.repo, "undo", id)
	s.grows("taken back", s.repo, base)
	s.onFullDisk(d, 0, s.repo, "redo")
	s.grows("done again", s.repo, want)

	// A small edit lands by itself: the same from the submission on.
	s.put(filepath.Join(shadow, "d0", "f2"), textdifftest.Numbered(500, 3, 77, 80))
	s.onFullDisk(d, 0, shadow, "submit")
	s.holds(filepath.Join(s.repo, "d0", "f2"), textdifftest.Numbered(500, 3, 77, 80))

	if err := os.Remove(filepath.Join(shadow, "d1", "f1")); err != nil {
		t.Fatal(err)
	}
	last := fmt.Sprint(decodeSets(t, s.correx(3, shadow, "submit", "--json"))[0].ID)
	s.onFullDisk(d, 0, s.repo, "reject", last, "--reason", "no")
	if got := s.state(last); got != "rejected" {
		t.Errorf("#%s is %s", last, got)
	}
	s.onFullDisk(d, 0, shadow, "shadow", "reset")
	s.holds(filepath.Join(shadow, "d1", "f1"), textdifftest.Numbered(500, 3, 77))

	s.onFullDisk(d, 0, s.repo, "init")
	s.git("add", ".correx.toml")
	s.correx(0, s.repo, "hook", "pre-commit") // what init wrote needs nobody's answer
	s.put(filepath.Join(s.repo, "large"), textdifftest.Numbered(20000))
	s.git("add", "large")
	s.onFullDisk(d, 3, s.repo, "hook", "pre-commit")
	s.correx(0, s.repo, "approve", "--staged")
	s.correx(0, s.repo, "hook", "pre-commit")
	s.correx(0, s.repo, "fsck")
}
