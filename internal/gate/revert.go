package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/tiers"
	"github.com/correx/correx/undo"
)

// NeedsPerson reports whether only a person may take back the set with this credential: a credential alone reverts what
// landed by itself, while its session is open.
func (g *Gate) NeedsPerson(credential string) (bool, error) {
	e, ok := g.state.ByCredential(undo.CredentialDigest(credential))
	if !ok {
		return false, &UsageError{Problem: "no landed change has this credential"}
	}
	ses := g.state.Sessions[e.Session]
	return e.Decision.By != byEnvelope || ses == nil || ses.Closed, nil
}

// UndoCredential takes back the one landed change that the credential belongs to. With by nil it works only where
// NeedsPerson says no.
func (g *Gate) UndoCredential(ctx context.Context, credential string, by *Person) (Result, error) {
	e, ok := g.state.ByCredential(undo.CredentialDigest(credential))
	if !ok {
		return Result{}, &UsageError{Problem: "no landed change has this credential"}
	}
	needs, err := g.NeedsPerson(credential)
	if err != nil {
		return Result{}, err
	}
	if needs && by == nil {
		return Result{}, &PersonError{What: fmt.Sprintf("undoing #%d", e.ID), Why: "it did not land by itself in a session that is still open"}
	}
	if _, err := g.Set(e.ID); err != nil {
		return Result{}, err
	}
	return g.revert(ctx, e, by)
}

// Undo takes back the landed set with the given number.
func (g *Gate) Undo(ctx context.Context, id int, by Person) (Result, error) {
	e, err := g.Set(id)
	if err != nil {
		return Result{}, err
	}
	return g.revert(ctx, e, &by)
}

// UndoLast takes back the newest set that is landed and is not itself an undo; each call goes one further back.
func (g *Gate) UndoLast(ctx context.Context, by Person) (Result, error) {
	e := g.newest(func(e *projection.Entry) bool { return e.Origin != change.OriginUndo })
	if e == nil {
		return Result{}, &UsageError{Problem: "nothing has landed that could be undone", Hint: "correx log"}
	}
	return g.revert(ctx, e, &by)
}

// Redo takes back the newest undo.
func (g *Gate) Redo(ctx context.Context, by Person) (Result, error) {
	e := g.newest(func(e *projection.Entry) bool {
		return e.Origin == change.OriginUndo && g.state.Sets[e.Reverts].Origin != change.OriginUndo
	})
	if e == nil {
		return Result{}, &UsageError{Problem: "there is no undo to take back", Hint: "correx log"}
	}
	return g.revert(ctx, e, &by)
}

// newest returns the set that landed last of those that are landed and wanted, or nil.
func (g *Gate) newest(want func(*projection.Entry) bool) *projection.Entry {
	for _, e := range slices.Backward(g.state.Landed(g.worktree())) {
		if want(e) {
			return e
		}
	}
	return nil
}

// revert makes the change set that takes e back and lands it like any other. A file that is no longer what landed refuses
// the whole undo, with an UndoRefused event and nothing written.
func (g *Gate) revert(ctx context.Context, e *projection.Entry, by *Person) (Result, error) {
	unlock, err := g.lockLanding(ctx)
	if err != nil {
		return Result{}, err
	}
	r, err := g.revertLocked(ctx, e.ID, by)
	if err := errors.Join(err, unlock()); err != nil {
		return r, err
	}
	g.foldSession(ctx, e.Session)
	return r, nil
}

