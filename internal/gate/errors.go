package gate

import (
	"fmt"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
)

// UsageError is returned when what was asked for does not make sense: exit 2.
type UsageError struct {
	Problem string
	// Hint is a command that helps, or "".
	Hint string
}

func (e *UsageError) Error() string { return e.Problem }

// UnknownSetError is returned for a number no change set has: exit 1.
type UnknownSetError struct {
	ID   int
	Last int
}

func (e *UnknownSetError) Error() string {
	if e.Last == 0 {
		return fmt.Sprintf("there is no change set #%d: none was submitted yet", e.ID)
	}
	return fmt.Sprintf("there is no change set #%d: the newest is #%d", e.ID, e.Last)
}

// WorktreeError is returned when a change set belongs to another worktree of the repository: exit 2.
type WorktreeError struct {
	ID             int
	Worktree, Here string
}

func (e *WorktreeError) Error() string {
	return fmt.Sprintf("change set #%d belongs to worktree %q, this is %q", e.ID, e.Worktree, e.Here)
}

// StateError is returned when a change set no longer is in a state that allows what was asked: exit 6.
type StateError struct {
	ID    int
	State change.State
	// By is the set that took its place, or 0.
	By   int
	Want string
}

func (e *StateError) Error() string {
	by := ""
	if e.By != 0 {
		by = fmt.Sprintf(" by #%d", e.By)
	}
	return fmt.Sprintf("change set #%d %s: it is %s%s", e.ID, e.Want, e.State, by)
}

// StaleError is returned when a file is no longer what the change set was made against; nothing was written: exit 6.
type StaleError struct {
	ID    int
	Paths []projection.StalePath
	// Undo says that taking back a landed set was refused.
	Undo bool
}

func (e *StaleError) Error() string {
	what := "is stale"
	if e.Undo {
		what = "cannot be undone"
	}
	if len(e.Paths) == 0 {
		return fmt.Sprintf("change set #%d %s", e.ID, what)
	}
	p := e.Paths[0]
	more := ""
	if n := len(e.Paths) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	if p.Expected.Equal(p.Found) {
		return fmt.Sprintf("change set #%d %s: %q is open for writing in another program, or was put in its place anew%s", e.ID, what, p.Path, more)
	}
	return fmt.Sprintf("change set #%d %s: %q is not what it was (expected %s, found %s)%s", e.ID, what, p.Path, describe(p.Expected), describe(p.Found), more)
}

// describe says what a pin is in a few words.
func describe(p change.Pin) string {
	switch p.Kind {
	case change.KindFile:
		return fmt.Sprintf("%.8s, %d bytes, mode %04o", p.SHA256, p.Size, p.Perm)
	case change.KindSymlink:
		return fmt.Sprintf("a symlink %.8s", p.SHA256)
	case change.KindAbsent, "":
		return "nothing"
	case change.KindDir:
		return "a folder"
	}
	return "a " + string(p.Kind)
}

// EditedError is returned when somebody saved a repository's file while correx was about to edit it: their bytes stay, nothing
// was written, granted or revoked: exit 6.
type EditedError struct {
	File string
}

func (e *EditedError) Error() string {
	return fmt.Sprintf("%q was changed meanwhile, or is open for writing in another program: it stays as it is, nothing was granted or revoked", e.File)
}

// DeniedError is returned when policy forbids what was asked: exit 5.
type DeniedError struct {
	ID  int
	Why string
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("change set #%d is not allowed: %s", e.ID, e.Why)
}

// PersonError is returned when only a person may do what was asked: exit 5.
type PersonError struct {
	What, Why string
}

func (e *PersonError) Error() string {
	return fmt.Sprintf("%s is a person's decision: %s", e.What, e.Why)
}

// GrantError is returned when a grant that was asked for could never count: exit 5.
type GrantError struct {
	Why string
}

func (e *GrantError) Error() string { return "no grant was made: " + e.Why }

// UnknownGrantError is returned for an id that no grant has: exit 1.
type UnknownGrantError struct {
	ID string
}

func (e *UnknownGrantError) Error() string { return fmt.Sprintf("there is no grant %q", e.ID) }

// ImageError is returned when an image that a change set needs is not in the store: exit 7.
type ImageError struct {
	ID    int
	Path  change.Path
	Cause error
}

func (e *ImageError) Error() string {
	return fmt.Sprintf("change set #%d: %q: stored image: %v", e.ID, e.Path, e.Cause)
}

func (e *ImageError) Unwrap() error { return e.Cause }

// HunksError is returned when the hunks that a decision chose do not come to what it recorded: exit 7.
type HunksError struct {
	ID    int
	Path  change.Path
	Cause error
}

func (e *HunksError) Error() string {
	return fmt.Sprintf("change set #%d: the hunks chosen of %q are not those of its images: %v", e.ID, e.Path, e.Cause)
}

func (e *HunksError) Unwrap() error { return e.Cause }

// JournalError is returned when a landing's journal names a landing that no decision in the ledger stands behind. Nothing
// is written: exit 7.
type JournalError struct {
	Set     int
	Landing string
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("the journal of change set #%d (landing %q) matches no decision in the ledger", e.Set, e.Landing)
}
