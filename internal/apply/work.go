package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// work is one landing, check or recovery in progress.
type work struct {
	e     *Engine
	l     Landing
	moves []*move
	// missing are the folders that puts need and that were not there, outermost first; made are those among them that
	// this process made.
	missing, made []change.Path
	// removed are the folders that go with the landing, as they were before.
	removed []change.Folder
	// dev is the device of the root, which is put on record.
	dev uint64
	// ready says that everything was staged: from then on names may be switched.
	ready bool
	// switching says that a folder was made or a name was switched, or may have been.
	switching bool

	places map[change.Path]*place
	// open lists the places with an open folder, the longest open first.
	open []change.Path

	kept []Kept
	left []change.Path
}

// place is a folder of the tree as this work first found it. The folder stays open, so that what was switched in it can be
// put back even when it is renamed meanwhile.
type place struct {
	folder folder
	id     durable.Info
}

// maxOpen bounds how many folders are held open at once.
const maxOpen = 400

func (e *Engine) begin(l Landing) (*work, error) {
	moves, err := plan(l.ID, l.Steps)
	if err != nil {
		return nil, err
	}
	for _, p := range l.RemoveFolders {
		if why := forbidden(p); why != "" {
			return nil, &UnsafeError{Path: p, Why: why}
		}
	}
	return &work{e: e, l: l, moves: moves, places: map[change.Path]*place{}}, nil
}

// close gives the open folders back. A descriptor that only names a folder has nothing to lose.
func (w *work) close() {
	for _, p := range w.open {
		_ = w.places[p].folder.Close()
	}
	w.open, w.places = nil, map[change.Path]*place{}
}

// place returns the folder at p, always the same one: a path that by now leads to another folder is a *StaleError. A
// folder that is not there is fs.ErrNotExist or another error that gone recognizes.
func (w *work) place(p change.Path) (folder, error) {
	at, known := w.places[p]
	if known && at.folder != nil {
		return at.folder, nil
	}
	f, err := w.e.tree.Folder(p)
	if err != nil {
		return nil, err
	}
	id, err := f.Self()
	if err == nil && known && !sameFolder(at.id, id) {
		err = movedFolder(p)
	}
	if err == nil && len(w.open) >= maxOpen {
		err = w.closeOldest()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w.places[p] = &place{folder: f, id: id}
	w.open = append(w.open, p)
	return f, nil
}

func (w *work) closeOldest() error {
	oldest := w.places[w.open[0]]
	w.open = w.open[1:]
	f := oldest.folder
	oldest.folder = nil
	return f.Close()
}

// lost reports that err means a folder is not there any more, or that its path leads to another one by now.
func lost(err error) bool {
	var stale *StaleError
	return gone(err) || errors.As(err, &stale)
}

// sameFolder compares what identifies a folder; a system that tells no inodes cannot deny it.
func sameFolder(a, b durable.Info) bool { return a.Ino == b.Ino && a.Dev == b.Dev }

func movedFolder(p change.Path) error {
	dir := change.Pin{Kind: change.KindDir}
	return &StaleError{Paths: []StalePath{{Path: p, Expected: dir, Found: dir, Why: "the folder was replaced by another one meanwhile"}}}
}

// touched returns the folders in which this work changes names, in order.
func (w *work) touched() []change.Path {
	var list []change.Path
	for _, m := range w.moves {
		list = append(list, m.home, m.dir)
	}
	for _, p := range w.missing {
		list = append(list, p.Dir())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// confirmPlaces is the first half of step 7: every folder that was worked in is still the one its path leads to.
func (w *work) confirmPlaces() error {
	for _, p := range w.touched() {
		at, known := w.places[p]
		if !known {
			continue
		}
		f, err := w.e.tree.Folder(p)
		if gone(err) {
			return movedFolder(p)
		}
		if err != nil {
			return err
		}
		id, err := f.Self()
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if !sameFolder(at.id, id) {
			return movedFolder(p)
		}
	}
	return nil
}

// flushPlaces puts the entries of every folder that was worked in on the disk. A folder that is gone has none.
func (w *work) flushPlaces() error { return w.flush(w.touched()) }

func (w *work) flush(list []change.Path) error {
	for _, p := range list {
		f, err := w.place(p)
		if lost(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f.Sync(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// leftPaths returns the paths that do not hold their base after going back, in order.
func (w *work) leftPaths() []change.Path {
	slices.Sort(w.left)
	return slices.Compact(w.left)
}

// keepLimit bounds the search for a free visible name.
const keepLimit = 10000

// keep gives what stands at name in the home of m, which somebody else wrote, a visible name beside it.
func (w *work) keep(m *move, home folder, name string) error {
	base := m.path.Base()
	if len(base) > 180 {
		base = base[:180]
	}
	for n := range keepLimit {
		visible := fmt.Sprintf("%s.correx-kept-%s", base, shortID(w.l.ID))
		if n > 0 {
			visible += fmt.Sprintf("-%d", n)
		}
		err := home.MoveNew(name, home, visible)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			w.kept = append(w.kept, Kept{Path: m.path, Where: m.home.Join(visible)})
		}
		return err
	}
	return fmt.Errorf("keep %q: no visible name is free", m.path)
}
