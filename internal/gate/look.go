package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/preflight"
	"github.com/correx/correx/shadow"
	"github.com/correx/correx/tiers"
)

// observed is what a submission saw: the changes with both ends pinned and stored, which real files are not what the
// shadow last saw, and the facts that policy asks for.
type observed struct {
	changes []change.FileChange
	moved   map[change.Path]change.Pin
	facts   map[change.Path]tiers.FileFacts
	notices []string
}

// factsOf returns the facts of files in their order. A file that was not looked at this time (the rest of a cut set) has
// only itself as a fact.
func (s *observed) factsOf(files []change.FileChange) []tiers.FileFacts {
	list := make([]tiers.FileFacts, 0, len(files))
	for _, f := range files {
		facts, ok := s.facts[f.Path]
		if !ok {
			facts = tiers.FileFacts{PreImageStored: true}
		}
		facts.File = f
		list = append(list, facts)
	}
	return list
}

// staleIn lists the paths of files whose real file is not the base.
func (s *observed) staleIn(files []change.FileChange) []projection.StalePath {
	var list []projection.StalePath
	for _, f := range files {
		for _, st := range f.Steps() {
			if found, ok := s.moved[st.Path]; ok {
				list = append(list, projection.StalePath{Path: st.Path, Expected: st.Base, Found: found})
			}
		}
	}
	return list
}

// look scans the shadow and pins both ends of every change. Base and proposed images are in the store, flushed, when it
// returns. A path equal to the real file is no change.
func (g *Gate) look(ctx context.Context, sh *shadow.Shadow, paths []change.Path) (*observed, error) {
	scan, err := sh.Scan(ctx, shadow.ScanOptions{Paths: paths, Ignored: g.repo.Ignored})
	if err != nil {
		return nil, err
	}
	seen := &observed{moved: map[change.Path]change.Pin{}, facts: map[change.Path]tiers.FileFacts{}, notices: scanNotices(scan)}
	if len(scan.Unreadable) > 0 {
		return nil, fmt.Errorf("%q in the shadow cannot be read: %w", scan.Unreadable[0].Path, scan.Unreadable[0].Err)
	}
	for _, p := range slices.Concat(scan.Specials, scan.Reserved, scan.TooDeep) {
		if slices.Contains(paths, p) {
			return nil, &UsageError{Problem: fmt.Sprintf("%q cannot be proposed: %s", p, strings.Join(scanNotices(scan), "; "))}
		}
	}
	if len(scan.Unmatched) > 0 {
		return nil, &UsageError{Problem: fmt.Sprintf("%q is neither in the shadow nor was it there", scan.Unmatched[0])}
	}
	if len(paths) == 0 {
		if scan.Changed, err = withoutRepositories(sh, scan); err != nil {
			return nil, err
		}
	}
	pinned, err := g.pinAll(ctx, sh, scan.Changed, paths, seen)
	if err != nil {
		return nil, err
	}
	if len(pinned.agreed) > 0 {
		if err := sh.SetBase(ctx, pinned.agreed, sh.Seq()); err != nil {
			return nil, err
		}
	}
	sources := g.protectedBases(sh, pinned.ends)
	seen.changes, err = preflight.Compare(g.store, pinned.ends, preflight.Options{Sources: g.copySources(sh, pinned.ends, sources)})
	if err != nil {
		return nil, err
	}
	seen.changes = scope(paths).dependent(seen.changes)
	if err := g.nameBlobs(ctx, seen.changes); err != nil {
		return nil, err
	}
	modules, err := g.moduleFolders(ctx, pinned.modules)
	if err != nil {
		return nil, err
	}
	seen.changes = append(seen.changes, scope(paths).dependent(modules)...)
	slices.SortFunc(seen.changes, func(a, b change.FileChange) int { return cmp.Compare(a.Path, b.Path) })
	seen.copied(sources)
	return seen, g.gatherFacts(ctx, sh, seen)
}

// pins are the ends of what changed: those to be compared, the submodules' own folders, which have no content, and the
// paths that are in the real tree what they are in the shadow.
type pins struct {
	ends    []preflight.Ends
	modules []preflight.Ends
	agreed  map[change.Path]change.Pin
}

