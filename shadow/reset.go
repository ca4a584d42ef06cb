package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// ResetOptions narrows a reset.
type ResetOptions struct {
	// Paths are files and folders; none means everything.
	Paths []change.Path
	// Ignored says what git ignores; such files of the agent's stay, unless they are in the way or named in Paths.
	Ignored IgnoreFunc
	// MaxUntracked, Progress, Seq and Workers are as in Options. Seq counts only when everything is reset.
	MaxUntracked int64
	Progress     func(done, total int)
	Seq          uint64
	Workers      int
}

func (o *ResetOptions) within(p change.Path) bool {
	return len(o.Paths) == 0 || slices.ContainsFunc(o.Paths, p.Under)
}

// Reset brings the tree back to what the real tree shows now, of which only src.Root and src.Files are used, and makes
// that the new base. What the agent did to the paths concerned is gone; what git ignores, and other repositories the agent
// made, stay unless they are named. Files that are the same on both sides are not touched. After success the manifest is
// on the disk. After a failure some paths may be reset while their bases are the old ones; Reset again.
//
// Steps, under the manifest's lock: scan; find what is the same on both sides; remove the rest from the tree; copy;
// write the manifest.
func (s *Shadow) Reset(ctx context.Context, src Source, o ResetOptions) (Report, error) {
	report := Report{}
	err := s.reset(ctx, src, o, &report)
	if err != nil {
		return Report{}, fmt.Errorf("reset shadow: %w", err)
	}
	return report, nil
}

func (s *Shadow) reset(ctx context.Context, src Source, o ResetOptions, report *Report) (err error) {
	tree, err := s.Root()
	if err != nil {
		return err
	}
	if err := checkTree(tree.Name(), src.Root); err != nil {
		return err
	}
	real, err := durable.OpenRoot(src.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, real.Close()) }()
	unlock, err := durable.Lock(ctx, filepath.Join(s.state, lockName), s.holder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := s.Refresh(); err != nil {
		return err
	}
	found, err := s.Scan(ctx, ScanOptions{Paths: o.Paths, Ignored: o.Ignored, Workers: o.Workers, MaxNew: math.MaxInt})
	if err != nil {
		return err
	}
	r := resetting{s: s, o: o, tree: tree, real: real, found: found}
	return s.updateLocked(func(m *manifest) (*manifest, error) {
		r.m = m
		return r.run(ctx, src, report)
	})
}

// resetting is the work of one Reset.
type resetting struct {
	s          *Shadow
	o          ResetOptions
	tree, real *durable.Root
	found      ScanResult
	m          *manifest

	// want is what the real tree shows of the paths concerned.
	want map[change.Path]SourceFile
	// dirty are paths of the tree that are known to differ from the manifest.
	dirty map[change.Path]bool
	// kept are the entries that are the same on both sides.
	kept map[change.Path]bool
}

