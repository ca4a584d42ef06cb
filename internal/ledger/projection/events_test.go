package projection

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// story makes events in order; what it has no words for is left out of their data.
type story struct {
	t      testing.TB
	events []ledger.Event
	// digests holds the digest of every set, and grants the event that let it land.
	digests map[int]string
	grants  map[int]string
	steps   map[int][]change.Step
}

func newStory(t testing.TB) *story {
	return &story{t: t, digests: map[int]string{}, grants: map[int]string{}, steps: map[int][]change.Step{}}
}

// add appends an event and returns its id.
func (s *story) add(typ ledger.Type, data any) string {
	raw, err := json.Marshal(data)
	if err != nil {
		s.t.Fatal(err)
	}
	seq := uint64(len(s.events) + 1)
	id := fmt.Sprintf("e-%d", seq)
	at := time.Date(2026, 1, 2, 3, 4, int(seq), 0, time.UTC)
	s.events = append(s.events, ledger.Event{Seq: seq, At: at, Type: typ, ID: id, Data: raw})
	return id
}

func content(s string) change.Pin {
	if s == "" {
		return change.Absent()
	}
	return change.Pin{Kind: change.KindFile, Perm: 0o644, Size: int64(len(s)), SHA256: s}
}

// change1 is an edit of one path.
func change1(path, from, to string) change.FileChange {
	return change.FileChange{Path: change.Path(path), Op: change.OpEdit, Base: content(from), Proposed: content(to), Bytes: int64(len(from) + len(to))}
}

func (s *story) open(session string) {
	s.add(ledger.SessionOpened, SessionOpened{Session: session, Worktree: "main"})
}

// stage stages a set with the verdict outcome, and asks where that asks.
func (s *story) stage(id int, outcome change.Outcome, files ...change.FileChange) {
	set := change.Set{ID: id, Session: "s-1", Worktree: "main", Origin: change.OriginShadow, Files: files, Digest: change.Digest(files)}
	s.put(set, outcome)
}

func (s *story) put(set change.Set, outcome change.Outcome) {
	s.digests[set.ID] = set.Digest
	s.steps[set.ID] = set.Steps()
	s.add(ledger.ChangeStaged, ChangeStaged{Set: set})
	s.add(ledger.PreflightCompleted, PreflightCompleted{Set: set.ID, Verdict: change.Verdict{Outcome: outcome}})
	if outcome == change.Ask {
		s.add(ledger.ApprovalRequired, SetEvent{Set: set.ID})
		s.add(ledger.ApprovalPending, SetEvent{Set: set.ID})
	}
}

// escalate stages a set whose verdict the user's program raised.
func (s *story) escalate(id int, to change.Outcome, files ...change.FileChange) {
	set := change.Set{ID: id, Session: "s-1", Worktree: "main", Origin: change.OriginShadow, Files: files, Digest: change.Digest(files)}
	s.digests[id], s.steps[id] = set.Digest, set.Steps()
	s.add(ledger.ChangeStaged, ChangeStaged{Set: set})
	s.add(ledger.ApprovalEscalated, Escalated{Set: id, From: change.Auto, To: to, Reason: "look"})
	s.add(ledger.PreflightCompleted, PreflightCompleted{Set: id, Verdict: change.Verdict{Outcome: to}})
	if to == change.Ask {
		s.add(ledger.ApprovalPending, Pending{Set: id})
	}
}

// expire gives a set that waits a request that ends, and timeOut ends the set's newest request.
func (s *story) expire(id int) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.add(ledger.ApprovalPending, Pending{Set: id, AskedAt: at, ExpiresAt: at.Add(time.Hour), Then: "reject"})
}

func (s *story) timeOut(id int) {
	e := s.fold().Sets[id]
	s.add(ledger.ApprovalTimedOut, Decided{Set: id, Request: e.Request, Decision: change.Decision{Kind: change.TimedOut, By: "correx", Digest: e.Digest}})
}

func (s *story) decide(t ledger.Type, id int, by string, only ...change.Path) {
	d := change.Decision{By: by, Digest: s.digests[id]}
	s.grants[id] = s.add(t, Decided{Set: id, Decision: d, Only: only})
}

// part is the choice of hunk 1 of 2 in an edit whose contents count as two changed lines.
func part(f change.FileChange, to string) ChosenHunks {
	f.Proposed, f.Added, f.Removed = content(to), 1, 1
	return ChosenHunks{File: f, Chosen: []change.Hunk{{Number: 1, OldStart: 1, OldLines: 1, NewStart: 1, NewLines: 1}}, Of: 2}
}

// choose approves hunks of a set, and lands what they come to.
func (s *story) choose(t ledger.Type, id int, h ChosenHunks) {
	d := change.Decision{By: "person:dev", Digest: s.digests[id]}
	s.grants[id] = s.add(t, Decided{Set: id, Decision: d, Only: []change.Path{h.File.Path}, Hunks: &h})
	s.steps[id] = h.File.Steps()
}

func (s *story) apply(id int, credential string) {
	s.add(ledger.ChangeApplied, Applied{Set: id, Landing: s.grants[id], Steps: s.steps[id], Credential: credential})
}

// land stages, approves and lands an edit.
func (s *story) land(id int, by string, f change.FileChange) {
	if by == "correx" {
		s.stage(id, change.Auto, f)
		s.decide(ledger.ApprovalGrantedAuto, id, by)
	} else {
		s.stage(id, change.Ask, f)
		s.decide(ledger.ApprovalGranted, id, by)
	}
	s.apply(id, fmt.Sprintf("c-%d", id))
}

// revert lands a set that takes target back.
func (s *story) revert(id, target int, by string) {
	var files []change.FileChange
	for _, st := range s.steps[target] {
		files = append(files, change.FileChange{Path: st.Path, Op: change.OpEdit, Base: st.Result, Proposed: st.Base})
	}
	set := change.Set{ID: id, Session: "s-1", Worktree: "main", Origin: change.OriginUndo, Reverts: target, Files: files, Digest: change.Digest(files)}
	s.put(set, change.Auto)
	t := ledger.ApprovalGranted
	if by == "correx" {
		t = ledger.ApprovalGrantedAuto
	}
	s.decide(t, id, by)
	s.add(ledger.UndoApplied, Applied{Set: id, Reverts: target, Landing: s.grants[id], Steps: s.steps[id], Credential: fmt.Sprintf("c-%d", id)})
}

// fold returns the state after all events.
func (s *story) fold() *State {
	s.t.Helper()
	state := New()
	if err := state.Fold(s.events); err != nil {
		s.t.Fatal(err)
	}
	return state
}

// states writes the state of each set: "1 applied, 2 pending".
func states(s *State) string {
	var list []string
	for _, e := range s.Ordered("") {
		list = append(list, fmt.Sprintf("%d %s", e.ID, e.State))
	}
	return strings.Join(list, ", ")
}
