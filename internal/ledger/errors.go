package ledger

import (
	"errors"
	"fmt"
)

// ErrCorrupt matches every *CorruptError.
var ErrCorrupt = errors.New("ledger does not verify")

// ErrPosition is returned by the first reading of a Log that was opened at a Position which is not in its ledger. The
// caller drops what it had cached and opens the Log at the start.
var ErrPosition = errors.New("position is not in this ledger")

// CorruptError is returned when the ledger is not what its writers left: nothing may be decided on it.
type CorruptError struct {
	// Path is the file that does not verify.
	Path string
	// Line is the first line that does not, counted from 1, which is also the sequence number its event should have; 0 when
	// the problem is not in a line.
	Line int
	// Problem says what is wrong.
	Problem string
}

func (e *CorruptError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("ledger %q: %s", e.Path, e.Problem)
	}
	return fmt.Sprintf("ledger %q: line %d: %s", e.Path, e.Line, e.Problem)
}

// Is makes every CorruptError match ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// DraftError is returned by Update for a draft that cannot become an event. Nothing was written.
type DraftError struct {
	Type    Type
	Problem string
}

func (e *DraftError) Error() string { return fmt.Sprintf("event %s: %s", e.Type, e.Problem) }