// pinAll pins what changed, and with named paths also what may belong together with one of those.
func (g *Gate) pinAll(ctx context.Context, sh *shadow.Shadow, changed []shadow.Entry, paths []change.Path, seen *observed) (pins, error) {
	tree, err := sh.Root()
	if err != nil {
		return pins{}, err
	}
	if len(paths) > 0 {
		more, err := g.counterparts(ctx, sh, changed, paths)
		if err != nil {
			return pins{}, err
		}
		changed = append(changed, more...)
	}
	images := g.store.Intake()
	out, err := pinner{g, tree, images, seen}.pinEach(changed, paths)
	if err == nil {
		err = images.Settle()
	}
	return out, errors.Join(err, images.Close())
}

// pinner pins the paths of one shadow. What it puts into images is in the store only when that is settled.
type pinner struct {
	*Gate
	shadow *durable.Root
	images preflight.Intake
	seen   *observed
}

func (g pinner) pinEach(changed []shadow.Entry, paths scope) (pins, error) {
	out := pins{agreed: map[change.Path]change.Pin{}}
	for _, c := range changed {
		end, same, err := g.pinEnds(c)
		if err != nil {
			return pins{}, err
		}
		switch {
		case same && !paths.holds(c.Path):
			continue
		case same:
			out.agreed[c.Path] = end.Base
			continue
		case end.Base.Kind == change.KindSubmodule:
			out.modules = append(out.modules, end)
		default:
			out.ends = append(out.ends, end)
		}
		g.seen.facts[c.Path] = tiers.FileFacts{
			Submodule: foreign(c), Ignored: c.Ignored, UntrackedTooLarge: c.LeftOut == shadow.TooLarge,
		}
	}
	return out, nil
}

// counterparts finds what lies outside the named paths and may be the other end of a rename, or stand above or below
// where a file becomes a folder or the other way round: what is gone when something named is new, and what is new when
// something named is gone.
func (g *Gate) counterparts(ctx context.Context, sh *shadow.Shadow, named []shadow.Entry, paths scope) ([]shadow.Entry, error) {
	created, deleted := false, false
	for _, c := range named {
		created = created || !c.Base.Exists()
		deleted = deleted || c.Kind == change.KindAbsent
	}
	if !created && !deleted {
		return nil, nil
	}
	all, err := sh.Scan(ctx, shadow.ScanOptions{Ignored: g.repo.Ignored})
	if err != nil {
		return nil, err
	}
	var list []shadow.Entry
	for _, c := range all.Changed {
		if !paths.holds(c.Path) && (created && c.Kind == change.KindAbsent || deleted && !c.Base.Exists()) {
			list = append(list, c)
		}
	}
	return list, nil
}

// foreign reports whether c belongs to a submodule or to a repository inside the tree: nothing can land there, so the
// real file is not looked at.
func foreign(c shadow.Entry) bool { return c.Submodule || c.LeftOut == shadow.Nested }

// moduleFolders are the changes of submodules' own folders. What the index records for one is its base.
func (g *Gate) moduleFolders(ctx context.Context, ends []preflight.Ends) ([]change.FileChange, error) {
	if len(ends) == 0 {
		return nil, nil
	}
	list, err := g.repo.Files(ctx)
	if err != nil {
		return nil, err
	}
	commits := map[change.Path]string{}
	for _, e := range list.Tracked {
		commits[e.Path] = e.OID
	}
	files := make([]change.FileChange, len(ends))
	for i, e := range ends {
		oid := cmp.Or(commits[e.Path], strings.Repeat("0", 40))
		files[i] = change.FileChange{Path: e.Path, Op: change.OpDelete, Base: submodulePin(oid), Proposed: e.Proposed}
		if e.Proposed.Exists() {
			files[i].Op = change.OpRetype
		}
	}
	return files, nil
}

