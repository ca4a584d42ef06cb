package review

import (
	"bytes"
	"strconv"
	"strings"
)

// lineSplitter is a writer that hands on whole lines, with their LF if they have one.
type lineSplitter struct {
	rest []byte
	line func(line []byte) error
}

// Write passes on the lines that p completes.
func (l *lineSplitter) Write(p []byte) (int, error) {
	for at := 0; at < len(p); {
		end := bytes.IndexByte(p[at:], '\n')
		if end < 0 {
			l.rest = append(l.rest, p[at:]...)
			break
		}
		line := p[at : at+end+1]
		if len(l.rest) > 0 {
			l.rest = append(l.rest, line...)
			line = l.rest
		}
		if err := l.line(line); err != nil {
			return at, err
		}
		l.rest = l.rest[:0]
		at += end + 1
	}
	return len(p), nil
}

// close passes on a last line without LF.
func (l *lineSplitter) close() error {
	if len(l.rest) == 0 {
		return nil
	}
	return l.line(l.rest)
}

// part says what a line of a patch is.
type part int

const (
	partFile    part = iota // "diff --git …": a file begins
	partHeader              // modes, names, index
	partHunk                // "@@ …"
	partContext             // a line of the content on both sides
	partRemoved
	partAdded
	partNote   // "\ No newline at end of file"
	partSize   // "literal …" of a binary patch
	partBinary // the body of a binary patch
)

// patchReader tells what each line of a patch is. It counts the lines of each hunk, so that content which looks like a
// header is taken for content.
type patchReader struct {
	old, new     int // lines left in the hunk
	atOld, atNew int // the numbers of the next lines
	binary       bool
	inBlock      bool // the last line of content was a changed one
	began        bool // the line just taken is the first of a block of changed ones: what --hunks counts
}

// next takes one line, without its LF, and says what it is.
func (p *patchReader) next(line string) part {
	if p.old > 0 || p.new > 0 {
		k := p.content(line)
		changed := k == partRemoved || k == partAdded
		p.began = changed && !p.inBlock
		p.inBlock = changed || k == partNote && p.inBlock
		return k
	}
	p.began = false
	switch {
	case strings.HasPrefix(line, "diff --git "):
		p.binary = false
		return partFile
	case strings.HasPrefix(line, "@@ -"):
		if p.begin(line) {
			p.inBlock = false
			return partHunk
		}
	case strings.HasPrefix(line, "\\ "):
		return partNote
	case line == "GIT binary patch":
		p.binary = true
		return partBinary
	case p.binary && (strings.HasPrefix(line, "literal ") || strings.HasPrefix(line, "delta ")):
		return partSize
	case p.binary:
		return partBinary
	}
	return partHeader
}

func (p *patchReader) content(line string) part {
	switch {
	case strings.HasPrefix(line, "-"):
		p.old, p.atOld = p.old-1, p.atOld+1
		return partRemoved
	case strings.HasPrefix(line, "+"):
		p.new, p.atNew = p.new-1, p.atNew+1
		return partAdded
	case strings.HasPrefix(line, "\\ "):
		return partNote
	}
	p.old, p.atOld = p.old-1, p.atOld+1
	p.new, p.atNew = p.new-1, p.atNew+1
	return partContext
}

// first reports whether the content line just taken is the first of its file on every side it is on.
func (p *patchReader) first(k part) bool {
	switch k {
	case partRemoved:
		return p.atOld == 2
	case partAdded:
		return p.atNew == 2
	case partContext:
		return p.atOld == 2 && p.atNew == 2
	}
	return false
}

// begin reads a hunk header.
func (p *patchReader) begin(line string) bool {
	fields := strings.SplitN(line, " ", 5)
	if len(fields) < 4 || fields[3] != "@@" {
		return false
	}
	var ok1, ok2 bool
	p.atOld, p.old, ok1 = span(fields[1], "-")
	p.atNew, p.new, ok2 = span(fields[2], "+")
	return ok1 && ok2
}

// span reads "-3,5" or "+3".
func span(s, sign string) (start, length int, ok bool) {
	s, ok = strings.CutPrefix(s, sign)
	if !ok {
		return 0, 0, false
	}
	from, many, given := strings.Cut(s, ",")
	length = 1
	var err error
	if given {
		if length, err = strconv.Atoi(many); err != nil {
			return 0, 0, false
		}
	}
	start, err = strconv.Atoi(from)
	return start, length, err == nil && start >= 0 && length >= 0
}
