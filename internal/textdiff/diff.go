package textdiff

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// Context is the number of unchanged lines that git shows around a change.
const Context = 3

// Change is a run of old lines replaced by a run of new lines. Starts count from 0; one of the counts may be 0.
type Change struct {
	OldStart, OldCount int
	NewStart, NewCount int
}

// Hunk is one or more changes with the lines around them. Starts count from 0.
type Hunk struct {
	OldStart, OldCount int
	NewStart, NewCount int
	// Section is the line that git names in the header after the second "@@": the nearest earlier one that begins with a
	// letter, "_" or "$", at most 80 bytes of it. It is content, so it is as untrusted as content is.
	Section []byte
	Changes []Change
}

// Diff is the difference of two contents. It keeps both slices it was made from; they must not be written to.
type Diff struct {
	old, new text
	changes  []Change
}

// Lines compares old and new. The same bytes give the same Diff at any time.
func Lines(old, new []byte) Diff {
	d := Diff{old: newText(old), new: newText(new)}
	prefix, suffix := commonEnds(d.old, d.new)
	endA, endB := d.old.len()-suffix, d.new.len()-suffix
	in := newInterner(endA - prefix + endB - prefix)
	a := in.number(d.old, prefix, endA)
	b := in.number(d.new, prefix, endB)
	gone, come := match(a, b, len(in.lines))
	left, right := newMarks(d.old, prefix, gone), newMarks(d.new, prefix, come)
	slide(left, right)
	slide(right, left)
	d.changes = changes(left, right)
	return d
}

// changes walks both sides at once: unmarked lines pair up in order.
func changes(left, right *marks) []Change {
	var list []Change
	i, j := 0, 0
	for i < left.len() || j < right.len() {
		if !left.has(i) && !right.has(j) {
			i, j = i+1, j+1
			continue
		}
		c := Change{OldStart: i, NewStart: j}
		for left.has(i) {
			i++
		}
		for right.has(j) {
			j++
		}
		c.OldCount, c.NewCount = i-c.OldStart, j-c.NewStart
		list = append(list, c)
	}
	return list
}

// Stats returns how many lines git would count as added and removed.
func Stats(old, new []byte) (added, removed int) {
	d := Lines(old, new)
	return d.Added(), d.Removed()
}

// Changes returns the changes in order; the caller must not alter them.
func (d Diff) Changes() []Change { return d.changes }

// Added returns the number of added lines.
func (d Diff) Added() int {
	n := 0
	for _, c := range d.changes {
		n += c.NewCount
	}
	return n
}

// Removed returns the number of removed lines.
func (d Diff) Removed() int {
	n := 0
	for _, c := range d.changes {
		n += c.OldCount
	}
	return n
}

// OldBytes returns the bytes of the old lines of c.
func (d Diff) OldBytes(c Change) []byte {
	return d.old.data[d.old.start(c.OldStart):d.old.start(c.OldStart+c.OldCount)]
}

// NewBytes returns the bytes of the new lines of c.
func (d Diff) NewBytes(c Change) []byte {
	return d.new.data[d.new.start(c.NewStart):d.new.start(c.NewStart+c.NewCount)]
}

// Hunks groups the changes as git does with the given number of context lines: changes with at most twice that many
// unchanged lines between them share a hunk.
func (d Diff) Hunks(context int) []Hunk {
	var hunks []Hunk
	for from := 0; from < len(d.changes); {
		to := from + 1
		for to < len(d.changes) {
			last := d.changes[to-1]
			if d.changes[to].OldStart-last.OldStart-last.OldCount > 2*context {
				break
			}
			to++
		}
		hunks = append(hunks, d.hunk(d.changes[from:to], context))
		from = to
	}
	d.name(hunks)
	return hunks
}

func (d Diff) hunk(changes []Change, context int) Hunk {
	first, last := changes[0], changes[len(changes)-1]
	lead := min(context, first.OldStart)
	oldEnd := last.OldStart + last.OldCount
	newEnd := last.NewStart + last.NewCount
	trail := min(context, d.old.len()-oldEnd)
	h := Hunk{OldStart: first.OldStart - lead, NewStart: first.NewStart - lead, Changes: changes}
	h.OldCount = oldEnd + trail - h.OldStart
	h.NewCount = newEnd + trail - h.NewStart
	return h
}

// name fills in the sections. A hunk without a heading of its own since the last hunk keeps the last one.
func (d Diff) name(hunks []Hunk) {
	var section []byte
	searched := 0
	for i := range hunks {
		for at := hunks[i].OldStart - 1; at >= searched; at-- {
			if heading := heading(d.old.line(at)); heading != nil {
				section = heading
				break
			}
		}
		searched = max(searched, hunks[i].OldStart)
		hunks[i].Section = section
	}
}

// heading returns what git would show of line in a hunk header, or nil when it would not pick that line.
func heading(line []byte) []byte {
	if len(line) == 0 {
		return nil
	}
	c := line[0]
	if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$') {
		return nil
	}
	cut := line[:min(len(line), 80)]
	if len(line) > len(cut) {
		cut = wholeCharacters(cut)
	}
	return bytes.TrimRight(cut, " \t\r\n")
}

