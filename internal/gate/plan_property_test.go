package gate

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
)

// someChanges draws changes of different paths, among them renames, and files that become folders.
func someChanges(t *rapid.T, label string) []change.FileChange {
	names := rapid.Permutation([]string{"a", "b", "c", "d", "d/x", "d/y", "e/z"}).Draw(t, label+" paths")
	var list []change.FileChange
	for range rapid.IntRange(0, 4).Draw(t, label+" files") {
		if len(names) < 2 {
			break
		}
		content := rapid.SampledFrom([]string{"", "1", "2", "3"})
		from, to := content.Draw(t, "from"), content.Draw(t, "to")
		if from == to {
			to += "9"
		}
		word := fmt.Sprintf("%s:%s>%s", names[0], from, to)
		names = names[1:]
		if from != "" && to != "" && rapid.IntRange(0, 3).Draw(t, "moves") == 0 {
			word = names[0] + "=" + word
			names = names[1:]
		}
		list = append(list, files(word)...)
	}
	slices.SortFunc(list, func(a, b change.FileChange) int { return cmpPath(a.Path, b.Path) })
	return list
}

func cmpPath(a, b change.Path) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// someInput draws changes and the units that came before: waiting ones share no path, decided ones may.
func someInput(t *rapid.T) planInput {
	in := planInput{changes: someChanges(t, "now"), each: rapid.Bool().Draw(t, "each"), moved: map[change.Path]change.Pin{}}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]change.Path{"a", "b", "c", "d", "d/x", "e"}), rapid.ID).Draw(t, "scope") {
		in.scope = append(in.scope, name)
	}
	taken := map[change.Path]bool{}
	states := []change.State{
		change.StatePending, change.StatePending, change.StatePending, change.StateApproved, change.StateRejected, change.StateSkipped,
		change.StateTimedOut, change.StateStale, change.StateDenied, change.StateStaged,
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "units") {
		u := unit(i+1, rapid.SampledFrom(states).Draw(t, "state"), "")
		pool := someChanges(t, "before")
		if rapid.Bool().Draw(t, "of what is there now") {
			pool = append(slices.Clone(in.changes), pool...)
		}
		own := map[change.Path]bool{}
		for _, f := range pool {
			fits := true
			for _, p := range f.Paths() {
				fits = fits && !own[p] && !(u.State.Waits() && taken[p])
			}
			if !fits || len(u.Files) == 3 {
				continue
			}
			u.Files = append(u.Files, f)
			for _, p := range f.Paths() {
				own[p] = true
				taken[p] = taken[p] || u.State.Waits()
			}
		}
		if len(u.Files) > 0 {
			in.units = append(in.units, u)
		}
		if u.State == change.StateStale && rapid.Bool().Draw(t, "moved") && len(u.Files) > 0 {
			in.moved[u.Files[0].Path] = pin("8")
		}
	}
	outcome := rapid.SampledFrom([]change.Outcome{change.Auto, change.Ask, change.Deny}).Draw(t, "outcome")
	in.outcome = func(*projection.Entry) change.Outcome { return outcome }
	in.changes = in.scope.dependent(in.changes)
	return in
}

// replaced are the numbers of the sets that a plan puts an end to.
func (p plan) replaced() []int {
	list := slices.Clone(p.gone)
	for _, f := range p.fresh {
		list = append(list, f.supersedes...)
		if f.parent != 0 {
			list = append(list, f.parent)
		}
	}
	return list
}

func TestPlanTakesEveryChangeOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := someInput(t)
		p, err := makePlan(in)
		if err != nil {
			if len(in.scope) == 0 {
				t.Fatalf("only named paths can cut a group: %v", err)
			}
			return
		}
		where := map[change.Path]string{}
		take := func(place string, list []change.FileChange) {
			for _, f := range list {
				for _, path := range f.Paths() {
					if where[path] != "" {
						t.Fatalf("%q is in %s and in %s: %s", path, where[path], place, tell(p))
					}
					where[path] = place
				}
			}
		}
		for _, e := range slices.Concat(p.again, p.resume) {
			take(fmt.Sprintf("#%d", e.ID), e.Files)
		}
		for i, f := range p.fresh {
			if len(f.files) == 0 {
				t.Fatalf("an empty set: %s", tell(p))
			}
			take(fmt.Sprintf("set %d of %s", i, tell(p)), f.files)
		}
		for _, f := range in.changes {
			for _, path := range f.Paths() {
				if where[path] == "" {
					t.Fatalf("%q is nowhere in %s", path, tell(p))
				}
			}
		}
	})
}

func TestPlanReportsNothingItReplaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := someInput(t)
		p, err := makePlan(in)
		if err != nil {
			return
		}
		replaced := p.replaced()
		for _, e := range slices.Concat(p.again, p.resume) {
			if slices.Contains(replaced, e.ID) {
				t.Fatalf("#%d is reported and replaced: %s", e.ID, tell(p))
			}
		}
		for _, u := range in.units {
			inside, outside := split(u.Files, in.scope)
			reported := slices.Contains(p.again, u) || slices.Contains(p.resume, u)
			switch is := slices.Contains(replaced, u.ID); {
			case len(inside) == 0 && (is || reported):
				t.Fatalf("#%d lies outside what was named: %s", u.ID, tell(p))
			case len(inside) > 0 && u.State.Waits() && !is && !reported:
				t.Fatalf("#%d is forgotten: %s", u.ID, tell(p))
			case len(inside) > 0 && len(outside) > 0 && u.State.Waits():
				if !is || !slices.ContainsFunc(p.fresh, func(f proposal) bool { return f.rest && f.parent == u.ID && len(f.files) == len(outside) }) {
					t.Fatalf("the rest of #%d: %s", u.ID, tell(p))
				}
			}
		}
	})
}

// TestPlanIsDoneOnce executes a plan on paper and plans again: the same bytes come to nothing new.
func TestPlanIsDoneOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := someInput(t)
		p, err := makePlan(in)
		if err != nil {
			return
		}
		replaced := p.replaced()
		next := in
		next.units = slices.DeleteFunc(slices.Clone(in.units), func(e *projection.Entry) bool { return slices.Contains(replaced, e.ID) })
		for i, f := range p.fresh {
			next.units = append(next.units, &projection.Entry{Set: change.Set{ID: 100 + i, Files: f.files}, State: change.StatePending})
		}
		again, err := makePlan(next)
		if err != nil {
			t.Fatalf("the second time: %v", err)
		}
		if len(again.fresh)+len(again.gone) > 0 {
			t.Fatalf("first %s, then %s", tell(p), tell(again))
		}
	})
}
