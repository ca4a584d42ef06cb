package gate

import (
	"fmt"
	"slices"
	"sort"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
)

// scope is the part of a shadow that a submission speaks of: everything, or the named paths and what lies below them.
type scope []change.Path

func (s scope) holds(p change.Path) bool {
	if len(s) == 0 {
		return true
	}
	for _, named := range s {
		if p.Under(named) {
			return true
		}
	}
	return false
}

// holdsAll reports whether every path that f touches is in scope, and holdsAny whether one is.
func (s scope) holdsAll(f change.FileChange) bool {
	for _, p := range f.Paths() {
		if !s.holds(p) {
			return false
		}
	}
	return true
}

func (s scope) holdsAny(f change.FileChange) bool {
	for _, p := range f.Paths() {
		if s.holds(p) {
			return true
		}
	}
	return false
}

// dependent returns the files in scope and those that belong together with one of them.
func (s scope) dependent(files []change.FileChange) []change.FileChange {
	if len(s) == 0 {
		return files
	}
	var kept []change.FileChange
	for _, group := range groups(files) {
		if slices.ContainsFunc(group, s.holdsAny) {
			kept = append(kept, group...)
		}
	}
	return kept
}

// proposal is a set to be staged: what it holds and which earlier sets it takes the place of.
type proposal struct {
	files      []change.FileChange
	supersedes []int
	parent     int
	// rest marks what named paths left of a waiting set: it goes on waiting whatever its own verdict would be.
	rest bool
}

// plan is what a submission comes to, before any verdict.
type plan struct {
	// again are sets that stand as they are and are reported again.
	again []*projection.Entry
	// resume are sets that were allowed to land by themselves and did not get to.
	resume []*projection.Entry
	// fresh are the sets to stage, and gone those whose paths all went back to their base.
	fresh []proposal
	gone  []int
}

// planInput is everything a plan is made from.
type planInput struct {
	changes []change.FileChange
	units   []*projection.Entry
	scope   scope
	each    bool
	// moved holds the paths whose real file is not what the shadow last saw.
	moved map[change.Path]change.Pin
	// outcome is what policy says now of a set that was judged before: a verdict is never remembered.
	outcome func(*projection.Entry) change.Outcome
	// granted reports whether a person's grant lets pass by now what waits; nil for no.
	granted func(*projection.Entry) bool
}

// makePlan settles how a submission meets the sets that came before it in the session (units). A unit that is unchanged
// in every path is left out and reported again. If one of its paths changed, it comes whole and supersedes the old set;
// if all went back to the base, nothing takes its place. Only named paths cut a unit, never a dependent group.
func makePlan(in planInput) (plan, error) {
	var p plan
	left := in.changes
	var supersedes []int
	var gone, changed []*projection.Entry
	for _, u := range in.units {
		if !touches(u, in.scope) {
			continue
		}
		if err := wholeGroups(u.Files, in.scope); err != nil {
			return plan{}, err
		}
		inside, outside := split(u.Files, in.scope)
		if len(outside) > 0 {
			if u.State.Waits() {
				supersedes = append(supersedes, u.ID)
				p.fresh = append(p.fresh, proposal{files: outside, parent: u.ID, rest: true})
			}
			continue
		}
		switch same, any := compare(inside, left); {
		case !any:
			gone = append(gone, u)
		case same && in.keeps(u):
			left = without(left, u.Files)
			if resumable(u) {
				p.resume = append(p.resume, u)
			} else {
				p.again = append(p.again, u)
			}
		default:
			changed = append(changed, u)
		}
	}
	if err := wholeGroups(left, in.scope); err != nil {
		return plan{}, err
	}
	if len(left) == 0 {
		// What they held is proposed no more, or stands in a unit that is reported again.
		gone, changed = append(gone, changed...), nil
	}
	for _, u := range changed {
		supersedes = append(supersedes, u.ID)
	}
	for _, u := range gone {
		if u.State != change.StateDenied && u.State != change.StateStale {
			p.gone = append(p.gone, u.ID)
		}
	}
	p.fresh = append(proposals(left, supersedes, in.each), p.fresh...)
	return p, nil
}

// touches reports whether the unit has a path in scope.
func touches(u *projection.Entry, s scope) bool {
	for _, f := range u.Files {
		if s.holdsAny(f) {
			return true
		}
	}
	return false
}

