package apply

import (
	"context"
	"errors"
	"io/fs"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// displaced is what came out of a name and was found to be the base.
type displaced struct {
	// name is where it waits in the move's home.
	name string
	seen seen
}

// makeFolders is step 5. A folder that somebody else makes meanwhile is used, and is not this landing's to remove.
func (w *work) makeFolders() error {
	for _, p := range w.missing {
		up, err := w.place(p.Dir())
		if err != nil {
			return err
		}
		err = w.mkdir(up, p.Base(), p)
		if err == nil {
			w.made = append(w.made, p)
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := w.place(p); err != nil {
			if gone(err) {
				return w.taken(up, p)
			}
			return err
		}
	}
	return nil
}

// mkdir makes the folder name in up for the path p: as the folder that stood there before, where that is known.
func (w *work) mkdir(up folder, name string, p change.Path) error {
	for _, f := range w.l.Restore {
		if f.Path == p {
			// What it is to hold has to be put into it.
			return up.Mkdir(name, f.Perm|0o300, true)
		}
	}
	return up.Mkdir(name, 0o777, false)
}

// taken reports that p, where nothing stood, is taken.
func (w *work) taken(f folder, p change.Path) error {
	found, err := f.Pin(p.Base())
	if err != nil {
		found = change.Pin{Kind: change.KindOther}
	}
	return &StaleError{Paths: []StalePath{{Path: p, Expected: change.Absent(), Found: found}}}
}

// switchAll is step 6.
func (w *work) switchAll(ctx context.Context) error {
	for _, m := range w.moves {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.switchOne(m); err != nil {
			return err
		}
	}
	return nil
}

// switchOne switches one name and compares what came out with the base. When it is something else, or somebody holds it
// open for writing, the *StaleError leaves it to back, the first thing called then, to put it back.
func (w *work) switchOne(m *move) error {
	home, err := w.place(m.home)
	if err != nil {
		return err
	}
	switch m.kind() {
	case put:
		return w.switchPut(m, home)
	case take:
		err = home.MoveAway(m.path.Base(), home, m.aside)
		if err == nil {
			return w.inspect(m, home, m.aside)
		}
	default:
		err = home.Exchange(m.path.Base(), m.staged)
		if err == nil {
			return w.inspect(m, home, m.staged)
		}
		if errors.Is(err, durable.ErrNoExchange) {
			return w.switchSlowly(m, home)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &StaleError{Paths: sortStale(m.base.differs(m.path, change.Absent()))}
	}
	return err
}

func (w *work) switchPut(m *move, home folder) error {
	parent, err := w.place(m.path.Dir())
	if err != nil {
		return err
	}
	err = home.MoveNew(m.staged, parent, m.path.Base())
	if errors.Is(err, fs.ErrExist) {
		return w.taken(parent, m.path)
	}
	return err
}

// switchSlowly is a swap without an exchange: old content aside, looked at, new content in where nothing stands.
func (w *work) switchSlowly(m *move, home folder) error {
	err := home.MoveAway(m.path.Base(), home, m.aside)
	if errors.Is(err, fs.ErrNotExist) {
		return &StaleError{Paths: sortStale(m.base.differs(m.path, change.Absent()))}
	}
	if err != nil {
		return err
	}
	if err := w.inspect(m, home, m.aside); err != nil {
		return err
	}
	err = home.MoveNew(m.staged, home, m.path.Base())
	if errors.Is(err, fs.ErrExist) {
		return w.taken(home, m.path)
	}
	return err
}

// inspect compares what came out of m's name, and now is at name, with the base.
func (w *work) inspect(m *move, home folder, name string) error {
	s, err := examine(home, name, m.path, m.base)
	if err != nil {
		return err
	}
	if !s.matches() {
		return &StaleError{Paths: sortStale(s.bad)}
	}
	m.out = &displaced{name: name, seen: s}
	return nil
}
