package apply

import (
	"strings"
	"unicode"

	"github.com/correx/correx/internal/change"
)

// reservedPrefix begins the working names of this package; nothing else may have such a name.
const reservedPrefix = ".correx-"

// forbidden says why no landing may touch p, whoever agreed to it; "" when nothing speaks against it. It looks at the name
// alone: each component is taken for what the most lenient file system would take it for.
func forbidden(p change.Path) string {
	if _, err := change.ParsePath(string(p)); err != nil {
		return err.Error()
	}
	for part := range strings.SplitSeq(string(p), "/") {
		plain := plainName(part)
		switch {
		case isGitAlias(plain):
			return "names git's own folder"
		case strings.HasPrefix(plain, reservedPrefix):
			return "has a name that is reserved for landings"
		}
	}
	return ""
}

// isGitAlias reports whether a plain name is .git, or what NTFS makes of it: the short names that begin git~, a stream of
// it (.git::$INDEX_ALLOCATION), a path through a backslash.
func isGitAlias(plain string) bool {
	for _, sep := range []string{":", `\`} {
		plain, _, _ = strings.Cut(plain, sep)
	}
	plain = strings.TrimRight(plain, ". ")
	if short, ok := strings.CutPrefix(plain, "git~"); ok {
		return short != "" && strings.Trim(short, "0123456789") == ""
	}
	return plain == ".git"
}

// plainName drops what file systems ignore in a name and folds letters to one case.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case ignorable(r):
			return -1
		case r == 'İ' || r == 'ı':
			return 'i'
		}
		return unicode.ToLower(r)
	}, name)
}

// ignorable reports whether a file system that compares names by Unicode's rules may skip r: format characters and the
// other default-ignorable code points.
func ignorable(r rune) bool {
	if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
		return true
	}
	return r == 0x00AD || r == 0x034F || r == 0xFEFF || r >= 0xE0000 && r <= 0xE0FFF
}
