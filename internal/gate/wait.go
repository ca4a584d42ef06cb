package gate

import (
	"context"
	"path/filepath"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// Wait blocks until none of the sets is still to be decided or landed, or ctx ends, in which case ctx's error comes back
// and the sets are as they were last seen. The watch is armed before the ledger is read, so that an answer given in
// between is not missed. A request whose time is over meanwhile is ended.
func (g *Gate) Wait(ctx context.Context, ids []int) ([]Result, error) {
	for _, id := range ids {
		if _, err := g.Set(id); err != nil {
			return nil, err
		}
	}
	wake, err := ledger.Watch(ctx, filepath.Dir(g.log.Path()))
	if err != nil {
		return nil, err
	}
	for {
		if err := g.refresh(); err != nil {
			return nil, err
		}
		if err := g.endExpired(ctx); err != nil && ctx.Err() == nil {
			return nil, err
		}
		open := false
		var out []Result
		for _, id := range ids {
			e := g.state.Sets[id]
			open = open || e.State == change.StatePending || e.State == change.StateStaged ||
				e.State == change.StateApproved && e.Origin != change.OriginCommit
			out = append(out, g.result(e))
		}
		if !open {
			return out, nil
		}
		due, stop := g.nextExpiry(ids)
		select {
		case <-ctx.Done():
			stop()
			return out, ctx.Err()
		case <-wake:
		case <-due:
		}
		stop()
	}
}

// nextExpiry returns a channel on which it is told that the first of the requests for the sets ends, and what takes that
// back. Of one that has ended, and could not be recorded as such, nothing is told: the next tick tries again.
func (g *Gate) nextExpiry(ids []int) (<-chan time.Time, func()) {
	left := time.Duration(0)
	now := g.clock()
	for _, id := range ids {
		if at, ok := g.state.Sets[id].Expires(); ok && at.After(now) && (left == 0 || at.Sub(now) < left) {
			left = at.Sub(now)
		}
	}
	if left == 0 {
		return nil, func() {}
	}
	t := time.NewTimer(left)
	return t.C, func() { t.Stop() }
}
