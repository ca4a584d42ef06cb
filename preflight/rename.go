package preflight

import (
	"cmp"
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/textdiff"
)

const (
	// minSimilar is the percentage from which two files are one that moved.
	minSimilar = 50
	// maxSimilarSize is the size of a file up to which it is compared with others.
	maxSimilarSize = 8 << 20
	// maxPairs is the number of pairs up to which each gone file is compared with each new one. Beyond it only files of
	// the same name in other folders are.
	maxPairs = 1 << 16
	// maxSimilarBytes bounds what is read of the gone files, in the order of their paths.
	maxSimilarBytes = 64 << 20
	// minCopy is the size of a file from which it can be a copy: shorter ones are alike by chance.
	minCopy = 64
)

// renames returns, for each path that a file moved to, the ends it moved from.
func (c comparer) renames(ends []Ends) (map[change.Path]Ends, error) {
	var gone, come []Ends
	for _, e := range ends {
		switch {
		case !e.Proposed.Exists() && e.Base.Kind == change.KindFile && e.Base.Size > 0:
			gone = append(gone, e)
		case !e.Base.Exists() && e.Proposed.Kind == change.KindFile && e.Proposed.Size > 0:
			come = append(come, e)
		}
	}
	moved := map[change.Path]Ends{}
	used := map[change.Path]bool{}
	for _, p := range exact(gone, come) {
		p.take(moved, used)
	}
	similar, err := c.similar(left(gone, used), left(come, used))
	if err != nil {
		return nil, err
	}
	for _, p := range similar {
		p.take(moved, used)
	}
	return moved, nil
}

func left(ends []Ends, used map[change.Path]bool) []Ends {
	return slices.DeleteFunc(slices.Clone(ends), func(e Ends) bool { return used[e.Path] })
}

// pair is a gone file that may be a new one.
type pair struct {
	from, to Ends
	score    int
}

// take makes p a rename unless one of its ends is one already.
func (p pair) take(moved map[change.Path]Ends, used map[change.Path]bool) {
	if used[p.from.Path] || used[p.to.Path] {
		return
	}
	used[p.from.Path], used[p.to.Path] = true, true
	moved[p.to.Path] = p.from
}

// before orders pairs by how likely they are: the more similar first, then those of one name, then by their paths.
func (p pair) before(q pair) int {
	name := func(p pair) int {
		if p.from.Path.Base() == p.to.Path.Base() {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(q.score, p.score), cmp.Compare(name(p), name(q)),
		cmp.Compare(p.to.Path, q.to.Path), cmp.Compare(p.from.Path, q.from.Path),
	)
}

// exact pairs the files with equal contents. A content that many files share is paired by name, then in order, so that
// the number of pairs stays that of the files.
func exact(gone, come []Ends) []pair {
	byContent := map[string][]Ends{}
	for _, e := range gone {
		byContent[e.Base.SHA256] = append(byContent[e.Base.SHA256], e)
	}
	var pairs []pair
	taken := map[change.Path]bool{}
	match := func(sameName bool) {
		for _, to := range come {
			if taken[to.Path] {
				continue
			}
			from := byContent[to.Proposed.SHA256]
			i := slices.IndexFunc(from, func(e Ends) bool {
				return e.Base.Size == to.Proposed.Size && (!sameName || e.Path.Base() == to.Path.Base())
			})
			if i < 0 {
				continue
			}
			taken[to.Path] = true
			pairs = append(pairs, pair{from: from[i], to: to, score: 100})
			byContent[to.Proposed.SHA256] = slices.Delete(from, i, i+1)
		}
	}
	match(true)
	match(false)
	return pairs
}

// similar returns the pairs that are similar enough, the likeliest first.
func (c comparer) similar(gone, come []Ends) ([]pair, error) {
	if len(gone) == 0 || len(come) == 0 {
		return nil, nil
	}
	// With few files every gone one is a candidate for every new one; with many only those of the same name are.
	group := func(change.Path) string { return "" }
	if len(gone)*len(come) > maxPairs {
		group = change.Path.Base
	}
	candidates, err := c.candidates(gone, come, group)
	if err != nil {
		return nil, err
	}
	var pairs []pair
	for _, to := range come {
		found, err := c.similarTo(to, candidates[group(to.Path)])
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, found...)
	}
	slices.SortFunc(pairs, pair.before)
	return pairs, nil
}

