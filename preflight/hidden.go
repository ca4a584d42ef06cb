package preflight

import (
	"unicode/utf8"

	"github.com/correx/correx/internal/textdiff"
)

// CountHidden counts the characters of a content that a reader does not see as what they are: control, bidirectional and
// zero-width ones, as textdiff.Hidden says. A tab, a newline, CR before LF and a byte order mark at the very start are
// not counted, and bytes that are not UTF-8 are no characters.
func CountHidden(b []byte) int { return countHidden(b, true) }

// hiddenInName counts in a name, where nothing that a reader does not see is harmless.
func hiddenInName(name string) int {
	n := 0
	for _, r := range name {
		if r < ' ' || r == 0x7F || r != utf8.RuneError && textdiff.Hidden(r) {
			n++
		}
	}
	return n
}

// countHidden counts in a piece that consists of whole lines; start says that it is the beginning of the content.
func countHidden(b []byte, start bool) int {
	n := 0
	for at := 0; at < len(b); {
		c := b[at]
		if c < utf8.RuneSelf {
			harmless := c >= ' ' && c != 0x7F || c == '\n' || c == '\t' || c == '\r' && at+1 < len(b) && b[at+1] == '\n'
			if !harmless {
				n++
			}
			at++
			continue
		}
		r, size := utf8.DecodeRune(b[at:])
		leadingMark := r == 0xFEFF && at == 0 && start
		if size > 1 && textdiff.Hidden(r) && !leadingMark {
			n++
		}
		at += size
	}
	return n
}

// hiddenCounter counts in a stream, and notes whether a NUL went by.
type hiddenCounter struct {
	n      int
	binary bool
	moved  bool
	rest   []byte
}

// Write counts in p. What cannot be judged before more bytes come (CR, an unfinished character) is kept for later.
func (h *hiddenCounter) Write(p []byte) (int, error) {
	h.binary = h.binary || textdiff.IsBinary(p)
	b := append(h.rest, p...)
	end := len(b)
	for cut := 1; cut <= min(len(b), utf8.UTFMax-1); cut++ {
		at := len(b) - cut
		if utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) || cut == 1 && b[at] == '\r' {
				end = at
			}
			break
		}
	}
	h.count(b[:end])
	h.rest = append([]byte(nil), b[end:]...)
	return len(p), nil
}

func (h *hiddenCounter) count(b []byte) {
	h.n += countHidden(b, !h.moved)
	h.moved = h.moved || len(b) > 0
}

// finish counts what was kept and returns the number.
func (h *hiddenCounter) finish() int {
	h.count(h.rest)
	h.rest = nil
	return h.n
}
