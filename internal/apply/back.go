package apply

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// rounds bounds the exchanges with somebody who keeps saving. Each round needs a save of theirs in the instant between two
// of ours.
const rounds = 1000

// goBack takes back whatever was done before the commit point, in reverse, and clears the journal. It serves a landing that
// failed and a recovery alike, and judges every name by what the disk holds. It may be repeated.
func (w *work) goBack() error {
	if err := w.follow(); err != nil {
		return err
	}
	if !w.ready {
		if err := w.unstage(); err != nil {
			return err
		}
	} else {
		if err := w.retake(); err != nil {
			return err
		}
		for i := len(w.moves) - 1; i >= 0; i-- {
			if err := w.back(w.moves[i]); err != nil {
				return fmt.Errorf("put back %q: %w", w.moves[i].path, err)
			}
		}
	}
	return w.removeFolders(w.made)
}

// back puts one name back. Whether it was switched is told by the inode at the staged name: new content that is still there
// was not switched in.
func (w *work) back(m *move) error {
	home, err := w.place(m.home)
	if lost(err) {
		// The folder was removed with everything in it.
		if m.base.exists() {
			w.left = append(w.left, m.steps...)
		}
		return nil
	}
	if err != nil {
		return err
	}
	// What an earlier attempt was bringing from the store may be cut short.
	if err := w.removeBeginning(m, home, m.fresh, m.base); err != nil {
		return err
	}
	switch m.kind() {
	case put:
		err = w.backPut(m, home)
	case take:
		err = w.backTake(m, home)
	default:
		err = w.backSwap(m, home)
	}
	return errors.Join(err, w.leave(m))
}

// leave records the paths of m if its name does not hold the base: somebody else changed it, and that stands.
func (w *work) leave(m *move) error {
	f, err := w.place(m.path.Dir())
	if lost(err) {
		if m.base.exists() {
			w.left = append(w.left, m.steps...)
		}
		return nil
	}
	if err != nil {
		return err
	}
	s, err := examine(f, m.path.Base(), m.path, m.base)
	for _, bad := range s.bad {
		// The base that somebody has open for writing is the base.
		if bad.Why != whyWriting {
			w.left = append(w.left, m.steps...)
			break
		}
	}
	return err
}

// isOwn reports whether the new content of m stands at name. Where the system tells no inodes it is the content that
// tells.
func (w *work) isOwn(f folder, name string, m *move) (bool, error) {
	info, err := f.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.Ino != 0 && m.result.ino != 0 {
		return info.Ino == m.result.ino, nil
	}
	s, err := examine(f, name, m.path, m.result)
	return s.matches(), err
}

