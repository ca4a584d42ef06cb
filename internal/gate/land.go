package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/tiers"
	"github.com/correx/correx/undo"
)

// closingRoom is how many bytes a closing event may need besides those for its steps, its folders and the files of a rest; room for
// it is reserved before anything is switched, so that a full disk cannot part the tree from the record.
const (
	closingRoom = 4 << 10
	stepRoom    = 1 << 10
	folderRoom  = 64
)

// landByItself lands a set whose verdict is auto, if it still is. What keeps it from landing is in the result's Err.
func (g *Gate) landByItself(ctx context.Context, id int, facts []tiers.FileFacts) Result {
	credential, err := g.decideAndLand(ctx, id, yes{event: ledger.ApprovalGrantedAuto, byItself: facts})
	if errors.Is(err, errAsksNow) {
		err = nil
	}
	return Result{Entry: g.state.Sets[id], Credential: credential, Err: err}
}

// decideAndLand records a yes and lands the set, in the order that PROTOCOLS fixes: landing lock, pins, the decision by
// compare-and-set on the set's state, landing, closing event. A set that was allowed before and did not land is landed
// under the same decision. It returns the undo credential, which is stored nowhere.
func (g *Gate) decideAndLand(ctx context.Context, id int, y yes) (string, error) {
	unlock, err := g.lockLanding(ctx)
	if err != nil {
		return "", err
	}
	credential, err := g.decideAndLandLocked(ctx, id, y)
	return credential, errors.Join(err, unlock())
}

func (g *Gate) decideAndLandLocked(ctx context.Context, id int, y yes) (string, error) {
	if err := g.refresh(); err != nil {
		return "", err
	}
	e := g.state.Sets[id]
	files := y.files(e)
	switch e.State {
	case change.StateStaged, change.StatePending:
	case change.StateApproved:
		if y.other(e) {
			return "", &StateError{ID: id, State: e.State, Want: "was decided on meanwhile"}
		}
		files = e.Chosen()
	default:
		// Another process was faster; what it decided is what there is to say, not what it made of the files.
		return "", &StateError{ID: id, State: e.State, By: e.SupersededBy, Want: "no longer waits"}
	}
	if err := g.checkPins(ctx, e, files); err != nil {
		return "", err
	}
	if err := g.grant(ctx, id, y); err != nil {
		return "", err
	}
	return g.land(ctx, g.state.Sets[id])
}

// checkPins compares the real tree with the base of files. A set that asks or was let in and is based on something else is
// recorded as stale.
func (g *Gate) checkPins(ctx context.Context, e *projection.Entry, files []change.FileChange) error {
	steps := stepsOf(files)
	err := g.engine.Check(ctx, steps)
	var stale *apply.StaleError
	if !errors.As(err, &stale) {
		return err
	}
	return g.recordStale(ctx, e.ID, stale)
}

// recordStale writes ChangeStale for a set that still stands and returns the error that names its paths.
func (g *Gate) recordStale(ctx context.Context, id int, stale *apply.StaleError) error {
	paths := stalePaths(stale)
	reverts := g.state.Sets[id].Reverts
	err := g.update(ctx, func() ([]ledger.Draft, error) {
		e := g.state.Sets[id]
		switch e.State {
		case change.StateStaged, change.StatePending, change.StateApproved:
			b := &batch{gate: g, actor: byEnvelope}
			b.add(ledger.ChangeStale, e.Cause, projection.Stale{Set: id, Paths: paths})
			if reverts != 0 {
				b.add(ledger.UndoRefused, e.Cause, projection.UndoRefused{Set: reverts, Paths: paths})
			}
			return b.drafts, nil
		}
		return nil, nil
	})
	if err != nil {
		return err
	}
	if reverts != 0 {
		return &StaleError{ID: reverts, Paths: paths, Undo: true}
	}
	return &StaleError{ID: id, Paths: paths}
}

