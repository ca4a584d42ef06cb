package textdiff

import (
	"bytes"
	"hash/maphash"
)

// IsBinary reports whether b counts as binary: it holds a NUL byte, anywhere.
func IsBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }

// CountLines returns the number of lines of b; a last line without LF counts.
func CountLines(b []byte) int {
	n := bytes.Count(b, newline)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// text is a content with the ends of its lines.
type text struct {
	data []byte
	ends []int
}

// newText finds the lines of data.
func newText(data []byte) text {
	ends := make([]int, 0, CountLines(data))
	for at := 0; at < len(data); {
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			n = len(data) - at - 1
		}
		at += n + 1
		ends = append(ends, at)
	}
	return text{data: data, ends: ends}
}

var newline = []byte{'\n'}

// start returns the offset at which line i begins; i may be the number of lines.
func (t text) start(i int) int {
	if i == 0 {
		return 0
	}
	return t.ends[i-1]
}

// line returns line i with its LF, if it has one.
func (t text) line(i int) []byte { return t.data[t.start(i):t.ends[i]] }

// len returns the number of lines.
func (t text) len() int { return len(t.ends) }

// interner gives equal lines equal small numbers, in the order in which they are first met. It is a hash table with
// open addressing; the seed of the hash decides where an entry lies, never which number it gets.
type interner struct {
	seed  maphash.Seed
	slots []int32
	lines [][]byte
	sums  []uint64
}

func newInterner(lines int) *interner {
	size := 16
	for size < 2*lines {
		size *= 2
	}
	in := &interner{seed: maphash.MakeSeed(), slots: make([]int32, size)}
	in.lines = make([][]byte, 0, lines)
	in.sums = make([]uint64, 0, lines)
	return in
}

// id returns the number of line. The table never fills: it was made for twice the lines it is asked about.
func (in *interner) id(line []byte) int32 {
	sum := maphash.Bytes(in.seed, line)
	mask := uint64(len(in.slots) - 1)
	for at := sum & mask; ; at = (at + 1) & mask {
		slot := in.slots[at]
		if slot == 0 {
			in.lines = append(in.lines, line)
			in.sums = append(in.sums, sum)
			in.slots[at] = int32(len(in.lines))
			return int32(len(in.lines) - 1)
		}
		if in.sums[slot-1] == sum && bytes.Equal(in.lines[slot-1], line) {
			return slot - 1
		}
	}
}

// number interns the lines from to to of t.
func (in *interner) number(t text, from, to int) []int32 {
	ids := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		ids = append(ids, in.id(t.line(i)))
	}
	return ids
}

// commonEnds returns how many lines a and b share at the start and, of the rest, at the end.
func commonEnds(a, b text) (prefix, suffix int) {
	most := min(a.len(), b.len())
	for prefix < most && bytes.Equal(a.line(prefix), b.line(prefix)) {
		prefix++
	}
	for suffix < most-prefix && bytes.Equal(a.line(a.len()-1-suffix), b.line(b.len()-1-suffix)) {
		suffix++
	}
	return prefix, suffix
}
