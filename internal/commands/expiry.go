package commands

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
)

// expiryWords says until when a set waits, and what then; "" where it does not wait, or waits for ever.
func expiryWords(e *projection.Entry, now time.Time) string {
	at, ok := e.Expires()
	if !ok {
		return ""
	}
	when, then := at.Local().Format("2006-01-02 15:04:05"), visible(e.Pending.Then)
	if e.Expired(now) {
		return fmt.Sprintf("%s, that is over: it ends as timed out (%s) once the ledger can be written", when, then)
	}
	return fmt.Sprintf("%s, in %s: then it ends as timed out (%s)", when, until(at.Sub(now)), then)
}

// until writes how long it is until something happens, rounded up.
func until(d time.Duration) string {
	up := func(unit time.Duration) time.Duration { return (d + unit - 1) / unit }
	switch {
	case d <= time.Minute:
		return fmt.Sprintf("%d s", up(time.Second))
	case d <= time.Hour:
		return fmt.Sprintf("%d min", up(time.Minute))
	case d <= 48*time.Hour:
		return fmt.Sprintf("%d h", up(time.Hour))
	}
	return fmt.Sprintf("%d days", up(24*time.Hour))
}

// eventNote is what an event of the log says besides its type and actor, where that is more than its set.
func eventNote(e ledger.Event) string {
	switch e.Type {
	case ledger.ApprovalPending:
		var d projection.Pending
		if json.Unmarshal(e.Data, &d) == nil && !d.ExpiresAt.IsZero() {
			return fmt.Sprintf("  until %s, then %s", d.ExpiresAt.Local().Format("2006-01-02 15:04:05"), visible(d.Then))
		}
	case ledger.ApprovalEscalated:
		var d projection.Escalated
		if json.Unmarshal(e.Data, &d) == nil {
			return fmt.Sprintf("  %s to %s: %s", visible(string(d.From)), visible(string(d.To)), visible(d.Reason))
		}
	case ledger.ApprovalTimedOut:
		var d projection.Decided
		if json.Unmarshal(e.Data, &d) == nil {
			return "  " + visible(d.Decision.Reason)
		}
	}
	return ""
}
