package undo

import (
	"errors"
	"fmt"

	"github.com/correx/correx/internal/change"
)

// ErrNothingLanded is returned by Revert for a set of which no file landed.
var ErrNothingLanded = errors.New("nothing of this set landed")

// MissingImageError is returned when the store does not hold an image.
type MissingImageError struct {
	// SHA256 is what was asked for; it need not be a digest.
	SHA256 string
}

func (e *MissingImageError) Error() string {
	return fmt.Sprintf("image %q: not in the store", e.SHA256)
}

// CorruptImageError is returned when the bytes of an image are not those it is named after.
type CorruptImageError struct {
	SHA256 string
	// Problem says what was found instead.
	Problem string
}

func (e *CorruptImageError) Error() string {
	return fmt.Sprintf("image %q: %s", e.SHA256, e.Problem)
}

// LandedError is returned by Revert when the landed steps do not fit the set.
type LandedError struct {
	Path    change.Path
	Problem string
}

func (e *LandedError) Error() string { return fmt.Sprintf("path %q: %s", e.Path, e.Problem) }
