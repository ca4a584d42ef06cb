package apply

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
)

// follow finds the moves that are not where the journal says, because somebody renamed a folder after the crash, and goes
// on in the folder that holds their working names, or their new content, by now. A folder that was copied and removed
// counts as renamed. What is found nowhere stays as it is: its folder left the tree, or it was put back before.
func (w *work) follow() error {
	if err := w.findCopies(); err != nil {
		return err
	}
	var away []*move
	for _, m := range w.moves {
		here, err := w.isHere(m)
		if err != nil {
			return err
		}
		if !here {
			away = append(away, m)
		}
	}
	if len(away) == 0 {
		return nil
	}
	byName := map[string][]*move{}
	for _, m := range away {
		for _, name := range []string{m.staged, m.aside, m.path.Base()} {
			byName[name] = append(byName[name], m)
		}
	}
	found := map[*move]*sighting{}
	err := w.e.eachName(func(at change.Path, f folder, name string) error {
		for _, m := range byName[name] {
			if found[m] == nil {
				found[m] = &sighting{}
			}
			if err := found[m].look(m, at, f, name); err != nil {
				return err
			}
		}
		return nil
	})
	for m, s := range found {
		w.goOnAt(m, s)
	}
	return err
}

// findCopies has content tell what is of the moves whose folder is not the one that they were staged in, though it has its
// name: somebody copied it and put the copy in its place. It also tells in folders that the landing made, which nobody has a
// record of.
func (w *work) findCopies() error {
	made := map[change.Path]bool{}
	for _, p := range w.missing {
		made[p] = true
	}
	for _, m := range w.moves {
		if m.homeIno == 0 {
			continue
		}
		if made[m.dir] {
			if _, err := w.place(m.dir); err == nil {
				m.forgetInodes()
			}
			continue
		}
		home, err := w.place(m.home)
		if lost(err) {
			continue
		}
		if err != nil {
			return err
		}
		id, err := home.Self()
		if err != nil {
			return err
		}
		if id.Ino != 0 && id.Ino != m.homeIno {
			m.forgetInodes()
		}
	}
	return nil
}

// forgetInodes has content tell what is of m: a copy has other inodes.
func (m *move) forgetInodes() {
	m.result.ino = 0
	for i := range m.result.inner {
		m.result.inner[i].ino = 0
	}
}

// isHere reports whether m is where the journal says: a working name of it is, or its new content where that leaves no
// working name.
func (w *work) isHere(m *move) (bool, error) {
	home, err := w.place(m.home)
	if lost(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	dir, err := w.place(m.dir)
	if lost(err) {
		return false, nil // not made yet, or renamed
	}
	if err != nil {
		return false, err
	}
	for _, name := range []string{m.staged, m.aside} {
		if there, err := exists(home, name); there || err != nil {
			return there, err
		}
	}
	if m.kind() != put {
		return false, nil
	}
	return w.isOwn(dir, m.path.Base(), m)
}

// sighting is where something of a move was found.
type sighting struct {
	// home holds a working name, dir the new content under its own name; each counts where it is marked as found.
	home, dir           change.Path
	homeFound, dirFound bool
	// original says that the very file that was staged is in home, and not a copy.
	original bool
}

// look takes note of name in the folder at, which is a working name of m or the last component of its path.
func (s *sighting) look(m *move, at change.Path, f folder, name string) error {
	isWorking := name != m.path.Base()
	own, err := m.isStagedFile(f, name)
	if err == nil && isWorking && !own {
		own, err = m.isStagedFile(f, m.path.Base())
	}
	switch {
	case err != nil:
		return err
	case isWorking && (!s.homeFound || own && !s.original):
		s.home, s.homeFound, s.original = at, true, own
	case !isWorking && own && m.kind() == put:
		s.dir, s.dirFound = at, true
	}
	return nil
}

// isStagedFile reports whether name is the file that the journal has on record as staged.
func (m *move) isStagedFile(f folder, name string) (bool, error) {
	info, err := f.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Ino != 0 && info.Ino == m.result.ino, err
}

// goOnAt makes the folders of a sighting those in which m is put back or finished.
func (w *work) goOnAt(m *move, s *sighting) {
	together := m.dir == m.home
	if s.homeFound {
		m.home = s.home
		if together {
			m.dir = s.home
		}
		if !s.original {
			m.forgetInodes()
		}
	}
	if s.dirFound {
		m.dir = s.dir
		if _, err := w.place(m.home); lost(err) {
			m.home = s.dir
		}
	}
}

// eachName calls visit with every name in the tree but those in git's own folders. Folders that vanish meanwhile, or that
// may not be read, are left out. Symlinks are not followed.
func (e *Engine) eachName(visit func(at change.Path, f folder, name string) error) error {
	stack := []change.Path{""}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		below, err := e.namesIn(at, visit)
		if err != nil && !lost(err) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		stack = append(stack, below...)
	}
	return nil
}

// namesIn calls visit with the names in one folder, in order, and returns the folders among them.
func (e *Engine) namesIn(at change.Path, visit func(at change.Path, f folder, name string) error) (below []change.Path, err error) {
	f, err := e.tree.Folder(at)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	list, err := f.ReadDir()
	if err != nil {
		return nil, err
	}
	for _, entry := range list {
		isFolder := entry.Kind == change.KindDir
		if isFolder && entry.Name == ".git" {
			continue
		}
		if err := visit(at, f, entry.Name); err != nil {
			return nil, err
		}
		if isFolder && !strings.HasPrefix(entry.Name, reservedPrefix) {
			below = append(below, at.Join(entry.Name))
		}
	}
	slices.Sort(below)
	return below, nil
}
