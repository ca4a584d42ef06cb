package repo

import (
	"bufio"
	"bytes"
	"io"
)

// eolAction is what git does with line ends when it stores a file.
type eolAction int

const (
	// eolKeep stores the bytes as they are.
	eolKeep eolAction = iota
	// eolText turns every CRLF into LF.
	eolText
	// eolGuess does the same for what looks like text, unless the index already holds CRLF for the path.
	eolGuess
)

// attributes are the values git gives a path, in check-attr's words: "set", "unset", "unspecified" or a value.
type attributes struct {
	text, crlf, eol, ident, filter, encoding string
}

// eolFor derives the action from attributes and core.autocrlf ("true", "input", or anything else for off).
func eolFor(a attributes, autocrlf string) eolAction {
	action, known := textAction(a.text)
	if !known {
		action, known = textAction(a.crlf)
	}
	if known && action == eolKeep {
		return eolKeep
	}
	if !known && (a.eol == "lf" || a.eol == "crlf") {
		return eolText
	}
	if known {
		return action
	}
	if autocrlf == "true" || autocrlf == "input" {
		return eolGuess
	}
	return eolKeep
}

func textAction(value string) (action eolAction, known bool) {
	switch value {
	case "set", "input":
		return eolText, true
	case "unset":
		return eolKeep, true
	case "auto":
		return eolGuess, true
	}
	return eolKeep, false
}

// textStats counts what git looks at to tell text from other content.
type textStats struct {
	size                    int64
	crlf, loneCR, nul       int64
	printable, nonPrintable int64
}

// gather reads content to its end.
func gather(r io.Reader) (textStats, error) {
	var s textStats
	in := bufio.NewReaderSize(r, 64<<10)
	afterCR := false
	var last byte
	for {
		c, err := in.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return s, err
		}
		s.size++
		last = c
		if afterCR {
			afterCR = false
			if c == '\n' {
				s.crlf++
				continue
			}
			s.loneCR++
		}
		afterCR = c == '\r'
		s.count(c)
	}
	if afterCR {
		s.loneCR++
	}
	// The end-of-file character of old systems does not make text binary.
	if s.size > 0 && last == 0x1a {
		s.nonPrintable--
	}
	return s, nil
}

func (s *textStats) count(c byte) {
	switch {
	case c == '\r' || c == '\n':
	case c == 0:
		s.nul++
		s.nonPrintable++
	case c == '\b' || c == '\t' || c == 0x1b || c == '\f':
		s.printable++
	case c < 32 || c == 127:
		s.nonPrintable++
	default:
		s.printable++
	}
}

// binary is git's guess.
func (s textStats) binary() bool {
	return s.loneCR > 0 || s.nul > 0 || s.printable>>7 < s.nonPrintable
}

// withoutCR copies content, leaving out each CR that stands before an LF.
func withoutCR(w io.Writer, r io.Reader) error {
	in, out := bufio.NewReaderSize(r, 64<<10), bufio.NewWriterSize(w, 64<<10)
	afterCR := false
	for {
		c, err := in.ReadByte()
		if err != nil && err != io.EOF {
			return err
		}
		if afterCR && (err == io.EOF || c != '\n') {
			_ = out.WriteByte('\r')
		}
		if err == io.EOF {
			return out.Flush()
		}
		if afterCR = c == '\r'; !afterCR {
			_ = out.WriteByte(c)
		}
	}
}

// shortIdent replaces "$Id: anything $" on one line by "$Id$".
func shortIdent(content []byte) []byte {
	var out []byte
	for {
		dollar := bytes.IndexByte(content, '$')
		if dollar < 0 {
			return append(out, content...)
		}
		out = append(out, content[:dollar+1]...)
		content = content[dollar+1:]
		if !bytes.HasPrefix(content, []byte("Id:")) {
			continue
		}
		end := bytes.IndexByte(content, '$')
		if end < 0 {
			return append(out, content...)
		}
		if bytes.IndexByte(content[:end], '\n') < 0 {
			out = append(out, "Id$"...)
			content = content[end+1:]
		}
	}
}
