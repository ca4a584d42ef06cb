//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCheckPrivate(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "state")
	if err := CheckPrivate(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("missing: %v", err)
	}
	if err := MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	link, file := filepath.Join(base, "link"), filepath.Join(base, "file")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		mode os.FileMode
		want string
	}{
		{dir, 0o700, ""},
		{dir, 0o755, ""},
		{dir, 0o770, "others may write"},
		{dir, 0o702, "others may write"},
		{link, 0o700, "symlink"},
		{file, 0o600, "expected a folder"},
	} {
		if err := os.Chmod(c.path, c.mode); err != nil {
			t.Fatal(err)
		}
		err := CheckPrivate(c.path)
		var private *PrivateError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &private) || !strings.Contains(private.Problem, c.want)) {
			t.Errorf("%s %04o: %v, want %q", filepath.Base(c.path), c.mode, err, c.want)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, 12345, -1); err != nil {
			t.Skip(err)
		}
		var private *PrivateError
		if err := CheckPrivate(dir); !errors.As(err, &private) || !strings.Contains(private.Problem, "12345") {
			t.Errorf("another user's folder: %v", err)
		}
	}
}

// withUmask runs do under mask, after making sure that the setting took. It must not run beside parallel tests.
func withUmask(t *testing.T, mask int, do func()) {
	t.Helper()
	old := unix.Umask(mask)
	defer unix.Umask(old)
	probe := filepath.Join(t.TempDir(), "probe")
	f, err := os.OpenFile(probe, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if info, err := os.Stat(probe); err != nil || info.Mode().Perm() != 0o666&^os.FileMode(mask) {
		t.Skipf("umask %03o did not take: %v %v", mask, info, err)
	}
	do()
}

func TestPermissionsUnderUmask(t *testing.T) {
	for _, mask := range []int{0o022, 0o077} {
		withUmask(t, mask, func() {
			dir := filepath.Join(t.TempDir(), "d")
			if err := MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			expect := func(name string, want os.FileMode) {
				t.Helper()
				if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
					t.Errorf("umask %03o, %s: %v, want %v (%v)", mask, name, info.Mode().Perm(), want, err)
				}
			}
			hook := filepath.Join(dir, "hook")
			if err := WriteFile(hook, nil, 0o755); err != nil {
				t.Fatal(err)
			}
			expect("hook", 0o755&^os.FileMode(mask))
			if err := WriteFile(hook, nil, 0o751); err != nil {
				t.Fatal(err)
			}
			expect("hook", 0o751)
			if err := WriteNew(filepath.Join(dir, "new"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			expect("new", 0o644&^os.FileMode(mask))
			expect(".", 0o700)
		})
	}
}

func TestFIFOIsNotOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	var odd *NotRegularError
	if _, err := TryLock(path, ""); !errors.As(err, &odd) {
		t.Errorf("lock: %v", err)
	}
	if _, err := OpenAppend(path); !errors.As(err, &odd) {
		t.Errorf("append: %v", err)
	}
	if err := WriteFile(path, nil, 0o600); !errors.As(err, &odd) {
		t.Errorf("write: %v", err)
	}
}