// withoutRepositories leaves out the git directories of repositories that an agent made inside the shadow: each is named in a
// notice and left alone. What only looks like one, without a HEAD, stays, and is refused by its name.
func withoutRepositories(sh *shadow.Shadow, scan shadow.ScanResult) ([]shadow.Entry, error) {
	if len(scan.NestedRepos) == 0 {
		return scan.Changed, nil
	}
	tree, err := sh.Root()
	if err != nil {
		return nil, err
	}
	whole := slices.DeleteFunc(slices.Clone(scan.NestedRepos), func(dir change.Path) bool {
		info, err := tree.Lstat(dir.Join(".git"))
		if err == nil && info.Kind == change.KindDir {
			_, err = tree.Lstat(dir.Join(".git").Join("HEAD"))
		}
		return err != nil
	})
	return slices.DeleteFunc(scan.Changed, func(c shadow.Entry) bool {
		return c.Git && slices.ContainsFunc(whole, func(dir change.Path) bool { return c.Path != dir && c.Path.Under(dir) })
	}), nil
}

// pinEnds pins one changed path on both sides. The base is the real file as it is now where git would see it as what the
// shadow last saw; otherwise what the shadow last saw, and the path has moved.
func (g pinner) pinEnds(c shadow.Entry) (preflight.Ends, bool, error) {
	end := preflight.Ends{Path: c.Path, Base: c.Base}
	var err error
	if end.Proposed, err = preflight.Take(g.shadow, g.images, c.Path); err != nil {
		return end, false, err
	}
	// A folder where a file was is a deletion; what the folder holds is proposed by itself.
	if end.Proposed.Kind == change.KindDir {
		end.Proposed = change.Absent()
	}
	if !pinnable(end.Proposed) {
		return end, false, &UsageError{Problem: fmt.Sprintf("%q in the shadow is a %s, which cannot land", c.Path, end.Proposed.Kind)}
	}
	if foreign(c) || c.Git || c.LeftOut == shadow.TooLarge {
		return end, false, nil
	}
	found, err := g.tree.Pin(c.Path, nil)
	if err != nil {
		return end, false, err
	}
	// A folder in place of a file that others of this set are in is looked at through those.
	if found.Kind == change.KindDir && !c.Base.Exists() {
		found = change.Absent()
	}
	if c.BaseUnknown {
		end.Base = change.Absent()
	}
	switch {
	case found.SameForGit(end.Proposed):
		end.Base = found
		return end, true, nil
	case c.BaseUnknown || !found.SameForGit(c.Base):
		g.seen.moved[c.Path] = found
		return end, false, nil
	}
	if found.Exists() {
		if end.Base, err = preflight.Take(g.tree, g.images, c.Path); err != nil {
			return end, false, err
		}
	}
	if !end.Base.SameForGit(found) {
		g.seen.moved[c.Path] = end.Base
		end.Base = c.Base
	}
	return end, false, nil
}

func pinnable(p change.Pin) bool {
	return p.Kind == change.KindAbsent || p.Kind == change.KindFile || p.Kind == change.KindSymlink
}

// protectedBases are the files of protected names: what is proposed may repeat one of them under another name.
func (g *Gate) protectedBases(sh *shadow.Shadow, ends []preflight.Ends) map[change.Path]change.Pin {
	for _, e := range ends {
		if e.Proposed.Exists() {
			return sh.Bases(func(p change.Path) bool {
				_, protected := tiers.Protects(p, g.config.Policy.Protect)
				return protected
			})
		}
	}
	return nil
}

// copySources are the files that a new file may be a copy of: the protected ones, and those of the real tree with the size
// of a new file.
func (g *Gate) copySources(sh *shadow.Shadow, ends []preflight.Ends, protected map[change.Path]change.Pin) map[change.Path]change.Pin {
	sizes := map[int64]bool{}
	for _, e := range ends {
		if !e.Base.Exists() && e.Proposed.Kind == change.KindFile && e.Proposed.Size > 0 {
			sizes[e.Proposed.Size] = true
		}
	}
	if len(sizes) == 0 {
		return protected
	}
	sources := sh.Bases(func(p change.Path) bool {
		info, err := g.tree.Lstat(p)
		return err == nil && info.Kind == change.KindFile && sizes[info.Size]
	})
	maps.Copy(sources, protected)
	return sources
}

