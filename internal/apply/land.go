package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"syscall"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// Images gives the contents that pins name. A reader it returns must fail, at the latest at its end, when the bytes do not
// have the digest.
type Images interface {
	Open(sha256 string) (io.ReadCloser, error)
}

// Landing is a set of steps that land together.
type Landing struct {
	// ID is the id of the decision event that allows the landing.
	ID     string
	Set    int
	Digest string
	Steps  []change.Step
	// RemoveFolders are the folders that go with this landing if it leaves them empty: those of deleted files that the
	// proposal lacks too, and those that an undone landing had made.
	RemoveFolders []change.Path
	// RestorePerm makes the permission bits of the results count in full. It is for an undo, whose results were pinned in
	// this tree. Otherwise only the executable bit counts: an edit keeps the other bits, a new file gets them from umask
	// and default ACL.
	RestorePerm bool
	// Restore are folders with the permission bits they get should this landing make them. It is for an undo.
	Restore []change.Folder
}

// Landed is what a landing did to the tree, as its closing event has it.
type Landed struct {
	// Steps are those of the landing with their results as they are on the disk.
	Steps []change.Step
	// Made are the folders that the landing made, outermost first.
	Made []change.Path
	// Removed are the folders that go with this landing once nothing is left in them, as they were.
	Removed []change.Folder
}

// Outcome is what a landing, complete or taken back, left in the tree.
type Outcome struct {
	// Landed are the steps with their results as they are on the disk; nil when the landing was taken back.
	Landed []change.Step
	// Folders are the folders that the landing made, outermost first.
	Folders []change.Path
	// Kept are contents of somebody else that could not stay at, or go back to, their name.
	Kept []Kept
	// Left are the paths that after going back hold neither their base nor the proposal but what somebody saved meanwhile,
	// or nothing because they removed it.
	Left []change.Path
}

// Kept is one file of somebody else under a visible name.
type Kept struct {
	// Path is where it was saved, Where it is now.
	Path, Where change.Path
}

// Engine lands in one working tree. Its methods are for one goroutine at a time, and those that write for the holder of
// the landing lock.
type Engine struct {
	// Holder is put into the lock file for those who find it locked: process, command, start.
	Holder string

	dir    string
	root   *durable.Root
	tree   tree
	shelf  shelf
	images Images
	// stopped is the failed flush after which this process does nothing more.
	stopped error
	// kept is for Kept.
	kept []Kept
}

// Open opens the working tree root. dir is the worktree's folder in correx's state, which exists; images is asked for
// every content. Nothing is written.
func Open(root, dir string, images Images) (*Engine, error) {
	r, err := durable.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return &Engine{dir: dir, root: r, tree: diskTree{r}, shelf: diskShelf{dir}, images: images}, nil
}

// Close gives the working tree back.
func (e *Engine) Close() error { return e.root.Close() }

// Lock takes the landing lock, waiting until ctx ends; the error then is a *durable.HeldError that names the holder.
func (e *Engine) Lock(ctx context.Context) (unlock func() error, err error) {
	return durable.Lock(ctx, filepath.Join(e.dir, lockName), e.Holder)
}

// TryLock is Lock without waiting. Recovery takes the lock this way, so that it never touches a live landing.
func (e *Engine) TryLock() (unlock func() error, err error) {
	return durable.TryLock(filepath.Join(e.dir, lockName), e.Holder)
}

// Check compares the tree with the bases of steps and writes nothing. A *StaleError lists every path that differs, an
// *UnsafeError names a path that must not be written, a *StepsError steps that make no sense together.
func (e *Engine) Check(ctx context.Context, steps []change.Step) error {
	w, err := e.begin(Landing{Steps: steps})
	if err != nil {
		return err
	}
	defer w.close()
	return w.check(ctx)
}

