package gate

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
)

// Fresh reports whether the real tree still holds what a waiting set is based on. It is what readers show; only a
// submission or an attempt to land makes a set stale, so a save that is taken back kills nothing.
func (g *Gate) Fresh(ctx context.Context, e *projection.Entry) bool {
	if e.Origin == change.OriginCommit || !e.State.Waits() {
		return true
	}
	return g.engine.Check(ctx, stepsOf(e.Chosen())) == nil
}

// result is a set as it stands, with the number of its undecided rest.
func (g *Gate) result(e *projection.Entry) Result {
	r := Result{Entry: e}
	for _, other := range g.state.Ordered(g.worktree()) {
		if other.Parent == e.ID && e.State == change.StatePartiallyAccepted {
			r.Rest = other.ID
		}
	}
	return r
}

// Result returns a change set of this worktree as it stands.
func (g *Gate) Result(id int) (Result, error) {
	e, err := g.Set(id)
	if err != nil {
		return Result{}, err
	}
	return g.result(e), nil
}

// CheckFresh returns a *StaleError if the real tree does not hold what these files of a set are based on. Nothing is
// recorded: nobody has tried to land it yet.
func (g *Gate) CheckFresh(ctx context.Context, e *projection.Entry, files []change.FileChange) error {
	if e.Origin == change.OriginCommit {
		return nil
	}
	err := g.engine.Check(ctx, stepsOf(files))
	var stale *apply.StaleError
	if errors.As(err, &stale) {
		return &StaleError{ID: e.ID, Paths: stalePaths(stale)}
	}
	return err
}

// Events returns the verified events of the ledger in order: all, or those about one set.
func (g *Gate) Events(id int) ([]ledger.Event, error) {
	log, err := ledger.Open(filepath.Join(StateDir(g.repo.CommonDir()), "ledger"), ledger.Options{Clock: g.clock, Rand: g.rand, Holder: g.holder})
	if err != nil {
		return nil, err
	}
	all, err := log.Refresh()
	if err != nil || id == 0 {
		return all, err
	}
	var list []ledger.Event
	for _, e := range all {
		if setOf(e) == id {
			list = append(list, e)
		}
	}
	return list, nil
}

// setOf returns the number of the set that an event speaks of, or 0.
func setOf(e ledger.Event) int {
	if e.Type == ledger.ChangeStaged {
		var d projection.ChangeStaged
		if json.Unmarshal(e.Data, &d) == nil {
			return d.Set.ID
		}
		return 0
	}
	var d projection.SetEvent
	if json.Unmarshal(e.Data, &struct {
		Set *int `json:"set"`
	}{&d.Set}) != nil {
		return 0
	}
	return d.Set
}
