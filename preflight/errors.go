package preflight

import (
	"fmt"

	"github.com/correx/correx/internal/change"
)

// KindError is returned by Compare for an end that is neither absent nor a regular file, a symlink or a submodule.
type KindError struct {
	Path change.Path
	Kind change.Kind
}

func (e *KindError) Error() string {
	return fmt.Sprintf("compare %q: cannot be an end of a change: %s", string(e.Path), e.Kind)
}

// DuplicateError is returned by Compare for a path that is given twice.
type DuplicateError struct {
	Path change.Path
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("compare %q: given twice", string(e.Path))
}

// UnsteadyError is returned by Take for a file that was different each time it was read.
type UnsteadyError struct {
	Path change.Path
}

func (e *UnsteadyError) Error() string {
	return fmt.Sprintf("pin %q: changes while it is read", string(e.Path))
}