// Land takes l into the tree. The caller holds the landing lock, has the decision event on the disk, and has reserved room
// for the closing event.
//
// commit is the commit point: it appends and flushes the closing event, and returns nil if and only if that event counts; an
// error that is durable.ErrFlush leaves open whether it does. After success the tree holds the results, and Land has removed
// what they replaced. An error that is ErrUnfinished has left the journal, and Recover has to decide: only then can
// Outcome.Landed be set beside an error, which means past the commit point. After any other error the tree is as it was, but
// for what Outcome.Left and Outcome.Kept name; a *StaleError names paths that were not their base.
func (e *Engine) Land(ctx context.Context, l Landing, commit func(Landed) error) (Outcome, error) {
	if e.stopped != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrUnfinished, e.stopped)
	}
	if pending, err := e.Pending(); err != nil {
		return Outcome{}, err
	} else if pending != nil {
		return Outcome{}, fmt.Errorf("%w: change set #%d", ErrPending, pending.Set)
	}
	w, err := e.begin(l)
	if err != nil {
		return Outcome{}, err
	}
	defer w.close()
	err = w.check(ctx)
	if err == nil {
		err = w.checkImages(ctx)
	}
	if err == nil {
		err = w.noteFolders()
	}
	if err != nil {
		return Outcome{}, err
	}
	if err := w.untilCommit(ctx, commit); err != nil {
		return w.fail(err)
	}
	if err := w.finish(); err != nil {
		e.stopAt(err)
		return w.outcome(), fmt.Errorf("%w: past the commit point: %w", ErrUnfinished, err)
	}
	return w.outcome(), nil
}

// untilCommit does steps 2 to 8.
func (w *work) untilCommit(ctx context.Context, commit func(Landed) error) error {
	if err := w.writeJournal(stateIntent); err != nil {
		return err
	}
	if err := w.stage(ctx); err != nil {
		return err
	}
	// Set before the write: whether a failed one took effect is not known, and going back by what the disk holds is right
	// in both cases.
	w.ready = true
	if err := w.writeJournal(stateReady); err != nil {
		return err
	}
	w.switching = true
	if err := w.makeFolders(); err != nil {
		return err
	}
	if err := w.switchAll(ctx); err != nil {
		return err
	}
	if err := w.confirmPlaces(); err != nil {
		return err
	}
	if err := w.flushPlaces(); err != nil {
		return err
	}
	// The commit point. When it returns nil the landing counts, whatever happens next.
	return commit(Landed{Steps: w.landed(), Made: w.made, Removed: w.removed})
}

// fail takes the landing back, unless a flush failed: then nothing more is done by this process.
func (w *work) fail(cause error) (Outcome, error) {
	if w.mustStop(cause) {
		w.e.stopAt(cause)
		return Outcome{Kept: w.kept}, fmt.Errorf("%w: %w", ErrUnfinished, cause)
	}
	err := w.goBack()
	if err == nil {
		err = w.flushPlaces()
	}
	if err == nil {
		err = w.e.shelf.Clear()
	}
	out := Outcome{Kept: w.kept, Left: w.leftPaths()}
	if err != nil {
		w.e.stopAt(err)
		return out, fmt.Errorf("%w: %w; going back: %w", ErrUnfinished, cause, err)
	}
	return out, withoutFlush(cause)
}

// mustStop reports whether err leaves open what is on the disk in a way that matters. A full disk while nothing was
// switched does not: what could not be flushed is the engine's own and is removed.
func (w *work) mustStop(err error) bool {
	return errors.Is(err, durable.ErrFlush) && (w.switching || !noRoom(err))
}

func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// roomError is a full disk that was noticed by a flush and dealt with: it is no durable.ErrFlush any more.
type roomError struct{ error }

func (e roomError) Is(target error) bool {
	return target != durable.ErrFlush && errors.Is(e.error, target)
}

func withoutFlush(err error) error {
	if errors.Is(err, durable.ErrFlush) {
		return roomError{err}
	}
	return err
}

func (e *Engine) stopAt(err error) {
	if errors.Is(err, durable.ErrFlush) {
		e.stopped = err
	}
}

func (w *work) outcome() Outcome {
	return Outcome{Landed: w.landed(), Folders: w.made, Kept: w.kept}
}

// landed returns the steps with their results as they were read back from the disk.
func (w *work) landed() []change.Step {
	perm := map[change.Path]uint32{}
	for _, m := range w.moves {
		perm[m.path] = m.result.pin.Perm
		for _, in := range m.result.inner {
			perm[m.path+"/"+in.rel] = in.pin.Perm
		}
	}
	list := make([]change.Step, 0, len(w.l.Steps))
	for _, s := range w.l.Steps {
		if s.Result.Kind == change.KindFile {
			s.Result.Perm = perm[s.Path]
		}
		list = append(list, s)
	}
	return list
}
