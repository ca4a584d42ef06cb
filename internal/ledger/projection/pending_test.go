package projection

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// TestContradictingRequests: a request ends once, by the event that names it, and only if it does not wait for ever; a verdict
// is raised before it is given.
func TestContradictingRequests(t *testing.T) {
	edit := change1("a", "1", "2")
	for _, tc := range []struct {
		name  string
		story func(s *story)
		want  string
	}{
		{"the end of a request that waits for ever", func(s *story) { s.stage(1, change.Ask, edit); s.timeOut(1) }, "of set 1 did not end"},
		{"the end of an earlier request", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.expire(1)
			first := s.fold().Sets[1].Request
			s.expire(1)
			s.add(ledger.ApprovalTimedOut, Decided{Set: 1, Request: first, Decision: change.Decision{Digest: s.digests[1]}})
		}, "of set 1 did not end"},
		{"the end of a request that was answered", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.expire(1)
			s.decide(ledger.ApprovalSkipped, 1, "person:dev")
			s.timeOut(1)
		}, "set 1 is skipped"},
		{"an answer after the end", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.expire(1)
			s.timeOut(1)
			s.decide(ledger.ApprovalGranted, 1, "person:dev")
		}, "set 1 is timed_out"},
		{"a request that ends before it begins", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.add(ledger.ApprovalPending, Pending{Set: 1, ExpiresAt: time.Unix(1, 0), AskedAt: time.Unix(1, 0), Then: "reject"})
		}, "ends before it begins"},
		{"a verdict that is lowered", func(s *story) {
			s.stage(1, change.Auto, edit)
			s.add(ledger.ApprovalEscalated, Escalated{Set: 1, From: change.Ask, To: change.Auto})
		}, `raised from "ask" to "auto"`},
		{"a verdict raised after it was asked about", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.add(ledger.ApprovalEscalated, Escalated{Set: 1, From: change.Ask, To: change.Deny})
		}, "set 1 is pending"},
		{"asking twice for ever", func(s *story) { s.stage(1, change.Ask, edit); s.add(ledger.ApprovalPending, Pending{Set: 1}) }, "set 1 is pending"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStory(t)
			s.open("s-1")
			tc.story(s)
			var contradiction *ContradictionError
			if err := New().Fold(s.events); !errors.As(err, &contradiction) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want a contradiction with %q", err, tc.want)
			}
		})
	}
}

// TestRequestsEnd: whatever the clock says, a request has ended, or ends within twice the time it was given, or was made by a
// clock that was ahead; by a clock that was right it ends in its time.
func TestRequestsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "asked"), 0)
		given := time.Duration(rapid.Int64Range(1, int64(10*365*24*time.Hour)).Draw(t, "given"))
		now := asked.Add(time.Duration(rapid.Int64Range(-1<<62, 1<<62).Draw(t, "passed")))
		e := &Entry{State: change.StatePending, Pending: Pending{AskedAt: asked, ExpiresAt: asked.Add(given), Then: "reject"}}
		left := e.Pending.ExpiresAt.Sub(now)
		switch {
		case e.Expired(now) && e.AskedAhead(now):
			t.Fatal("over, and made anew")
		case !e.Expired(now) && !e.AskedAhead(now) && (left <= 0 || left > 2*given):
			t.Fatalf("goes on for %s of %s", left, given)
		case !now.Before(asked) && e.AskedAhead(now):
			t.Fatal("made anew, and no clock was ahead")
		case e.Expired(now) != (now.Sub(asked) >= given):
			t.Fatalf("after %s of %s: over %t", now.Sub(asked), given, e.Expired(now))
		}
		for _, s := range []change.State{change.StateStaged, change.StateApproved, change.StateApplied, change.StateTimedOut, change.StateSuperseded} {
			if e.State = s; e.Expired(now) || e.AskedAhead(now) {
				t.Fatalf("%s, and ends", s)
			}
		}
		if e = (&Entry{State: change.StatePending}); e.Expired(now) || e.AskedAhead(now) {
			t.Fatal("waits for ever, and ends")
		}
	})
}
