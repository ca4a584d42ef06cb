package shadow

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

// reservedPrefix begins the names that a landing uses for its own files. A shadow never shows and never proposes them.
const reservedPrefix = ".correx-"

// maxPath is the length in bytes of the longest path that is looked at. Longer ones no system call takes whole, git
// cannot hold them, and they could not land.
const maxPath = 4095

// gitName is the one name at the root of a shadow that a scan skips: the shadow's own git directory.
const gitName = ".git"

// reserved reports whether name belongs to landing.
func reserved(name string) bool { return strings.HasPrefix(name, reservedPrefix) }

// gitAlias reports whether some file system git runs on takes name for ".git": another letter case, code points that
// HFS+ ignores, the short name that NTFS makes, trailing dots and spaces, or a named stream of it.
func gitAlias(name string) bool {
	if name == "" {
		return false
	}
	switch c := name[0]; {
	case c == '.', c == 'g', c == 'G', c >= 0x80:
	default:
		return false // Nothing that folds to ".git" or "git~1" begins in another way.
	}
	folded := strings.Map(foldRune, name)
	if i := strings.IndexByte(folded, ':'); i >= 0 {
		folded = folded[:i]
	}
	folded = strings.TrimRight(folded, ". ")
	return folded == gitName || folded == "git~1"
}

// foldRune lowers what can stand in ".git" and drops the code points that HFS+ leaves out of comparisons. Every other
// rune is returned as it is: it cannot be part of the name.
func foldRune(r rune) rune {
	switch {
	case r == 'G':
		return 'g'
	case r == 'I', r == 0x130, r == 0x131:
		return 'i'
	case r == 'T':
		return 't'
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// gitComponent reports whether a component of p, from the root down, is a spelling of ".git".
func gitComponent(p change.Path) bool {
	for part := range strings.SplitSeq(string(p), "/") {
		if gitAlias(part) {
			return true
		}
	}
	return false
}

// reservedComponent reports whether a component of p belongs to landing.
func reservedComponent(p change.Path) bool {
	return strings.HasPrefix(string(p), reservedPrefix) || strings.Contains(string(p), "/"+reservedPrefix)
}

// validSession reports whether id can name a folder everywhere: letters, digits, dots, dashes and underscores, not
// beginning with a dot or a dash.
func validSession(id string) bool {
	if id == "" || len(id) > 100 || id[0] == '.' || id[0] == '-' {
		return false
	}
	for i := range len(id) {
		c := id[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
		if !ok {
			return false
		}
	}
	return true
}
