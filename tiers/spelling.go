package tiers

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/correx/correx/internal/change"
)

// spelling holds a path in the forms in which it is compared with patterns.
type spelling struct {
	exact []string
	// folded holds the components as foldName leaves them; then, where it differs, the same as Windows would read it:
	// backslashes separate, trailing dots and spaces and what follows a colon do not count.
	folded [][]string
}

// spell returns the spellings of p.
func spell(p change.Path) spelling {
	s := spelling{exact: strings.Split(string(p), "/")}
	plain := make([]string, len(s.exact))
	for i, name := range s.exact {
		plain[i] = foldName(name)
	}
	s.folded = append(s.folded, plain)
	whole := strings.Join(plain, "/")
	if w := windowsName(whole); w != whole && w != "" {
		s.folded = append(s.folded, strings.Split(w, "/"))
	}
	return s
}

// windowsName returns a folded path as Windows resolves it: "a\b" is "a/b", "a. " is "a", "a::$DATA" is "a".
func windowsName(folded string) string {
	names := strings.Split(strings.ReplaceAll(folded, `\`, "/"), "/")
	kept := names[:0]
	for _, name := range names {
		if name == ".." && len(kept) > 0 {
			kept = kept[:len(kept)-1]
			continue
		}
		stem, _, _ := strings.Cut(name, ":")
		if stem = strings.TrimRight(stem, ". "); stem != "" {
			kept = append(kept, stem)
		}
	}
	return strings.Join(kept, "/")
}

// foldName returns the one spelling that stands for all those of a component which some file system takes for the same
// name: ignorable code points dropped, compatibility forms resolved, letter case folded. Bytes that are not UTF-8 are kept.
func foldName(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	var b strings.Builder
	for name != "" {
		n := validPrefix(name)
		if n == 0 {
			b.WriteByte(name[0])
			name = name[1:]
			continue
		}
		b.WriteString(foldText(name[:n]))
		name = name[n:]
	}
	return b.String()
}

func foldText(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case ignorable(r):
			return -1
		case r == 'ı' || r == 'İ':
			// Both are an i to a file system that compares upper-case, or lower-case, forms rune by rune.
			return 'i'
		}
		return r
	}, s)
	s = norm.NFKC.String(s)
	s = cases.Fold().String(s)
	return norm.NFKC.String(s)
}

// ignorable reports whether some file system skips r when it compares names.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// validPrefix returns how many bytes at the front of s are valid UTF-8.
func validPrefix(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		n += size
	}
	return n
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// shortName reports whether a folded name has the form of an 8.3 short name, and returns the letters before its "~".
func shortName(folded string) (stem string, ok bool) {
	stem, rest, ok := strings.Cut(folded, "~")
	if !ok || stem == "" || len(stem) > 6 {
		return "", false
	}
	digits := strings.TrimLeft(rest, "0123456789")
	if digits == rest || (digits != "" && (digits[0] != '.' || len(digits) > 4)) {
		return "", false
	}
	return stem, true
}

// shortStem returns the letters that the 8.3 short name of a folded name begins with, or "" where the name needs none.
func shortStem(folded string) string {
	stem := strings.TrimSuffix(folded, path.Ext(folded))
	if strings.HasPrefix(folded, ".") {
		stem = folded[1:]
		if i := strings.LastIndexByte(stem, '.'); i >= 0 {
			stem = stem[:i]
		}
	} else if len(stem) <= 8 && len(path.Ext(folded)) <= 4 {
		return ""
	}
	stem = strings.Map(func(r rune) rune {
		if r == '.' || r == ' ' {
			return -1
		}
		return r
	}, stem)
	return stem[:min(len(stem), 6)]
}
