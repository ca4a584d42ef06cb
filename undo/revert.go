package undo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/correx/correx/internal/change"
)

// Revert returns the file changes that take a landed set back, sorted by path. landed are the steps of its landing with the
// pins that really were on disk afterwards: they are the base of what is returned, and what stood there before is what it
// proposes. Files of the set that did not land are left out (a partial approval), as is one that landed without changing
// anything. Reverting what Revert returned gives the landed change again.
//
// Line counts are those of the set turned around, where exactly what was proposed landed, else 0. Kept and Hidden need a
// look at the content and are 0; so an edit stays an edit even if it takes more away than it leaves.
//
// A *LandedError when the steps do not fit the set, ErrNothingLanded when none of its files landed.
func Revert(set change.Set, landed []change.Step) ([]change.FileChange, error) {
	steps := make(map[change.Path]change.Step, len(landed))
	for _, s := range landed {
		if _, twice := steps[s.Path]; twice {
			return nil, &LandedError{Path: s.Path, Problem: "landed twice"}
		}
		steps[s.Path] = s
	}
	var back []change.FileChange
	used := 0
	for _, f := range set.Files {
		n, err := landedParts(f, steps)
		if err != nil {
			return nil, err
		}
		used += n
		if n == 0 {
			continue
		}
		r, changed, err := revertFile(f, steps)
		if err != nil {
			return nil, err
		}
		if changed {
			back = append(back, r)
		}
	}
	if used != len(steps) {
		return nil, strangeStep(set, landed)
	}
	if used == 0 {
		return nil, fmt.Errorf("set %d: %w", set.ID, ErrNothingLanded)
	}
	slices.SortFunc(back, func(a, b change.FileChange) int { return cmp.Compare(a.Path, b.Path) })
	return back, nil
}

// landedParts returns how many of the steps of f landed: none or all.
func landedParts(f change.FileChange, steps map[change.Path]change.Step) (int, error) {
	n := 0
	for _, p := range f.Paths() {
		if _, ok := steps[p]; ok {
			n++
		}
	}
	if n != 0 && n != len(f.Paths()) {
		return 0, &LandedError{Path: f.Path, Problem: fmt.Sprintf("only one end of the rename from %q landed", f.OldPath)}
	}
	return n, nil
}

func strangeStep(set change.Set, landed []change.Step) error {
	known := map[change.Path]bool{}
	for _, f := range set.Files {
		for _, p := range f.Paths() {
			known[p] = true
		}
	}
	for _, s := range landed {
		if !known[s.Path] {
			return &LandedError{Path: s.Path, Problem: fmt.Sprintf("landed, but is not part of set %d", set.ID)}
		}
	}
	return &LandedError{Path: set.Files[0].Path, Problem: fmt.Sprintf("set %d names a path twice", set.ID)}
}

// revertFile turns one landed file change around. changed is false when there is nothing to turn.
func revertFile(f change.FileChange, steps map[change.Path]change.Step) (r change.FileChange, changed bool, err error) {
	here := steps[f.Path]
	r = change.FileChange{Path: f.Path, Base: here.Result, Proposed: here.Base, Binary: f.Binary, TooLarge: f.TooLarge}
	if f.Op == change.OpRename {
		there := steps[f.OldPath]
		if there.Result.Exists() || here.Base.Exists() {
			return r, false, &LandedError{Path: f.Path, Problem: fmt.Sprintf("landed as a rename from %q, but does not move it", f.OldPath)}
		}
		r.Path, r.OldPath, r.Proposed = f.OldPath, f.Path, there.Base
	}
	for _, p := range []change.Pin{r.Base, r.Proposed} {
		if p.Exists() && p.Kind != change.KindFile && p.Kind != change.KindSymlink {
			return r, false, &LandedError{Path: f.Path, Problem: fmt.Sprintf("expected a file or a symlink, found %s", p.Kind)}
		}
	}
	if here.Result.SameForGit(f.Proposed) {
		r.Added, r.Removed, r.Bytes = f.Removed, f.Added, f.Bytes
	}
	r.Op = opBack(f.Op, r)
	return r, f.Op == change.OpRename || !r.Base.Equal(r.Proposed), nil
}

// opBack names what r does, given that it takes back a change with op forward.
func opBack(forward change.Op, r change.FileChange) change.Op {
	from, to := r.Base, r.Proposed
	switch {
	case forward == change.OpRename:
		return change.OpRename
	case !to.Exists():
		return change.OpDelete
	case from.Exists() && from.Kind != to.Kind:
		return change.OpRetype
	case to.Kind == change.KindSymlink:
		return change.OpSymlink
	case !from.Exists():
		return change.OpCreate
	case from.SHA256 == to.SHA256:
		return change.OpChmod
	case forward == change.OpOverwrite:
		return change.OpOverwrite
	}
	return change.OpEdit
}
