package apply

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/correx/correx/internal/change"
)

// retake brings what was taken out of the tree back from the store where somebody removed it from its working name, as
// git clean does. Names are switched in the order of the moves, so whatever comes before one that was switched was
// switched too; without such a one nothing tells a name that was taken from one that somebody else removed, which stands.
func (w *work) retake() error {
	last := -1
	for i, m := range w.moves {
		switched, err := w.wasSwitched(m)
		if err != nil {
			return err
		}
		if switched {
			last = i
		}
	}
	for _, m := range w.moves[:last+1] {
		if m.kind() != take {
			continue
		}
		gone, err := w.isGone(m)
		if err != nil {
			return err
		}
		if !gone || w.isMovedAway(m) {
			continue
		}
		home, err := w.makeHome(m)
		if err == nil {
			err = w.fromStore(m, home)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wasSwitched reports whether the disk shows that m was switched: what came out is at a working name, or its new content is
// in the tree.
func (w *work) wasSwitched(m *move) (bool, error) {
	home, err := w.place(m.home)
	if lost(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if m.kind() == take {
		return exists(home, m.aside)
	}
	own, err := w.isOwn(home, m.staged, m)
	if own || err != nil {
		return false, err
	}
	if there, err := exists(home, m.staged); there || err != nil {
		return m.kind() == swap, err
	}
	dir, err := w.place(m.dir)
	if lost(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return w.isOwn(dir, m.path.Base(), m)
}

// isGone reports whether what m took is neither at its name nor at a working name.
func (w *work) isGone(m *move) (bool, error) {
	home, err := w.place(m.home)
	if gone(err) {
		return true, nil
	}
	if err != nil {
		return false, ignoreStale(err)
	}
	for _, name := range []string{m.path.Base(), m.aside} {
		if there, err := exists(home, name); there || err != nil {
			return false, err
		}
	}
	return true, nil
}

// isMovedAway reports whether the folder of m is missing with files in it that only somebody can have moved: git clean takes
// no file away that git knows.
func (w *work) isMovedAway(m *move) bool {
	for _, p := range append(m.home.Ancestors(), m.home) {
		if _, err := w.place(p); gone(err) {
			return slices.ContainsFunc(w.moves, func(n *move) bool { return n.kind() == swap && n.home.Under(p) })
		}
	}
	return false
}

// ignoreStale drops the error of a folder that is another one by now: somebody put it there.
func ignoreStale(err error) error {
	var stale *StaleError
	if errors.As(err, &stale) {
		return nil
	}
	return err
}

// makeHome opens the folder of m, made anew where it is missing.
func (w *work) makeHome(m *move) (folder, error) {
	for _, p := range append(m.home.Ancestors(), m.home) {
		if p == "" {
			continue
		}
		up, err := w.place(p.Dir())
		if err == nil {
			err = w.mkdir(up, p.Base(), p)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return w.place(m.home)
}

// fromStore puts the base of m, which was taken, back to its name from the store. What stands there by then stays.
func (w *work) fromStore(m *move, home folder) error {
	if err := w.bring(m, home); err != nil {
		return err
	}
	err := home.MoveNew(m.fresh, home, m.path.Base())
	if errors.Is(err, fs.ErrExist) {
		return w.drop(m, home, m.fresh, m.base)
	}
	return err
}

// isBeginning reports whether what stands at name is a file that begins as the image of pin does: what a landing leaves that
// was cut off while it wrote that file. Nothing there is such a beginning.
func (w *work) isBeginning(home folder, name string, pin change.Pin) (is bool, err error) {
	info, err := home.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || info.Kind != change.KindFile || info.Size > pin.Size {
		return false, err
	}
	if info.Size == 0 {
		return true, nil
	}
	f, err := home.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	image, err := w.e.images.Open(pin.SHA256)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, image.Close()) }()
	return sameBeginning(f, image)
}
