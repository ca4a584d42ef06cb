package shadow

import (
	"errors"
	"io/fs"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// start looks at the paths that were asked for and begins a level with the folders among them.
func (sc *scan) start() error {
	l := lister{scan: sc}
	for _, p := range sc.o.Paths {
		if err := l.named(p); err != nil {
			return err
		}
	}
	sc.merge(&l.part)
	return nil
}

// named looks at one path that was asked for.
func (l *lister) named(p change.Path) error {
	if reservedComponent(p) {
		l.found.Reserved = append(l.found.Reserved, p)
		return nil
	}
	if len(p) > maxPath {
		l.found.TooDeep = append(l.found.TooDeep, p)
		return nil
	}
	f := folder{path: p}
	f.lo, f.hi = l.m.beneath(p)
	dir, err := l.tree.Dir(p.Dir())
	var kind *durable.KindError
	switch {
	case errors.As(err, &kind) || errors.Is(err, fs.ErrNotExist):
		return l.namedAbsent(f)
	case err != nil:
		return l.found.problem(p, err)
	}
	defer dir.Close()
	info, err := dir.Lstat(p.Base())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l.namedAbsent(f)
	case err != nil:
		return l.found.problem(p, err)
	}
	l.found.Looked++
	if err := l.above(&f); err != nil {
		return err
	}
	return l.namedThere(f, dir, info.Kind)
}

// namedAbsent deals with a path that was asked for and is not there.
func (l *lister) namedAbsent(f folder) error {
	index, known := l.m.find(f.path)
	if !known && f.lo == f.hi {
		l.found.Unmatched = append(l.found.Unmatched, f.path)
		return nil
	}
	if known {
		if err := l.gone(index, index+1); err != nil {
			return err
		}
	}
	return l.gone(f.lo, f.hi)
}

// namedThere deals with a path that was asked for and is there, a name in dir.
func (l *lister) namedThere(f folder, dir *durable.Dir, kind change.Kind) error {
	if index, known := l.m.find(f.path); known {
		// leaf goes into the folders that may stand here, with what the manifest has below.
		if err := l.leaf(dir, index, durable.DirEntry{Name: f.path.Base(), Kind: kind}); err != nil || kind == change.KindDir {
			return err
		}
		return l.gone(f.lo, f.hi)
	}
	if kind == change.KindDir && (f.lo < f.hi || f.mode&unasked != 0) {
		l.next = append(l.next, f)
		return nil
	}
	if kind != change.KindDir {
		if err := l.gone(f.lo, f.hi); err != nil {
			return err
		}
	}
	switch {
	case f.mode&unasked != 0:
		l.found.take(f.path, kind, f.mode, f.reason)
	case f.mode&inNested == 0:
		l.asks = append(l.asks, unknown{path: f.path, kind: kind, named: true, mode: f.mode})
	}
	return nil
}

// above sets the mode that the folders above f.path, and its own name, give it.
func (l *lister) above(f *folder) error {
	if gitComponent(f.path) {
		f.mode |= inGit
		return nil
	}
	for _, up := range f.path.Ancestors() {
		if e := l.m.get(up); e != nil && e.kind == entrySubmodule {
			f.mode |= inSubmodule
		} else if e != nil && e.kind == entryLeftOut {
			f.mode, f.reason = f.mode|inLeftOut, e.reason
		}
		_, err := l.tree.Lstat(up.Join(gitName))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return l.found.problem(up, err)
		}
		f.mode |= inNested
		l.found.NestedRepos = append(l.found.NestedRepos, up)
	}
	return nil
}
