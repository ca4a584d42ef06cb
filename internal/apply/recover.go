package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// Pending returns the landing whose journal is there, nil when there is none. A journal that cannot be believed is a
// *JournalError. Nothing is written. While another process holds the landing lock the answer may be its live landing.
func (e *Engine) Pending() (*Landing, error) {
	r, err := e.readJournal()
	if r == nil || err != nil {
		return nil, err
	}
	l := r.landing()
	return &l, nil
}

// Recover deals with a journal that a crash, a kill or a failed flush left; recovered is false when there is none. The
// caller holds the landing lock. Nothing is ever rolled forward.
//
// committed is asked once, before anything is written, whether the closing event of the landing is in the verified ledger;
// it returns an error, which ends the recovery with nothing written, when no decision there allows these very steps. After
// a yes, what the landing replaced is removed. After a no, everything goes back, and reverted is called with the paths that
// hold what somebody saved since, visible names of contents that could not stay at theirs among them. That is when the tree
// is on the disk and before the journal is cleared: a crash in between calls it again. After an error the journal is still
// there.
func (e *Engine) Recover(
	ctx context.Context, committed func(Landing) (bool, error), reverted func(Landing, []change.Path) error,
) (recovered bool, err error) {
	if e.stopped != nil {
		return false, fmt.Errorf("%w: %w", ErrUnfinished, e.stopped)
	}
	r, err := e.readJournal()
	if r == nil || err != nil {
		return false, err
	}
	w, err := e.restore(r)
	if err != nil {
		return false, err
	}
	defer w.close()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	done, err := committed(w.l)
	if err != nil {
		return false, err
	}
	if done && !w.ready {
		return false, e.journalError("the ledger says that the landing is complete, but it was never ready")
	}
	if done {
		if err = w.follow(); err == nil {
			err = w.finish()
		}
		e.kept = w.kept
	} else {
		err = w.takeBack(reverted)
	}
	if err != nil {
		e.stopAt(err)
		var damaged *JournalError
		if !errors.As(err, &damaged) {
			err = fmt.Errorf("%w: %w", ErrUnfinished, err)
		}
		return false, err
	}
	return true, nil
}

// Kept returns what the last recovery past a commit point gave visible names: contents of somebody else at working names.
func (e *Engine) Kept() []Kept { return e.kept }

func (w *work) takeBack(reverted func(Landing, []change.Path) error) error {
	// Which of the missing folders were made is not on record; the empty ones among them are removed.
	w.made = w.missing
	if err := w.goBack(); err != nil {
		return err
	}
	if err := w.flushPlaces(); err != nil {
		return err
	}
	left := w.leftPaths()
	for _, k := range w.kept {
		left = append(left, k.Where)
	}
	if err := reverted(w.l, left); err != nil {
		return err
	}
	return w.e.shelf.Clear()
}

// SetAside renames the journal in dir, whose worktree is gone, so that it stops nobody, and returns the landing it
// describes; nil when there is no journal. It must be called with the landing lock of dir held. What the journal names
// cannot be put back: its worktree is not there.
func SetAside(dir string) (*Landing, error) {
	e := &Engine{dir: dir, shelf: diskShelf{dir}}
	r, err := e.readJournal()
	if r == nil || err != nil {
		return nil, err
	}
	root, err := durable.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	d, err := root.Dir("")
	if err != nil {
		return nil, err
	}
	l := r.landing()
	err = d.MoveNew(journalName, d, journalName+"-aside-"+shortID(l.ID))
	if err == nil {
		err = d.Sync()
	}
	if err = errors.Join(err, d.Close()); err != nil {
		return nil, err
	}
	return &l, nil
}
