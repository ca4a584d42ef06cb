package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/tiers"
)

// Explanation is what policy says of a change, and why.
type Explanation struct {
	// Files is the change that was judged.
	Files []change.FileChange
	// Result is the verdict by the policy of now.
	tiers.Result
	// Steps is all that was looked at, in order.
	Steps []tiers.Step
}

// ExplainSet says what policy says of a recorded set by now. What only the submission could see (whose copy a file is, what
// the budget was) is not looked at again. Nothing is written.
func (g *Gate) ExplainSet(ctx context.Context, id int) (Explanation, error) {
	e, err := g.Set(id)
	if err != nil {
		return Explanation{}, err
	}
	return g.explain(ctx, e.Files, e.Origin, g.state.Sessions[e.Session])
}

// ExplainPath says what policy would say of a change to p that changes no byte: of op, or where op is empty of an edit of
// the file that is there, of a file in the place of what else is there, or of its creation. The grants of session count, ""
// for none. Nothing is written.
func (g *Gate) ExplainPath(ctx context.Context, p change.Path, op change.Op, session string) (Explanation, error) {
	there := change.Pin{Kind: change.KindFile, Perm: 0o644}
	info, err := g.tree.Lstat(p)
	var parent *durable.ParentError
	switch {
	case errors.Is(err, fs.ErrNotExist), asError(err, &parent):
		there = change.Absent()
	case err != nil:
		return Explanation{}, err
	case info.Kind == change.KindDir:
		return Explanation{}, &UsageError{Problem: fmt.Sprintf("%q is a folder: name a file in it, which may be one that is not there", p)}
	default:
		there.Kind, there.Perm = info.Kind, info.Perm
	}
	f, err := imagined(p, op, there)
	if err != nil {
		return Explanation{}, err
	}
	return g.explain(ctx, []change.FileChange{f}, change.OriginShadow, g.state.Sessions[session])
}

// imagined is the change to p that ExplainPath speaks of, where there is what stands at p.
func imagined(p change.Path, op change.Op, there change.Pin) (change.FileChange, error) {
	f := change.FileChange{Path: p, Op: op, Base: there, Proposed: change.Pin{Kind: change.KindFile, Perm: 0o644}}
	fits := there.Kind == change.KindFile
	switch {
	case op != "":
	case !there.Exists():
		f.Op = change.OpCreate
	case fits:
		f.Op = change.OpEdit
	default:
		f.Op = change.OpRetype
	}
	switch f.Op {
	case change.OpCreate:
		fits = !there.Exists()
	case change.OpDelete:
		f.Proposed, fits = change.Absent(), there.Exists()
	case change.OpChmod:
		f.Proposed.Perm = there.Perm ^ 0o111
	case change.OpEdit, change.OpOverwrite:
		f.Proposed.Perm = there.Perm
	case change.OpRetype:
		fits = there.Exists() && !fits
	default:
		return f, &UsageError{Problem: fmt.Sprintf("a path alone says too little of a %q: there are create, edit, overwrite, delete and chmod", f.Op)}
	}
	if !fits {
		return f, &UsageError{Problem: fmt.Sprintf("%q: the op %s does not fit what is there", p, f.Op)}
	}
	return f, nil
}

// explain judges files with what the real tree shows about them now.
func (g *Gate) explain(ctx context.Context, files []change.FileChange, origin change.Origin, ses *projection.Session) (Explanation, error) {
	facts, err := g.factsNow(ctx, files, origin)
	if err != nil {
		return Explanation{}, err
	}
	f := tiers.Facts{Files: facts, Origin: origin, Enforced: "none", Now: momentOf(g.clock())}
	p := g.policy()
	if origin == change.OriginShadow {
		n, bytes := g.state.Used(g.worktree(), "")
		f.Used, p = tiers.Usage{Files: n, Bytes: bytes}, g.policyFor(ses)
	}
	out := Explanation{Files: files}
	out.Result, out.Steps = tiers.Explain(f, p)
	return out, nil
}

// factsNow looks at what the real tree shows about files now.
func (g *Gate) factsNow(ctx context.Context, files []change.FileChange, origin change.Origin) ([]tiers.FileFacts, error) {
	seen := &observed{changes: files, facts: map[change.Path]tiers.FileFacts{}, moved: map[change.Path]change.Pin{}}
	programs, err := g.repo.Programs(ctx)
	if err != nil {
		return nil, err
	}
	modules, err := g.moduleRoots(ctx)
	if err != nil {
		return nil, err
	}
	paths := make([]change.Path, len(files))
	for i, c := range files {
		paths[i] = c.Path
	}
	ignored, err := g.repo.Ignored(ctx, paths, nil)
	if err != nil {
		return nil, err
	}
	after := afterLanding(files)
	for _, c := range files {
		facts := tiers.FileFacts{PreImageStored: true, Ignored: ignored[c.Path], Submodule: underAny(c, modules)}
		g.treeFacts(&facts, c, programs, after)
		if origin == change.OriginShadow {
			if err := g.linkFacts(&facts, c, after, seen); err != nil {
				return nil, err
			}
		}
		seen.facts[c.Path] = facts
	}
	return seen.factsOf(files), nil
}

// moduleRoots are the folders of submodules and of repositories inside the tree.
func (g *Gate) moduleRoots(ctx context.Context) ([]change.Path, error) {
	list, err := g.repo.Files(ctx)
	if err != nil {
		return nil, err
	}
	roots := list.Nested
	for _, e := range list.Tracked {
		if e.Mode == repo.ModeSubmodule {
			roots = append(roots, e.Path)
		}
	}
	return roots, nil
}

// underAny reports whether an end of c is one of the folders, or lies in one.
func underAny(c change.FileChange, roots []change.Path) bool {
	for _, root := range roots {
		for _, p := range c.Paths() {
			if p.Under(root) {
				return true
			}
		}
	}
	return false
}