// keeps reports whether an unchanged unit is left as it is. What waits does, unless a grant that came later covers it. Skipped and timed-out bytes are asked about again, and so is
// a set whose request a crash kept off the disk; what was let in by itself lands only if it would be let in now; what was
// stale or denied stays so only while the reason for it does.
func (in planInput) keeps(u *projection.Entry) bool {
	if resumable(u) {
		return in.outcome(u) == change.Auto
	}
	switch u.State {
	case change.StateSkipped, change.StateTimedOut, change.StateStaged:
		return false
	case change.StatePending:
		return in.granted == nil || !in.granted(u)
	case change.StateDenied:
		return in.outcome(u) == change.Deny
	case change.StateStale:
		for _, f := range u.Files {
			for _, p := range f.Paths() {
				if _, moved := in.moved[p]; moved {
					return true
				}
			}
		}
		return false
	}
	return true
}

// resumable reports whether u was let in by the envelope and stopped before it landed.
func resumable(u *projection.Entry) bool {
	return u.State == change.StateStaged && u.Verdict.Outcome == change.Auto ||
		u.State == change.StateApproved && u.Decision.By == byEnvelope
}

// compare reports whether every file of unit is proposed again unchanged, and nothing else that depends on one of them,
// and whether any of its paths is proposed at all.
func compare(unit, now []change.FileChange) (same, any bool) {
	own := byPath(unit)
	at, above := map[change.Path]bool{}, map[change.Path]bool{}
	for _, f := range unit {
		for _, p := range f.Paths() {
			at[p] = true
			for _, up := range p.Ancestors() {
				above[up] = true
			}
		}
	}
	depends := func(p change.Path) bool {
		return at[p] || above[p] || slices.ContainsFunc(p.Ancestors(), func(up change.Path) bool { return at[up] })
	}
	found := 0
	same = true
	for _, c := range now {
		switch f, ok := own[c.Path]; {
		case ok && f.Same(c):
			found++
		case slices.ContainsFunc(c.Paths(), depends):
			same, any = false, true
		}
	}
	return same && found == len(unit), any || found > 0
}

func byPath(files []change.FileChange) map[change.Path]change.FileChange {
	m := make(map[change.Path]change.FileChange, len(files))
	for _, f := range files {
		m[f.Path] = f
	}
	return m
}

func without(all, drop []change.FileChange) []change.FileChange {
	gone := byPath(drop)
	var kept []change.FileChange
	for _, c := range all {
		if f, ok := gone[c.Path]; !ok || !f.Same(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

func split(files []change.FileChange, s scope) (inside, outside []change.FileChange) {
	for _, f := range files {
		if s.holdsAll(f) {
			inside = append(inside, f)
		} else {
			outside = append(outside, f)
		}
	}
	return inside, outside
}

// wholeGroups refuses a scope that would take only a part of files that depend on each other.
func wholeGroups(files []change.FileChange, s scope) error {
	for _, group := range groups(files) {
		in, out := 0, 0
		var outside change.Path
		for _, f := range group {
			for _, p := range f.Paths() {
				if s.holds(p) {
					in++
				} else {
					out, outside = out+1, p
				}
			}
		}
		if in > 0 && out > 0 {
			return &UsageError{Problem: fmt.Sprintf("%q belongs together with %q: name both or neither", group[0].Path, outside)}
		}
	}
	return nil
}

// proposals makes one set of files, or one for each group of files that depend on each other.
func proposals(files []change.FileChange, supersedes []int, each bool) []proposal {
	if len(files) == 0 {
		return nil
	}
	if !each {
		return []proposal{{files: files, supersedes: supersedes}}
	}
	var list []proposal
	for i, g := range groups(files) {
		p := proposal{files: g}
		if i == 0 {
			p.supersedes = supersedes
		}
		list = append(list, p)
	}
	return list
}

// groups splits files into those that depend on each other: a path and what lies above or below it when the kind of thing
// there changes. The order of paths is kept.
func groups(files []change.FileChange) [][]change.FileChange {
	owner := make(map[change.Path]int, len(files))
	parent := make([]int, len(files))
	for i, f := range files {
		parent[i] = i
		for _, p := range f.Paths() {
			owner[p] = i
		}
	}
	root := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	for i, f := range files {
		for _, p := range f.Paths() {
			for _, q := range append(p.Ancestors(), p) {
				if j, ok := owner[q]; ok {
					a, b := root(i), root(j)
					parent[max(a, b)] = min(a, b)
				}
			}
		}
	}
	byRoot := map[int][]change.FileChange{}
	for i, f := range files {
		byRoot[root(i)] = append(byRoot[root(i)], f)
	}
	var roots []int
	for r := range byRoot {
		roots = append(roots, r)
	}
	sort.Ints(roots)
	list := make([][]change.FileChange, 0, len(roots))
	for _, r := range roots {
		list = append(list, byRoot[r])
	}
	return list
}