// copied notes which changes would give a path the content of a protected file.
func (s *observed) copied(protected map[change.Path]change.Pin) {
	byContent := map[string]change.Path{}
	for p, pin := range protected {
		if first, ok := byContent[pin.SHA256]; pin.Size > 0 && (!ok || p < first) {
			byContent[pin.SHA256] = p
		}
	}
	for _, c := range s.changes {
		if from, ok := byContent[c.Proposed.SHA256]; ok && from != c.Path {
			facts := s.facts[c.Path]
			facts.CopyOf = from
			s.facts[c.Path] = facts
		}
	}
}

// nameBlobs fills in the git object ids of both ends, by which a commit is recognised later.
func (g *Gate) nameBlobs(ctx context.Context, files []change.FileChange) error {
	bases, err := g.blobIDs(ctx, files, func(f change.FileChange) (change.Path, change.Pin) {
		if f.Op == change.OpRename {
			return f.OldPath, f.Base
		}
		return f.Path, f.Base
	})
	if err != nil {
		return err
	}
	proposed, err := g.blobIDs(ctx, files, func(f change.FileChange) (change.Path, change.Pin) { return f.Path, f.Proposed })
	if err != nil {
		return err
	}
	for i := range files {
		files[i].Base.OID, files[i].Proposed.OID = bases[i], proposed[i]
	}
	return nil
}

// blobIDs returns the object id of one end of each file, "" where there is none.
func (g *Gate) blobIDs(ctx context.Context, files []change.FileChange, end func(change.FileChange) (change.Path, change.Pin)) ([]string, error) {
	var in []repo.BlobInput
	for _, f := range files {
		// The base of a path that has moved may be stored nowhere.
		if p, pin := end(f); pin.Exists() && g.store.Has(pin.SHA256) {
			in = append(in, repo.BlobInput{Path: p, Pin: pin, Open: func() (io.ReadCloser, error) { return g.store.Open(pin.SHA256) }})
		}
	}
	ids, err := g.repo.BlobIDs(ctx, in)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(files))
	for i, f := range files {
		if p, pin := end(f); pin.Exists() {
			out[i] = ids[p]
		}
	}
	return out, nil
}

// gatherFacts fills in what policy wants to know about each changed path in the real tree.
func (g *Gate) gatherFacts(ctx context.Context, sh *shadow.Shadow, seen *observed) error {
	if len(seen.changes) == 0 {
		return nil
	}
	programs, err := g.repo.Programs(ctx)
	if err != nil {
		return err
	}
	included, err := g.included(ctx)
	if err != nil {
		return err
	}
	ignored := map[change.Path]bool{}
	for _, f := range included {
		ignored[f.Path] = true
	}
	recorded, err := g.repo.Recorded(ctx, replacedPaths(seen.changes))
	if err != nil {
		return err
	}
	after := afterLanding(seen.changes)
	for i, c := range seen.changes {
		facts := seen.facts[c.Path]
		facts.Ignored = facts.Ignored || ignored[c.Path]
		facts.Rollback = rollsBack(c, recorded[c.Path])
		facts.PreImageStored = !c.Base.Exists() || g.store.Has(c.Base.SHA256)
		g.treeFacts(&facts, c, programs, after)
		if err := g.linkFacts(&facts, c, after, seen); err != nil {
			return err
		}
		if facts.Recoded, err = g.recodes(c); err != nil {
			return err
		}
		if err := g.sinceSeen(&seen.changes[i]); err != nil {
			return err
		}
		seen.facts[c.Path] = facts
	}
	return nil
}

// recodes reports whether c saves a text in another encoding. The base of a path that has moved may be stored nowhere.
func (g *Gate) recodes(c change.FileChange) (bool, error) {
	if c.Binary || c.TooLarge || !g.store.Has(c.Base.SHA256) {
		return false, nil
	}
	return preflight.Recodes(g.store, c.Base, c.Proposed)
}

// replacedPaths are the paths where something is put in the place of something else.
func replacedPaths(files []change.FileChange) []change.Path {
	var list []change.Path
	for _, c := range files {
		if c.Op != change.OpRename && c.Base.Exists() && c.Proposed.Exists() {
			list = append(list, c.Path)
		}
	}
	return list
}

