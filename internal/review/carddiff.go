package review

import (
	"bufio"
	"fmt"
	"strings"
)

// cardDiff shows a patch on a card: the headers without object ids, every line of content whole, the bodies of binary
// parts as their sizes.
type cardDiff struct {
	out    *bufio.Writer
	width  int
	paint  painter
	found  *survey
	reader patchReader
	// numbers are what stands above the hunks of each part, in order.
	numbers [][]string
	at      int    // parts begun
	size    string // the new size of a binary part, until the old one comes
}

// line shows one line of the patch.
func (d *cardDiff) line(line []byte) error {
	text, end := cutEnd(string(line))
	kind := d.reader.next(text)
	if d.reader.began {
		d.number()
	}
	switch kind {
	case partFile:
		d.at++
		if d.at > 1 {
			d.out.WriteString("\n")
		}
		d.text(kind, text, 0)
	case partHeader:
		switch {
		case strings.HasPrefix(text, "index "), strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "):
		default:
			d.text(kind, text, 0)
		}
	case partSize:
		d.binary(text)
	case partBinary:
	case partHunk, partNote:
		d.text(kind, text, 0)
	default:
		d.content(kind, text, end)
	}
	return nil
}

// numbering returns what stands above the hunks of each part of the patch: nothing in a part that has one hunk, or none
// that can be chosen. Where only some hunks of a file are shown, they keep their numbers.
func numbering(in CardInput, found *survey) [][]string {
	list := make([][]string, 0, len(found.files))
	for _, f := range in.Files {
		at := len(list)
		list = append(list, nil)
		if f.Base.Exists() && f.Proposed.Exists() && f.Base.Kind != f.Proposed.Kind {
			list = append(list, nil) // one part goes, one comes
		}
		if !f.HasHunks() || at >= len(found.files) {
			continue
		}
		shown, of := in.Hunks, in.Of
		if len(shown) == 0 {
			of = found.files[at].hunks
			for n := range of {
				shown = append(shown, n+1)
			}
		}
		for _, n := range shown {
			if of > 1 {
				list[at] = append(list[at], fmt.Sprintf("[hunk %d of %d]", n, of))
			}
		}
	}
	return list
}

// number writes the number of the hunk that begins here.
func (d *cardDiff) number() {
	if d.at > len(d.numbers) || d.at == 0 || len(d.numbers[d.at-1]) == 0 {
		return
	}
	left := &d.numbers[d.at-1]
	d.out.WriteString(d.paint.line(partHunk, (*left)[0]) + "\n")
	*left = (*left)[1:]
}

// binary says how large a binary part is: its first size is the new side's.
func (d *cardDiff) binary(text string) {
	_, size, _ := strings.Cut(text, " ")
	if d.size == "" {
		d.size = size
		return
	}
	d.text(partNote, fmt.Sprintf("binary content, not shown: %s -> %s bytes", size, d.size), 0)
	d.size = ""
}

// content shows a line of a file. How it ends is shown where the lines of the file end in different ways; a byte order
// mark always is.
func (d *cardDiff) content(kind part, text, end string) {
	if d.at > 0 && d.at <= len(d.found.files) && d.found.files[d.at-1].mixed() && strings.HasPrefix(end, "\r") {
		text += "\r"
	}
	d.text(kind, text, 1)
}

// text shows one line. The sign, if there is one, stays in its column; further rows begin with ">", which no line of a
// patch does.
func (d *cardDiff) text(kind part, text string, sign int) {
	sign = min(sign, len(text))
	visible, _ := escape(text[sign:], keepTab)
	first := text[:sign]
	rest, cut := visible, 0
	if tooWide(visible) {
		var tail string
		rest, tail = splitColumns(visible, 1, maxColumns+1)
		cut = columns(tail, 0)
	}
	for {
		row := rest
		rest = ""
		if d.width > 0 {
			row, rest = splitColumns(row, 1, max(d.width, 8))
		}
		d.out.WriteString(d.paint.line(kind, first+row) + "\n")
		if rest == "" {
			break
		}
		first = ">"
	}
	if cut > 0 {
		d.out.WriteString(d.paint.wrap(bold, fmt.Sprintf("> (cut here: %d columns more)", cut)) + "\n")
	}
}
