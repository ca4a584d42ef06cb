package review

import (
	"strings"
)

// maxColumns is the width up to which a line of a diff is shown on a card.
const maxColumns = 4000

// survey goes through a patch before it is shown, so that what it finds can stand above it.
type survey struct {
	reader  patchReader
	files   []surveyed
	escapes int
	// cut is how many lines are wider than a card shows, unread how many binary parts there are.
	cut, unread int
}

// surveyed is what was found in one part of a patch.
type surveyed struct {
	// crlf and lf count the content lines that end with CR LF and with LF alone, by part: on both sides, removed, added.
	crlf, lf [3]int
	// markGone and markCome say that a side has a byte order mark in a changed first line.
	markGone, markCome bool
	// hunks counts the blocks of changed lines.
	hunks int
}

// mixed reports whether some lines end with CR LF and others with LF, so that their ends must be shown.
func (s surveyed) mixed() bool {
	return s.crlf != [3]int{} && s.lf != [3]int{}
}

// endsChange reports whether lines go that end one way and lines come that end the other way.
func (s surveyed) endsChange() bool {
	return s.crlf[1] > 0 && s.lf[2] > 0 && s.crlf[2] == 0 || s.lf[1] > 0 && s.crlf[2] > 0 && s.lf[2] == 0
}

// take looks at one line of the patch.
func (s *survey) take(line []byte) error {
	text, end := cutEnd(string(line))
	kind := s.reader.next(text)
	switch kind {
	case partFile:
		s.files = append(s.files, surveyed{})
	case partContext, partRemoved, partAdded:
		s.content(kind, text, end)
	case partHunk:
		_, n := escape(text, keepTab)
		s.escapes += n
	case partBinary:
		if text == "GIT binary patch" {
			s.unread++
		}
	}
	return nil
}

func (s *survey) content(kind part, text, end string) {
	visible, n := escape(text[min(1, len(text)):], keepTab)
	s.escapes += n
	if tooWide(visible) {
		s.cut++
	}
	if len(s.files) == 0 {
		return
	}
	f := &s.files[len(s.files)-1]
	if s.reader.began {
		f.hunks++
	}
	side := int(kind - partContext)
	if strings.HasPrefix(end, "\r") {
		f.crlf[side]++
	} else {
		f.lf[side]++
	}
	if s.reader.first(kind) && strings.HasPrefix(text[min(1, len(text)):], byteOrderMark) {
		f.markGone = f.markGone || kind == partRemoved
		f.markCome = f.markCome || kind == partAdded
	}
}

// tooWide reports whether a line is wider than a card shows.
func tooWide(visible string) bool {
	return len(visible) > maxColumns && columns(visible, 1) > maxColumns
}

// flags returns what was found in the whole patch.
func (s *survey) flags() []mark {
	var ends, marks bool
	for _, f := range s.files {
		ends = ends || f.endsChange()
		marks = marks || f.markGone != f.markCome
	}
	var list []mark
	if ends {
		list = append(list, flagLineEnds)
	}
	if marks {
		list = append(list, flagByteOrderMark)
	}
	return list
}
