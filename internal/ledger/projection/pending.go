package projection

import (
	"fmt"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// Pending is the request for a decision (ApprovalPending). One that ends unless somebody answers says when, and by which
// setting. A later one about a set that waits takes the place of the first.
type Pending struct {
	Set int `json:"set"`
	// AskedAt is what the clock said when the request was made, and ExpiresAt when it ends; both are missing where it waits
	// for ever, and so is Then: "reject" or "auto_deny".
	AskedAt   time.Time `json:"asked_at,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Then      string    `json:"then,omitempty"`
}

func (s *State) pending(e ledger.Event) error {
	d, err := decode[Pending](e)
	if err != nil {
		return err
	}
	from := []change.State{change.StateStaged}
	if !d.ExpiresAt.IsZero() {
		from = append(from, change.StatePending)
		if d.Then == "" || !d.ExpiresAt.After(d.AskedAt) {
			return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("the request for set %d ends before it begins, or in no way", d.Set)}
		}
	}
	x, err := s.about(e, d.Set, from...)
	if err != nil {
		return err
	}
	x.State, x.Request, x.Pending = change.StatePending, e.ID, d
	return nil
}

// timedOut ends a request that nobody answered. No person has decided, so the budget stays as it is.
func (s *State) timedOut(e ledger.Event) error {
	d, err := decode[Decided](e)
	if err != nil {
		return err
	}
	x, err := s.about(e, d.Set, change.StatePending)
	if err != nil {
		return err
	}
	if d.Request != x.Request || d.Decision.Digest != x.Digest || x.Pending.ExpiresAt.IsZero() {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("request %q of set %d did not end: it waits by %q", d.Request, d.Set, x.Request)}
	}
	x.State, x.Decision = change.StateTimedOut, &d.Decision
	return nil
}

// Expires returns when the set's request ends; ok is false if it does not wait, or waits for ever.
func (e *Entry) Expires() (at time.Time, ok bool) {
	return e.Pending.ExpiresAt, e.State == change.StatePending && !e.Pending.ExpiresAt.IsZero()
}

// Expired reports whether the set waits and its request has ended by now.
func (e *Entry) Expired(now time.Time) bool {
	at, ok := e.Expires()
	return ok && !now.Before(at)
}

// AskedAhead reports whether the set waits and its request was made by a clock so far ahead of now that it would wait more
// than twice as long as it should.
func (e *Entry) AskedAhead(now time.Time) bool {
	at, ok := e.Expires()
	return ok && at.Sub(now) > 2*at.Sub(e.Pending.AskedAt)
}
