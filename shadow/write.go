package shadow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// asideTries bounds the search for a free name beside a file. Names that a killed process left are passed over.
const asideTries = 1000

// quietTries bounds how often an agent that keeps writing is given its file back.
const quietTries = 100

// symlinkLimit bounds a symlink's target; no system takes a longer one.
const symlinkLimit = 1 << 16

// Write brings the shadow's file at p to pin, whose content (for a symlink, its target) is read from content, provided
// that it still is expected. Otherwise it is left alone: *ChangedError, also where the agent has put something else than a
// folder above p. The manifest is not touched: SetBase follows. Folders that are empty without p go. The agent may be writing meanwhile: what came out from under the new file is checked, and put back when it is not what
// was expected.
//
// Steps: write the new file beside p; exchange the two (or, where one is absent, move without replacing); check what came
// out; remove it. A crash leaves at most a file with a reserved name, which scans report and pass over.
func (s *Shadow) Write(ctx context.Context, p change.Path, expected, pin change.Pin, content io.Reader) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tree, err := s.Root()
	if err != nil {
		return fmt.Errorf("write %q: %w", p, err)
	}
	if gitComponent(p) || reservedComponent(p) {
		return fmt.Errorf("write %q: the name is reserved", p)
	}
	found, err := tree.Pin(p, nil)
	if err != nil {
		return fmt.Errorf("write %q: %w", p, err)
	}
	if !found.SameForGit(expected) {
		return &ChangedError{Path: p, Expected: expected, Found: found}
	}
	if !pin.Exists() && !expected.Exists() {
		return nil
	}
	w := replacing{tree: tree, path: p, expected: expected, fresh: pin}
	if err := w.run(content); err != nil {
		return fmt.Errorf("write %q: %w", p, err)
	}
	return nil
}

// replacing is the work of one Write.
type replacing struct {
	tree     *durable.Root
	path     change.Path
	expected change.Pin
	fresh    change.Pin
	dir      *durable.Dir
	// aside is the reserved name beside the path: first the new file, then what came out.
	aside string
}

func (w *replacing) run(content io.Reader) (err error) {
	if err := w.openFolder(); err != nil {
		return err
	}
	defer w.dir.Close()
	if !w.fresh.Exists() {
		if err := w.takeOut(); err != nil {
			return err
		}
		return w.removeEmptied()
	}
	if err := w.stage(content); err != nil {
		return err
	}
	err = w.swap()
	if err != nil {
		// What is still aside is the new file, unless putting back did not work; then it must not be removed.
		var kept *keptError
		if !errors.As(err, &kept) {
			err = errors.Join(err, w.drop())
		}
	}
	return err
}

// openFolder opens the folder that holds the path, made if it is missing.
func (w *replacing) openFolder() error {
	err := w.tree.MkdirAll(w.path.Dir())
	if err == nil {
		w.dir, err = w.tree.Dir(w.path.Dir())
	}
	var above *durable.ParentError
	var kind *durable.KindError
	if errors.As(err, &above) || errors.As(err, &kind) {
		return &ChangedError{Path: w.path, Expected: w.expected, Found: change.Absent()}
	}
	return err
}

// removeEmptied removes the folders above the path that hold nothing any more: a file may come in their place.
func (w *replacing) removeEmptied() error {
	for p := w.path.Dir(); p != ""; p = p.Dir() {
		up, err := w.tree.Dir(p.Dir())
		if err != nil {
			return err
		}
		removed, err := up.Rmdir(p.Base())
		if err = errors.Join(err, up.Close()); err != nil || !removed {
			return err
		}
	}
	return nil
}

// keptError says that an agent's file could not be put back under its name and where it is.
type keptError struct {
	name string
	err  error
}

func (e *keptError) Error() string { return fmt.Sprintf("kept as %q: %v", e.name, e.err) }
func (e *keptError) Unwrap() error { return e.err }