// rollsBack reports whether c puts back what git has recorded, as "git checkout" and "git reset --hard" in a shadow do, in
// the place of work that git has not.
func rollsBack(c change.FileChange, recorded []string) bool {
	return c.Proposed.OID != "" && slices.Contains(recorded, c.Proposed.OID) && !slices.Contains(recorded, c.Base.OID)
}

// treeFacts fills in what the names around a changed path make of it.
func (g *Gate) treeFacts(facts *tiers.FileFacts, c change.FileChange, programs []change.Path, after changedTree) {
	facts.GitProgram = programAt(programs, c)
	facts.BareRepository = g.looksBare(c, after)
	facts.ShadowsMakefile = g.shadowsMakefile(c, after)
	for _, own := range g.own {
		for _, p := range c.Paths() {
			facts.CorrexOwn = facts.CorrexOwn || p.Under(own) || own.Under(p)
		}
	}
}

// linkFacts looks at links of both kinds: hard links of the real file, a symlink on the way, and where a proposed symlink
// leads. A file on the way, where the shadow has a folder, makes the path one that has moved.
func (g *Gate) linkFacts(facts *tiers.FileFacts, c change.FileChange, after changedTree, seen *observed) error {
	for _, p := range c.Paths() {
		info, err := g.tree.Lstat(p)
		var parent *durable.ParentError
		switch {
		case asError(err, &parent) && after.removesAbove(p):
			// What this set takes away is no longer on the way when it lands.
		case asError(err, &parent) && (parent.Kind == change.KindSymlink || facts.Submodule || neverLands(p)):
			facts.UnderLink = true
		case asError(err, &parent):
			if _, known := seen.moved[p]; !known {
				seen.moved[p] = change.Pin{Kind: parent.Kind}
			}
		case err == nil:
			facts.HardLink = facts.HardLink || info.Kind == change.KindFile && info.Nlink > 1
		}
	}
	if c.Proposed.Kind != change.KindSymlink {
		return nil
	}
	target, err := newBlobs(g.store).small(c.Proposed.SHA256)
	if err != nil {
		return err
	}
	to, inside := tiers.ResolveLink(c.Path, target)
	facts.LinkOutside, facts.LinkTarget = !inside, to
	return nil
}

// neverLands reports whether p has a name that is refused whatever the tree holds.
func neverLands(p change.Path) bool {
	protection, ok := tiers.Protects(p, nil)
	return ok && protection.Level == tiers.Never
}

// programAt names the program of git's configuration that c would change, or "".
func programAt(programs []change.Path, c change.FileChange) string {
	for _, prog := range programs {
		for _, p := range c.Paths() {
			if p.Under(prog) || prog.Under(p) {
				return string(prog)
			}
		}
	}
	return ""
}

// sinceSeen measures an edit against the content the session's changes to that path started from, since a person last
// decided on it: ten edits that each keep most of a file are an overwrite together.
func (g *Gate) sinceSeen(c *change.FileChange) error {
	if c.Op != change.OpEdit {
		return nil
	}
	first, ok := g.state.FirstBase(g.worktree(), c.Path)
	if !ok || first.Kind != change.KindFile || first.SHA256 == c.Base.SHA256 {
		return nil
	}
	over, err := preflight.Overwrites(g.store, first, c.Proposed)
	if err == nil && over {
		c.Op = change.OpOverwrite
	}
	return err
}

func scanNotices(scan shadow.ScanResult) []string {
	var list []string
	for _, p := range scan.Specials {
		list = append(list, fmt.Sprintf("%q is no regular file or symlink and is left alone", p))
	}
	for _, p := range scan.NestedRepos {
		list = append(list, fmt.Sprintf("%q is a repository of its own and is left alone", p))
	}
	for _, p := range scan.TooDeep {
		list = append(list, fmt.Sprintf("%q is too long a path and is left alone", p))
	}
	if scan.Omitted > 0 {
		list = append(list, fmt.Sprintf("and %d more that cannot land", scan.Omitted))
	}
	for _, p := range scan.Reserved {
		list = append(list, fmt.Sprintf("%q has a name that is reserved for landing and is left alone", p))
	}
	return list
}