// wholeCharacters drops a character that is cut off at the end of b. git leaves its first bytes there, which readers
// would have to show as bytes that are not UTF-8.
func wholeCharacters(b []byte) []byte {
	for at := len(b) - 1; at >= 0 && at >= len(b)-utf8.UTFMax; at-- {
		if utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				return b[:at]
			}
			break
		}
	}
	return b
}

// Header returns the header line of h without its LF.
func (h Hunk) Header() string {
	head := "@@ -" + lineRange(h.OldStart, h.OldCount) + " +" + lineRange(h.NewStart, h.NewCount) + " @@"
	if len(h.Section) > 0 {
		head += " " + string(h.Section)
	}
	return head
}

// lineRange writes a range as git does: counted from 1, a count of 1 left out, an empty range named by the line before.
func lineRange(start, count int) string {
	switch count {
	case 0:
		return strconv.Itoa(start) + ",0"
	case 1:
		return strconv.Itoa(start + 1)
	}
	return strconv.Itoa(start+1) + "," + strconv.Itoa(count)
}

// WriteHunk writes h, which must come from d, with its header as a patch has it.
func (d Diff) WriteHunk(w io.Writer, h Hunk) error {
	out := &lineWriter{w: w}
	out.write(h.Header() + "\n")
	at := h.OldStart
	for _, c := range h.Changes {
		out.lines(' ', d.old, at, c.OldStart)
		out.lines('-', d.old, c.OldStart, c.OldStart+c.OldCount)
		out.lines('+', d.new, c.NewStart, c.NewStart+c.NewCount)
		at = c.OldStart + c.OldCount
	}
	out.lines(' ', d.old, at, h.OldStart+h.OldCount)
	return out.err
}

// lineWriter writes lines with a sign in front and keeps the first error.
type lineWriter struct {
	w   io.Writer
	err error
}

func (o *lineWriter) write(s string) {
	if o.err == nil {
		_, o.err = io.WriteString(o.w, s)
	}
}

func (o *lineWriter) lines(sign byte, t text, from, to int) {
	signs := []byte{sign}
	for i := from; i < to && o.err == nil; i++ {
		line := t.line(i)
		if _, o.err = o.w.Write(signs); o.err != nil {
			return
		}
		if _, o.err = o.w.Write(line); o.err != nil {
			return
		}
		if line[len(line)-1] != '\n' {
			o.write("\n\\ No newline at end of file\n")
		}
	}
}

// Partly returns the difference of old and what it becomes by some of the changes that lead to new: those lines of old are
// replaced, the rest of it is kept byte for byte. The changes must be in order and apart, as Lines returns them, and lie
// within both contents; none may put a line without LF in front of others. What does not fit is an error that wraps
// ErrChange, wherever it was taken from.
func Partly(old, new []byte, changes []Change) (Diff, error) {
	from, to := newText(old), newText(new)
	var result []byte
	var pieces [][]byte
	made := make([]Change, 0, len(changes))
	last := Change{OldStart: -1, NewStart: -1}
	at, line := 0, 0 // lines of old that were taken or left out, and lines of the result
	for _, c := range changes {
		if !c.follows(last) || c.OldStart+c.OldCount > from.len() || c.NewStart+c.NewCount > to.len() {
			return Diff{}, fmt.Errorf("%w: -%s +%s", ErrChange, lineRange(c.OldStart, c.OldCount), lineRange(c.NewStart, c.NewCount))
		}
		pieces = append(pieces, from.data[from.start(at):from.start(c.OldStart)], to.data[to.start(c.NewStart):to.start(c.NewStart+c.NewCount)])
		line += c.OldStart - at
		made = append(made, Change{OldStart: c.OldStart, OldCount: c.OldCount, NewStart: line, NewCount: c.NewCount})
		at, line, last = c.OldStart+c.OldCount, line+c.NewCount, c
	}
	for _, piece := range append(pieces, from.data[from.start(at):]) {
		if len(piece) > 0 && len(result) > 0 && result[len(result)-1] != '\n' {
			return Diff{}, fmt.Errorf("%w: a line without its end in front of others", ErrChange)
		}
		result = append(result, piece...)
	}
	return Diff{old: from, new: newText(result), changes: made}, nil
}

// follows reports whether c changes something and stands behind last on both sides, with lines between that both share.
func (c Change) follows(last Change) bool {
	const most = 1 << 30 // more lines than any content has, so that no sum overflows
	return c.OldCount >= 0 && c.NewCount >= 0 && c.OldCount < most && c.NewCount < most && c.OldCount+c.NewCount > 0 &&
		c.OldStart > last.OldStart+last.OldCount && c.NewStart > last.NewStart+last.NewCount && c.OldStart < most && c.NewStart < most
}

// Old returns the old content; it must not be written to.
func (d Diff) Old() []byte { return d.old.data }

// New returns the new content; it must not be written to.
func (d Diff) New() []byte { return d.new.data }