func (g *Gate) revertLocked(ctx context.Context, id int, by *Person) (Result, error) {
	if err := g.refresh(); err != nil {
		return Result{}, err
	}
	e := g.state.Sets[id]
	if !e.State.Landed() {
		return Result{}, &StateError{ID: id, State: e.State, By: e.UndoneBy, Want: "cannot be undone"}
	}
	target := e.Set
	target.Files = e.Chosen()
	files, err := undo.Revert(target, e.Landed)
	if err != nil {
		return Result{}, err
	}
	if err := g.CheckImages(&projection.Entry{Set: change.Set{ID: id, Files: files}}); err != nil {
		return Result{}, err
	}
	if err := g.refuseStaleUndo(ctx, e, files); err != nil {
		return Result{}, err
	}
	d := change.Decision{Kind: change.Approved, By: byEnvelope, Scope: "all", How: "credential"}
	t := ledger.ApprovalGrantedAuto
	if by != nil {
		d.By, d.How, t = by.actor(), by.How, ledger.ApprovalGranted
	}
	made, err := g.stageRevert(ctx, e, files, d.By)
	if err != nil {
		return Result{}, err
	}
	if x := g.state.Sets[made]; x.State == change.StateDenied {
		return Result{Entry: x}, &DeniedError{ID: made, Why: whyWords(x.Verdict)}
	}
	credential, err := g.decideAndLandLocked(ctx, made, yes{event: t, decision: d})
	if err != nil && !errors.Is(err, apply.ErrUnfinished) {
		err = errors.Join(err, g.withdraw(ctx, made))
	}
	return Result{Entry: g.state.Sets[made], Credential: credential}, err
}

// withdraw ends an undo that did not land, so that it does not wait to land later: it can be asked for again at any time.
func (g *Gate) withdraw(ctx context.Context, id int) error {
	return g.update(ctx, func() ([]ledger.Draft, error) {
		e := g.state.Sets[id]
		if e.State != change.StateStaged && e.State != change.StateApproved {
			return nil, nil
		}
		b := &batch{gate: g, actor: byEnvelope}
		b.add(ledger.ChangeSuperseded, e.Cause, projection.Superseded{Set: id})
		return b.drafts, nil
	})
}

// refuseStaleUndo records UndoRefused when a file is no longer what landed.
func (g *Gate) refuseStaleUndo(ctx context.Context, e *projection.Entry, files []change.FileChange) error {
	err := g.engine.Check(ctx, stepsOf(files))
	var stale *apply.StaleError
	if !errors.As(err, &stale) {
		return err
	}
	paths := stalePaths(stale)
	err = g.update(ctx, func() ([]ledger.Draft, error) {
		b := &batch{gate: g, actor: byEnvelope}
		b.add(ledger.UndoRefused, g.state.Sets[e.ID].Cause, projection.UndoRefused{Set: e.ID, Paths: paths})
		return b.drafts, nil
	})
	return errors.Join(&StaleError{ID: e.ID, Paths: paths, Undo: true}, err)
}

// stageRevert records the set that takes e back, with its verdict: an undo asks nobody, but what policy denies stays
// denied. It takes the place of earlier ones that were to take e back and that a kill kept from landing.
func (g *Gate) stageRevert(ctx context.Context, e *projection.Entry, files []change.FileChange, actor string) (int, error) {
	var id int
	err := g.update(ctx, func() ([]ledger.Draft, error) {
		if now := g.state.Sets[e.ID]; !now.State.Landed() {
			return nil, &StateError{ID: e.ID, State: now.State, By: now.UndoneBy, Want: "cannot be undone"}
		}
		b := &batch{gate: g, actor: actor}
		id = g.state.Last + 1
		set := change.Set{
			ID: id, Session: e.Session, Agent: e.Agent, Worktree: e.Worktree, Origin: change.OriginUndo, Reverts: e.ID,
			Files: files, Digest: change.Digest(files), CreatedAt: g.clock().UTC(),
		}
		staged := b.add(ledger.ChangeStaged, e.Cause, projection.ChangeStaged{Set: set})
		r := tiers.Judge(tiers.Facts{Files: (&observed{}).factsOf(files), Origin: change.OriginUndo, Enforced: "none", Now: momentOf(g.clock())}, g.policy())
		b.add(ledger.PreflightCompleted, staged, projection.PreflightCompleted{Set: id, Verdict: r.Verdict})
		for _, old := range g.state.Ordered(e.Worktree) {
			if old.Reverts == e.ID && (old.State == change.StateStaged || old.State == change.StateApproved) {
				b.add(ledger.ChangeSuperseded, staged, projection.Superseded{Set: old.ID, By: id})
			}
		}
		return b.drafts, nil
	})
	return id, err
}
