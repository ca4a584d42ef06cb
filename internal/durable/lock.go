package durable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// firstWait and longestWait bound the pauses between two tries for a lock that is held. They are short because locks
	// are held for the span of a few flushes.
	firstWait   = time.Millisecond
	longestWait = 20 * time.Millisecond
	// holderLimit is how much of a holder's text is read back.
	holderLimit = 256
	// reopenLimit is how often a lock file may be replaced under our feet before that is an error.
	reopenLimit = 100
)

type lockMode int

const (
	lockExclusive lockMode = iota
	lockShared
)

// Lock takes the exclusive advisory lock of the file at path, which is made when it is missing (0600) and never removed.
// It waits until ctx ends, and then returns an error that is both a *HeldError and the context's. The holder's text
// (process id, command, start) is put into the file for those who find it locked. The lock excludes other goroutines of
// this process as well as other processes, is not inherited by programs that are started, and frees itself when the
// process dies. Not reentrant: taking it twice waits for itself.
func Lock(ctx context.Context, path, holder string) (unlock func() error, err error) {
	return waitForLock(ctx, path, holder, lockExclusive)
}

// LockShared is Lock for holders that may hold the lock together; it excludes only exclusive ones.
func LockShared(ctx context.Context, path, holder string) (unlock func() error, err error) {
	return waitForLock(ctx, path, holder, lockShared)
}

// TryLock is Lock without waiting: a *HeldError at once when somebody holds the lock, shared or not.
func TryLock(path, holder string) (unlock func() error, err error) {
	return acquire(path, holder, lockExclusive)
}

// TryLockShared takes the lock shared, without waiting and without writing: the file must exist (else fs.ErrNotExist) and
// is opened for reading only. A *HeldError when an exclusive holder has it. For readers who want to know whether a writer
// is at work, and keep the next one out while they look.
func TryLockShared(path string) (unlock func() error, err error) {
	f, err := openRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return lockOpened(f, lockShared)
}

func waitForLock(ctx context.Context, path, holder string, mode lockMode) (func() error, error) {
	wait := firstWait
	var held *HeldError
	for {
		switch err := ctx.Err(); {
		case err != nil && held != nil:
			return nil, fmt.Errorf("%w: %w", held, err)
		case err != nil:
			return nil, fmt.Errorf("lock %q: %w", path, err)
		}
		unlock, err := acquire(path, holder, mode)
		if !errors.As(err, &held) {
			return unlock, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w: %w", held, ctx.Err())
		case <-timer.C:
		}
		wait = min(2*wait, longestWait)
	}
}

// acquire tries once. A lock taken on a file that is no longer the one at path excludes nobody, so the file is looked at
// again once it is locked, and opened anew when it was replaced.
func acquire(path, holder string, mode lockMode) (func() error, error) {
	for range reopenLimit {
		f, err := openRegular(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		unlock, err := lockOpened(f, mode)
		if err != nil {
			return nil, err
		}
		same, err := stillAt(f, path)
		if err == nil && same {
			writeHolder(f, holder)
			return unlock, nil
		}
		if uerr := unlock(); err != nil || uerr != nil {
			return nil, errors.Join(err, uerr)
		}
	}
	return nil, fmt.Errorf("lock %q: the file is replaced again and again", path)
}

// lockOpened locks f or closes it.
func lockOpened(f *os.File, mode lockMode) (func() error, error) {
	ok, err := lockFile(f, mode)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %q: %w", f.Name(), err), f.Close())
	}
	if !ok {
		held := &HeldError{Path: f.Name(), Holder: readHolder(f)}
		// Nothing was written through f, so closing it cannot lose anything.
		_ = f.Close()
		return nil, held
	}
	// Closing the only descriptor of this open file frees the lock; it is freed explicitly first because a process that is
	// just being started may still hold a copy of the descriptor until it executes its program.
	return sync.OnceValue(func() error {
		return errors.Join(unlockFile(f), f.Close())
	}), nil
}

func stillAt(f *os.File, path string) (bool, error) {
	now, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(mine, now), nil
}

// writeHolder is best effort: the text is only ever shown, and a full disk must not keep a recovery from its lock. Readers
// take the first line, so the rest of a longer, older text does not matter when the cut does not happen.
func writeHolder(f *os.File, holder string) {
	line := strings.ReplaceAll(holder, "\n", " ") + "\n"
	if _, err := f.WriteAt([]byte(line), 0); err == nil {
		_ = f.Truncate(int64(len(line)))
	}
}

func readHolder(f *os.File) string {
	buf := make([]byte, holderLimit)
	// A short or failing read shows what there is; the lock's state does not depend on it.
	n, _ := f.ReadAt(buf, 0)
	text, _, _ := strings.Cut(string(buf[:n]), "\n")
	return text
}
