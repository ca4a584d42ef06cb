package projection

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// someStory draws events that follow each other.
func someStory(t *rapid.T, tb testing.TB) *story {
	s := newStory(tb)
	s.open("s-1")
	next := 1
	of := func(state *State, want ...change.State) []int {
		var list []int
		for _, e := range state.Ordered("") {
			for _, w := range want {
				if e.State == w {
					list = append(list, e.ID)
				}
			}
		}
		return list
	}
	one := func(list []int) int { return rapid.SampledFrom(list).Draw(t, "set") }
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		state := s.fold()
		waiting, landed := of(state, change.StatePending), of(state, change.StateApplied)
		path := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "path")
		f := change1(path, rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "from"), "3")
		by := rapid.SampledFrom([]string{"correx", "person:dev"}).Draw(t, "by")
		switch what := rapid.IntRange(0, 10).Draw(t, "event"); {
		case what == 0:
			s.stage(next, rapid.SampledFrom([]change.Outcome{change.Ask, change.Deny}).Draw(t, "outcome"), f, change1("z", "1", "2"))
			next++
		case what == 1:
			s.land(next, by, f)
			next++
		case what == 2 && len(waiting) > 0:
			s.decide(ledger.ApprovalRejected, one(waiting), "person:dev")
		case what == 3 && len(waiting) > 0:
			id := one(waiting)
			s.decide(ledger.ApprovalGranted, id, "person:dev", "z")
			s.steps[id] = s.steps[id][1:]
			s.apply(id, "c")
		case what == 4 && len(waiting) > 0:
			s.add(ledger.ChangeSuperseded, Superseded{Set: one(waiting), By: next - 1})
		case what == 5 && len(waiting) > 0:
			s.add(ledger.ChangeStale, Stale{Set: one(waiting), Paths: []StalePath{{Path: "z"}}})
		case what == 10:
			s.escalate(next, rapid.SampledFrom([]change.Outcome{change.Ask, change.Deny}).Draw(t, "to"), f, change1("z", "1", "2"))
			next++
		case what == 9 && len(waiting) > 0:
			id := one(waiting)
			s.expire(id)
			if rapid.Bool().Draw(t, "over") {
				s.timeOut(id)
			}
		case what == 8 && len(waiting) > 0:
			id := one(waiting)
			s.choose(ledger.ApprovalGranted, id, part(change1("z", "1", "2"), "half"))
			s.apply(id, "c")
		case what == 6 && len(landed) > 0:
			s.revert(next, one(landed), by)
			next++
		default:
			s.add(ledger.ApprovalModeChanged, ModeChanged{Mode: change.ModePrompt})
		}
	}
	return s
}

// TestFoldInPieces: the same events give the same state, read at once, one by one, or in any pieces.
func TestFoldInPieces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := someStory(rt, t)
		whole := s.fold()
		pieces := New()
		for left := s.events; len(left) > 0; {
			n := rapid.IntRange(1, len(left)).Draw(rt, "piece")
			if err := pieces.Fold(left[:n]); err != nil {
				rt.Fatal(err)
			}
			left = left[n:]
		}
		if !reflect.DeepEqual(whole, pieces) {
			rt.Fatalf("at once %s\nin pieces %s", states(whole), states(pieces))
		}
	})
}

// TestFoldNeverPanics: an event whose data is that of another, or lacks members, is a contradiction or folds.
func TestFoldNeverPanics(t *testing.T) {
	types := []ledger.Type{
		ledger.SessionOpened, ledger.SessionClosed, ledger.ChangeStaged, ledger.PreflightCompleted, ledger.ApprovalRequired,
		ledger.ApprovalPending, ledger.ApprovalGranted, ledger.ApprovalGrantedAuto, ledger.ApprovalRejected, ledger.ApprovalSkipped, ledger.ApprovalTimedOut, ledger.ApprovalEscalated,
		ledger.ChangeApplied, ledger.ChangeStale, ledger.ChangeSuperseded, ledger.UndoIssued, ledger.UndoApplied, ledger.UndoRefused,
		ledger.LandingReverted, ledger.ApprovalModeChanged, ledger.CommitBlocked, ledger.LedgerRepaired,
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := someStory(rt, t)
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			i := rapid.IntRange(0, len(s.events)-1).Draw(rt, "event")
			switch rapid.IntRange(0, 3).Draw(rt, "how") {
			case 0:
				s.events[i].Type = rapid.SampledFrom(types).Draw(rt, "type")
			case 1:
				s.events[i].Data = s.events[rapid.IntRange(0, len(s.events)-1).Draw(rt, "other")].Data
			case 2:
				s.events[i].Data = json.RawMessage(rapid.SampledFrom([]string{"null", "{}", "[]", `{"set":1}`, "1", ""}).Draw(rt, "data"))
			case 3:
				j := rapid.IntRange(0, len(s.events)-1).Draw(rt, "with")
				s.events[i], s.events[j] = s.events[j], s.events[i]
			}
		}
		var contradiction *ContradictionError
		if err := New().Fold(s.events); err != nil && !errors.As(err, &contradiction) {
			rt.Fatalf("%T: %v", err, err)
		}
	})
}

// FuzzFold: events with any data are folded or refused, and in the same way each time.
func FuzzFold(f *testing.F) {
	s := newStory(f)
	s.open("s-1")
	s.stage(1, change.Ask, change1("a", "1", "2"))
	s.decide(ledger.ApprovalGranted, 1, "person:dev")
	s.apply(1, "c")
	for i, e := range s.events {
		f.Add(uint(i), string(e.Type), []byte(e.Data))
	}
	f.Add(uint(3), string(ledger.ChangeStale), []byte(`{"set":1,"paths":[{"path":"../x"}]}`))
	f.Fuzz(func(t *testing.T, at uint, typ string, data []byte) {
		events := append([]ledger.Event{}, s.events...)
		e := &events[at%uint(len(events))]
		e.Type, e.Data = ledger.Type(typ), json.RawMessage(data)
		one, two := New(), New()
		err1, err2 := one.Fold(events), two.Fold(events)
		if (err1 == nil) != (err2 == nil) || err1 == nil && !reflect.DeepEqual(one, two) {
			t.Errorf("%s %q folds to %v, and to %v", typ, data, err1, err2)
		}
	})
}
