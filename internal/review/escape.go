package review

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/textdiff"
)

// style says what an escape keeps, and what it escapes besides the hidden characters.
type style uint

const (
	// keepTab leaves tabs.
	keepTab style = 1 << iota
	// keepLines leaves LF, and CR before it.
	keepLines
	// onlyASCII escapes everything outside ASCII.
	onlyASCII
	// names escapes what makes two names look alike: spaces that are not U+0020, code points without a shape of their own,
	// and text that looks like an escape.
	names
)

// Escape returns s as one line that cannot fool a terminal or an eye, and how many escapes it holds. Control,
// bidirectional, zero-width and other hidden characters, line ends and tabs included, are written as <U+202E>, bytes that
// are not UTF-8 as <0xE9>. Different texts give different results.
func Escape(s string) (visible string, count int) { return escape(s, names) }

// EscapeText is Escape for text of several lines: tabs, LF, and CR before LF stay.
func EscapeText(s string) (visible string, count int) { return escape(s, keepTab|keepLines) }

// EscapePath is Escape for a path. Where a component mixes letters of scripts that look alike, those that are not Latin
// are written as their code points; a path that begins or ends with a space is put in quotes.
func EscapePath(p change.Path) (visible string, count int) {
	parts := strings.Split(string(p), "/")
	for i, part := range parts {
		text, n := Escape(part)
		if mixesScripts(part) {
			var more int
			text, more = markForeign(text)
			n += more
		}
		parts[i] = text
		count += n
	}
	visible = strings.Join(parts, "/")
	if strings.HasPrefix(visible, " ") || strings.HasSuffix(visible, " ") {
		visible = `"` + visible + `"`
	}
	return visible, count
}

// escapeASCII is Escape with everything outside ASCII escaped.
func escapeASCII(s string) string {
	text, _ := escape(s, names|onlyASCII)
	return text
}

// escape writes s in a style and counts the escapes.
func escape(s string, st style) (string, int) {
	var b strings.Builder
	count, from := 0, 0
	for at := 0; at < len(s); {
		if c := s[at]; c >= ' ' && c < 0x7F && c != '<' {
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		mark := markFor(s[at:], r, size, st)
		if mark != "" {
			b.WriteString(s[from:at])
			b.WriteString(mark)
			count++
			from = at + size
		}
		at += size
	}
	if count == 0 {
		return s, 0
	}
	b.WriteString(s[from:])
	return b.String(), count
}

// markFor returns the escape for the character that s begins with, or "" when it stays.
func markFor(s string, r rune, size int, st style) string {
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("<0x%02X>", s[0])
	}
	switch {
	case r == '\t' && st&keepTab != 0, r == '\n' && st&keepLines != 0:
		return ""
	case st&keepLines != 0 && strings.HasPrefix(s, "\r\n"):
		return ""
	case textdiff.Hidden(r), r >= utf8.RuneSelf && st&onlyASCII != 0, st&names != 0 && looksAlike(s, r):
		return codePoint(r)
	}
	return ""
}

func codePoint(r rune) string { return fmt.Sprintf("<U+%04X>", r) }

// looksAlike reports whether the character that s begins with could be taken for another, or for the beginning of an
// escape.
func looksAlike(s string, r rune) bool {
	if r < utf8.RuneSelf {
		return r == '<' && (strings.HasPrefix(s, "<U+") || strings.HasPrefix(s, "<0x"))
	}
	return unicode.Is(unicode.Zs, r) || !unicode.IsGraphic(r)
}

// scriptsAlike are the scripts whose letters are taken for one another.
func scriptsAlike() []*unicode.RangeTable {
	return []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu}
}

// mixesScripts reports whether s has letters of two or more scripts that look alike.
func mixesScripts(s string) bool {
	found := 0
	for _, script := range scriptsAlike() {
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(script, r) }) {
			found++
		}
	}
	return found > 1
}

// markForeign writes the letters of those scripts, but for Latin, as their code points.
func markForeign(s string) (string, int) {
	var b strings.Builder
	count := 0
	for _, r := range s {
		if unicode.In(r, scriptsAlike()[1:]...) {
			b.WriteString(codePoint(r))
			count++
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), count
}
