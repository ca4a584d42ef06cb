package shadow

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/correx/correx/internal/change"
)

const (
	// defaultMaxNew bounds the paths in a shadow that the manifest does not know.
	defaultMaxNew = 200000
	// maxFlagged bounds the entries that only say where something that cannot land was put.
	maxFlagged = 100
)

// ScanOptions narrows a scan.
type ScanOptions struct {
	// Paths are files and folders to look at; none means the whole shadow. A path that git ignores is looked at if it,
	// or the ignored folder it is, is named here.
	Paths []change.Path
	// Ignored is asked about what the manifest does not know, a level of the tree at a time; nil: nothing is ignored.
	Ignored IgnoreFunc
	// MaxNew bounds how many files and folders that the manifest does not know are taken in; 0 means 200,000.
	MaxNew int
	// Workers is the number of folders read at a time; 0 means one for each processor.
	Workers int
}

// Entry is a candidate: a path that is not what the shadow last saw of the real tree.
type Entry struct {
	Path change.Path
	// Base is what the shadow last saw: absent for a path it did not show.
	Base change.Pin
	// Kind is what stands there now: absent, a file or a symlink.
	Kind change.Kind
	// Git marks a path with a component that is some spelling of ".git". It can never land.
	Git bool
	// Submodule marks a path that is a submodule, or lies inside one.
	Submodule bool
	// Ignored marks a path that git ignores in the real repository and that was asked for by name.
	Ignored bool
	// LeftOut marks a path that is, or lies inside, one that the real tree has and the shadow was not given.
	LeftOut Reason
	// BaseUnknown says that Base could not be told any more: the path is stale until it is reset.
	BaseUnknown bool
}

// flagged reports whether e only says that something is where nothing can land.
func (e *Entry) flagged() bool { return e.Git || e.Submodule || e.LeftOut != "" }

// Problem is a path that could not be looked at.
type Problem struct {
	Path change.Path
	Err  error
}

// ScanResult is what a scan found. Every list is in ascending order of paths.
type ScanResult struct {
	// Changed are the candidates.
	Changed []Entry
	// Specials are FIFOs, sockets and devices. They are not opened and never candidates; one that stands where the
	// shadow showed a file is not taken for a deletion.
	Specials []change.Path
	// NestedRepos are folders with a repository of their own. Of what they hold, only what the shadow showed is compared.
	NestedRepos []change.Path
	// Reserved are names that belong to landing.
	Reserved []change.Path
	// TooDeep are paths too long to be looked at, or to land.
	TooDeep []change.Path
	// Unreadable are files and folders the agent made unreadable. What the shadow showed there is in no other list:
	// nobody knows what became of it.
	Unreadable []Problem
	// Unmatched are paths of ScanOptions.Paths where nothing is and nothing was shown.
	Unmatched []change.Path
	// Omitted counts what is not in Changed because a hundred entries with Git, Submodule or LeftOut are there already, a
	// folder that was not gone into as one.
	Omitted int
	// Looked counts the paths looked at.
	Looked int
}

// add takes over what part found.
func (r *ScanResult) add(part *ScanResult) {
	r.Changed = append(r.Changed, part.Changed...)
	r.Specials = append(r.Specials, part.Specials...)
	r.NestedRepos = append(r.NestedRepos, part.NestedRepos...)
	r.Reserved = append(r.Reserved, part.Reserved...)
	r.TooDeep = append(r.TooDeep, part.TooDeep...)
	r.Unreadable = append(r.Unreadable, part.Unreadable...)
	r.Unmatched = append(r.Unmatched, part.Unmatched...)
	r.Omitted += part.Omitted
	r.Looked += part.Looked
}

// sort brings every list into order, each path once, and cuts what only says where something cannot land.
func (r *ScanResult) sort() {
	byPath := func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) }
	slices.SortFunc(r.Changed, byPath)
	r.Changed = slices.CompactFunc(r.Changed, func(a, b Entry) bool { return a.Path == b.Path })
	flagged := 0
	r.Changed = slices.DeleteFunc(r.Changed, func(e Entry) bool {
		if e.Base.Exists() || !e.flagged() {
			return false
		}
		flagged++
		return flagged > maxFlagged
	})
	r.Omitted += max(0, flagged-maxFlagged)
	for _, list := range []*[]change.Path{&r.Specials, &r.NestedRepos, &r.Reserved, &r.TooDeep, &r.Unmatched} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	slices.SortFunc(r.Unreadable, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	r.Unreadable = slices.CompactFunc(r.Unreadable, func(a, b Problem) bool { return a.Path == b.Path })
}

// Scan finds what in the tree is not what the shadow last saw of the real tree. It costs one lstat a file; only files whose
// stat does not prove them unchanged are read. The tree may be written to meanwhile: a result describes each path at some
// moment during the scan. Nothing in the tree is changed; stats that were proved again are noted in the manifest.
//
// An error means that the result is not complete and must not be acted on. A *TreeError when the tree is gone.
func (s *Shadow) Scan(ctx context.Context, o ScanOptions) (ScanResult, error) {
	tree, err := s.Root()
	if err != nil {
		return ScanResult{}, fmt.Errorf("scan: %w", err)
	}
	sc := &scan{s: s, m: s.manifest(), tree: tree, o: o, limit: o.MaxNew}
	if sc.limit <= 0 {
		sc.limit = defaultMaxNew
	}
	// Asked before anything is read: what is written from now on has a later time than what is proved below.
	if sc.now, err = s.clock(); err != nil {
		sc.now = 0
	}
	if err := sc.run(ctx); err != nil {
		return ScanResult{}, fmt.Errorf("scan: %w", err)
	}
	sc.found.sort()
	s.note(sc.m, sc.proved, sc.now)
	return sc.found, nil
}
