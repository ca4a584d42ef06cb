package review

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// columns returns how many columns of a terminal s takes from column at on. s holds no hidden characters but tabs.
func columns(s string, at int) int {
	from := at
	marks := 0
	for _, r := range s {
		if isMark(r) {
			marks++
			if marks <= 4 {
				continue
			}
			at++ // a heap of marks on one letter is counted, so that it cannot be endless
			continue
		}
		marks = 0
		at += runeColumns(r, at)
	}
	return at - from
}

// isMark reports whether r stands on the letter before it. No ASCII does, which lines of megabytes mostly are.
func isMark(r rune) bool { return r > unicode.MaxASCII && unicode.In(r, unicode.Mn, unicode.Me) }

func runeColumns(r rune, at int) int {
	switch {
	case r == '\t':
		return 8 - at%8
	case r <= unicode.MaxASCII:
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// splitColumns cuts s where it would pass limit columns, starting at column at. The first part has at least one
// character.
func splitColumns(s string, at, limit int) (head, rest string) {
	used, marks := at, 0
	for i, r := range s {
		n := 0
		if isMark(r) {
			if marks++; marks > 4 {
				n = 1
			}
		} else {
			marks = 0
			n = runeColumns(r, used)
		}
		if i > 0 && used+n > limit {
			return s[:i], s[i:]
		}
		used += n
	}
	return s, ""
}

// wrap breaks s, which is one line, into rows of at most limit columns, at spaces where there are some.
func wrap(s string, limit int) []string {
	limit = max(limit, 8)
	var rows []string
	for columns(s, 0) > limit {
		head, rest := splitColumns(s, 0, limit)
		switch at := strings.LastIndexByte(head, ' '); {
		case strings.HasPrefix(rest, " "):
			rest = rest[1:]
		case at > 0:
			head, rest = s[:at], s[at+1:]
		}
		rows = append(rows, head)
		s = rest
	}
	return append(rows, s)
}

// shorten cuts s, which is ASCII, to limit columns by taking out its middle, and says so by "...".
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	if limit < 8 {
		return s[:max(limit, 0)]
	}
	tail := (limit - 3) * 2 / 3
	return s[:limit-3-tail] + "..." + s[len(s)-tail:]
}

// Age says how long ago something was, in one unit: "12 s ago", "3 min ago", "5 h ago", "2 days ago".
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