// grant records the decision if the set still asks for one. A set that is approved already is landed under the decision
// it has. What chosen hunks come to is stored and flushed before the event that names it.
func (g *Gate) grant(ctx context.Context, id int, y yes) error {
	if y.byItself != nil {
		return g.recordLetIn(ctx, id, y.byItself)
	}
	if y.hunks == nil {
		return g.recordYes(ctx, id, y)
	}
	unshare, err := g.store.Share(ctx)
	if err != nil {
		return err
	}
	if _, _, err = g.store.Put(bytes.NewReader(y.hunks.part.Content)); err == nil {
		err = g.recordYes(ctx, id, y)
	}
	return errors.Join(err, unshare())
}

func (g *Gate) recordYes(ctx context.Context, id int, y yes) error {
	return g.decideInTime(ctx, id, func() ([]ledger.Draft, error) {
		e := g.state.Sets[id]
		want := change.StatePending
		if y.event == ledger.ApprovalGrantedAuto || e.Origin == change.OriginUndo {
			want = change.StateStaged
		}
		d := y.decision
		switch {
		case e.State == change.StateApproved && e.Origin != change.OriginCommit:
			return nil, nil
		case e.State != want:
			return nil, &StateError{ID: id, State: e.State, By: e.SupersededBy, Want: "no longer waits"}
		case d.Digest != "" && d.Digest != e.Digest:
			return nil, &StateError{ID: id, State: e.State, Want: "is not what was shown"}
		}
		if err := g.stillHolds(e, y); err != nil {
			return nil, err
		}
		d.At, d.Digest = g.clock().UTC(), e.Digest
		b := &batch{gate: g, actor: d.By}
		part := y.on(e)
		b.add(y.event, e.Cause, projection.Decided{Set: id, Request: e.Request, Decision: d, Only: part.Only, Hunks: part.Hunks})
		return b.drafts, nil
	})
}

// land switches the set's chosen files into the real tree. The caller holds the landing lock and the decision is on disk.
func (g *Gate) land(ctx context.Context, e *projection.Entry) (string, error) {
	l := g.landingOf(e)
	left, err := g.rest(e)
	if err != nil {
		return "", err
	}
	if err := g.log.Reserve(roomFor(l, len(left))); err != nil {
		return "", err
	}
	credential := undo.NewCredential(g.rand)
	err = g.carryOut(ctx, e, l, func(done apply.Landed) error {
		return g.close(ctx, e, landedOn(left, done.Steps), projection.Applied{
			Set: e.ID, Reverts: e.Reverts, Landing: l.ID, Steps: done.Steps, Folders: done.Made, Removed: done.Removed,
			Credential: undo.CredentialDigest(credential),
		})
	})
	if err != nil {
		return "", err
	}
	return credential, nil
}

// carryOut has the engine land a set; nil means that its closing event, which commit appends, is on the disk. The error for
// files that moved is a *StaleError, and recorded.
func (g *Gate) carryOut(ctx context.Context, e *projection.Entry, l apply.Landing, commit func(apply.Landed) error) error {
	out, err := g.engine.Land(ctx, l, commit)
	g.noteKept(e.ID, out.Kept)
	var stale *apply.StaleError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, apply.ErrUnfinished) && g.landed(ctx, e.ID):
		// Past the commit point only the removal of displaced files is left; the next command repeats it.
		return nil
	case errors.As(err, &stale) && !errors.Is(err, apply.ErrUnfinished):
		return g.recordStale(ctx, e.ID, stale)
	}
	if !errors.Is(err, apply.ErrUnfinished) {
		// A file that was away for an instant is stale like one that changed.
		if moved := g.checkPins(ctx, e, e.Chosen()); moved != nil {
			return moved
		}
	}
	return fmt.Errorf("change set #%d did not land: %w", e.ID, err)
}

