package gate

import (
	"context"
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/shadow"
)

// specials are the FIFOs, sockets and devices of the real tree that git does not ignore. Git lists them nowhere, so the
// folders are looked at: those that hold a file it lists, and whatever is in them that its rules do not cover.
func (g *Gate) specials(ctx context.Context, list repo.Listing) ([]shadow.SourceFile, error) {
	s := specialSearch{tree: g.tree, folders: map[change.Path]bool{"": true}, closed: map[change.Path]bool{}}
	for _, f := range list.Tracked {
		s.hold(f.Path)
		s.closed[f.Path] = f.Submodule()
	}
	for _, p := range list.Untracked {
		s.hold(p)
	}
	for _, p := range list.Nested {
		s.hold(p)
		s.closed[p] = true
	}
	var files []shadow.SourceFile
	for next := []change.Path{""}; len(next) > 0; {
		doubt, err := s.look(ctx, next)
		if err != nil {
			return nil, err
		}
		ignored, err := g.repo.Ignored(ctx, doubt, nil)
		if err != nil {
			return nil, err
		}
		next = next[:0]
		for _, p := range doubt {
			switch {
			case ignored[p]:
			case s.special[p]:
				files = append(files, shadow.SourceFile{Path: p, Untracked: true})
			default:
				next = append(next, p)
			}
		}
	}
	return files, nil
}

// specialSearch walks the real tree.
type specialSearch struct {
	tree *durable.Root
	// folders hold something that git lists. closed are the folders of other repositories.
	folders, closed map[change.Path]bool
	// special are the special files that were found.
	special map[change.Path]bool
}

// hold notes the folders on the way to a path that git lists.
func (s *specialSearch) hold(p change.Path) {
	for dir := p.Dir(); !s.folders[dir]; dir = dir.Dir() {
		s.folders[dir] = true
	}
}

// look walks from the given folders into those that hold something git lists, and returns what it says nothing of: special
// files and other folders.
func (s *specialSearch) look(ctx context.Context, from []change.Path) ([]change.Path, error) {
	s.special = map[change.Path]bool{}
	var doubt []change.Path
	for open := slices.Clone(from); len(open) > 0; {
		dir := open[len(open)-1]
		open = open[:len(open)-1]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entries, err := s.tree.ReadDir(dir)
		if err != nil {
			continue // It is gone meanwhile, or git names it as one that cannot be read.
		}
		for _, e := range entries {
			p, err := change.ParsePath(string(dir.Join(e.Name)))
			if err != nil || e.Name == ".git" || e.Kind != change.KindDir && e.Kind != change.KindOther {
				continue
			}
			switch _, listed := s.closed[p]; {
			case e.Kind == change.KindDir && s.closed[p]:
			case e.Kind == change.KindDir && s.folders[p]:
				open = append(open, p)
			case !listed:
				s.special[p] = e.Kind == change.KindOther
				doubt = append(doubt, p)
			}
		}
	}
	return doubt, nil
}
