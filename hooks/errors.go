package hooks

import (
	"errors"
	"fmt"
)

// ErrUsage is in the chain of errors about what was asked for: a hook this package does not know, a binary that cannot be
// called from a hook.
var ErrUsage = errors.New("not possible")

// FolderError is returned where hooks cannot live: the hooks folder is something else than a folder.
type FolderError struct{ Path string }

func (e *FolderError) Error() string {
	return fmt.Sprintf("hooks folder %q: expected a folder; git runs no hooks from there", e.Path)
}

// ConflictError is returned when going on would lose or damage something a person has to look at first. Nothing was
// changed for that hook.
type ConflictError struct {
	Path string
	// Problem says what is in the way, and what to do.
	Problem string
}

func (e *ConflictError) Error() string { return fmt.Sprintf("hook %q: %s", e.Path, e.Problem) }
