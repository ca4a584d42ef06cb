package shadow

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// lister is one worker's share of a level.
type lister struct {
	*scan
	part
	// byName and used are kept from folder to folder: where a name is in its listing, and whether the manifest knows it.
	byName map[string]int
	used   []bool
}

// listing is a folder that was read.
type listing struct {
	folder
	dir   *durable.Dir
	names []durable.DirEntry
}

// folder compares one folder with the manifest.
func (l *lister) folder(f folder) error {
	dir, err := l.tree.Dir(f.path)
	if err != nil {
		return l.unopened(f, err)
	}
	defer dir.Close()
	names, err := dir.ReadDir()
	if err != nil {
		return l.unopened(f, err)
	}
	l.index(names)
	l.found.Looked += len(names)
	if f.path != "" && f.mode&inGit == 0 && l.nested(names) {
		f.mode |= inNested
		l.found.NestedRepos = append(l.found.NestedRepos, f.path)
	}
	at := listing{folder: f, dir: dir, names: names}
	if err := l.known(at); err != nil {
		return err
	}
	for i, n := range names {
		if !l.used[i] {
			l.unknown(f, n)
		}
	}
	return nil
}

func (l *lister) index(names []durable.DirEntry) {
	if l.byName == nil {
		l.byName = make(map[string]int, len(names))
	}
	clear(l.byName)
	for i, n := range names {
		l.byName[n.Name] = i
	}
	if cap(l.used) < len(names) {
		l.used = make([]bool, len(names))
	}
	l.used = l.used[:len(names)]
	clear(l.used)
}

// nested reports whether a folder with these names is another repository's.
func (l *lister) nested(names []durable.DirEntry) bool {
	for _, n := range names {
		if gitAlias(n.Name) {
			return true
		}
	}
	return false
}

// unopened deals with a folder that could not be listed. When it is no folder any more, what the manifest has below it is
// gone.
func (l *lister) unopened(f folder, err error) error {
	var kind *durable.KindError
	if f.path != "" && (errors.As(err, &kind) || errors.Is(err, fs.ErrNotExist)) {
		return l.gone(f.lo, f.hi)
	}
	return l.found.problem(f.path, err)
}

// gone adds a range of the manifest as absent.
func (l *lister) gone(lo, hi int) error {
	for i := lo; i < hi; i++ {
		if l.m.entries[i].kind == entryLeftOut {
			continue
		}
		if err := l.candidate(&l.part, i, change.KindAbsent); err != nil {
			return err
		}
	}
	return nil
}

// known goes through the manifest's entries of a folder. Those of one subfolder are neighbours, and are passed over
// together.
func (l *lister) known(at listing) error {
	skip := 0
	if at.path != "" {
		skip = len(at.path) + 1
	}
	for i := at.lo; i < at.hi; {
		p := l.m.entries[i].path
		name, _, deeper := strings.Cut(string(p[skip:]), "/")
		n, there := l.byName[name]
		if !deeper {
			found := durable.DirEntry{Name: name, Kind: change.KindAbsent}
			if there {
				found, l.used[n] = at.names[n], true
			}
			if err := l.leaf(at.dir, i, found); err != nil {
				return err
			}
			i++
			continue
		}
		sub := folder{path: p[:skip+len(name)], mode: at.mode, reason: at.reason}
		sub.lo, sub.hi = l.m.beneathIn(sub.path, i, at.hi)
		i = sub.hi
		if there && at.names[n].Kind == change.KindDir {
			l.used[n] = true
			l.next = append(l.next, sub)
			continue
		}
		if err := l.gone(sub.lo, sub.hi); err != nil {
			return err
		}
	}
	return nil
}

// leaf compares one entry of the manifest with what stands at its path, a name in dir.
func (l *lister) leaf(dir *durable.Dir, index int, n durable.DirEntry) error {
	e := &l.m.entries[index]
	switch {
	case n.Kind == change.KindAbsent && e.kind == entryLeftOut:
		return nil
	case n.Kind == change.KindAbsent:
		return l.candidate(&l.part, index, change.KindAbsent)
	case n.Kind == change.KindOther:
		l.found.Specials = append(l.found.Specials, e.path)
		return nil
	case n.Kind == change.KindDir:
		return l.leafFolder(index)
	case e.kind == entryLeftOut:
		l.found.take(e.path, n.Kind, inLeftOut, e.reason)
		return nil
	case e.kind == entrySubmodule:
		return l.candidate(&l.part, index, n.Kind)
	}
	info, err := dir.Lstat(n.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l.candidate(&l.part, index, change.KindAbsent)
	case err != nil:
		return l.found.problem(e.path, err)
	case info.Kind != change.KindFile && info.Kind != change.KindSymlink:
		// It became something else a moment ago.
		return l.leaf(dir, index, durable.DirEntry{Name: n.Name, Kind: info.Kind})
	}
	if e.flags&(hasStat|racy) == hasStat && statOf(info) == e.seen {
		return nil
	}
	if differs(e, info) {
		return l.candidate(&l.part, index, info.Kind)
	}
	l.check = append(l.check, index)
	return nil
}

// leafFolder deals with a folder where the manifest has an entry.
func (l *lister) leafFolder(index int) error {
	e := &l.m.entries[index]
	f := folder{path: e.path}
	f.lo, f.hi = l.m.beneath(e.path)
	switch e.kind {
	case entrySubmodule:
		f.mode = inSubmodule
	case entryLeftOut:
		f.mode, f.reason = inLeftOut, e.reason
	default:
		l.taken++
		l.asks = append(l.asks, unknown{path: e.path, kind: change.KindDir})
		return l.candidate(&l.part, index, change.KindAbsent)
	}
	l.next = append(l.next, f)
	return nil
}

// differs reports whether a look is enough to know that a file is not what the manifest says.
func differs(e *entry, info durable.Info) bool {
	if e.kind == entrySymlink {
		return info.Kind != change.KindSymlink
	}
	return info.Kind != change.KindFile || info.Size != e.size || (info.Perm^e.perm)&0o100 != 0
}

// unknown deals with a name that the manifest does not know.
func (l *lister) unknown(f folder, n durable.DirEntry) {
	p := f.path.Join(n.Name)
	git := gitAlias(n.Name)
	switch {
	case f.path == "" && n.Name == gitName:
		return // The shadow's own, in whatever state the agent left it.
	case reserved(n.Name):
		l.found.Reserved = append(l.found.Reserved, p)
		return
	case len(p) > maxPath:
		l.found.TooDeep = append(l.found.TooDeep, p)
		return
	case git:
		f.mode |= inGit
	case f.mode&inGit != 0:
	case f.mode&inNested != 0:
		return
	}
	l.taken++
	switch {
	case n.Kind == change.KindDir && f.mode&inGit != 0 && n.Name == "objects":
		l.found.Omitted++
	case n.Kind == change.KindDir && f.mode&unasked != 0:
		l.next = append(l.next, folder{path: p, mode: f.mode, reason: f.reason})
	case f.mode&unasked != 0:
		l.found.take(p, n.Kind, f.mode, f.reason)
	default:
		l.asks = append(l.asks, unknown{path: p, kind: n.Kind, mode: f.mode})
	}
}
