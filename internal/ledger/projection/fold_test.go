package projection

import (
	"errors"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

func TestContradictions(t *testing.T) {
	edit := change1("a", "1", "2")
	for _, tc := range []struct {
		name  string
		story func(*story)
		want  string
	}{
		{"a session twice", func(s *story) { s.open("s-1") }, "was opened before"},
		{"a session without a name", func(s *story) { s.open("") }, "was opened before"},
		{"closing what is not open", func(s *story) { s.add(ledger.SessionClosed, SessionClosed{Session: "s-9"}) }, "is not open"},
		{"closing twice", func(s *story) {
			s.add(ledger.SessionClosed, SessionClosed{Session: "s-1"})
			s.add(ledger.SessionClosed, SessionClosed{Session: "s-1"})
		}, "is not open"},
		{"a number left out", func(s *story) { s.stage(2, change.Ask, edit) }, "set 2 follows set 0"},
		{"a number twice", func(s *story) { s.stage(1, change.Ask, edit); s.stage(1, change.Ask, edit) }, "set 1 follows set 1"},
		{"another digest", func(s *story) {
			s.put(change.Set{ID: 1, Files: []change.FileChange{edit}, Digest: change.Digest(nil)}, change.Ask)
		}, "its files give"},
		{"a verdict on nothing", func(s *story) { s.add(ledger.PreflightCompleted, PreflightCompleted{Set: 1}) }, "there is no set 1"},
		{"a second verdict", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.add(ledger.PreflightCompleted, PreflightCompleted{Set: 1})
		}, "set 1 is pending"},
		{"asking about nothing", func(s *story) { s.add(ledger.ApprovalRequired, SetEvent{Set: 3}) }, "there is no set 3"},
		{"asking about what is denied", func(s *story) {
			s.stage(1, change.Deny, edit)
			s.add(ledger.ApprovalPending, SetEvent{Set: 1})
		}, "set 1 is denied"},
		{"a yes that nobody asked for", func(s *story) {
			s.stage(1, change.Auto, edit)
			s.decide(ledger.ApprovalGranted, 1, "person:dev")
		}, "set 1 is staged"},
		{"a yes by itself to what asks", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.decide(ledger.ApprovalGrantedAuto, 1, "correx")
		}, "set 1 is pending"},
		{"a yes to other content", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.add(ledger.ApprovalGranted, Decided{Set: 1, Decision: change.Decision{Digest: "other"}})
		}, "the decision names digest other"},
		{"two decisions", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.decide(ledger.ApprovalRejected, 1, "person:dev")
			s.decide(ledger.ApprovalGranted, 1, "person:dev")
		}, "set 1 is rejected"},
		{"landing without a yes", func(s *story) { s.stage(1, change.Ask, edit); s.apply(1, "c") }, "set 1 is pending"},
		{"landing under another yes", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.decide(ledger.ApprovalGranted, 1, "person:dev")
			s.grants[1] = "e-99"
			s.apply(1, "c")
		}, `landed under "e-99"`},
		{"landing twice", func(s *story) { s.land(1, "correx", edit); s.apply(1, "c") }, "set 1 is applied"},
		{"an undo that is none", func(s *story) {
			s.stage(1, change.Auto, edit)
			s.decide(ledger.ApprovalGrantedAuto, 1, "correx")
			s.add(ledger.UndoApplied, Applied{Set: 1, Reverts: 7, Landing: s.grants[1]})
		}, "set 1 landed under"},
		{"taking back what is not there", func(s *story) {
			s.land(1, "correx", edit)
			s.revert(2, 1, "person:dev")
			s.steps[1] = s.steps[2]
			s.revert(3, 1, "person:dev")
		}, "reverts set 1, which is not landed"},
		{"stale after landing", func(s *story) { s.land(1, "correx", edit); s.add(ledger.ChangeStale, Stale{Set: 1}) }, "set 1 is applied"},
		{"replaced after landing", func(s *story) { s.land(1, "correx", edit); s.add(ledger.ChangeSuperseded, Superseded{Set: 1}) }, "set 1 is applied"},
		{"replaced twice", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.add(ledger.ChangeSuperseded, Superseded{Set: 1})
			s.add(ledger.ChangeSuperseded, Superseded{Set: 1})
		}, "set 1 is superseded"},
		{"back without a landing", func(s *story) { s.stage(1, change.Ask, edit); s.add(ledger.LandingReverted, Reverted{Set: 1}) }, "set 1 is pending"},
		{"refusing to undo nothing", func(s *story) { s.add(ledger.UndoRefused, UndoRefused{Set: 1}) }, "there is no set 1"},
		{"a mode that is none", func(s *story) { s.add(ledger.ApprovalModeChanged, ModeChanged{Mode: "loose"}) }, `unknown mode "loose"`},
		{"data of another kind", func(s *story) { s.add(ledger.ChangeStaged, []int{1}) }, "data cannot be read"},
		{"a path that is none", func(s *story) {
			s.add(ledger.ChangeStale, map[string]any{"set": 1, "paths": []any{map[string]any{"path": "../x"}}})
		}, "data cannot be read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStory(t)
			s.open("s-1")
			tc.story(s)
			state := New()
			err := state.Fold(s.events)
			var contradiction *ContradictionError
			if !errors.As(err, &contradiction) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want a contradiction with %q", err, tc.want)
			}
			if e := s.events[state.Seq]; contradiction.Seq != e.Seq || contradiction.Type != e.Type {
				t.Errorf("event %d (%s) is named, folded up to %d", contradiction.Seq, contradiction.Type, state.Seq)
			}
		})
	}
}

