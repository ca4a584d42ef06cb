package ledger

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pollEvery is the safety net of Watch: a missed or impossible notification costs at most this long.
const pollEvery = 2 * time.Second

// Watch signals that something in the folder dir may have changed, until ctx ends, and then closes the channel. It watches
// the folder, not its files, so that files that are made or replaced later are seen. Signals are hints: several changes make
// one signal, one may come without any change, and every two seconds one comes in any case. Changes made after Watch
// returned are not missed: arm it, then read, then wait. Changes of lock files alone are not reported.
//
// Where the system has no notification to give (no inotify instance left, a folder that does not exist yet), Watch tries
// again at every tick and otherwise only polls; that is no error.
func Watch(ctx context.Context, dir string) (<-chan struct{}, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("watch %q: %w", dir, err)
	}
	ticker := time.NewTicker(pollEvery)
	// The names in notifications are clean ones.
	w := newWatching(filepath.Clean(dir))
	w.arm()
	go func() {
		defer ticker.Stop()
		w.run(ctx, ticker.C)
	}()
	return w.signal, nil
}

// watching is one Watch. Its fields belong to its goroutine once that runs.
type watching struct {
	dir    string
	signal chan struct{}
	// notify is nil while there is nothing but the ticks.
	notify *fsnotify.Watcher
	// open makes a watcher, or fails as the system does when it has none left.
	open func() (*fsnotify.Watcher, error)
}

func newWatching(dir string) *watching {
	return &watching{dir: dir, signal: make(chan struct{}, 1), open: fsnotify.NewWatcher}
}

func (w *watching) run(ctx context.Context, tick <-chan time.Time) {
	defer close(w.signal)
	defer w.disarm()
	for {
		var events <-chan fsnotify.Event
		var errs <-chan error
		if w.notify != nil {
			events, errs = w.notify.Events, w.notify.Errors
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
			w.arm()
			w.wake()
		case e, ok := <-events:
			w.event(e, ok)
		case err := <-errs:
			// After an overflow the watcher goes on; after anything else a new one is made at the next tick. What was lost
			// is not known either way, so look.
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				w.disarm()
			}
			w.wake()
		}
	}
}

func (w *watching) event(e fsnotify.Event, ok bool) {
	if !ok || e.Name == w.dir && e.Has(fsnotify.Remove|fsnotify.Rename) {
		w.disarm()
	}
	if !strings.HasSuffix(e.Name, ".lock") {
		w.wake()
	}
}

// wake leaves a signal unless one is waiting already.
func (w *watching) wake() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// arm starts the notification if it is not running. Failing is allowed: the ticks go on.
func (w *watching) arm() {
	if w.notify != nil {
		return
	}
	n, err := w.open()
	if err != nil {
		return
	}
	if err := n.Add(w.dir); err != nil {
		_ = n.Close()
		return
	}
	w.notify = n
}

func (w *watching) disarm() {
	if w.notify != nil {
		// Only reads events: closing it can lose nothing that the next look does not find.
		_ = w.notify.Close()
		w.notify = nil
	}
}
