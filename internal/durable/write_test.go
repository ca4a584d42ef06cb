package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/faultfs"
)

var errInjected = errors.New("injected")

// everyStep runs do with each step failing in turn, and with the process dying at each, until a run finishes untouched.
func everyStep(t *testing.T, do func(t *testing.T, s files, dead bool)) {
	t.Helper()
	for _, dead := range []bool{false, true} {
		mode := faultfs.FailOnce
		if dead {
			mode = faultfs.FailFrom
		}
		t.Run(fmt.Sprintf("dead %v", dead), func(t *testing.T) {
			faultfs.Each(t, func(t *testing.T, at int) bool {
				f := &faultfs.Fault{At: at, Mode: mode, Err: errInjected}
				do(t, files{fault: f.Step}, dead)
				return f.Struck()
			})
		})
	}
}

func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporaryPrefix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteFileIsWholeOrNothing(t *testing.T) {
	for _, old := range []string{"", "old content"} {
		everyStep(t, func(t *testing.T, s files, dead bool) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if old != "" {
				if err := os.WriteFile(path, []byte(old), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			err := s.writeFile(path, []byte("new"), 0o600)
			got := content(t, path)
			if err == nil && got != "new" || got != "new" && got != old {
				t.Fatalf("error %v, content %q", err, got)
			}
			if left := leftovers(t, dir); len(left) > 0 && !dead {
				t.Fatalf("left %q", left)
			}
			// The next writer is not in the way of what a dead one left.
			if err := WriteFile(path, []byte("next"), 0o600); err != nil || content(t, path) != "next" {
				t.Fatalf("next write: %v", err)
			}
		})
	}
}

func TestWriteNewIsWholeOrNothing(t *testing.T) {
	everyStep(t, func(t *testing.T, s files, dead bool) {
		path := filepath.Join(t.TempDir(), "f")
		err := s.writeNew(path, []byte("new"), 0o600)
		switch got := content(t, path); {
		case err == nil && got != "new", got != "" && got != "new":
			t.Fatalf("error %v, content %q", err, got)
		case got == "new":
			err = WriteNew(path, []byte("other"), 0o600)
			if !errors.Is(err, fs.ErrExist) || content(t, path) != "new" {
				t.Fatalf("second create: %v, content %q", err, content(t, path))
			}
		default:
			if err := WriteNew(path, []byte("again"), 0o600); err != nil || content(t, path) != "again" {
				t.Fatalf("create again: %v", err)
			}
		}
	})
}

func TestMkdirAllSteps(t *testing.T) {
	everyStep(t, func(t *testing.T, s files, dead bool) {
		path := filepath.Join(t.TempDir(), "a", "b", "c")
		if err := s.mkdirAll(path, 0o700); err == nil {
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				t.Fatalf("no folder after success: %v", err)
			}
		}
		if err := MkdirAll(path, 0o700); err != nil {
			t.Fatalf("after a failure: %v", err)
		}
		if err := MkdirAll(path, 0o700); err != nil {
			t.Fatalf("a second time: %v", err)
		}
	})
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll(file, 0o700); err == nil {
		t.Fatal("a file counted as a folder")
	}
	if err := MkdirAll(filepath.Join(file, "x"), 0o700); err == nil {
		t.Fatal("a folder below a file")
	}
}

func TestWriteRefusesWhatIsNotAFile(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), dangling); err != nil {
		t.Fatal(err)
	}
	var odd *NotRegularError
	for _, path := range []string{link, dangling, dir} {
		if err := WriteFile(path, []byte("x"), 0o600); !errors.As(err, &odd) {
			t.Errorf("WriteFile(%s): %v", path, err)
		}
		if err := WriteNew(path, []byte("x"), 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("WriteNew(%s): %v", path, err)
		}
		if err := WriteAt(path, 0, []byte("x")); !errors.As(err, &odd) {
			t.Errorf("WriteAt(%s): %v", path, err)
		}
		if _, err := OpenAppend(path); !errors.As(err, &odd) {
			t.Errorf("OpenAppend(%s): %v", path, err)
		}
		if err := Flush(path); !errors.As(err, &odd) {
			t.Errorf("Flush(%s): %v", path, err)
		}
	}
	if content(t, target) != "kept" {
		t.Errorf("the target holds %q", content(t, target))
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made through a dangling symlink: %v", err)
	}
}

func TestRemove(t *testing.T) {
	everyStep(t, func(t *testing.T, s files, dead bool) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		err := s.remove(path)
		if _, serr := os.Lstat(path); err == nil && !errors.Is(serr, fs.ErrNotExist) {
			t.Fatalf("still there: %v", serr)
		}
		if err := Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := Remove(path); err != nil {
			t.Fatalf("missing: %v", err)
		}
	})
}

