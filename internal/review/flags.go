package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
)

// mark is something about a change that a reader must not miss. Their order is the order in which they are shown, worst
// first.
type mark int

const (
	flagDelete mark = iota
	flagOutside
	flagOverwrite
	flagExecutable
	flagNotExecutable
	flagSymlink
	flagRetype
	flagHardLink
	flagSubmodule
	flagBinary
	flagTooLarge
	flagProtected
	flagHidden
	flagName
	flagLineEnds
	flagByteOrderMark
	flagIgnored
	flagRename
	flagCopy
)

// String returns the flag in words.
func (m mark) String() string {
	switch m {
	case flagDelete:
		return "delete"
	case flagOutside:
		return "outside the repository"
	case flagOverwrite:
		return "overwrite"
	case flagExecutable:
		return "made executable"
	case flagNotExecutable:
		return "no longer executable"
	case flagSymlink:
		return "symlink"
	case flagRetype:
		return "change of kind"
	case flagHardLink:
		return "hard link"
	case flagSubmodule:
		return "submodule"
	case flagBinary:
		return "binary"
	case flagTooLarge:
		return "too large to compare"
	case flagProtected:
		return "protected"
	case flagHidden:
		return "hidden characters"
	case flagName:
		return "odd characters in the name"
	case flagLineEnds:
		return "line ends change"
	case flagByteOrderMark:
		return "byte order mark changes"
	case flagIgnored:
		return "ignored by git"
	case flagRename:
		return "rename"
	case flagCopy:
		return "copy"
	}
	return "unknown"
}

func words(flags []mark) []string {
	var list []string
	for _, f := range flags {
		list = append(list, f.String())
	}
	return list
}

// flagsOf returns the flags of a file, worst first, from what it does and from the reasons that policy gave for it.
func flagsOf(f change.FileChange, reasons []change.Reason) []mark {
	var list []mark
	add := func(when bool, x mark) {
		if when && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	both := f.Base.Exists() && f.Proposed.Exists()
	add(f.Op == change.OpDelete, flagDelete)
	add(f.Op == change.OpOverwrite, flagOverwrite)
	add(f.Proposed.Executable() && !f.Base.Executable(), flagExecutable)
	add(both && !f.Proposed.Executable() && f.Base.Executable(), flagNotExecutable)
	add(f.Proposed.Kind == change.KindSymlink || f.Base.Kind == change.KindSymlink, flagSymlink)
	add(f.Op == change.OpRetype, flagRetype)
	add(f.Proposed.Kind == change.KindSubmodule || f.Base.Kind == change.KindSubmodule, flagSubmodule)
	add(f.Binary, flagBinary)
	add(f.TooLarge, flagTooLarge)
	add(f.Hidden > 0, flagHidden)
	_, escaped := EscapePath(f.Path)
	add(escaped > 0, flagName)
	add(f.Op == change.OpRename, flagRename)
	add(f.Op == change.OpCopy, flagCopy)
	for _, r := range reasons {
		if x, ok := flagOf(r); ok {
			add(true, x)
		}
	}
	slices.Sort(list)
	return list
}

// flagOf returns the flag that a reason raises for the file it was given for. The others are about the set, or said
// by the file's own facts.
func flagOf(r change.Reason) (mark, bool) {
	switch r {
	case change.OutsideRepository:
		return flagOutside, true
	case change.HardLink:
		return flagHardLink, true
	case change.Submodule:
		return flagSubmodule, true
	case change.ProtectedTarget:
		return flagProtected, true
	case change.IgnoredPath:
		return flagIgnored, true
	}
	return 0, false
}

// flagged is a file with its flags.
type flagged struct {
	change change.FileChange
	flags  []mark
}

// riskyFirst sorts files by their worst flag, then by path. reasons, where given, holds policy's reasons for each file.
func riskyFirst(files []change.FileChange, reasons [][]change.Reason) []flagged {
	list := make([]flagged, 0, len(files))
	for i, f := range files {
		var why []change.Reason
		if i < len(reasons) {
			why = reasons[i]
		}
		list = append(list, flagged{f, flagsOf(f, why)})
	}
	worst := func(f flagged) mark {
		if len(f.flags) == 0 {
			return flagCopy + 1
		}
		return f.flags[0]
	}
	slices.SortStableFunc(list, func(a, b flagged) int {
		return cmp.Or(cmp.Compare(worst(a), worst(b)), strings.Compare(string(a.change.Path), string(b.change.Path)))
	})
	return list
}
