package durable

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrFlush is in the chain of every error that leaves open whether bytes reached the disk: a flush of a file or a folder
// that did not succeed. It is final for this process, which must stop without retrying and without reading back; the next
// one decides from what the disk then holds.
var ErrFlush = errors.New("flush not confirmed")

// ErrNoLocks is returned by the locking functions on a system without advisory file locks.
var ErrNoLocks = errors.New("this system has no advisory file locks")

// HeldError is returned when a lock is held by somebody else: at once by TryLock, after the context's end by Lock and
// LockShared.
type HeldError struct {
	// Path is the lock file.
	Path string
	// Holder is what the holder wrote into it, "" when it wrote nothing.
	Holder string
}

func (e *HeldError) Error() string {
	if e.Holder == "" {
		return fmt.Sprintf("lock %q: held by another process", e.Path)
	}
	return fmt.Sprintf("lock %q: held by %q", e.Path, e.Holder)
}

// NotRegularError is returned when a path that should be written is a symlink, a folder or a special file.
type NotRegularError struct {
	Path string
	// Found is the type found there.
	Found fs.FileMode
}

func (e *NotRegularError) Error() string {
	return fmt.Sprintf("write %q: expected a regular file, found %s", e.Path, typeWord(e.Found))
}

// PrivateError is returned by CheckPrivate for a folder that somebody else could have written to.
type PrivateError struct {
	Path string
	// Problem says what is wrong, as "owned by user 12, expected 1000".
	Problem string
}

func (e *PrivateError) Error() string { return fmt.Sprintf("folder %q: %s", e.Path, e.Problem) }

// flushError marks err as ErrFlush.
func flushError(what string, err error) error {
	return fmt.Errorf("flush %q: %w: %w", what, ErrFlush, err)
}

func typeWord(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symlink"
	case m.IsDir():
		return "a folder"
	case m.IsRegular():
		return "a regular file"
	}
	return "a special file"
}
