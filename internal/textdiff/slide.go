package textdiff

import "bytes"

// Where a run of changed lines could stand in more than one place, git puts it as far down as it goes, or level with a
// change on the other side, or where indentation and blank lines say that a block begins. The weights below are git's
// own (found there by trying many on real histories); with others, hunks would not start where git's do.
const (
	maxSlide  = 100
	maxIndent = 200
	maxBlanks = 20

	startOfFile     = 1
	endOfFile       = 21
	totalBlank      = -30
	blankAfter      = 6
	indented        = -4
	indentedBlank   = 10
	outdented       = 24
	outdentedBlank  = 17
	dedented        = 23
	dedentedBlank   = 17
	indentOutweighs = 60
)

// marks says which lines of a text are changed.
type marks struct {
	text    text
	changed []bool
}

// newMarks spreads the flags of the lines from on over the whole of t.
func newMarks(t text, from int, flags []bool) *marks {
	m := &marks{text: t, changed: make([]bool, t.len())}
	copy(m.changed[from:], flags)
	return m
}

func (m *marks) len() int { return len(m.changed) }

// has reports whether line i is changed; there is none outside the text.
func (m *marks) has(i int) bool { return i >= 0 && i < len(m.changed) && m.changed[i] }

func (m *marks) same(i, j int) bool { return bytes.Equal(m.text.line(i), m.text.line(j)) }

// run is a run of changed lines, possibly empty: between any two runs stands exactly one unchanged line, so the runs of
// both sides go in step.
type run struct {
	m          *marks
	start, end int
}

func firstRun(m *marks) *run {
	r := &run{m: m}
	r.grow()
	return r
}

func (r *run) empty() bool { return r.start == r.end }

func (r *run) grow() {
	for r.m.has(r.end) {
		r.end++
	}
}

// next moves to the following run; false at the end.
func (r *run) next() bool {
	if r.end >= r.m.len() {
		return false
	}
	r.start = r.end + 1
	r.end = r.start
	r.grow()
	return true
}

// previous moves to the run before; false at the start.
func (r *run) previous() bool {
	if r.start == 0 {
		return false
	}
	r.end = r.start - 1
	r.start = r.end
	for r.m.has(r.start - 1) {
		r.start--
	}
	return true
}

// up moves the run one line up where the lines allow it, swallowing a run that it meets.
func (r *run) up() bool {
	if r.start == 0 || !r.m.same(r.start-1, r.end-1) {
		return false
	}
	r.start--
	r.m.changed[r.start] = true
	r.end--
	r.m.changed[r.end] = false
	for r.m.has(r.start - 1) {
		r.start--
	}
	return true
}

// down moves the run one line down where the lines allow it, swallowing a run that it meets.
func (r *run) down() bool {
	if r.end >= r.m.len() || !r.m.same(r.start, r.end) {
		return false
	}
	r.m.changed[r.start] = false
	r.start++
	r.m.changed[r.end] = true
	r.end++
	r.grow()
	return true
}

// slide puts each run of m where git would. other is the other side; its runs are only looked at.
func slide(m, other *marks) {
	r, o := firstRun(m), firstRun(other)
	for {
		if !r.empty() {
			settle(r, o)
		}
		if !r.next() || !o.next() {
			return
		}
	}
}

// settle slides r, keeping o in step with it.
func settle(r, o *run) {
	top, level := stretch(r, o)
	switch {
	case r.end == top:
	case level >= 0:
		for o.empty() && r.up() && o.previous() {
		}
	default:
		best := bestEnd(r, top)
		for r.end > best && r.up() && o.previous() {
		}
	}
}

// stretch slides r up and then down as far as it goes, again when it grew by swallowing another run. It returns the
// highest end that r can have, and the lowest one that is level with a run of the other side, or -1.
func stretch(r, o *run) (top, level int) {
	for {
		size := r.end - r.start
		level = -1
		for r.up() {
			o.previous()
		}
		top = r.end
		if !o.empty() {
			level = r.end
		}
		for r.down() {
			o.next()
			if !o.empty() {
				level = r.end
			}
		}
		if size == r.end-r.start {
			return top, level
		}
	}
}

// bestEnd weighs each place that r can take, top to its present end, by the two lines at which it would be cut out.
func bestEnd(r *run, top int) int {
	size := r.end - r.start
	best, bestIndent, bestPenalty := -1, 0, 0
	for end := max(top, r.end-size-1, r.end-maxSlide); end <= r.end; end++ {
		i1, p1 := weigh(r.m.text, end)
		i2, p2 := weigh(r.m.text, end-size)
		indent, penalty := i1+i2, p1+p2
		order := 0
		if indent > bestIndent {
			order = indentOutweighs
		} else if indent < bestIndent {
			order = -indentOutweighs
		}
		if best < 0 || order+penalty-bestPenalty <= 0 {
			best, bestIndent, bestPenalty = end, indent, penalty
		}
	}
	return best
}

// weigh says how good a place for a cut the start of line at is: less is better, first by indent, then by penalty.
func weigh(t text, at int) (indent, penalty int) {
	indent = -1
	if at >= t.len() {
		penalty += endOfFile
	} else {
		indent = indentOf(t.line(at))
	}
	before, blanksBefore := nearest(t, at-1, -1)
	after, blanksAfter := nearest(t, at+1, 1)
	if before == -1 && blanksBefore == 0 {
		penalty += startOfFile
	}
	blanks := 0
	if indent == -1 {
		blanks = 1 + blanksAfter
	}
	penalty += blankAfter*blanks + totalBlank*(blanksBefore+blanks)
	if indent == -1 {
		indent = after
	}
	return indent, penalty + step(indent, before, after, blanksBefore+blanks > 0)
}

// step is the penalty for how the indent changes at a cut.
func step(indent, before, after int, blank bool) int {
	choose := func(plain, withBlank int) int {
		if blank {
			return withBlank
		}
		return plain
	}
	switch {
	case indent == -1 || before == -1 || indent == before:
		return 0
	case indent > before:
		return choose(indented, indentedBlank)
	case after != -1 && after > indent:
		return choose(outdented, outdentedBlank)
	}
	return choose(dedented, dedentedBlank)
}

// nearest returns the indent of the nearest line that is not blank from at on in one direction, or -1, and how many
// blank lines come before it.
func nearest(t text, at, direction int) (indent, blanks int) {
	for ; at >= 0 && at < t.len(); at += direction {
		if indent := indentOf(t.line(at)); indent != -1 {
			return indent, blanks
		}
		blanks++
		if blanks == maxBlanks {
			return 0, blanks
		}
	}
	return -1, blanks
}

// indentOf returns the columns of white space before the first other character, or -1 for a blank line.
func indentOf(line []byte) int {
	columns := 0
	for _, c := range line {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 8 - columns%8
		case '\n', '\r':
		default:
			return columns
		}
		if columns >= maxIndent {
			return maxIndent
		}
	}
	return -1
}
