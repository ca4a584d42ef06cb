package commands

import (
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
)

// Only commands that would do something are named: what was approved cannot be rejected, what is stale cannot land.
func TestDecideHint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state change.State
		fresh bool
		want  string
	}{
		{change.StatePending, true, "correx approve 7, or correx reject 7 --reason TEXT"},
		{change.StatePending, false, "correx reject 7 --reason TEXT"},
		{change.StateApproved, true, "correx approve 7"},
		{change.StateApproved, false, ""},
	} {
		if got := decideHint(&projection.Entry{Set: change.Set{ID: 7}, State: c.state}, c.fresh); got != c.want {
			t.Errorf("%s, fresh %v: %q, want %q", c.state, c.fresh, got, c.want)
		}
	}
}
