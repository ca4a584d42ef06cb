package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/shadow"
	"github.com/correx/correx/undo"
)

// The exit codes, the same for every command.
const (
	codeDone        = 0
	codeFailed      = 1
	codeUsage       = 2
	codeWaiting     = 3
	codeRejected    = 4
	codeNotAllowed  = 5
	codeStale       = 6
	codeCorrupt     = 7
	codeTimeout     = 124
	codeInterrupted = 130
)

// codeOf maps an error to its exit code. It is the only place that does.
func codeOf(err error) int {
	var (
		usage    *gate.UsageError
		worktree *gate.WorktreeError
		conf     *config.Error
		person   *gate.PersonError
		denied   *gate.DeniedError
		granted  *gate.GrantError
		unsafe   *apply.UnsafeError
		state    *gate.StateError
		stale    *gate.StaleError
		stale2   *apply.StaleError
		edited   *gate.EditedError
		image    *gate.ImageError
		hunks    *gate.HunksError
		journal  *gate.JournalError
		broken   *apply.JournalError
		contra   *projection.ContradictionError
		badImage *undo.CorruptImageError
		manifest *shadow.ManifestError
		chosen   *exitError
	)
	switch {
	case err == nil:
		return codeDone
	case errors.As(err, &chosen):
		return chosen.code
	case errors.Is(err, ledger.ErrCorrupt), errors.As(err, &broken), errors.As(err, &image), errors.As(err, &journal),
		errors.As(err, &contra), errors.As(err, &badImage), errors.As(err, &manifest), errors.As(err, &hunks):
		return codeCorrupt
	case errors.As(err, &stale), errors.As(err, &stale2), errors.As(err, &state), errors.As(err, &edited):
		return codeStale
	case errors.As(err, &person), errors.As(err, &denied), errors.As(err, &granted), errors.As(err, &unsafe):
		return codeNotAllowed
	case errors.As(err, &usage), errors.As(err, &worktree), errors.As(err, &conf):
		return codeUsage
	case errors.Is(err, context.DeadlineExceeded):
		return codeTimeout
	case errors.Is(err, context.Canceled):
		return codeInterrupted
	}
	return codeFailed
}

// exitError carries an exit code together with words for it.
type exitError struct {
	code int
	text string
	hint string
	// cause is what was wrong, for whoever can go on without; nil for nothing.
	cause error
}

func (e *exitError) Error() string { return e.text }

func (e *exitError) Unwrap() error { return e.cause }

// codeOfState is what a change set's state means to whoever submitted it or waits for it.
func codeOfState(e *projection.Entry) int {
	switch e.State {
	case change.StatePending, change.StateStaged:
		return codeWaiting
	case change.StateApproved:
		if e.Origin == change.OriginCommit {
			return codeDone
		}
		return codeWaiting
	case change.StateRejected, change.StateSkipped, change.StateUndone:
		return codeRejected
	case change.StateDenied, change.StateTimedOut:
		return codeNotAllowed
	case change.StateStale, change.StateSuperseded:
		return codeStale
	}
	return codeDone
}

// worse returns the code that counts when several things happened at once: 7, 6, 5, 4, 3, then any other failure.
func worse(a, b int) int {
	rank := func(c int) int {
		switch c {
		case codeDone:
			return 0
		case codeWaiting, codeRejected, codeNotAllowed, codeStale, codeCorrupt:
			return 10 + c
		case codeTimeout:
			return 5
		}
		return 1
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// hintOf returns the one command that helps after err, or "".
func hintOf(err error) string {
	var usage *gate.UsageError
	var chosen *exitError
	var person *gate.PersonError
	var stale *gate.StaleError
	var worktree *gate.WorktreeError
	var journal *apply.JournalError
	switch {
	case errors.As(err, &chosen):
		return chosen.hint
	case errors.As(err, &journal):
		return fmt.Sprintf("mv %q %q, then correx status: what stands at working names goes back", journal.File, journal.File+".damaged")
	case errors.As(err, &usage):
		return usage.Hint
	case errors.As(err, &person):
		return "a person runs it in a terminal, in the repository"
	case errors.As(err, &worktree):
		return "git worktree list, then correx -C DIR … in that one"
	case errors.As(err, &stale) && !stale.Undo:
		return fmt.Sprintf("correx show %d; the agent resets those paths in its shadow and proposes the change again", stale.ID)
	case errors.Is(err, ledger.ErrCorrupt):
		return "correx fsck"
	}
	return ""
}
