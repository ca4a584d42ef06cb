package gate

import (
	"context"
	"path/filepath"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// Wait blocks until none of the sets is still to be decided or landed, or ctx ends, in which case ctx's error comes back
// and the sets are as they were last seen. The watch is armed before the ledger is read, so that an answer given in
// between is not missed.
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
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-wake:
		}
	}
}
