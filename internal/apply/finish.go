package apply

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// finish is step 9, and all that a recovery does after the commit point: what came out is removed, folders that the
// landing empties go, the journal is cleared. It may be repeated any number of times.
func (w *work) finish() error {
	for _, m := range w.moves {
		if err := w.finishOne(m); err != nil {
			return err
		}
	}
	if err := w.removeFolders(w.l.RemoveFolders); err != nil {
		return err
	}
	changed := w.touched()
	for _, p := range w.l.RemoveFolders {
		changed = append(changed, p.Dir())
	}
	slices.Sort(changed)
	if err := w.flush(slices.Compact(changed)); err != nil {
		return err
	}
	return w.e.shelf.Clear()
}

func (w *work) finishOne(m *move) error {
	home, err := w.place(m.home)
	if lost(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if m.out != nil {
		return w.dropOut(m, home)
	}
	if m.kind() != put {
		if err := w.drop(m, home, m.aside, m.base); err != nil {
			return err
		}
	}
	if !m.result.exists() {
		return nil
	}
	own, err := w.isOwn(home, m.staged, m)
	switch {
	case err != nil:
		return err
	case own:
		return w.finishLinked(m, home)
	case m.kind() == swap:
		return w.drop(m, home, m.staged, m.base)
	}
	return nil
}

// finishLinked deals with new content that still has its staged name past the commit point: a crash between the two halves
// of a move without a rename of its own. Its name in the tree must be there too, or the closing event says something that
// never happened.
func (w *work) finishLinked(m *move, home folder) error {
	parent, err := w.place(m.dir)
	if err != nil && !gone(err) {
		return err
	}
	if err == nil {
		both, err := sameEntry(home, m.staged, parent, m.path.Base())
		if err != nil {
			return err
		}
		if both {
			return home.Unlink(m.staged)
		}
	}
	return w.e.journalError("the ledger says that the landing is complete, but " + string(m.path) + " was not switched")
}

// sameEntry reports whether two names are one file. Where the system tells no inodes, equal files count as one: that one of
// the names goes then loses nothing.
func sameEntry(a folder, name string, b folder, other string) (bool, error) {
	x, err := a.Lstat(name)
	if err == nil {
		var y durable.Info
		if y, err = b.Lstat(other); err == nil && x.Ino != 0 && y.Ino != 0 {
			return x.Ino == y.Ino && x.Dev == y.Dev, nil
		}
	}
	if err == nil {
		return equalEntry(a, name, b, other)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return false, err
}

func equalEntry(a folder, name string, b folder, other string) (bool, error) {
	x, err := a.Pin(name)
	if err != nil {
		return false, err
	}
	y, err := b.Pin(other)
	return x.SHA256 != "" && x.Equal(y), err
}

// dropOut removes what came out in this process. It was compared in full then; now it is enough that nothing about it has
// changed since. Where nobody could say who had it open, it is compared in full once more.
func (w *work) dropOut(m *move, home folder) error {
	s := m.out.seen
	if s.info.Kind != change.KindFile || s.writers != nobodyWrites {
		return w.drop(m, home, m.out.name, m.base)
	}
	info, err := home.Lstat(m.out.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	writing, err := home.Writers(m.out.name)
	if err != nil && !gone(err) {
		return err
	}
	if info != s.info || writing != nobodyWrites {
		return w.drop(m, home, m.out.name, m.base)
	}
	return w.remove(m, home, m.out.name, m.base)
}

// drop removes what stands at a working name if it is want, whose bytes the store holds, and keeps it visibly if it is
// anything else. Nothing there is no error.
func (w *work) drop(m *move, home folder, name string, want content) error {
	want.ino = 0
	s, err := examine(home, name, m.path, want)
	if err != nil {
		return err
	}
	switch {
	case !s.pin.Exists():
		return nil
	case !s.isRestOf(want):
		return w.keep(m, home, name)
	}
	return w.remove(m, home, name, want)
}

// remove removes what was compared with c a moment ago: the names that it was found to hold, one by one, then the folders
// they leave empty. What appears in a folder meanwhile makes it stay, visibly.
func (w *work) remove(m *move, home folder, name string, c content) error {
	if c.pin.Kind != change.KindDir {
		err := home.Unlink(name)
		if errors.Is(err, fs.ErrPermission) {
			return w.keep(m, home, name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := removeInside(home, name, c.inner); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if _, err := home.Rmdir(name); err != nil {
		return err
	}
	if _, err := home.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return w.keep(m, home, name)
}

// removeOwn removes content that this landing itself staged, whole or in part.
func (w *work) removeOwn(m *move, home folder, name string, c content) error {
	_, err := home.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.remove(m, home, name, c)
}

// removeInside unlinks the inner files of the folder name and removes the folders that this leaves empty.
func removeInside(f folder, name string, list []inner) error {
	d, err := f.OpenDir(name)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	files, below := split(list)
	for file := range files {
		if uerr := d.Unlink(file); uerr != nil && !errors.Is(uerr, fs.ErrNotExist) {
			err = errors.Join(err, uerr)
		}
	}
	for sub, inside := range below {
		err = errors.Join(err, removeInside(d, sub, inside))
		_, rerr := d.Rmdir(sub)
		err = errors.Join(err, rerr)
	}
	return errors.Join(err, d.Close())
}

// removeFolders removes those of the folders that are empty, innermost first. A folder that cannot be removed stays: it
// holds nothing of the landing's.
func (w *work) removeFolders(list []change.Path) error {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	for _, p := range sorted {
		up, err := w.place(p.Dir())
		if lost(err) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = up.Rmdir(p.Base())
		if err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EBUSY) {
			return err
		}
	}
	return nil
}
