//go:build unix

package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
)

// TestOpenCopies checks what a copy keeps of the real file, what its base says, and that the two share nothing.
func TestOpenCopies(t *testing.T) {
	b := newBox(t)
	big := strings.Repeat("0123456789abcdef", 100000)
	dir := b.repo("r", "plain", "1\n", "exec", "x\n", "secret", "s\n", "read-only", "r\n", "big", big, "empty", "", "linked", "l\n", "setid", "s\n")
	real := func(name string) string { return filepath.Join(dir, name) }
	for name, perm := range map[string]fs.FileMode{"exec": 0o755, "secret": 0o600, "read-only": 0o444, "setid": 0o755 | fs.ModeSetuid} {
		must(t, os.Chmod(real(name), perm))
	}
	must(t, os.Link(real("linked"), b.path("other")))
	old := time.Unix(1000000000, 123456789)
	must(t, os.Chtimes(real("plain"), old, old))
	must(t, os.Symlink("no/where", real("dangling")))
	must(t, os.Symlink(real("secret"), real("absolute")))
	before := fingerprint(t, dir)
	s, report := b.open(dir, "s-1")
	wantSameTree(t, "real tree", before, fingerprint(t, dir))
	if report.Files != 10 || report.Backend != BackendCopy || len(report.LeftOut) != 0 {
		t.Errorf("report: %+v", report)
	}
	for _, f := range b.source(dir).Files {
		name := string(f.Path)
		a, err := os.Lstat(real(name))
		must(t, err)
		c, err := os.Lstat(filepath.Join(s.Tree(), name))
		must(t, err)
		if os.SameFile(a, c) {
			t.Errorf("%q is the real file itself", name)
		}
		base, err := s.Base(f.Path)
		must(t, err)
		if a.Mode().Type() == fs.ModeSymlink {
			target, _ := os.Readlink(filepath.Join(s.Tree(), name))
			want, _ := os.Readlink(real(name))
			if target != want || base != (change.Pin{Kind: change.KindSymlink, Size: int64(len(want)), SHA256: sha(want)}) {
				t.Errorf("%q leads to %q, base %+v", name, target, base)
			}
			continue
		}
		if c.Mode() != a.Mode().Perm() || !c.ModTime().Equal(a.ModTime()) {
			t.Errorf("%q is %v of %v, the real one %v of %v", name, c.Mode(), c.ModTime(), a.Mode(), a.ModTime())
		}
		text := b.read(s.Tree(), name)
		perm := uint32(a.Mode().Perm())
		if name == "setid" {
			perm |= 0o4000
		}
		want := change.Pin{Kind: change.KindFile, Perm: perm, Size: int64(len(text)), SHA256: sha(text)}
		if text != b.read(dir, name) || base != want {
			t.Errorf("%q: base %+v, want %+v", name, base, want)
		}
	}
	b.agent(s, "linked", "2\n")
	if b.read(dir, "linked") != "l\n" || b.read(b.path("other")) != "l\n" {
		t.Error("a write in the shadow reached the real file")
	}
	for _, name := range []string{b.path("shadows", "s-1"), b.path("state", "s-1")} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
	for _, name := range []string{b.path("shadows", "s-1", MarkerName), b.path("state", "s-1", manifestName)} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestOpenUmask checks that the permission bits are the real file's under any umask.
func TestOpenUmask(t *testing.T) {
	b := newBox(t)
	src := b.source(b.repo("r", "a", "1\n", "x", "2\n"))
	must(t, os.Chmod(filepath.Join(src.Root, "x"), 0o777))
	for i, mask := range []int{0o022, 0o077, 0} {
		old := syscall.Umask(mask)
		s, _ := b.openWith(src, b.options(fmt.Sprintf("s-%d", i)))
		if got := syscall.Umask(old); got != mask {
			t.Fatalf("umask %03o was not set", mask)
		}
		for name, want := range map[string]fs.FileMode{"a": 0o644, "x": 0o777} {
			if info, err := os.Stat(filepath.Join(s.Tree(), name)); err != nil || info.Mode() != want {
				t.Errorf("umask %03o: %q is %v, %v", mask, name, info.Mode(), err)
			}
		}
	}
}

// TestOpenTwice checks that a session has one shadow, that two sessions know nothing of each other, and that a session can
// be opened again after it was closed.
func TestOpenTwice(t *testing.T) {
	b := newBox(t)
	src := b.source(b.repo("r", "a", "1\n"))
	s, _ := b.openWith(src, b.options("s-1"))
	other, _ := b.openWith(src, b.options("s-2"))
	b.agent(s, "mine", "x")
	if _, _, err := Open(t.Context(), src, b.options("s-1")); !errors.Is(err, ErrExists) {
		t.Fatalf("opened twice: %v", err)
	}
	if b.read(s.Tree(), "mine") != "x" {
		t.Error("the second attempt harmed the first shadow")
	}
	must(t, s.Close(t.Context()))
	if r := b.scan(other, src.Root); len(r.Changed) != 0 {
		t.Errorf("the other session: %+v", r.Changed)
	}
	s, _ = b.openWith(src, b.options("s-1"))
	if r := b.scan(s, src.Root); len(r.Changed) != 0 {
		t.Errorf("opened anew: %+v", r.Changed)
	}
}

func TestOpenAtOnce(t *testing.T) {
	b := newBox(t)
	src := b.source(b.repo("r", "a", "1\n"))
	var wait sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wait.Go(func() {
			s, _, err := Open(context.Background(), src, b.options("s-1"))
			if errs[i] = err; err == nil {
				errs[i] = s.Release()
			}
		})
	}
	wait.Wait()
	opened := 0
	for _, err := range errs {
		if err == nil {
			opened++
		} else if !errors.Is(err, ErrExists) {
			t.Error(err)
		}
	}
	if opened != 1 {
		t.Errorf("%d of 8 opened it", opened)
	}
}