// roomFor returns how many bytes the closing event of l may need, with a rest of so many files.
func roomFor(l apply.Landing, rest int) int64 {
	room := closingRoom + stepRoom*(len(l.Steps)+rest)
	for _, p := range l.RemoveFolders {
		room += folderRoom + 2*len(p)
	}
	return int64(room)
}

// landingOf returns what lands when a set that is approved does.
func (g *Gate) landingOf(e *projection.Entry) apply.Landing {
	l := apply.Landing{
		ID: e.Grant, Set: e.ID, Digest: e.Digest, Steps: stepsOf(e.Chosen()), RemoveFolders: g.foldersToRemove(e), RestorePerm: e.Reverts != 0,
	}
	if e.Reverts != 0 {
		l.Restore = g.state.Sets[e.Reverts].Removed
	}
	return l
}

// landed reports whether the ledger holds the closing event of a set's landing.
func (g *Gate) landed(ctx context.Context, id int) bool {
	if err := g.update(ctx, func() ([]ledger.Draft, error) { return nil, nil }); err != nil {
		return false
	}
	e := g.state.Sets[id]
	_, ok := g.state.Committed(e.Grant)
	return ok
}

// close appends the closing event: this flush is the commit point. The rest of a partly approved set is staged anew in the
// same append, and waits unless policy denies it.
func (g *Gate) close(ctx context.Context, e *projection.Entry, rest []change.FileChange, a projection.Applied) error {
	return g.update(ctx, func() ([]ledger.Draft, error) {
		// An event that its set's state does not allow would stop every reader of the ledger: then the landing goes back.
		if now := g.state.Sets[e.ID]; now.State != change.StateApproved || now.Grant != a.Landing {
			return nil, &StateError{ID: e.ID, State: now.State, By: now.SupersededBy, Want: "cannot land"}
		}
		t := ledger.ChangeApplied
		if e.Reverts != 0 {
			t = ledger.UndoApplied
		}
		b := &batch{gate: g, actor: e.Decision.By, session: g.state.Sessions[e.Session], message: e.Message, origin: e.Origin, next: g.state.Last}
		closing := b.add(t, e.Grant, a)
		b.add(ledger.UndoIssued, closing, projection.SetEvent{Set: e.ID, Digest: a.Credential})
		if len(rest) > 0 {
			id, staged := b.stage(proposal{files: rest, parent: e.ID})
			r := g.judge((&observed{}).factsOf(rest), b.session)
			r.wait("rest of a partly approved set")
			b.verdict(id, staged, r)
		}
		return b.drafts, nil
	})
}

// foldersToRemove lists the folders that go with the landing once they are empty: with an undo those that the landing it
// takes back had made, else those of deleted files that the shadow lacks too.
func (g *Gate) foldersToRemove(e *projection.Entry) []change.Path {
	if e.Reverts != 0 {
		return g.state.Sets[e.Reverts].Folders
	}
	stays := func(change.Path) bool { return false }
	if ses, ok := g.state.Sessions[e.Session]; ok && !ses.Closed {
		if shadow, err := durable.OpenRoot(ses.Tree); err == nil {
			defer shadow.Close()
			stays = func(p change.Path) bool { _, err := shadow.Lstat(p); return err == nil }
		}
	}
	seen := map[change.Path]bool{}
	var list []change.Path
	for _, st := range stepsOf(e.Chosen()) {
		if st.Result.Exists() {
			continue
		}
		for _, dir := range st.Path.Ancestors() {
			if !seen[dir] && !stays(dir) {
				list = append(list, dir)
			}
			seen[dir] = true
		}
	}
	return list
}

func stepsOf(files []change.FileChange) []change.Step { return change.Set{Files: files}.Steps() }

func stalePaths(s *apply.StaleError) []projection.StalePath {
	list := make([]projection.StalePath, 0, len(s.Paths))
	for _, p := range s.Paths {
		list = append(list, projection.StalePath{Path: p.Path, Expected: p.Expected, Found: p.Found})
	}
	return list
}
