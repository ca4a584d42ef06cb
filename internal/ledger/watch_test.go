package ledger

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// deadline is how long a test waits for something that should come at once.
const deadline = 20 * time.Second

func signalled(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case _, ok := <-c:
		if !ok {
			t.Fatalf("%s: the channel is closed", what)
		}
	case <-time.After(deadline):
		t.Fatalf("%s: no signal", what)
	}
}

func closed(t *testing.T, c <-chan struct{}) {
	t.Helper()
	late := time.After(deadline)
	for {
		select {
		case _, ok := <-c:
			if !ok {
				return
			}
		case <-late:
			t.Fatal("the channel stays open")
		}
	}
}

// startWatching runs a watching with a tick that only the test gives.
func startWatching(t *testing.T, dir string) (*watching, chan time.Time, context.CancelFunc) {
	t.Helper()
	w := newWatching(dir)
	return runWatching(t, w)
}

func runWatching(t *testing.T, w *watching) (*watching, chan time.Time, context.CancelFunc) {
	t.Helper()
	w.arm()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	tick := make(chan time.Time)
	go w.run(ctx, tick)
	return w, tick, cancel
}

func TestWatchSeesAppends(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	l := openTest(t, dir)
	mustAdd(t, l, 0)
	w, _, cancel := startWatching(t, dir)
	if w.notify == nil {
		t.Skip("no notifications here")
	}
	reader := openTest(t, dir)
	for n := 1; n <= 20; n++ {
		mustAdd(t, l, n)
		// Several changes may make one signal, and one may make several: read until the event is there.
		for reader.Position().Seq != uint64(n)+1 {
			signalled(t, w.signal, "append")
			if _, err := reader.Refresh(); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	closed(t, w.signal)
}

func TestWatchCoalesces(t *testing.T) {
	w := newWatching("")
	for range 1000 {
		w.wake()
	}
	signalled(t, w.signal, "wake")
	select {
	case <-w.signal:
		t.Fatal("a second signal")
	default:
	}
}

// A folder that is not there yet, or goes and comes back, is found again by the ticks; without any notification the ticks
// are the signals.
func TestWatchFindsALateFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	w, tick, cancel := startWatching(t, dir)
	if w.notify != nil {
		t.Fatal("watches a folder that is not there")
	}
	tick <- time.Time{}
	signalled(t, w.signal, "tick without a folder")
	for range 2 {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		tick <- time.Time{}
		signalled(t, w.signal, "tick")
		// The second tick is taken only after the first was worked off, so the folder is watched from here on.
		tick <- time.Time{}
		signalled(t, w.signal, "second tick")
		if err := os.WriteFile(filepath.Join(dir, logName), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		signalled(t, w.signal, "file")
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		signalled(t, w.signal, "removal")
	}
	cancel()
	closed(t, w.signal)
}

// Where the system has no watcher left, the ticks are the signals, until it has one again.
func TestWatchWithoutNotifications(t *testing.T) {
	dir := t.TempDir()
	w := newWatching(dir)
	left := 3
	w.open = func() (*fsnotify.Watcher, error) {
		if left--; left >= 0 {
			return nil, syscall.EMFILE
		}
		return fsnotify.NewWatcher()
	}
	_, tick, cancel := runWatching(t, w)
	for range 4 {
		tick <- time.Time{}
		signalled(t, w.signal, "tick")
	}
	if err := os.WriteFile(filepath.Join(dir, logName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	signalled(t, w.signal, "file")
	cancel()
	closed(t, w.signal)
}

func TestWatch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c, err := Watch(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// Nothing changes: the safety net signals.
	signalled(t, c, "safety net")
	cancel()
	closed(t, c)
	if _, err := Watch(ctx, t.TempDir()); err == nil {
		t.Fatal("watches for a context that has ended")
	}
}