// TestOpenStopped ends an Open after each file in turn: nothing stays.
func TestOpenStopped(t *testing.T) {
	b := newBox(t)
	var files []string
	for i := range 70 {
		files = append(files, fmt.Sprintf("d%d/f%d", i%5, i), "1\n")
	}
	src := b.source(b.repo("r", files...))
	before := fingerprint(t, src.Root)
	for k := 0; ; k++ {
		ctx, cancel := context.WithCancel(t.Context())
		o := b.options("s-1")
		calls, last := 0, 0
		o.Progress = func(done, total int) {
			if done < last || done > total || total != 70 {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
			if calls++; calls == k {
				cancel()
			}
		}
		if k == 0 {
			cancel()
		}
		s, _, err := Open(ctx, src, o)
		cancel()
		if err == nil {
			must(t, s.Close(t.Context()))
			if last != 70 || k < 2 {
				t.Errorf("progress ended at %d, after %d calls", last, k)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for _, left := range []string{b.path("shadows", "s-1"), b.path("state", "s-1")} {
			if _, err := os.Lstat(left); !os.IsNotExist(err) {
				t.Errorf("stopped at %d: %q is left: %v", k, left, err)
			}
		}
	}
	wantSameTree(t, "real tree", before, fingerprint(t, src.Root))
}

// TestOpenInside has the folder of the shadows inside the real tree, as some agents want it.
func TestOpenInside(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n")
	o := b.options("s-1")
	o.Parent = filepath.Join(dir, ".agent", "worktrees")
	b.openWith(b.source(dir), o)
	o.Session, o.State = "s-2", b.path("state", "s-2")
	s, report := b.openWith(b.source(dir), o)
	if report.Files != 1 {
		t.Errorf("a shadow of the shadows: %+v", report)
	}
	if m, ok, err := Locate(s.Tree()); err != nil || !ok || m.Session != "s-2" {
		t.Errorf("%+v, %v, %v", m, ok, err)
	}
}

// TestOpenWhileWriting opens shadows while the developer saves: every base is what was really copied.
func TestOpenWhileWriting(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "big", strings.Repeat("x", 300<<10), "d/b", "1\n")
	src := b.source(dir)
	stop := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			text := []byte(strings.Repeat(fmt.Sprint(i%10), 1+i%9))
			err := errors.Join(os.WriteFile(filepath.Join(dir, "a"), text, 0o644),
				os.WriteFile(filepath.Join(dir, "big"), []byte(strings.Repeat("y", 200<<10+i%7*40000)), 0o644),
				os.WriteFile(filepath.Join(dir, "tmp"), text, 0o644), os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, "d/b")))
			if i%3 == 0 {
				err = errors.Join(err, os.Remove(filepath.Join(dir, "d/b")))
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	for i := range 30 {
		s, _ := b.openWith(src, b.options(fmt.Sprintf("s-%d", i)))
		for _, p := range []change.Path{"a", "big", "d/b"} {
			base, err := s.Base(p)
			must(t, err)
			root, err := s.Root()
			must(t, err)
			pin, err := root.Pin(p, nil)
			must(t, err)
			if !pin.SameForGit(base) {
				t.Errorf("%q: base %+v, copied %+v", p, base, pin)
			}
		}
		if r, err := s.Scan(t.Context(), ScanOptions{}); err != nil || len(r.Changed) != 0 {
			t.Errorf("%v, %+v", err, r.Changed)
		}
		must(t, s.Close(t.Context()))
	}
	close(stop)
	must(t, <-done)
}

func TestOpenUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "shut", "1\n", "d/b", "1\n")
	src := b.source(dir)
	must(t, errors.Join(os.Chmod(filepath.Join(dir, "shut"), 0), os.Chmod(filepath.Join(dir, "d"), 0)))
	defer os.Chmod(filepath.Join(dir, "d"), 0o755)
	s, report := b.openWith(src, b.options("s-1"))
	if len(report.LeftOut) != 2 || report.LeftOut[0].Path != "d/b" || report.LeftOut[1].Reason != Unreadable {
		t.Errorf("%+v", report)
	}
	b.agent(s, "shut", "x")
	if r, err := s.Scan(t.Context(), ScanOptions{}); err != nil || strings.Join(words(r.Changed), ",") != "shut file left-out" {
		t.Errorf("%v, %+v", err, r.Changed)
	}
}