// stage writes the new file beside the path and checks its digest.
func (w *replacing) stage(content io.Reader) error {
	pin := w.fresh
	hash := sha256.New()
	var make func(change.Path) error
	switch pin.Kind {
	case change.KindFile:
		from := io.TeeReader(content, hash)
		make = func(p change.Path) error { return w.tree.WriteFile(p, from, pin.Perm&0o777, 0) }
	case change.KindSymlink:
		target, err := io.ReadAll(io.LimitReader(content, symlinkLimit))
		if err != nil {
			return err
		}
		hash.Write(target)
		make = func(p change.Path) error { return w.tree.Symlink(p, string(target)) }
	default:
		return fmt.Errorf("a %s cannot be written", pin.Kind)
	}
	for i := range asideTries {
		w.aside = fmt.Sprintf("%sput-%d", reservedPrefix, i)
		err := make(w.path.Dir().Join(w.aside))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if sum := hex.EncodeToString(hash.Sum(nil)); sum != pin.SHA256 {
			return errors.Join(fmt.Errorf("content is %.12s, expected %.12s", sum, pin.SHA256), w.drop())
		}
		return nil
	}
	return fmt.Errorf("%d names are taken", asideTries)
}

// swap puts the new file at the path and checks what came out.
func (w *replacing) swap() error {
	name := w.path.Base()
	if !w.expected.Exists() {
		err := w.dir.MoveNew(w.aside, w.dir, name)
		if errors.Is(err, fs.ErrExist) {
			return w.changed(name)
		}
		return err
	}
	err := w.dir.Exchange(name, w.aside)
	if errors.Is(err, durable.ErrNoExchange) {
		return w.swapByMoves()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return w.changed(name)
	}
	if err != nil {
		return err
	}
	found, ok := w.isExpected(w.aside)
	if ok {
		return w.drop()
	}
	if err := w.putBack(found); err != nil {
		return &keptError{name: w.aside, err: err}
	}
	return &ChangedError{Path: w.path, Expected: w.expected, Found: found}
}

// putBack puts what came out under the path again, found at the reserved name. Whoever wrote it may have written once
// more meanwhile; then that comes out, and is put back in turn, until what comes out is what was put in.
func (w *replacing) putBack(out change.Pin) error {
	placed := w.fresh
	for range quietTries {
		if err := w.dir.Exchange(w.path.Base(), w.aside); err != nil {
			return err
		}
		back, err := w.dir.Pin(w.aside, nil)
		if err != nil {
			return err
		}
		if back.SameForGit(placed) {
			return nil
		}
		placed, out = out, back
	}
	return fmt.Errorf("written to %d times meanwhile, last %s", quietTries, pinWords(out))
}

// swapByMoves is swap where two names cannot be exchanged: for an instant nothing stands at the path.
func (w *replacing) swapByMoves() error {
	fresh := w.aside
	if err := w.takeOut(); err != nil {
		w.aside = fresh
		return err
	}
	w.aside = fresh
	err := w.dir.MoveNew(w.aside, w.dir, w.path.Base())
	if errors.Is(err, fs.ErrExist) {
		return w.changed(w.path.Base())
	}
	return err
}

// takeOut removes the expected file from the path by way of a reserved name, where it is checked.
func (w *replacing) takeOut() error {
	name := w.path.Base()
	for i := range asideTries {
		w.aside = fmt.Sprintf("%sout-%d", reservedPrefix, i)
		err := w.dir.MoveNew(name, w.dir, w.aside)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case errors.Is(err, fs.ErrNotExist):
			return w.changed(name)
		case err != nil:
			return err
		}
		found, ok := w.isExpected(w.aside)
		if ok {
			return w.drop()
		}
		if err := w.dir.MoveNew(w.aside, w.dir, name); err != nil {
			return &keptError{name: w.aside, err: err}
		}
		return &ChangedError{Path: w.path, Expected: w.expected, Found: found}
	}
	return fmt.Errorf("%d names are taken", asideTries)
}

func (w *replacing) isExpected(name string) (change.Pin, bool) {
	found, err := w.dir.Pin(name, nil)
	return found, err == nil && found.SameForGit(w.expected)
}

func (w *replacing) changed(name string) error {
	found, err := w.dir.Pin(name, nil)
	if err != nil {
		return err
	}
	return &ChangedError{Path: w.path, Expected: w.expected, Found: found}
}

func (w *replacing) drop() error { return w.dir.Unlink(w.aside) }
