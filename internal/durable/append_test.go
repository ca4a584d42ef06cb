package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// shortWriter lets only so many bytes through before it fails as a full disk does.
type shortWriter struct {
	*os.File
	room              int
	failCut, failSync bool
}

func (w *shortWriter) WriteAt(p []byte, off int64) (int, error) {
	if len(p) > w.room {
		n, _ := w.File.WriteAt(p[:w.room], off)
		return n, errInjected
	}
	return w.File.WriteAt(p, off)
}

func (w *shortWriter) Truncate(n int64) error {
	if w.failCut {
		return errors.New("cut refused")
	}
	return w.File.Truncate(n)
}

func (w *shortWriter) Sync() error {
	if w.failSync {
		return errInjected
	}
	return w.File.Sync()
}

func openTest(t *testing.T) (*AppendFile, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	a, err := OpenAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a, path
}

func TestAppend(t *testing.T) {
	a, path := openTest(t)
	for i, want := range []int64{0, 3, 6} {
		off, err := a.Append([]byte("abc"))
		if err != nil || off != want {
			t.Fatalf("append %d: offset %d, %v", i, off, err)
		}
	}
	if err := a.Sync(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != 9 || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	if err := a.Truncate(4); err != nil || content(t, path) != "abca" {
		t.Fatalf("cut: %v %q", err, content(t, path))
	}
	for _, n := range []int64{-1, 5} {
		if err := a.Truncate(n); err == nil || content(t, path) != "abca" {
			t.Fatalf("cut to %d: %v", n, err)
		}
	}
	if off, err := a.Append([]byte("X")); err != nil || off != 4 || content(t, path) != "abcaX" {
		t.Fatalf("append after a cut: %d %v %q", off, err, content(t, path))
	}
}

func TestFailedAppendLeavesNothing(t *testing.T) {
	a, path := openTest(t)
	if _, err := a.Append([]byte("whole\n")); err != nil {
		t.Fatal(err)
	}
	real := a.file.(*os.File)
	for room := range 5 {
		a.file = &shortWriter{File: real, room: room}
		if _, err := a.Append([]byte("12345")); !errors.Is(err, errInjected) {
			t.Fatalf("room %d: %v", room, err)
		}
		if got := content(t, path); got != "whole\n" {
			t.Fatalf("room %d: left %q", room, got)
		}
	}
	a.file = &shortWriter{File: real, room: 2, failCut: true}
	if _, err := a.Append([]byte("12345")); !errors.Is(err, ErrFlush) || !errors.Is(err, errInjected) || content(t, path) != "whole\n12" {
		t.Fatalf("%v %q", err, content(t, path))
	}
	if err := real.Truncate(6); err != nil {
		t.Fatal(err)
	}
	a.file = &shortWriter{File: real, room: 2, failSync: true}
	if _, err := a.Append([]byte("12345")); !errors.Is(err, ErrFlush) || content(t, path) != "whole\n" {
		t.Fatalf("%v %q", err, content(t, path))
	}
	a.file = &shortWriter{File: real, failSync: true}
	if err := a.Sync(); !errors.Is(err, ErrFlush) || !errors.Is(err, errInjected) {
		t.Fatalf("flush: %v", err)
	}
}

func TestReserveKeepsSize(t *testing.T) {
	a, path := openTest(t)
	if _, err := a.Append([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if err := a.Reserve(1 << 20); err != nil {
		t.Fatal(err)
	}
	if size, err := a.Size(); err != nil || size != 3 {
		t.Fatalf("size %d, %v", size, err)
	}
	if _, err := a.Append([]byte("def")); err != nil || content(t, path) != "abcdef" {
		t.Fatalf("%v %q", err, content(t, path))
	}
	if runtime.GOOS == "linux" {
		if err := a.Reserve(1 << 62); err == nil {
			t.Fatal("room for 4 EiB was found")
		}
	}
}
