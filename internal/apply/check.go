package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// survey is what step 1 finds out about the tree around the paths.
type survey struct {
	w *work
	// ours holds the folders that belong to this repository and may be written into.
	ours map[change.Path]bool
	// taken holds the inodes of the files that takes will move away.
	taken map[uint64]change.Path
	// asked holds the folders that are missing, in order.
	missing map[change.Path]bool
	stale   []StalePath
}

// check is step 1: it compares every path with its base and finds each move's home. It writes nothing. A path that must
// not be written is an *UnsafeError; all that differ are in one *StaleError.
func (w *work) check(ctx context.Context) error {
	s := &survey{
		w: w, ours: map[change.Path]bool{}, taken: map[uint64]change.Path{}, missing: map[change.Path]bool{},
	}
	top, err := w.place("")
	if err != nil {
		return err
	}
	info, err := top.Self()
	if err != nil {
		return err
	}
	w.dev = info.Dev
	for _, m := range w.moves {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.move(m); err != nil {
			return err
		}
	}
	if len(s.stale) > 0 {
		return &StaleError{Paths: sortStale(s.stale)}
	}
	return nil
}

func (s *survey) move(m *move) error {
	home, missing, err := s.nearest(m.path.Dir())
	var stale *StaleError
	switch {
	case errors.As(err, &stale) && m.base.exists():
		s.stale = append(s.stale, m.base.differs(m.path, change.Absent())...)
		return nil
	case errors.As(err, &stale):
		s.stale = append(s.stale, stale.Paths...)
		return nil
	case err != nil:
		return err
	case len(missing) > 0 && m.base.exists():
		s.stale = append(s.stale, m.base.differs(m.path, change.Absent())...)
		return nil
	}
	if err := s.belongs(home); err != nil {
		return err
	}
	m.home = home
	for _, p := range missing {
		if !s.missing[p] {
			s.missing[p] = true
			s.w.missing = append(s.w.missing, p)
		}
	}
	if len(missing) > 0 {
		return nil
	}
	return s.compare(m)
}

// nearest returns the folder dir, or the nearest one above it that exists and the folders missing in between, outermost
// first. A symlink in the way is an *UnsafeError, anything else a *StaleError.
func (s *survey) nearest(dir change.Path) (home change.Path, missing []change.Path, err error) {
	for at := dir; ; at = at.Dir() {
		_, err := s.w.place(at)
		if err == nil {
			return at, missing, nil
		}
		var parent *durable.ParentError
		var kind *durable.KindError
		switch {
		case errors.As(err, &parent):
			return "", nil, inTheWay(dir, parent.Parent, parent.Kind)
		case errors.As(err, &kind):
			return "", nil, inTheWay(dir, at, kind.Found)
		case !errors.Is(err, fs.ErrNotExist) || at == "":
			return "", nil, err
		}
		missing = append([]change.Path{at}, missing...)
	}
}

func inTheWay(dir, at change.Path, kind change.Kind) error {
	if kind == change.KindSymlink {
		return &UnsafeError{Path: dir, Why: fmt.Sprintf("lies behind the symlink %q", at)}
	}
	return &StaleError{Paths: []StalePath{{
		Path: at, Expected: change.Pin{Kind: change.KindDir}, Found: change.Pin{Kind: kind}, Why: "",
	}}}
}

// belongs makes sure that the folder dir can be written into, and that neither it nor a folder above it is the top of
// another repository.
func (s *survey) belongs(dir change.Path) error {
	if s.ours[dir] {
		return nil
	}
	f, err := s.w.place(dir)
	if err == nil {
		err = f.Writable()
	}
	if err != nil {
		return err
	}
	for at := dir; at != ""; at = at.Dir() {
		f, err := s.w.place(at)
		if err != nil {
			return err
		}
		if _, err := f.Lstat(".git"); err == nil {
			return &UnsafeError{Path: dir, Why: fmt.Sprintf("lies in another repository, %q", at)}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if s.ours[at] {
			break
		}
	}
	s.ours[dir] = true
	return nil
}

// compare looks at what stands at the path of m, whose folder exists.
func (s *survey) compare(m *move) error {
	home, err := s.w.place(m.home)
	if err != nil {
		return err
	}
	found, err := examine(home, m.path.Base(), m.path, m.base)
	if err != nil {
		return err
	}
	if m.kind() == put && !found.matches() && s.respelled(m.path, found.info) {
		return nil
	}
	s.stale = append(s.stale, found.bad...)
	if m.kind() == take && found.matches() && found.info.Ino != 0 {
		s.taken[found.info.Ino] = m.path
	}
	if m.base.pin.Kind == change.KindDir && found.matches() {
		return writableInside(home, m.path.Base(), m.base.inner)
	}
	return nil
}

// respelled reports whether what stands at p is a file that a take of the same landing moves away: a disk that folds
// letter case finds one file by both names. Two hard links are told apart by their names.
func (s *survey) respelled(p change.Path, info durable.Info) bool {
	old, ok := s.taken[info.Ino]
	return ok && info.Ino != 0 && old != p && (info.Nlink <= 1 || strings.EqualFold(string(old), string(p)))
}

// writableInside makes sure, before a folder is switched for something else, that its names can be removed afterwards.
func writableInside(f folder, name string, list []inner) error {
	d, err := f.OpenDir(name)
	if err != nil {
		return err
	}
	err = d.Writable()
	_, below := split(list)
	for sub, inside := range below {
		if err == nil {
			err = writableInside(d, sub, inside)
		}
	}
	return errors.Join(err, d.Close())
}

// noteFolders puts down what the folders are like that go with the landing.
func (w *work) noteFolders() error {
	list := slices.Clone(w.l.RemoveFolders)
	for _, m := range w.moves {
		if m.base.pin.Kind != change.KindDir {
			continue
		}
		list = append(list, m.path)
		for _, rel := range m.base.folders() {
			list = append(list, m.path+"/"+rel)
		}
	}
	for _, p := range list {
		f, err := w.e.tree.Folder(p)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		info, err := f.Self()
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		w.removed = append(w.removed, change.Folder{Path: p, Perm: info.Perm})
	}
	return nil
}

// checkImages makes sure that the store holds what the landing writes, and reads what it would take away: once that is
// removed from the tree, the store's copy is the only one.
func (w *work) checkImages(ctx context.Context) error {
	done := map[string]bool{}
	for _, s := range w.l.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.Base.Exists() && !done[s.Base.SHA256] {
			done[s.Base.SHA256] = true
			if err := w.readImage(s.Base); err != nil {
				return fmt.Errorf("pre-image of %q: %w", s.Path, err)
			}
		}
		if s.Result.Exists() && !done[s.Result.SHA256] {
			r, err := w.e.images.Open(s.Result.SHA256)
			if err != nil {
				return fmt.Errorf("image of %q: %w", s.Path, err)
			}
			if err := r.Close(); err != nil {
				return fmt.Errorf("image of %q: %w", s.Path, err)
			}
		}
	}
	return nil
}

func (w *work) readImage(pin change.Pin) error {
	r, err := w.e.images.Open(pin.SHA256)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, r)
	if err == nil && n != pin.Size {
		err = fmt.Errorf("expected %d bytes, found %d", pin.Size, n)
	}
	return errors.Join(err, r.Close())
}
