package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
)

// recover puts right what an interrupted landing left, if there is any and nobody is landing now.
func (g *Gate) recover(ctx context.Context) error {
	if err := g.setAsideGone(ctx); err != nil {
		return err
	}
	pending, err := g.engine.Pending()
	if err == nil && pending == nil {
		pending, err = g.unrecorded()
	}
	if err != nil || pending == nil {
		return err
	}
	unlock, err := g.engine.TryLock()
	var held *durable.HeldError
	if errors.As(err, &held) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(g.recoverLocked(ctx), unlock())
}

// setAsideGone renames the journals of worktrees that are gone, so that they stop nobody, and records that their landings
// neither counted nor went back: what they name is not there.
func (g *Gate) setAsideGone(ctx context.Context) error {
	top := filepath.Join(StateDir(g.repo.CommonDir()), "worktrees")
	entries, err := os.ReadDir(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, dir := e.Name(), filepath.Join(top, e.Name())
		if id == g.worktree() || !apply.Interrupted(dir) || g.repo.WorktreeExists(id) {
			continue
		}
		unlock, err := apply.TryLockDir(dir, g.holder)
		if err != nil {
			continue
		}
		l, err := apply.SetAside(dir)
		if err == nil && l != nil {
			err = g.recordReverted(ctx, *l, "worktree "+id+" is gone", nil)
		}
		if err := errors.Join(err, unlock()); err != nil {
			return err
		}
	}
	return nil
}

// recordReverted writes that a landing did not count, if the set still stands as allowed.
func (g *Gate) recordReverted(ctx context.Context, l apply.Landing, cause string, kept []change.Path) error {
	if len(kept) > 0 {
		g.notices = append(g.notices, fmt.Sprintf("an interrupted landing of #%d went back; somebody changed since what stands at %s", l.Set, pathWords(kept)))
	}
	return g.update(ctx, func() ([]ledger.Draft, error) {
		if e, ok := g.state.Sets[l.Set]; !ok || e.State != change.StateApproved {
			return nil, nil
		}
		b := &batch{gate: g, actor: byEnvelope}
		b.add(ledger.LandingReverted, l.ID, projection.Reverted{Set: l.Set, Landing: l.ID, Cause: cause, Kept: kept})
		return b.drafts, nil
	})
}

// recoverLocked runs recovery; the caller holds the landing lock. Whether the closing event counts is read under the
// ledger's lock: without it, an event that a killed process left beyond the head may not be seen.
func (g *Gate) recoverLocked(ctx context.Context) error {
	catchUp := func() error { return g.update(ctx, func() ([]ledger.Draft, error) { return nil, nil }) }
	pending, err := g.engine.Pending()
	if err != nil {
		return err
	}
	if pending != nil {
		if err := catchUp(); err != nil {
			return err
		}
		_, err = g.engine.Recover(ctx, g.committed, func(l apply.Landing, kept []change.Path) error {
			return g.recordReverted(ctx, l, "interrupted", kept)
		})
		g.noteKept(pending.Set, g.engine.Kept())
		return err
	}
	if some, err := g.unrecorded(); err != nil || some == nil {
		return err
	}
	if err := catchUp(); err != nil {
		return err
	}
	// By the whole ledger it may have landed after all. Two can only be there when journals went more than once.
	for done := ""; ; {
		l, err := g.unrecorded()
		if err != nil || l == nil || l.ID == done {
			return err
		}
		done = l.ID
		err = g.engine.RecoverUnrecorded(ctx, *l, func(l apply.Landing, kept []change.Path) error {
			return g.recordReverted(ctx, l, "interrupted, and its journal is gone", kept)
		})
		if err != nil {
			return err
		}
	}
}

// unrecorded returns a landing of this worktree that was allowed, left working names in the tree and has neither a journal
// nor an end on record; nil when there is none.
func (g *Gate) unrecorded() (*apply.Landing, error) {
	for _, e := range append(g.allowed(), g.lastEdit()...) {
		l := g.landingOf(e)
		if is, err := g.engine.Unrecorded(l); err != nil || is {
			return &l, err
		}
	}
	return nil, nil
}

// allowed returns the sets that were allowed and have not landed: those that still may, and those that became stale, of which
// a folder that was away when recovery looked for it may hold a half.
func (g *Gate) allowed() []*projection.Entry {
	var list []*projection.Entry
	for _, e := range g.state.Ordered(g.worktree()) {
		if e.Grant == "" || e.Origin == change.OriginCommit || e.State != change.StateApproved && e.State != change.StateStale {
			continue
		}
		if _, done := g.state.Committed(e.Grant); !done {
			list = append(list, e)
		}
	}
	return list
}

// lastEdit returns the newest edit of a repository's file that was approved, if it did not land. The landing of an older one was
// put right before this one began.
func (g *Gate) lastEdit() []*projection.Entry {
	for _, e := range slices.Backward(g.state.Ordered(g.worktree())) {
		if e.Origin != change.OriginCommit || e.State != change.StateApproved || len(e.Files) != 1 {
			continue
		}
		switch e.Files[0].Path {
		case config.RepositoryFile, config.LocalFile:
			if _, done := g.state.Committed(e.Grant); done {
				return nil
			}
			return []*projection.Entry{e}
		}
	}
	return nil
}

// committed answers recovery's one question, and refuses a journal that no decision in the ledger stands behind.
func (g *Gate) committed(l apply.Landing) (bool, error) {
	e, ok := g.state.Sets[l.Set]
	if !ok || e.Grant == "" || e.Grant != l.ID || e.Digest != l.Digest || !sameSteps(stepsOf(e.Chosen()), l.Steps) {
		return false, &JournalError{Set: l.Set, Landing: l.ID}
	}
	_, done := g.state.Committed(l.ID)
	return done, nil
}

func sameSteps(a, b []change.Step) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Path != b[i].Path || !a[i].Base.Equal(b[i].Base) || !a[i].Result.SameForGit(b[i].Result) {
			return false
		}
	}
	return true
}

// noteKept tells of what somebody saved into what a landing replaced.
func (g *Gate) noteKept(set int, kept []apply.Kept) {
	for _, k := range kept {
		g.notices = append(g.notices, fmt.Sprintf("what somebody saved to %q while #%d landed is kept as %q", k.Path, set, k.Where))
	}
}

// pathWords lists the first of some paths.
func pathWords(list []change.Path) string {
	const most = 5
	var words []string
	for _, p := range list[:min(len(list), most)] {
		words = append(words, fmt.Sprintf("%q", p))
	}
	if len(list) > most {
		words = append(words, fmt.Sprintf("%d more", len(list)-most))
	}
	return strings.Join(words, ", ")
}
