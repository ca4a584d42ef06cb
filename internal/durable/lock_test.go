package durable

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLockHelperProcess is not a test: run again by the tests below with CORREX_TEST_LOCK set, it takes that lock, says so
// and waits to be killed.
func TestLockHelperProcess(t *testing.T) {
	path := os.Getenv("CORREX_TEST_LOCK")
	if path == "" {
		t.Skip("runs only as a child")
	}
	if _, err := TryLock(path, "child 17"); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("locked\n")
	select {}
}

func lockInChild(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockHelperProcess$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), "CORREX_TEST_LOCK="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "locked\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	return cmd
}

func TestLockNamesHolderInOtherProcessAndFreesWithIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	child := lockInChild(t, path)

	_, err := TryLock(path, "me")
	var held *HeldError
	if !errors.As(err, &held) || held.Holder != "child 17" || held.Path != path {
		t.Fatalf("TryLock: %v", err)
	}
	if _, err := TryLockShared(path); !errors.As(err, &held) {
		t.Fatalf("TryLockShared: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, err = Lock(ctx, path, "me")
	if !errors.As(err, &held) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Lock past its context: %v", err)
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	unlock, err := Lock(ctx, path, "me")
	if err != nil {
		t.Fatalf("the lock outlived its holder: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestLockExcludesGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	var inside, entered atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			unlock, err := Lock(context.Background(), path, "goroutine")
			if err != nil {
				t.Error(err)
				return
			}
			if inside.Add(1) != 1 {
				t.Error("two holders at once")
			}
			entered.Add(1)
			runtime.Gosched()
			inside.Add(-1)
			if err := unlock(); err != nil {
				t.Error(err)
			}
			if err := unlock(); err != nil {
				t.Errorf("second unlock: %v", err)
			}
		})
	}
	wg.Wait()
	if entered.Load() != 20 {
		t.Fatalf("%d of 20 got the lock", entered.Load())
	}
}

func TestSharedLocksExcludeOnlyExclusiveOnes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	a, err := LockShared(context.Background(), path, "first reader, with a long name")
	if err != nil {
		t.Fatal(err)
	}
	b, err := LockShared(context.Background(), path, "second")
	if err != nil {
		t.Fatal(err)
	}
	c, err := TryLockShared(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = TryLock(path, "writer")
	var held *HeldError
	if !errors.As(err, &held) || held.Holder != "second" {
		t.Fatalf("TryLock beside readers: %v", err)
	}
	for _, unlock := range []func() error{a, b, c} {
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := TryLock(path, "writer")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestLockFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.lock")
	if _, err := TryLockShared(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("TryLockShared made the file or gave %v", err)
	}
	unlock, err := TryLock(path, "one\ntwo")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	_, err = TryLock(path, "")
	var held *HeldError
	if !errors.As(err, &held) || held.Holder != "one two" {
		t.Errorf("holder with a newline: %v", err)
	}
	link := filepath.Join(dir, "link.lock")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	var odd *NotRegularError
	if _, err := TryLock(link, ""); !errors.As(err, &odd) {
		t.Errorf("lock through a symlink: %v", err)
	}
	if _, err := TryLock(dir, ""); !errors.As(err, &odd) {
		t.Errorf("lock on a folder: %v", err)
	}
}

// A lock file that was removed excludes nobody, so whoever comes next must end up on the file at the path.
func TestLockOnReplacedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	old, err := TryLock(path, "old")
	if err != nil {
		t.Fatal(err)
	}
	defer old()
	if err := os.Remove(path); err != nil {
		t.Skip(err)
	}
	unlock, err := TryLock(path, "new")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	var held *HeldError
	if _, err := TryLock(path, "third"); !errors.As(err, &held) || held.Holder != "new" {
		t.Fatalf("third: %v", err)
	}
}

func TestLockEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	path := filepath.Join(t.TempDir(), "x.lock")
	if _, err := Lock(ctx, path, "me"); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the lock file was made: %v", err)
	}
}
