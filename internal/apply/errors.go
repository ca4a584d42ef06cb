package apply

import (
	"errors"
	"fmt"
	"strings"

	"github.com/correx/correx/internal/change"
)

// ErrUnfinished is in the chain of an error after which the journal is still there: a landing that could neither be
// committed nor taken back, or one past its commit point whose old files could not be removed. Recover has to run next.
var ErrUnfinished = errors.New("landing is unfinished")

// ErrPending is returned by Land when the journal of an earlier landing is still there. Nothing was changed.
var ErrPending = errors.New("an earlier landing is unfinished")

// StalePath is one path that is not what a step expects.
type StalePath struct {
	Path            change.Path
	Expected, Found change.Pin
	// Why says more than the pins can, as "open for writing in another program"; often "".
	Why string
}

// StaleError is returned when paths are not what the steps were made against. Names that a folder holds beyond the steps
// of a landing that replaces it are listed as expected to be absent. The tree is as it was found.
type StaleError struct {
	// Paths are in the order of their names, and never empty.
	Paths []StalePath
}

func (e *StaleError) Error() string {
	const most = 3
	var words []string
	for i, p := range e.Paths {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(e.Paths)-most))
			break
		}
		words = append(words, p.String())
	}
	return strings.Join(words, "; ")
}

func (p StalePath) String() string {
	if p.Why != "" {
		return fmt.Sprintf("%q: %s", p.Path, p.Why)
	}
	return fmt.Sprintf("%q: expected %s, found %s", p.Path, describe(p.Expected), describe(p.Found))
}

// describe names a pin for a person, with as much of the digest as tells two apart.
func describe(p change.Pin) string {
	if !p.Exists() {
		return "nothing"
	}
	text := string(p.Kind)
	if p.Kind == change.KindFile {
		text += fmt.Sprintf(" %04o", p.Perm)
	}
	if len(p.SHA256) >= 12 {
		text += " " + p.SHA256[:12]
	}
	return text
}

// UnsafeError is returned for a path that must not be written, whatever was decided. Nothing was changed.
type UnsafeError struct {
	Path change.Path
	Why  string
}

func (e *UnsafeError) Error() string { return fmt.Sprintf("path %q: %s", e.Path, e.Why) }

// StepsError is returned for steps that contradict each other or that no tree can hold. Nothing was changed.
type StepsError struct {
	Path change.Path
	Why  string
}

func (e *StepsError) Error() string { return fmt.Sprintf("step %q: %s", e.Path, e.Why) }

// JournalError is returned when the journal is not believed: not the engine's own, damaged, or contradicting the tree.
// Nothing was changed, and nothing will be until somebody looks.
type JournalError struct {
	// File is the journal's path in the file system.
	File    string
	Problem string
}

func (e *JournalError) Error() string { return fmt.Sprintf("journal %q: %s", e.File, e.Problem) }
