package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
)

// Unrecorded reports whether working names of l stand beside its paths although there is no journal: somebody removed that
// after an interrupted landing. Nothing is written. Without the landing lock the answer may be about a live landing.
func (e *Engine) Unrecorded(l Landing) (bool, error) {
	if pending, err := e.Pending(); err != nil || pending != nil {
		return false, err
	}
	w, err := e.begin(l)
	if err != nil {
		return false, err
	}
	defer w.close()
	for _, m := range w.moves {
		for _, at := range append(m.path.Ancestors(), "") {
			f, err := w.place(at)
			if lost(err) || errors.Is(err, fs.ErrPermission) {
				continue
			}
			if err != nil {
				return false, err
			}
			for _, name := range []string{m.staged, m.aside} {
				if there, err := exists(f, name); there || err != nil {
					return there, err
				}
			}
		}
	}
	return false, nil
}

// RecoverUnrecorded puts a landing back of which Unrecorded is true and whose closing event is not in the ledger, as Recover
// does with a journal. What the journal would have told is told by content alone: new content that has no working name any
// more goes wherever a path of l holds it, and folders that the landing made stay, empty. The caller holds the landing lock
// and has found the decision for l in the verified ledger. After an error it may be called again.
func (e *Engine) RecoverUnrecorded(ctx context.Context, l Landing, reverted func(Landing, []change.Path) error) error {
	if e.stopped != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, e.stopped)
	}
	w, err := e.begin(l)
	if err != nil {
		return err
	}
	defer w.close()
	if err := ctx.Err(); err != nil {
		return err
	}
	w.ready = true
	for _, m := range w.moves {
		if err := w.findHome(m); err != nil {
			return err
		}
		m.result.lenient = !l.RestorePerm
		for i := range m.result.inner {
			m.result.inner[i].lenient = !l.RestorePerm
		}
	}
	err = w.follow()
	if err == nil {
		err = w.clearUnswitched()
	}
	if err == nil {
		err = w.takeBack(reverted)
	}
	if err != nil {
		e.stopAt(err)
		return fmt.Errorf("%w: %w", ErrUnfinished, err)
	}
	return nil
}

// findHome finds the folder of a new file's working names, which is one above its path.
func (w *work) findHome(m *move) error {
	for _, at := range append(m.path.Ancestors(), "") {
		f, err := w.place(at)
		if lost(err) {
			continue
		}
		if err != nil {
			return err
		}
		there, err := exists(f, m.staged)
		if err != nil {
			return err
		}
		if there {
			m.home = at
		}
	}
	return nil
}

// clearUnswitched takes away what stands at the staged names of moves that were not switched: the new content, or what an earlier
// attempt left of it. What is neither, since the landing was still writing it or somebody else did, gets a visible name.
func (w *work) clearUnswitched() error {
	for _, m := range w.moves {
		home, err := w.place(m.home)
		if lost(err) {
			continue
		}
		unswitched := false
		if err == nil && m.kind() != take {
			unswitched, err = w.isUnswitched(m, home)
		}
		if err == nil && unswitched {
			err = w.drop(m, home, m.staged, m.result)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isUnswitched reports whether the path of m holds what it held, and its staged name something else than that.
func (w *work) isUnswitched(m *move, home folder) (bool, error) {
	if m.kind() == put {
		return true, nil
	}
	in, err := examine(home, m.path.Base(), m.path, m.base)
	if err != nil || !in.matches() {
		return false, err
	}
	staged, err := examine(home, m.staged, m.path, m.base)
	return !staged.matches(), err
}

// Working is a working name that stands in the tree.
type Working struct {
	Path change.Path
	// Pin is what stands there; of a folder only the kind.
	Pin change.Pin
}

// BelongsTo reports whether the name was made for the landing with the id.
func (w Working) BelongsTo(id string) bool {
	return strings.HasPrefix(w.Path.Base(), workingPrefix(id))
}

// Workings returns every working name in the tree, in the order of their paths. While a landing is in progress its own are
// among them.
func (e *Engine) Workings() ([]Working, error) {
	var list []Working
	shape := regexp.MustCompile(`^\` + reservedPrefix + `[0-9a-f]{10}-[0-9]+[ab]?$`)
	err := e.eachName(func(at change.Path, f folder, name string) error {
		if !shape.MatchString(name) {
			return nil
		}
		pin, err := f.Pin(name)
		if err == nil || lost(err) {
			list = append(list, Working{Path: at.Join(name), Pin: pin})
			err = nil
		}
		return err
	})
	slices.SortFunc(list, func(a, b Working) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return list, err
}

// workingPrefix begins the working names of one landing.
func workingPrefix(id string) string { return reservedPrefix + shortID(id) + "-" }