func TestStatesOfASet(t *testing.T) {
	edit, other := change1("a", "1", "2"), change1("b", "1", "2")
	for _, tc := range []struct {
		name  string
		story func(*story)
		want  string
	}{
		{"staged", func(s *story) { s.stage(1, change.Auto, edit) }, "1 staged"},
		{"denied", func(s *story) { s.stage(1, change.Deny, edit) }, "1 denied"},
		{"waiting", func(s *story) { s.stage(1, change.Ask, edit) }, "1 pending"},
		{"by itself", func(s *story) { s.land(1, "correx", edit) }, "1 applied"},
		{"by a person", func(s *story) { s.land(1, "person:dev", edit) }, "1 applied"},
		{"approved and interrupted", func(s *story) {
			s.stage(1, change.Ask, edit)
			s.decide(ledger.ApprovalGranted, 1, "person:dev")
			s.add(ledger.LandingReverted, Reverted{Set: 1})
		}, "1 approved"},
		{"in part", func(s *story) {
			s.stage(1, change.Ask, edit, other)
			s.decide(ledger.ApprovalGranted, 1, "person:dev", "b")
			s.apply(1, "c")
		}, "1 partially_accepted"},
		{"taken back", func(s *story) { s.land(1, "correx", edit); s.revert(2, 1, "person:dev") }, "1 undone, 2 applied"},
		{"and forth", func(s *story) {
			s.land(1, "correx", edit)
			s.revert(2, 1, "person:dev")
			s.revert(3, 2, "person:dev")
		}, "1 applied, 2 undone, 3 applied"},
		{"and back again", func(s *story) {
			s.land(1, "correx", edit)
			s.revert(2, 1, "person:dev")
			s.revert(3, 2, "person:dev")
			s.revert(4, 3, "person:dev")
		}, "1 undone, 2 applied, 3 undone, 4 applied"},
		{"a part taken back and forth", func(s *story) {
			s.stage(1, change.Ask, edit, other)
			s.decide(ledger.ApprovalGranted, 1, "person:dev", "b")
			s.steps[1] = s.steps[1][1:]
			s.apply(1, "c")
			s.revert(2, 1, "person:dev")
			s.revert(3, 2, "person:dev")
		}, "1 partially_accepted, 2 undone, 3 applied"},
		{"what is not known changes nothing", func(s *story) { s.stage(1, change.Ask, edit); s.add("SomethingLater", 5) }, "1 pending"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStory(t)
			s.open("s-1")
			tc.story(s)
			if got := states(s.fold()); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestBudgetIsSpentByWhatLandsByItself(t *testing.T) {
	s := newStory(t)
	s.open("s-1")
	used := func(files int, bytes int64) {
		t.Helper()
		if x := s.fold().Sessions["s-1"]; x.UsedFiles != files || x.UsedBytes != bytes {
			t.Errorf("used %d files, %d bytes; want %d, %d", x.UsedFiles, x.UsedBytes, files, bytes)
		}
	}
	s.land(1, "correx", change1("a", "1", "22"))
	s.land(2, "correx", change1("b", "1", "2"))
	used(2, 5)
	s.revert(3, 2, "correx")
	used(2, 5)
	s.revert(4, 1, "person:dev")
	used(2, 5)
	s.stage(5, change.Ask, change1("c", "1", "2"))
	used(2, 5)
	s.decide(ledger.ApprovalRejected, 5, "person:dev")
	used(0, 0)
	s.land(6, "correx", change1("d", "1", "2"))
	used(1, 2)
	s.land(7, "person:dev", change1("e", "1", "2"))
	used(0, 0)
	s.land(8, "correx", change1("f", "1", "2"))
	s.stage(9, change.Ask, change1("g", "1", "2"))
	s.decide(ledger.ApprovalSkipped, 9, "person:dev")
	used(0, 0)
}

func TestRefusedBytes(t *testing.T) {
	edit := change1("a", "1", "2")
	s := newStory(t)
	s.open("s-1")
	refused := func(f change.FileChange, by int) {
		t.Helper()
		got := 0
		if e, ok := s.fold().Refused("main", f); ok {
			got = e.ID
		}
		if got != by {
			t.Errorf("refused by %d, want %d", got, by)
		}
	}
	s.stage(1, change.Ask, edit)
	refused(edit, 0)
	s.decide(ledger.ApprovalRejected, 1, "person:dev")
	refused(edit, 1)
	refused(change1("a", "1", "3"), 0)
	refused(change1("a", "9", "2"), 0)
	refused(change1("b", "1", "2"), 0)
	if _, ok := s.fold().Refused("w-side", edit); ok {
		t.Error("refused in another worktree")
	}
	s.stage(2, change.Ask, edit)
	s.decide(ledger.ApprovalRejected, 2, "person:dev")
	refused(edit, 1)
	s.land(3, "person:dev", edit)
	refused(edit, 0)
	s.revert(4, 3, "correx")
	refused(edit, 0)
	s.revert(5, 4, "person:dev")
	refused(edit, 0)
	s.steps[3] = s.steps[5]
	s.revert(6, 3, "person:dev")
	refused(edit, 3)
	if _, ok := s.fold().AllRefused("main", []change.FileChange{edit, change1("b", "1", "2")}); ok {
		t.Error("all are refused where one is not")
	}
	s.revert(7, 6, "person:dev")
	refused(edit, 0)
}

func TestCredentials(t *testing.T) {
	s := newStory(t)
	s.open("s-1")
	s.land(1, "correx", change1("a", "1", "2"))
	s.revert(2, 1, "correx")
	state := s.fold()
	for digest, want := range map[string]int{"c-1": 1, "c-2": 2} {
		if e, ok := state.ByCredential(digest); !ok || e.ID != want {
			t.Errorf("%s names %v, %v; want set %d", digest, e, ok, want)
		}
	}
	if _, ok := state.ByCredential(""); ok {
		t.Error("no credential at all names a set")
	}
}

// TestFirstBase is about what an edit is measured against: the content before the changes that landed by themselves since
// a person last decided on the path.
func TestFirstBase(t *testing.T) {
	s := newStory(t)
	s.open("s-1")
	base := func(want string) {
		t.Helper()
		got, ok := s.fold().FirstBase("main", "a")
		if ok != (want != "") || ok && got.SHA256 != want {
			t.Errorf("got %v, %v; want %q", got, ok, want)
		}
	}
	base("")
	s.land(1, "correx", change1("a", "1", "2"))
	base("1")
	s.land(2, "correx", change1("b", "7", "8"))
	s.land(3, "correx", change1("a", "2", "3"))
	base("1")
	s.land(4, "person:dev", change1("a", "3", "4"))
	base("")
	s.land(5, "correx", change1("a", "4", "5"))
	base("4")
}