func (r *resetting) run(ctx context.Context, src Source, report *Report) (*manifest, error) {
	r.want = map[change.Path]SourceFile{}
	for _, f := range src.Files {
		if r.o.within(f.Path) && !reservedComponent(f.Path) {
			r.want[f.Path] = f
		}
	}
	doomed := r.doomed()
	if err := r.compare(ctx); err != nil {
		return nil, err
	}
	if err := r.remove(doomed); err != nil {
		return nil, err
	}
	files := make([]SourceFile, 0, len(r.want))
	for p, f := range r.want {
		if r.kept[p] {
			continue
		}
		if err := r.clear(f); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	now, err := r.s.clock()
	if err != nil {
		return nil, err
	}
	c := copier{
		real: r.real, tree: r.tree, start: now, maxUntracked: r.o.MaxUntracked,
		workers: workersOr(r.o.Workers), progress: r.o.Progress,
	}
	if r.m.head.Backend == BackendClone {
		c.clone = r.tree.CloneFile
	}
	sum, err := c.all(ctx, files)
	if err != nil {
		return nil, err
	}
	*report = Report{Files: sum.files, Bytes: sum.bytes, Backend: r.m.head.Backend, LeftOut: sum.leftOut}
	return r.manifest(sum)
}

// doomed returns what is to be removed from the tree, and notes what in it is dirty.
func (r *resetting) doomed() []change.Path {
	var doomed []change.Path
	r.dirty = map[change.Path]bool{}
	drop := func(p change.Path) {
		r.dirty[p] = true
		if _, wanted := r.want[p]; !wanted {
			doomed = append(doomed, p)
		}
	}
	foreign := r.foreign()
	for _, e := range r.found.Changed {
		inForeign := slices.ContainsFunc(foreign, e.Path.Under)
		switch {
		case e.Git && inForeign:
		case e.Git:
			drop(gitTop(e.Path))
		default:
			drop(e.Path)
		}
	}
	for _, p := range r.found.Specials {
		drop(p)
	}
	for _, p := range r.found.Unreadable {
		r.taint(p.Path)
	}
	for _, p := range r.found.NestedRepos {
		if slices.Contains(r.o.Paths, p) {
			// Asked for by name: the whole folder is made anew.
			doomed = append(doomed, p)
			r.taint(p)
		}
	}
	for i := range r.m.entries {
		e := &r.m.entries[i]
		if _, wanted := r.want[e.path]; !wanted && e.kind != entryLeftOut && r.o.within(e.path) {
			doomed = append(doomed, e.path)
		}
	}
	slices.Sort(doomed)
	return slices.Compact(doomed)
}

// taint marks everything wanted at p and below it as dirty.
func (r *resetting) taint(p change.Path) {
	for w := range r.want {
		if w.Under(p) {
			r.dirty[w] = true
		}
	}
}

// foreign returns the repositories of the agent's that were not named.
func (r *resetting) foreign() []change.Path {
	return slices.DeleteFunc(slices.Clone(r.found.NestedRepos), func(p change.Path) bool {
		return slices.Contains(r.o.Paths, p)
	})
}

// gitTop returns p up to its first component that is a spelling of ".git".
func gitTop(p change.Path) change.Path {
	for _, up := range p.Ancestors() {
		if gitAlias(up.Base()) {
			return up
		}
	}
	return p
}

// compare finds the wanted paths that are the same on both sides.
func (r *resetting) compare(ctx context.Context) error {
	var same []change.Path
	for p, f := range r.want {
		e := r.m.get(p)
		if e != nil && !r.dirty[p] && !f.Nested && !f.Submodule && e.kind != entryLeftOut && e.kind != entrySubmodule {
			same = append(same, p)
		}
	}
	equal := make([]bool, len(same))
	err := share(ctx, min(workersOr(r.o.Workers), len(same)), len(same), func(_, i int) error {
		e := r.m.get(same[i])
		if e.flags&lazy != 0 {
			info, err := r.real.Lstat(e.path)
			equal[i] = err == nil && statOf(info) == *e.origin
			return nil
		}
		pin, err := r.real.Pin(e.path, nil)
		// What cannot be read is copied again, which says why it cannot.
		equal[i] = err == nil && pin.Equal(e.pin())
		return nil
	})
	r.kept = map[change.Path]bool{}
	for i, p := range same {
		if equal[i] {
			r.kept[p] = true
		}
	}
	return err
}

// remove removes paths from the tree, and the folders that become empty by it.
func (r *resetting) remove(doomed []change.Path) error {
	for _, p := range doomed {
		if p == gitName {
			continue
		}
		if err := removeTree(r.tree, p); err != nil {
			return err
		}
		for up := p.Dir(); up != ""; up = up.Dir() {
			if e := r.m.get(up); e != nil && e.kind == entrySubmodule {
				break
			}
			if !removeEmpty(r.tree, up) {
				break
			}
		}
	}
	return nil
}

// clear makes room for f: whatever stands at its path goes, and what is no folder above it. Git lists a tracked file also
// where the real tree holds nothing, a folder in its place, or a file above it: then only what stands at the path goes, and
// a folder stays, whose files are listed by themselves.
func (r *resetting) clear(f SourceFile) error {
	switch now, err := r.real.Lstat(f.Path); {
	case nothingThere(err):
		return removeTree(r.tree, f.Path)
	case err == nil && now.Kind == change.KindDir && !f.Submodule && !f.Nested:
		if info, err := r.tree.Lstat(f.Path); err == nil && info.Kind == change.KindDir {
			return nil
		}
		return removeTree(r.tree, f.Path)
	}
	for _, up := range f.Path.Ancestors() {
		info, err := r.tree.Lstat(up)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Kind != change.KindDir {
			return r.tree.Remove(up)
		}
	}
	info, err := r.tree.Lstat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case (f.Submodule || f.Nested) && info.Kind == change.KindDir:
		return nil
	}
	return removeTree(r.tree, f.Path)
}

func (r *resetting) manifest(sum copied) (*manifest, error) {
	now, err := r.s.clock()
	if err != nil {
		return nil, err
	}
	settleAll(sum.entries, now)
	drop := map[change.Path]bool{}
	for i := range r.m.entries {
		if p := r.m.entries[i].path; r.o.within(p) && !r.kept[p] {
			drop[p] = true
		}
	}
	next := r.m.with(append(sum.entries, leftOutEntries(sum.leftOut)...), drop)
	if len(r.o.Paths) == 0 {
		next.head.Seq = max(next.head.Seq, r.o.Seq)
	}
	return next, nil
}

// nothingThere reports whether err says that nothing stands at a path, not even the folder that would hold it.
func nothingThere(err error) bool {
	var above *durable.ParentError
	var kind *durable.KindError
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &above) || errors.As(err, &kind)
}

// removeTree removes what stands at p, a folder with all it holds. Symlinks are removed and never followed. Missing is no
// error.
func removeTree(tree *durable.Root, p change.Path) error {
	dir, err := tree.Dir(p.Dir())
	if nothingThere(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return removeIn(dir, p.Base())
}

func removeIn(dir *durable.Dir, name string) error {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Kind != change.KindDir {
		return dir.Unlink(name)
	}
	sub, err := dir.OpenDir(name)
	if err != nil {
		return err
	}
	names, err := sub.ReadDir()
	for _, n := range names {
		if err == nil {
			err = removeIn(sub, n.Name)
		}
	}
	if err = errors.Join(err, sub.Close()); err != nil {
		return err
	}
	_, err = dir.Rmdir(name)
	return err
}

// removeEmpty removes the folder p if it is empty, and reports whether it did.
func removeEmpty(tree *durable.Root, p change.Path) bool {
	dir, err := tree.Dir(p.Dir())
	if err != nil {
		return false
	}
	defer dir.Close()
	removed, err := dir.Rmdir(p.Base())
	return err == nil && removed
}