func exists(f folder, name string) (bool, error) {
	_, err := f.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// backTake moves what was taken back to its name. If that is taken again, what stands there stays.
func (w *work) backTake(m *move, home folder) error {
	there, err := exists(home, m.aside)
	if err != nil {
		return err
	}
	if !there {
		return nil
	}
	return w.returnAside(m, home, home)
}

// returnAside moves what waits at the aside name back to the path of m in f.
func (w *work) returnAside(m *move, home, f folder) error {
	name := m.path.Base()
	err := home.MoveNew(m.aside, f, name)
	if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A move without a rename of its own, cut in half: the two names are one file.
	both, err := sameEntry(home, m.aside, f, name)
	if err != nil {
		return err
	}
	if both {
		return home.Unlink(m.aside)
	}
	return w.drop(m, home, m.aside, m.base)
}

// backPut takes new content out of the tree again. If somebody saved over it, theirs stays.
func (w *work) backPut(m *move, home folder) error {
	name := m.path.Base()
	parent, err := w.place(m.dir)
	if lost(err) {
		return w.drop(m, home, m.staged, m.result)
	}
	if err != nil {
		return err
	}
	unswitched, err := w.unswitched(m, home, parent)
	if err == nil && unswitched && m.result.ino == 0 {
		unswitched, err = w.isAlone(m, home, parent)
	}
	if err != nil {
		return err
	}
	if unswitched {
		return w.drop(m, home, m.staged, m.result)
	}
	if err := w.clearStaged(m, home, parent); err != nil {
		return err
	}
	there, err := exists(home, m.aside)
	if err != nil {
		return err
	}
	if there {
		both, err := sameEntry(home, m.aside, parent, name)
		if err != nil {
			return err
		}
		if !both {
			// Taken out by an earlier attempt at going back.
			return w.judgeAside(m, home, parent)
		}
		// An earlier attempt was cut in half: the two names are one file.
		if err := home.Unlink(m.aside); err != nil {
			return err
		}
	}
	own, err := w.isOwn(parent, name, m)
	if err != nil {
		return err
	}
	if !own {
		return nil
	}
	err = parent.MoveAway(name, home, m.aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.judgeAside(m, home, parent)
}

// judgeAside removes new content that was taken out of the tree, or puts it back if somebody wrote to it.
func (w *work) judgeAside(m *move, home, parent folder) error {
	s, err := examine(home, m.aside, m.path, m.result)
	if err != nil {
		return err
	}
	if s.matches() {
		return w.remove(m, home, m.aside, m.result)
	}
	return w.returnAside(m, home, parent)
}

// clearStaged takes away what stands at the staged name of m though its content is in the tree: the other name of one file,
// or what somebody wrote, which is kept.
func (w *work) clearStaged(m *move, home, parent folder) error {
	both, err := sameEntry(home, m.staged, parent, m.path.Base())
	if err != nil {
		return err
	}
	if both {
		return home.Unlink(m.staged)
	}
	return w.drop(m, home, m.staged, m.result)
}

// unswitched reports whether new content is at its staged name and nowhere else: the name in the tree was not switched. If
// that name is the same file, a move without a rename of its own was cut in half: then the staged name goes and the name
// counts as switched.
func (w *work) unswitched(m *move, home, f folder) (bool, error) {
	own, err := w.isOwn(home, m.staged, m)
	if err != nil || !own {
		return false, err
	}
	both, err := sameEntry(home, m.staged, f, m.path.Base())
	if err != nil {
		return false, err
	}
	if both {
		return false, home.Unlink(m.staged)
	}
	return true, nil
}

// backSwap puts the old content back in the place of the new.
func (w *work) backSwap(m *move, home folder) error {
	aside, err := exists(home, m.aside)
	if err != nil {
		return err
	}
	unswitched, err := w.unswitched(m, home, home)
	if err != nil {
		return err
	}
	if aside {
		return w.backSlowly(m, home, unswitched)
	}
	if unswitched {
		return w.drop(m, home, m.staged, m.result)
	}
	staged, err := exists(home, m.staged)
	if err != nil {
		return err
	}
	if !staged {
		own, err := w.isOwn(home, m.path.Base(), m)
		if err != nil {
			return err
		}
		if !own || m.base.pin.Kind == change.KindDir {
			return nil
		}
		// Somebody removed the old content from its working name. The store still has it.
		if err := w.bring(m, home); err != nil {
			return err
		}
		if err := home.MoveNew(m.fresh, home, m.aside); err != nil {
			return err
		}
		return w.backSlowly(m, home, false)
	}
	return w.exchangeBack(m, home)
}

// backSlowly undoes switchSlowly; the old content is at the aside name. The new content leaves the tree for its staged
// name, and that name last: a staged name and a name in the tree that are both missing mean that somebody else removed the
// latter after it was switched, and that stands.
func (w *work) backSlowly(m *move, home folder, unswitched bool) error {
	if unswitched && m.result.ino == 0 {
		var err error
		if unswitched, err = w.isAlone(m, home, home); err != nil {
			return err
		}
	}
	if !unswitched {
		out, err := w.takeOutSlowly(m, home)
		if err != nil {
			return err
		}
		if !out {
			return w.drop(m, home, m.aside, m.base)
		}
	}
	if err := w.returnAside(m, home, home); err != nil {
		return err
	}
	return w.drop(m, home, m.staged, m.result)
}

// isAlone reports whether nothing equal to the new content at its staged name stands in f. In the copy of a folder the two
// names of one file, which a move cut in half has, are two files: the staged one goes.
func (w *work) isAlone(m *move, home, f folder) (bool, error) {
	both, err := equalEntry(home, m.staged, f, m.path.Base())
	if err == nil && both {
		err = home.Unlink(m.staged)
	}
	return !both, err
}

// takeOutSlowly moves the new content back to its staged name. out is false when the name in the tree holds, or lacks, what
// somebody else wants it to.
func (w *work) takeOutSlowly(m *move, home folder) (out bool, err error) {
	own, err := w.isOwn(home, m.path.Base(), m)
	if err != nil || !own {
		return false, err
	}
	err = home.MoveAway(m.path.Base(), home, m.staged)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s, err := examine(home, m.staged, m.path, m.result)
	if err != nil || s.matches() {
		return err == nil, err
	}
	// Somebody wrote to the new content: it is theirs now, and goes back to where they wrote it.
	err = home.MoveNew(m.staged, home, m.path.Base())
	if errors.Is(err, fs.ErrExist) {
		err = w.keep(m, home, m.staged)
	}
	return false, err
}

// role says what something is to a move.
type role int

const (
	foreign role = iota
	own
	old
)

// exchangeBack exchanges the name in the tree with the staged name until what comes out is what was put in before: the last
// save of somebody else, or else the base, then stands in the tree.
//
// Of two files of somebody else the one that stands in the tree is the later: it was opened by its name, the other before
// that name was given away. Times do not tell, since clocks of file systems are coarse.
func (w *work) exchangeBack(m *move, home folder) error {
	name := m.path.Base()
	expected, outRole := m.result, own
	for range rounds {
		in, inRole, err := w.identify(m, home)
		if err != nil {
			return err
		}
		if inRole == foreign {
			there, err := examine(home, name, m.path, expected)
			if err != nil {
				return err
			}
			if there.exists() && !there.matches() {
				return w.keep(m, home, m.staged)
			}
		}
		err = home.Exchange(name, m.staged)
		if errors.Is(err, fs.ErrNotExist) {
			// The name was removed by somebody else, which stands.
			return w.settle(m, home, inRole)
		}
		if err != nil {
			return err
		}
		// What was put in is looked at again: what changes from here on is saved under the name.
		now, err := examine(home, name, m.path, in)
		if err != nil {
			return err
		}
		out, err := examine(home, m.staged, m.path, expected)
		if err != nil {
			return err
		}
		if out.matches() {
			return w.settle(m, home, outRole)
		}
		expected, outRole = in, inRole
		if !now.matches() {
			expected, outRole = now.content(), foreign
		}
	}
	return w.keep(m, home, m.staged)
}

// identify finds out what waits at the staged name.
func (w *work) identify(m *move, home folder) (content, role, error) {
	s, err := examine(home, m.staged, m.path, m.base)
	if err != nil {
		return content{}, foreign, err
	}
	if s.matches() {
		c := m.base
		c.ino = s.info.Ino
		return c, old, nil
	}
	return s.content(), foreign, nil
}

// content is what was seen, to be recognized again.
func (s seen) content() content {
	c := content{pin: s.pin, ino: s.info.Ino}
	c.opaque = c.pin.Kind == change.KindDir || c.pin.Kind == change.KindOther
	return c
}

// settle disposes of what is left at the staged name.
func (w *work) settle(m *move, home folder, r role) error {
	switch r {
	case own:
		return w.removeOwn(m, home, m.staged, m.result)
	case old:
		return w.drop(m, home, m.staged, m.base)
	}
	return w.keep(m, home, m.staged)
}

// bring writes the base anew at the fresh name, from the store.
func (w *work) bring(m *move, home folder) (err error) {
	if err := w.removeBeginning(m, home, m.fresh, m.base); err != nil {
		return err
	}
	s := &stager{w: w, buffer: make([]byte, copyBuffer), exact: true}
	defer func() { err = errors.Join(err, s.closeAll()) }()
	at := spot{folder: home, name: m.fresh, path: m.path}
	like := change.Absent()
	if m.result.pin.Kind == change.KindFile {
		like = m.result.pin
	}
	if err := s.entry(at, like, m.base.pin, func(durable.Info) {}); err != nil {
		return err
	}
	return s.settle()
}
