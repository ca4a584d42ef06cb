package apply

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/correx/correx/internal/change"
)

// content is what stands, or shall stand, at one name.
type content struct {
	pin change.Pin
	// ino is the inode of the top entry; 0 matches any.
	ino uint64
	// inner is what a folder holds, at any depth; its folders are implied.
	inner []inner
	// opaque marks a folder or a special file that came from somebody else and is told apart by its inode alone.
	opaque bool
	// lenient says that of the permission bits only the executable one is known.
	lenient bool
}

// inner is one file or symlink inside a folder that is an end of a move.
type inner struct {
	// rel is the path below the folder.
	rel change.Path
	pin change.Pin
	ino uint64
	// lenient as in content.
	lenient bool
}

// is reports whether a file or symlink with the pin is c, as far as c knows.
func (c content) is(pin change.Pin) bool {
	if c.lenient {
		return pin.SameForGit(c.pin)
	}
	return pin.Equal(c.pin)
}

func (c content) exists() bool { return c.pin.Exists() }

type moveKind int

const (
	take moveKind = iota
	swap
	put
)

// move is what the engine does at one name.
type move struct {
	path change.Path
	// home is the folder that holds the working names: the folder of path, or for a put the nearest one that exists.
	home change.Path
	// dir is the folder of path itself. Both are other folders than path says once somebody renamed one after a crash.
	dir change.Path
	// homeIno is the inode that home had when the landing was staged; 0 before that and where nothing tells.
	homeIno uint64
	// staged is where the new content waits, aside what was taken out; fresh is where the base is written anew from the store.
	staged, aside, fresh string
	base, result         content
	// steps are the paths of the landing's steps that this move carries out.
	steps []change.Path
	// out is what came out of the name and was found to be the base; nil until then, and after a crash.
	out *displaced
}

func (m *move) kind() moveKind {
	switch {
	case !m.result.exists():
		return take
	case m.base.exists():
		return swap
	}
	return put
}

// plan turns steps into moves: takes, swaps, puts, each in the order of their paths. Takes come first so that a rename
// that changes only letter case finds the name free on a disk that folds case.
func plan(id string, steps []change.Step) ([]*move, error) {
	sorted := slices.Clone(steps)
	slices.SortFunc(sorted, func(a, b change.Step) int { return cmp.Compare(a.Path, b.Path) })
	byPath := make(map[change.Path]*move, len(sorted))
	for i, s := range sorted {
		if why := forbidden(s.Path); why != "" {
			return nil, &UnsafeError{Path: s.Path, Why: why}
		}
		if i > 0 && sorted[i-1].Path == s.Path {
			return nil, &StepsError{Path: s.Path, Why: "is named twice"}
		}
		if err := checkPins(s); err != nil {
			return nil, err
		}
		byPath[s.Path] = &move{
			path: s.Path, home: s.Path.Dir(), dir: s.Path.Dir(), base: content{pin: s.Base}, result: content{pin: s.Result}, steps: []change.Path{s.Path},
		}
	}
	var moves []*move
	for _, s := range sorted {
		top, err := above(byPath, s.Path)
		if err != nil {
			return nil, err
		}
		if top == nil {
			moves = append(moves, byPath[s.Path])
		} else if err := top.absorb(s); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(moves, func(a, b *move) int { return cmp.Compare(a.kind(), b.kind()) })
	for i, m := range moves {
		m.staged = fmt.Sprintf("%s%d", workingPrefix(id), i)
		m.aside, m.fresh = m.staged+"a", m.staged+"b"
	}
	return moves, nil
}

// shortID is the part of a landing's id that goes into names.
func shortID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:5])
}

// checkPins refuses ends that are never landed.
func checkPins(s change.Step) error {
	for _, pin := range []change.Pin{s.Base, s.Result} {
		switch pin.Kind {
		case change.KindFile, change.KindSymlink, change.KindAbsent:
		default:
			return &StepsError{Path: s.Path, Why: fmt.Sprintf("has a %s at one end", pin.Kind)}
		}
	}
	if !s.Base.Exists() && !s.Result.Exists() {
		return &StepsError{Path: s.Path, Why: "goes from nothing to nothing"}
	}
	return nil
}

// above returns the move at the step above p, nil when there is none.
func above(byPath map[change.Path]*move, p change.Path) (*move, error) {
	var top *move
	for _, up := range p.Ancestors() {
		m, ok := byPath[up]
		if !ok {
			continue
		}
		if top != nil {
			return nil, &StepsError{Path: p, Why: fmt.Sprintf("lies below %q and %q", top.path, up)}
		}
		top = m
	}
	return top, nil
}

// absorb makes s, which lies below m's path, part of m: the one end of m that is absent is a folder.
func (m *move) absorb(s change.Step) error {
	rel := s.Path[len(m.path)+1:]
	switch {
	case !s.Base.Exists() && m.becomesFolder():
		m.result.pin = change.Pin{Kind: change.KindDir}
		m.result.inner = append(m.result.inner, inner{rel: rel, pin: s.Result})
	case !s.Result.Exists() && m.wasFolder():
		m.base.pin = change.Pin{Kind: change.KindDir}
		m.base.inner = append(m.base.inner, inner{rel: rel, pin: s.Base})
	default:
		return &StepsError{Path: s.Path, Why: fmt.Sprintf("contradicts the step at %q", m.path)}
	}
	m.steps = append(m.steps, s.Path)
	return nil
}

func (m *move) becomesFolder() bool {
	return m.base.pin.Kind != change.KindDir && m.base.exists() && (!m.result.exists() || m.result.pin.Kind == change.KindDir)
}

func (m *move) wasFolder() bool {
	return m.result.pin.Kind != change.KindDir && m.result.exists() && (!m.base.exists() || m.base.pin.Kind == change.KindDir)
}

// folders returns the folders inside a folder content, outermost first, as paths below it.
func (c content) folders() []change.Path {
	seen := map[change.Path]bool{}
	var list []change.Path
	for _, in := range c.inner {
		for _, up := range in.rel.Ancestors() {
			if !seen[up] {
				seen[up] = true
				list = append(list, up)
			}
		}
	}
	slices.Sort(list)
	return list
}