func TestRemoveAllTakesUnwritableFoldersAndSparesLinkTargets(t *testing.T) {
	base := t.TempDir()
	outside := filepath.Join(base, "outside")
	dir := filepath.Join(base, "shadow")
	deep := filepath.Join(dir, "a", "b")
	for _, d := range []string{outside, deep} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "f"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for _, d := range []string{deep, filepath.Join(dir, "a"), dir, outside} {
		if err := os.Chmod(d, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(outside, 0o700) })
	if err := RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("still there: %v", err)
	}
	info, err := os.Stat(outside)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o500 {
		t.Fatalf("the target of the link was touched: %v %v", info, err)
	}
	if err := RemoveAll(dir); err != nil {
		t.Fatalf("missing: %v", err)
	}
}

// unlockFolders is tried directly because root never meets a folder it may not write to.
func TestUnlockFolders(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(deep, 0); err != nil {
		t.Fatal(err)
	}
	if err := unlockFolders(dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(deep)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Fatalf("%v %v", info, err)
	}
}

func TestIncoming(t *testing.T) {
	everyStep(t, func(t *testing.T, s files, dead bool) {
		dir := t.TempDir()
		final := filepath.Join(dir, "digest")
		in, err := s.newIncoming(dir, 0)
		if err == nil {
			if _, err = in.Write([]byte("bytes")); err == nil {
				_, err = in.Commit(final)
			}
			if aerr := in.Abort(); aerr != nil && !dead {
				t.Fatalf("abort: %v", aerr)
			}
		}
		if got := content(t, final); err == nil && got != "bytes" || got != "" && got != "bytes" {
			t.Fatalf("error %v, content %q", err, got)
		}
		n, serr := SweepIncoming(dir)
		if serr != nil || len(leftovers(t, dir)) != 0 {
			t.Fatalf("sweep: %d, %v", n, serr)
		}
	})
}

// TestCommitAll stores several contents at once, one of them under a name that is taken.
func TestCommitAll(t *testing.T) {
	everyStep(t, func(t *testing.T, s files, dead bool) {
		dir := t.TempDir()
		final := func(name string) string { return filepath.Join(dir, name[:1], name) }
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "a"), 0o700), os.WriteFile(final("a-taken"), []byte("a-taken"), 0o600)); err != nil {
			t.Fatal(err)
		}
		var list []*Incoming
		var finals []string
		var err error
		for _, name := range []string{"a-one", "a-taken", "b-two", "b-three"} {
			in, ierr := s.newIncoming(dir, 0)
			if ierr == nil {
				_, ierr = in.Write([]byte(name))
			}
			if err = errors.Join(err, ierr); in != nil {
				list, finals = append(list, in), append(finals, final(name))
			}
		}
		var taken []string
		if err == nil {
			taken, err = s.commitAll(list, finals)
		}
		for _, in := range list {
			if aerr := in.Abort(); aerr != nil && !dead {
				t.Fatalf("abort: %v", aerr)
			}
		}
		if err == nil && (len(taken) != 1 || taken[0] != final("a-taken")) {
			t.Errorf("taken: %q", taken)
		}
		for _, name := range []string{"a-one", "a-taken", "b-two", "b-three"} {
			if got := content(t, final(name)); err == nil && got != name || got != "" && got != name {
				t.Errorf("error %v, %s holds %q", err, name, got)
			}
		}
		if n, serr := SweepIncoming(dir); serr != nil || len(leftovers(t, dir)) != 0 {
			t.Fatalf("sweep: %d, %v", n, serr)
		}
	})
}

// TestSweepAbandoned spares what a process that runs has open, and what is not a temporary name.
func TestSweepAbandoned(t *testing.T) {
	dir := t.TempDir()
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	mine, theirs := fmt.Sprintf("%s%d-0", temporaryPrefix, os.Getpid()), fmt.Sprintf("%s%d-0", temporaryPrefix, ended.ProcessState.Pid())
	for _, name := range []string{mine, theirs, temporaryPrefix + "x", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := SweepAbandoned(dir); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 || slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() == theirs }) {
		t.Errorf("left %v, %v", left, err)
	}
	if n, err := SweepAbandoned(filepath.Join(dir, "missing")); n != 0 || err != nil {
		t.Errorf("a missing folder: %d, %v", n, err)
	}
}

func TestIncomingLeavesATakenNameAlone(t *testing.T) {
	dir := t.TempDir()
	final := filepath.Join(dir, "digest")
	for i, want := range []bool{true, false} {
		in, err := NewIncoming(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(in, "content %d", i)
		created, err := in.Commit(final)
		if err != nil || created != want {
			t.Fatalf("commit %d: %v, %v", i, created, err)
		}
		if _, err := in.Commit(final); err == nil {
			t.Fatal("a second commit of the same content")
		}
		if err := in.Abort(); err != nil {
			t.Fatal(err)
		}
	}
	if got := content(t, final); got != "content 0" || len(leftovers(t, dir)) != 0 {
		t.Fatalf("content %q, left %q", got, leftovers(t, dir))
	}
}

func TestWriteAtDoesNotCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := WriteAt(path, 0, []byte("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	if err := WriteNew(path, bytes.Repeat([]byte("."), 8), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteAt(path, 3, []byte("ab")); err != nil || content(t, path) != "...ab..." {
		t.Fatalf("%v %q", err, content(t, path))
	}
	if err := Flush(path); err != nil {
		t.Fatal(err)
	}
}
