package textdiff

import (
	"slices"

	"github.com/sergi/go-diff/diffmatchpatch"
)

const (
	// smallGap bounds the product of the lines of a gap that is compared by the library, whose cost grows with it.
	smallGap = 1 << 12
	// searchLimit bounds the edits looked through from each end of a larger gap.
	searchLimit = 256
	// anchorDepth bounds how often gaps between anchors are searched for anchors again.
	anchorDepth = 24
)

// side is one side of a gap: the numbers of lines and where they stand in the whole.
type side struct {
	ids []int32
	at  []int32
}

func (s side) cut(from, to int) side { return side{ids: s.ids[from:to], at: s.at[from:to]} }

// matcher finds which lines of two sequences stay. It marks the others; what it does not mark pairs up in order.
type matcher struct {
	gone, come []bool
	// countA and countB hold, while a gap is looked at, how often a number occurs on each side of it.
	countA, countB []int32
	library        *diffmatchpatch.DiffMatchPatch
}

// match returns, for each line of a and of b, whether it is removed or added.
func match(a, b []int32, numbers int) (gone, come []bool) {
	m := &matcher{
		gone: make([]bool, len(a)), come: make([]bool, len(b)),
		countA: make([]int32, numbers), countB: make([]int32, numbers),
		library: diffmatchpatch.New(),
	}
	// No time limit: the result must not depend on how busy the machine is. The size of a gap is the limit.
	m.library.DiffTimeout = 0
	m.solve(side{a, positions(len(a))}, side{b, positions(len(b))}, anchorDepth)
	return m.gone, m.come
}

func positions(n int) []int32 {
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(i)
	}
	return at
}

// solve compares a gap after setting apart the lines that have no counterpart in it. No common subsequence can hold
// them, so the result stays as short as it would have been.
func (m *matcher) solve(a, b side, depth int) {
	a, b = trim(a, b)
	if len(a.ids) > 0 && len(b.ids) > 0 {
		m.count(a, b, 1)
		keptA := keep(a, m.countB, m.gone)
		keptB := keep(b, m.countA, m.come)
		m.count(a, b, -1)
		a, b = keptA, keptB
	}
	m.search(a, b, depth)
}

func (m *matcher) count(a, b side, by int32) {
	for _, id := range a.ids {
		m.countA[id] += by
	}
	for _, id := range b.ids {
		m.countB[id] += by
	}
}

// keep returns the lines of s that occur on the other side and marks the others.
func keep(s side, other []int32, mark []bool) side {
	kept := side{ids: make([]int32, 0, len(s.ids)), at: make([]int32, 0, len(s.at))}
	for i, id := range s.ids {
		if other[id] == 0 {
			mark[s.at[i]] = true
			continue
		}
		kept.ids = append(kept.ids, id)
		kept.at = append(kept.at, s.at[i])
	}
	return kept
}

// trim drops what a and b share at both ends.
func trim(a, b side) (side, side) {
	n := min(len(a.ids), len(b.ids))
	from := 0
	for from < n && a.ids[from] == b.ids[from] {
		from++
	}
	a, b = a.cut(from, len(a.ids)), b.cut(from, len(b.ids))
	n -= from
	drop := 0
	for drop < n && a.ids[len(a.ids)-1-drop] == b.ids[len(b.ids)-1-drop] {
		drop++
	}
	return a.cut(0, len(a.ids)-drop), b.cut(0, len(b.ids)-drop)
}

// search compares a gap. With depth 0 it no longer looks for anchors.
func (m *matcher) search(a, b side, depth int) {
	for {
		a, b = trim(a, b)
		if len(a.ids) == 0 || len(b.ids) == 0 {
			mark(m.gone, a.at)
			mark(m.come, b.at)
			return
		}
		if len(a.ids)*len(b.ids) <= smallGap && m.byLibrary(a, b) {
			return
		}
		i, j, exact := meet(a.ids, b.ids, searchLimit)
		if !exact && depth > 0 {
			if pairs := m.anchors(a, b); len(pairs) > 0 {
				m.between(a, b, pairs, depth-1)
				return
			}
			depth = 0
		}
		m.search(a.cut(0, i), b.cut(0, j), depth)
		a, b = a.cut(i, len(a.ids)), b.cut(j, len(b.ids))
	}
}

func mark(flags []bool, at []int32) {
	for _, i := range at {
		flags[i] = true
	}
}

// byLibrary compares a small gap exactly. Every number becomes a character of its own: never a surrogate, which does
// not survive becoming text. The script is checked before it is used; one that does not fit is refused.
func (m *matcher) byLibrary(a, b side) bool {
	letters := make(map[int32]rune, len(a.ids)+len(b.ids))
	script := m.library.DiffMainRunes(spell(a.ids, letters), spell(b.ids, letters), false)
	var i, j int
	var gone, come []int32
	for _, step := range script {
		for range step.Text {
			switch {
			case step.Type == diffmatchpatch.DiffDelete && i < len(a.at):
				gone = append(gone, a.at[i])
				i++
			case step.Type == diffmatchpatch.DiffInsert && j < len(b.at):
				come = append(come, b.at[j])
				j++
			case step.Type == diffmatchpatch.DiffEqual && i < len(a.at) && j < len(b.at) && a.ids[i] == b.ids[j]:
				i, j = i+1, j+1
			default:
				return false
			}
		}
	}
	if i != len(a.at) || j != len(b.at) {
		return false
	}
	mark(m.gone, gone)
	mark(m.come, come)
	return true
}

// spell writes ids as characters from U+4E00 on. A small gap has at most smallGap+1 different lines, so the surrogates
// at U+D800 are out of reach.
func spell(ids []int32, letters map[int32]rune) []rune {
	text := make([]rune, 0, len(ids))
	for _, id := range ids {
		letter, ok := letters[id]
		if !ok {
			letter = 0x4E00 + rune(len(letters))
			letters[id] = letter
		}
		text = append(text, letter)
	}
	return text
}

// anchors returns pairs of places, rising on both sides, of lines that occur once on each side of the gap: the longest
// such run there is.
func (m *matcher) anchors(a, b side) [][2]int {
	m.count(a, b, 1)
	placeInB := make(map[int32]int)
	for j, id := range b.ids {
		if m.countA[id] == 1 && m.countB[id] == 1 {
			placeInB[id] = j
		}
	}
	m.count(a, b, -1)
	var pairs [][2]int
	for i, id := range a.ids {
		if j, ok := placeInB[id]; ok {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	return longestRising(pairs)
}

// longestRising returns the longest subsequence of pairs whose second members rise; the first ones rise already.
func longestRising(pairs [][2]int) [][2]int {
	before := make([]int, len(pairs))
	var tails []int
	for i, p := range pairs {
		at, _ := slices.BinarySearchFunc(tails, p[1], func(tail, j int) int { return pairs[tail][1] - j })
		before[i] = -1
		if at > 0 {
			before[i] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, i)
		} else {
			tails[at] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	run := make([][2]int, len(tails))
	for i, at := tails[len(tails)-1], len(run)-1; i >= 0; i, at = before[i], at-1 {
		run[at] = pairs[i]
	}
	return run
}

// between compares the gaps before, between and after pairs.
func (m *matcher) between(a, b side, pairs [][2]int, depth int) {
	i, j := 0, 0
	for _, p := range pairs {
		m.solve(a.cut(i, p[0]), b.cut(j, p[1]), depth)
		i, j = p[0]+1, p[1]+1
	}
	m.solve(a.cut(i, len(a.ids)), b.cut(j, len(b.ids)), depth)
}
