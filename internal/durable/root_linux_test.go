package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/correx/correx/internal/change"
)

func TestSpecialFilesAreNotOpened(t *testing.T) {
	r, dir := openTestRoot(t)
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A blocking open would hang here for ever.
	_, err := r.Open("fifo")
	var kind *KindError
	if !errors.As(err, &kind) || kind.Found != change.KindOther {
		t.Errorf("Open of a FIFO = %v", err)
	}
	if pin, err := r.Pin("fifo", nil); err != nil || pin != (change.Pin{Kind: change.KindOther}) {
		t.Errorf("Pin of a FIFO = %+v, %v", pin, err)
	}
	h := r.top.h
	if _, err := h.open("fifo"); !errors.Is(err, errNotRegular) {
		t.Errorf("a FIFO that appears after the look: %v", err)
	}
}

// TestWalkAgreesWithTheKernel compares the two ways of resolving a path.
func TestWalkAgreesWithTheKernel(t *testing.T) {
	r, dir := openTestRoot(t)
	put(t, filepath.Join(dir, "a/b/f"), "", 0o644)
	link(t, "b", filepath.Join(dir, "a/l"))
	for _, p := range []string{"a", "a/b", "a/b/f", "a/b/f/x", "a/l", "a/l/x", "none", "a/none/x"} {
		kernel, kerr := r.top.h.folder(p)
		walked, werr := r.top.h.walk(p)
		if (kerr == nil) != (werr == nil) || errors.Is(kerr, errNotFolder) != errors.Is(werr, errNotFolder) ||
			errors.Is(kerr, fs.ErrNotExist) != errors.Is(werr, fs.ErrNotExist) {
			t.Errorf("%q: openat2 %v, walk %v", p, kerr, werr)
		}
		if kerr == nil && werr == nil {
			k, err1 := kernel.self()
			w, err2 := walked.self()
			if k.Ino != w.Ino || err1 != nil || err2 != nil {
				t.Errorf("%q: inode %d and %d, %v, %v", p, k.Ino, w.Ino, err1, err2)
			}
			if err := errors.Join(kernel.close(), walked.close()); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestPathLongerThanTheSystemTakes reaches a file whose path no single system call accepts.
func TestPathLongerThanTheSystemTakes(t *testing.T) {
	r, _ := openTestRoot(t)
	p := change.Path(strings.Repeat(strings.Repeat("d", 200)+"/", 40) + "file")
	if err := r.WriteFile(p, strings.NewReader("deep"), 0o644, 0); err != nil {
		t.Fatal(err)
	}
	pin, err := r.Pin(p, nil)
	if err != nil || pin.SHA256 != digest("deep") {
		t.Fatalf("%+v, %v", pin, err)
	}
	if err := r.Remove(p); err != nil {
		t.Fatal(err)
	}
	for up := p.Dir(); up != ""; up = up.Dir() {
		if err := r.Remove(up); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSwappedParent looks through a name that alternates between a folder and a symlink to another one.
func TestSwappedParent(t *testing.T) {
	r, dir := openTestRoot(t)
	outside := t.TempDir()
	put(t, filepath.Join(outside, "f"), "outside", 0o644)
	put(t, filepath.Join(dir, "d/f"), "inside", 0o644)
	link(t, outside, filepath.Join(dir, "link"))
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, "d"), unix.AT_FDCWD, filepath.Join(dir, "link"), unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
		}
	})
	seen := map[string]int{}
	for range 5000 {
		pin, err := r.Pin("d/f", nil)
		var busy *BusyError
		if err != nil && !errors.As(err, &busy) {
			t.Error(err)
			break
		}
		seen[pin.SHA256]++
	}
	close(stop)
	swapping.Wait()
	if seen[digest("outside")] > 0 {
		t.Fatalf("read through a symlink %d times", seen[digest("outside")])
	}
}

func TestFindWriters(t *testing.T) {
	r, dir := openTestRoot(t)
	path := filepath.Join(dir, "f")
	put(t, path, "x", 0o644)
	f, err := r.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	some, known := FindWriters(f)
	if !known {
		t.Skip("no leases on this file system")
	}
	if some {
		t.Fatal("nobody writes")
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if some, known = FindWriters(f); !some || !known {
		t.Errorf("open for writing: %v, %v", some, known)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if some, known = FindWriters(f); some || !known {
		t.Errorf("closed again: %v, %v", some, known)
	}
	// The lease must be gone: this open would wait for it to be given back.
	w, err = os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatalf("opening for writing afterwards: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// acl builds the extended attribute of a POSIX ACL from the rights of owner, one named user, group, mask and others.
func acl(rights string) []byte {
	none := []byte{0xff, 0xff, 0xff, 0xff}
	out := []byte{2, 0, 0, 0}
	for i, e := range []struct {
		tag byte
		id  []byte
	}{{1, none}, {2, []byte{0x39, 0x30, 0, 0}}, {4, none}, {0x10, none}, {0x20, none}} {
		out = append(out, e.tag, 0, rights[i]-'0', 0)
		out = append(out, e.id...)
	}
	return out
}

func TestResemble(t *testing.T) {
	r, dir := openTestRoot(t)
	old := filepath.Join(dir, "old")
	put(t, old, "old", 0o640)
	if err := unix.Setxattr(old, "user.note", []byte("kept"), 0); err != nil {
		t.Skip("no extended attributes here:", err)
	}
	if err := unix.Setxattr(old, accessACL, acl("64440"), 0); err != nil {
		t.Skip("no ACLs here:", err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(old, 1234, 2345); err != nil {
			t.Fatal(err)
		}
	}
	before, err := r.Lstat("old")
	if err != nil {
		t.Fatal(err)
	}
	resemble(t, r, before.Perm|0o110)
	after, err := r.Lstat("new")
	if err != nil || after.Perm != before.Perm|0o110 || after.UID != before.UID || after.GID != before.GID {
		t.Errorf("%+v like %+v, %v", after, before, err)
	}
	for _, name := range []string{"user.note", accessACL} {
		got := xattr(t, filepath.Join(dir, "new"), name)
		want := xattr(t, old, name)
		if name == accessACL {
			want = string(acl("74450"))
		}
		if got != want {
			t.Errorf("%s = %x, want %x", name, got, want)
		}
	}
}

// TestResembleDropsAnInheritedACL replaces a file that has no ACL in a folder whose default would give it one.
func TestResembleDropsAnInheritedACL(t *testing.T) {
	r, dir := openTestRoot(t)
	put(t, filepath.Join(dir, "old"), "old", 0o600)
	if err := unix.Setxattr(dir, "system.posix_acl_default", acl("77777"), 0); err != nil {
		t.Skip("no ACLs here:", err)
	}
	put(t, filepath.Join(dir, "proof"), "", 0o644)
	if xattr(t, filepath.Join(dir, "proof"), accessACL) == "" {
		t.Fatal("the folder's default ACL does not take")
	}
	resemble(t, r, 0o600)
	if got := xattr(t, filepath.Join(dir, "new"), accessACL); got != "" {
		t.Errorf("an ACL stayed: %x", got)
	}
	if info, err := r.Lstat("new"); err != nil || info.Perm != 0o600 {
		t.Errorf("%+v, %v", info, err)
	}
}

// resemble makes the file "new" like "old".
func resemble(t *testing.T, r *Root, perm uint32) {
	t.Helper()
	f, err := r.Open("old")
	if err != nil {
		t.Fatal(err)
	}
	n, err := r.top.Create("new", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(n.Resemble(f, perm), n.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func xattr(t *testing.T, path, name string) string {
	t.Helper()
	buf := make([]byte, 4096)
	n, err := unix.Lgetxattr(path, name, buf)
	if errors.Is(err, unix.ENODATA) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

// TestMovesWithoutARenameOfTheirOwn takes the ways round that a file system without RENAME_NOREPLACE needs.
func TestMovesWithoutARenameOfTheirOwn(t *testing.T) {
	r, dir := openTestRoot(t)
	put(t, filepath.Join(dir, "a"), "A", 0o644)
	put(t, filepath.Join(dir, "b"), "B", 0o644)
	put(t, filepath.Join(dir, "d/x"), "X", 0o644)
	h := r.top.h
	if err := h.moveLooking("a", h, "b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto a file: %v", err)
	}
	if err := errors.Join(h.moveLooking("a", h, "c"), h.moveLooking("d", h, "e")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"c": "A", "b": "B", "e/x": "X"} {
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != want {
			t.Errorf("%q holds %q, %v", path, got, err)
		}
	}
}