func TestReadInfo(t *testing.T) {
	b := newBox(t)
	o := b.options("s-1")
	o.Name, o.Seq = "n", 7
	src := b.source(b.repo("r\xff", "a", "1\n", "b", "2\n"))
	s, _ := b.openWith(src, o)
	want := Info{
		Session: "s-1", Agent: "agent", Name: "n", Backend: BackendCopy, Tree: b.path("shadows", "s-1", "r\xff"),
		GitDir: src.GitDir, CommonDir: src.CommonDir, Worktree: "w-1", Seq: 7, Files: 2,
	}
	if got, err := ReadInfo(o.State); err != nil || got != want || s.Info() != want || s.Seq() != 7 {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// TestCloseStubborn closes shadows with what agents leave behind.
func TestCloseStubborn(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n")
	before := fingerprint(t, dir)
	s, _ := b.open(dir, "s-1")
	b.agent(s, "d/e/f", "x", "g/h", "x")
	must(t, os.Symlink(dir, filepath.Join(s.Tree(), "to-real")))
	must(t, syscall.Mkfifo(filepath.Join(s.Tree(), "fifo"), 0))
	must(t, errors.Join(os.Chmod(filepath.Join(s.Tree(), "d/e"), 0o500), os.Chmod(filepath.Join(s.Tree(), "d"), 0o000)))
	must(t, s.Close(t.Context()))
	if names, err := os.ReadDir(b.path("shadows")); err != nil || len(names) != 0 {
		t.Errorf("left: %v, %v", names, err)
	}
	wantSameTree(t, "real tree", before, fingerprint(t, dir))
	// Closing twice, and without a state folder, is no different.
	must(t, s.Close(t.Context()))
	if err := Discard("s-2", b.path("shadows", "s-1"), b.path("state", "s-1")); err == nil {
		t.Error("another session's folders were discarded")
	}
	s, _ = b.open(dir, "s-3")
	must(t, os.Rename(b.path("shadows", "s-3"), b.path("shadows", "s-4")))
	if err := Discard("s-4", b.path("shadows", "s-4"), b.path("state", "s-4")); err == nil {
		t.Error("a folder whose marker names another session was discarded")
	}
	if err := Discard("s-3", b.path("shadows", "s-3"), b.path("state", "s-3")); err != nil {
		t.Errorf("a session whose tree is gone: %v", err)
	}
	_ = s
}
