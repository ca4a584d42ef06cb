package durable

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/correx/correx/internal/change"
)

// ErrNoExchange is returned by Dir.Exchange and Dir.MoveNew where the file system or the system has no such rename.
// Nothing was changed.
var ErrNoExchange = errors.New("this file system cannot exchange two names")

// ErrNoClone is returned by Root.CloneFile where the file system cannot share the bytes of two files. Nothing stands at
// the path.
var ErrNoClone = errors.New("this file system cannot clone files")

// ParentError is returned when a component above a path is a symlink or otherwise not a folder. The path itself then does
// not exist: the error is fs.ErrNotExist too.
type ParentError struct {
	// Path is what was asked for, Parent the first component that is no folder.
	Path, Parent change.Path
	// Kind is what stands at Parent.
	Kind change.Kind
}

func (e *ParentError) Error() string {
	return fmt.Sprintf("path %q: expected a folder at %q, found %s", e.Path, e.Parent, e.Kind)
}

// Is reports that a path below something that is no folder does not exist.
func (e *ParentError) Is(target error) bool { return target == fs.ErrNotExist }

// KindError is returned when something else than a regular file, or than the kind that was asked for, stands at a path.
type KindError struct {
	Path     change.Path
	Expected change.Kind
	Found    change.Kind
}

func (e *KindError) Error() string {
	return fmt.Sprintf("path %q: expected %s, found %s", e.Path, e.Expected, e.Found)
}

// BusyError is returned when a file was changed while it was read, each time it was tried.
type BusyError struct {
	Path change.Path
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("path %q: is being written by another program", e.Path)
}

// PreserveError is returned when a new file cannot be given the owner, permission bits or extended attributes of the one
// it is to replace.
type PreserveError struct {
	// What names the property, as "owner" or "extended attribute \"user.x\"".
	What string
	Err  error
}

func (e *PreserveError) Error() string { return fmt.Sprintf("%s: not preserved: %v", e.What, e.Err) }

// Unwrap returns the system's reason.
func (e *PreserveError) Unwrap() error { return e.Err }
