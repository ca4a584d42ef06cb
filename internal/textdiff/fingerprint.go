package textdiff

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"slices"
)

// pieceSize is the longest piece of a line that a fingerprint tells apart.
const pieceSize = 64

// Fingerprint is a content boiled down for comparing many with many: which pieces it has and how many bytes of each.
type Fingerprint struct {
	pieces []piece
	size   int64
}

type piece struct {
	sum   uint64
	bytes int64
}

// NewFingerprint takes the fingerprint of content. It is much smaller than the content and does not keep it.
func NewFingerprint(content []byte) Fingerprint {
	weights := map[uint64]int64{}
	h := fnv.New64a()
	for at := 0; at < len(content); {
		end := pieceEnd(content, at)
		h.Reset()
		h.Write(content[at:end])
		weights[h.Sum64()] += int64(end - at)
		at = end
	}
	pieces := make([]piece, 0, len(weights))
	for sum, weight := range weights {
		pieces = append(pieces, piece{sum, weight})
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.sum, b.sum) })
	return Fingerprint{pieces: pieces, size: int64(len(content))}
}

// pieceEnd returns where the piece that begins at at ends: after an LF, or after pieceSize bytes.
func pieceEnd(content []byte, at int) int {
	piece := content[at:min(len(content), at+pieceSize)]
	if i := bytes.IndexByte(piece, '\n'); i >= 0 {
		return at + i + 1
	}
	return at + len(piece)
}

// Similarity returns, in percent rounded down, how much of the larger content is in the smaller one.
func (f Fingerprint) Similarity(g Fingerprint) int {
	larger := max(f.size, g.size)
	if larger == 0 {
		return 0
	}
	return int(f.common(g) * 100 / larger)
}

func (f Fingerprint) common(g Fingerprint) int64 {
	common, i, j := int64(0), 0, 0
	for i < len(f.pieces) && j < len(g.pieces) {
		a, b := f.pieces[i], g.pieces[j]
		switch {
		case a.sum < b.sum:
			i++
		case a.sum > b.sum:
			j++
		default:
			common += min(a.bytes, b.bytes)
			i, j = i+1, j+1
		}
	}
	return common
}
