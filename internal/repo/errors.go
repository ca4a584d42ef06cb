package repo

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ErrNotRepository is returned by Open for a folder that belongs to no git repository. The error that wraps it
// carries git's own words.
var ErrNotRepository = errors.New("not a git repository")

// ErrNoGit is returned when no git program is found on the part of PATH that may be used.
var ErrNoGit = errors.New("no git program found outside the working tree")

// errNotHere says that an object is missing or cannot be read in this process: git is asked then.
var errNotHere = errors.New("not readable in this process")

// GitError is returned when git ends with a status that is no answer. Stderr holds what git said, unchanged.
type GitError struct {
	Args []string
	// ExitCode is git's exit status, or -1 when a signal ended it.
	ExitCode int
	Stderr   string
}

// Error names the git command, its status and what git said, with control characters but line ends escaped.
func (e *GitError) Error() string {
	name := "git"
	if len(e.Args) > 0 {
		name += " " + e.Args[0]
	}
	said := strings.TrimSpace(e.Stderr)
	if said == "" {
		said = "no message"
	}
	return fmt.Sprintf("%s: exit status %d: %s", name, e.ExitCode, printable(said))
}

// Is makes errors.Is(err, ErrNotRepository) true for git's way of saying that there is none.
func (e *GitError) Is(target error) bool {
	return target == ErrNotRepository && strings.Contains(e.Stderr, "not a git repository")
}

// MissingObjectError is returned for an object that the repository does not have.
type MissingObjectError struct{ OID string }

func (e *MissingObjectError) Error() string {
	return fmt.Sprintf("object %q: missing in the repository", e.OID)
}

// CorruptObjectError is returned at the end of a blob whose bytes are not those its object id stands for.
type CorruptObjectError struct{ OID, Found string }

func (e *CorruptObjectError) Error() string {
	return fmt.Sprintf("object %q: its content has the object id %q", e.OID, e.Found)
}

// OutputError is returned when git's output does not have the form it is documented to have.
type OutputError struct{ Command, Problem string }

func (e *OutputError) Error() string { return "git " + e.Command + ": unexpected output: " + e.Problem }

// printable escapes what could fool a terminal, and cuts what is too long to read.
func printable(s string) string {
	const most = 2000
	if len(s) > most {
		s = s[:most] + "…"
	}
	var b strings.Builder
	for _, c := range strings.ToValidUTF8(s, "\uFFFD") {
		if c == '\n' || c == '\t' || unicode.IsPrint(c) {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, "\\u%04x", c)
	}
	return b.String()
}
