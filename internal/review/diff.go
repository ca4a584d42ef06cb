package review

import (
	"bufio"
	"io"
	"strings"
)

// DiffOptions says how a diff is rendered.
type DiffOptions struct {
	// Colour adds the terminal's own colours: green and red to the signs + and -, and reversed escapes.
	Colour bool
}

// Diff copies a git patch to w in a form that is safe to look at: what could fool a terminal or an eye becomes a visible
// escape, as Escape says. A tab, CR before LF and a byte order mark at the start of a file stay. Where nothing needs
// escaping, and without colour, the output is the patch byte for byte.
//
// It returns the first error of w or patch; after one a part may have been written.
func Diff(w io.Writer, patch io.Reader, o DiffOptions) error {
	out := bufio.NewWriter(w)
	var reader patchReader
	paint := painter{on: o.Colour}
	lines := &lineSplitter{line: func(line []byte) error {
		text, end := cutEnd(string(line))
		kind := reader.next(text)
		text, mark := cutMark(text, kind, &reader)
		body, _ := escape(text, keepTab)
		_, err := out.WriteString(paint.line(kind, mark+body) + end)
		return err
	}}
	if _, err := io.Copy(lines, patch); err != nil {
		return err
	}
	if err := lines.close(); err != nil {
		return err
	}
	return out.Flush()
}

// cutEnd splits a line into its text and its end: LF, CR LF or nothing.
func cutEnd(line string) (text, end string) {
	text = strings.TrimSuffix(line, "\n")
	if text != line {
		text = strings.TrimSuffix(text, "\r")
	}
	return text, line[len(text):]
}

const byteOrderMark = "\ufeff"

// cutMark splits off the sign and a leading byte order mark, which stay as they are.
func cutMark(text string, kind part, reader *patchReader) (rest, kept string) {
	if !reader.first(kind) || text == "" {
		return text, ""
	}
	if rest, ok := strings.CutPrefix(text[1:], byteOrderMark); ok {
		return rest, text[:1] + byteOrderMark
	}
	return text, ""
}

// painter adds colour, of the sixteen that a terminal's user chose, if it is on.
type painter struct{ on bool }

const (
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	cyan    = "\x1b[36m"
	bold    = "\x1b[1m"
	reverse = "\x1b[7m"
	upright = "\x1b[27m"
	reset   = "\x1b[m"
)

func (p painter) wrap(code, s string) string {
	if !p.on || s == "" || code == "" {
		return s
	}
	return code + s + reset
}

// line paints a line of a patch whose text has been escaped already.
func (p painter) line(kind part, text string) string {
	if !p.on {
		return text
	}
	code := ""
	switch kind {
	case partAdded:
		code = green
	case partRemoved:
		code = red
	case partHunk:
		code = cyan
	case partFile, partHeader:
		code = bold
	}
	return p.wrap(code, markEscapes(text))
}

// markEscapes reverses the escapes in text.
func markEscapes(text string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			break
		}
		b.WriteString(text[:at])
		text = text[at:]
		n := escapeLength(text)
		if n == 0 {
			b.WriteByte('<')
			text = text[1:]
			continue
		}
		b.WriteString(reverse + text[:n] + upright)
		text = text[n:]
	}
	b.WriteString(text)
	return b.String()
}

// escapeLength returns the length of the escape that text begins with, or 0.
func escapeLength(text string) int {
	body := ""
	switch {
	case strings.HasPrefix(text, "<U+"), strings.HasPrefix(text, "<0x"):
		body = text[3:]
	default:
		return 0
	}
	end := strings.IndexByte(body, '>')
	if end < 2 || end > 6 || strings.Trim(body[:end], "0123456789ABCDEF") != "" {
		return 0
	}
	return 3 + end + 1
}
