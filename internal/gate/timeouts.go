package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
)

// byTimeout is how a decision was given that nobody gave.
const byTimeout = "timeout"

// request is the request for a decision on a set whose verdict has the given tier. How long it waits is settled here, once:
// every process that sees it afterwards, whatever configuration it reads, finds the same answer in the ledger.
func (g *Gate) request(id int, tier change.Tier) projection.Pending {
	p := projection.Pending{Set: id}
	if after, then, ok := g.config.Timeouts.Of(tier); ok {
		p.AskedAt, p.Then = g.clock().UTC().Round(0), string(then)
		p.ExpiresAt = p.AskedAt.Add(after)
	}
	return p
}

// endExpired ends the requests whose time is over, in every worktree of the repository: whoever sees one first closes it.
// A request made by a clock that was far ahead is made anew, so that it does not wait for as long as that clock was wrong.
//
// Where the ledger is busy or cannot be written, the requests are left to the next process: what is shown of them says that
// their time is over, and a decision looks for itself.
func (g *Gate) endExpired(ctx context.Context) error {
	now := g.clock()
	due := false
	for _, e := range g.state.Sets {
		due = due || e.Expired(now) || e.AskedAhead(now)
	}
	if !due {
		return nil
	}
	soon, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	err := g.update(soon, func() ([]ledger.Draft, error) {
		b := &batch{gate: g, actor: byEnvelope}
		for _, e := range g.state.Ordered("") {
			switch {
			case e.Expired(now):
				b.timeOut(e, now)
			case e.AskedAhead(now):
				again := e.Pending
				again.AskedAt = now.UTC().Round(0)
				again.ExpiresAt = again.AskedAt.Add(e.Pending.ExpiresAt.Sub(e.Pending.AskedAt))
				b.add(ledger.ApprovalPending, e.Request, again)
			}
		}
		return b.drafts, nil
	})
	var contradiction *projection.ContradictionError
	if ctx.Err() != nil || errors.Is(err, durable.ErrFlush) || errors.Is(err, ledger.ErrCorrupt) || errors.As(err, &contradiction) {
		return err
	}
	return nil
}

// timeOut ends the request of a set that waits.
func (b *batch) timeOut(e *projection.Entry, now time.Time) {
	p := e.Pending
	reason := fmt.Sprintf("nobody answered within %s", plainDuration(p.ExpiresAt.Sub(p.AskedAt)))
	if p.Then == string(config.ExpiryDeny) {
		reason += ", and policy then denies it"
	}
	d := change.Decision{
		Kind: change.TimedOut, By: byEnvelope, At: now.UTC().Round(0), Scope: "all", Reason: reason, How: byTimeout, Digest: e.Digest,
	}
	b.add(ledger.ApprovalTimedOut, e.Request, projection.Decided{Set: e.ID, Request: e.Request, Decision: d})
}

// decideInTime appends what a decision on a set comes to, unless the request's time is over: then that is what is recorded,
// and a *StateError returned. Between a timeout and a decision the ledger's order decides, and both are written under its lock.
func (g *Gate) decideInTime(ctx context.Context, id int, decide func() ([]ledger.Draft, error)) error {
	late := false
	err := g.update(ctx, func() ([]ledger.Draft, error) {
		e, now := g.state.Sets[id], g.clock()
		if late = e.Expired(now); !late {
			return decide()
		}
		b := &batch{gate: g, actor: byEnvelope}
		b.timeOut(e, now)
		return b.drafts, nil
	})
	if err == nil && late {
		err = &StateError{ID: id, State: change.StateTimedOut, Want: "no longer waits"}
	}
	return err
}

// plainDuration writes a duration without the parts that are nothing: "30m", not "30m0s".
func plainDuration(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-len(zero)+1]
		}
	}
	return s
}
