package review

import (
	"fmt"
	"strings"

	"github.com/correx/correx/internal/change"
)

// SetSummary is what one line about a change set is made of.
type SetSummary struct {
	ID int
	// State is the state in words.
	State          string
	Files          []change.FileChange
	Agent, Session string
	Origin         change.Origin
}

// SetLine returns one line about a change set, without a line end: its number, its state, how much, and of which file
// most is to be feared.
//
//	#12 waiting, 4 files +61 -12: D old_test.go and 3 more (agent claude)
func SetLine(s SetSummary) string {
	state, _ := Escape(s.State)
	line := fmt.Sprintf("#%d %s, %s", s.ID, state, amount(s.Files))
	if files := riskyFirst(s.Files, nil); len(files) > 0 {
		line += ": " + fileName(files[0].change)
		if len(files) > 1 {
			line += fmt.Sprintf(" and %d more", len(files)-1)
		}
	}
	switch agent, _ := Escape(s.Agent); {
	case agent != "":
		line += " (agent " + agent + ")"
	case s.Origin == change.OriginCommit:
		line += " (staged for a commit)"
	case s.Origin == change.OriginUndo:
		line += " (undo)"
	}
	return line
}

// FileLine returns one line about a file change, without a line end: the letter of its op, its path, its counts and what
// is special about it.
func FileLine(f change.FileChange) string {
	line := fileName(f) + "  " + fileCounts(f)
	if flags := flagsOf(f, nil); len(flags) > 0 {
		line += "  " + strings.Join(words(flags), ", ")
	}
	return line
}

// fileName is the letter and the path, both paths for a rename or copy.
func fileName(f change.FileChange) string {
	path, _ := EscapePath(f.Path)
	if f.OldPath != "" {
		old, _ := EscapePath(f.OldPath)
		path = old + " -> " + path
	}
	return OpLetter(f) + " " + path
}

// OpLetter returns git's letter for what f does: A M D R C T.
func OpLetter(f change.FileChange) string {
	switch f.Op {
	case change.OpCreate:
		return "A"
	case change.OpDelete:
		return "D"
	case change.OpRename:
		return "R"
	case change.OpCopy:
		return "C"
	case change.OpRetype:
		return "T"
	case change.OpSymlink:
		if !f.Base.Exists() {
			return "A"
		}
	}
	return "M"
}

// fileCounts is how much a file changes: lines, or bytes where lines were not counted.
func fileCounts(f change.FileChange) string {
	if f.Binary || f.TooLarge {
		return fmt.Sprintf("%d -> %d bytes", f.Base.Size, f.Proposed.Size)
	}
	var parts []string
	if f.Added > 0 {
		parts = append(parts, fmt.Sprintf("+%d", f.Added))
	}
	if f.Removed > 0 {
		parts = append(parts, fmt.Sprintf("-%d", f.Removed))
	}
	if len(parts) == 0 {
		return "no lines"
	}
	return strings.Join(parts, " ")
}

// amount is how much files change together.
func amount(files []change.FileChange) string {
	added, removed := 0, 0
	for _, f := range files {
		added, removed = added+f.Added, removed+f.Removed
	}
	return fmt.Sprintf("%s +%d -%d", count(len(files), "file"), added, removed)
}