// similarTo returns the pairs of a new file.
func (c comparer) similarTo(to Ends, candidates []printed) ([]pair, error) {
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(from printed) bool {
		return !near(from.ends.Base.Size, to.Proposed.Size)
	})
	if len(candidates) == 0 || to.Proposed.Size > maxSimilarSize {
		return nil, nil
	}
	print, ok, err := c.fingerprint(to.Proposed)
	if err != nil || !ok {
		return nil, err
	}
	var pairs []pair
	for _, from := range candidates {
		if score := from.print.Similarity(print); score >= minSimilar {
			pairs = append(pairs, pair{from: from.ends, to: to, score: score})
		}
	}
	return pairs, nil
}

// near reports whether files of these sizes can be half the same at all.
func near(a, b int64) bool { return 100*min(a, b) >= minSimilar*max(a, b) }

type printed struct {
	ends  Ends
	print textdiff.Fingerprint
}

// candidates takes the fingerprints of the gone files by their group, up to a total size.
func (c comparer) candidates(gone, come []Ends, group func(change.Path) string) (map[string][]printed, error) {
	wanted := map[string]bool{}
	for _, to := range come {
		wanted[group(to.Path)] = true
	}
	list := map[string][]printed{}
	var total int64
	for _, from := range gone {
		g := group(from.Path)
		if !wanted[g] || from.Base.Size > maxSimilarSize || total+from.Base.Size > maxSimilarBytes {
			continue
		}
		total += from.Base.Size
		print, ok, err := c.fingerprint(from.Base)
		if err != nil {
			return nil, err
		}
		if ok {
			list[g] = append(list[g], printed{from, print})
		}
	}
	return list, nil
}

// fingerprint takes the fingerprint of a pin's image; ok is false when it is not there to be read.
func (c comparer) fingerprint(pin change.Pin) (print textdiff.Fingerprint, ok bool, err error) {
	if !c.stored(pin) {
		return textdiff.Fingerprint{}, false, nil
	}
	content, fits, err := c.read(pin)
	if err != nil || !fits {
		return textdiff.Fingerprint{}, false, err
	}
	return textdiff.NewFingerprint(content), true, nil
}

// sources finds what a new file is a copy of.
type sources map[string][]change.Path

func newSources(ends []Ends, more map[change.Path]change.Pin) sources {
	wanted := map[string]bool{}
	for _, e := range ends {
		if op(e) == change.OpCreate && e.Proposed.Size >= minCopy {
			wanted[e.Proposed.SHA256] = true
		}
	}
	s := sources{}
	add := func(p change.Path, pin change.Pin) {
		if pin.Kind == change.KindFile && wanted[pin.SHA256] {
			s[pin.SHA256] = append(s[pin.SHA256], p)
		}
	}
	if len(wanted) > 0 {
		for p, pin := range more {
			add(p, pin)
		}
		for _, e := range ends {
			add(e.Path, e.Base)
		}
	}
	for sum := range s {
		slices.Sort(s[sum])
	}
	return s
}

// of returns what e is a copy of: a file of the same name in another folder if there is one, else the first by path.
func (s sources) of(e Ends) (change.Path, bool) {
	if e.Proposed.Size < minCopy {
		return "", false
	}
	var found change.Path
	for _, p := range s[e.Proposed.SHA256] {
		if p == e.Path {
			continue
		}
		if p.Base() == e.Path.Base() {
			return p, true
		}
		if found == "" {
			found = p
		}
	}
	return found, found != ""
}
