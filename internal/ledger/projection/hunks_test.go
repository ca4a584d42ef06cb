package projection

import (
	"errors"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

func TestHunksOfASet(t *testing.T) {
	edit, other := change1("a", "1", "2"), change1("b", "1", "2")
	s := newStory(t)
	s.open("s-1")
	s.stage(1, change.Ask, edit, other)
	s.choose(ledger.ApprovalGranted, 1, part(edit, "half"))
	e := s.fold().Sets[1]
	if e.State != change.StateApproved || e.FileState(0) != change.FileApproved || e.FileState(1) != change.FilePending || !e.InPart() {
		t.Errorf("approved: %s, %s, %s", e.State, e.FileState(0), e.FileState(1))
	}
	if got := e.Chosen(); len(got) != 1 || got[0].Proposed != content("half") || got[0].Base != edit.Base {
		t.Errorf("lands %+v", got)
	}
	s.apply(1, "c")
	e = s.fold().Sets[1]
	if e.State != change.StatePartiallyAccepted || e.FileState(0) != change.FileState(change.StatePartiallyAccepted) || e.FileState(1) != change.FilePending {
		t.Errorf("landed: %s, %s, %s", e.State, e.FileState(0), e.FileState(1))
	}
	s.revert(2, 1, "person:dev")
	state := s.fold()
	if e := state.Sets[1]; e.State != change.StateUndone || e.FileState(0) != change.FileUndone {
		t.Errorf("taken back: %s, %s", e.State, e.FileState(0))
	}
	half := edit
	half.Proposed = content("half")
	if _, refused := state.Refused("main", half); !refused {
		t.Error("what was taken back is not refused")
	}
	if _, refused := state.Refused("main", edit); refused {
		t.Error("all of it is refused, a part was taken back")
	}
	s.revert(3, 2, "person:dev")
	if e := s.fold().Sets[1]; e.State != change.StatePartiallyAccepted {
		t.Errorf("back again: %s", e.State)
	}
}

// TestHunksOfOnlyFile: a set of one file lands in part when some of its hunks do.
func TestHunksOfOnlyFile(t *testing.T) {
	edit := change1("a", "1", "2")
	s := newStory(t)
	s.open("s-1")
	s.stage(1, change.Ask, edit)
	s.choose(ledger.ApprovalGranted, 1, part(edit, "half"))
	s.apply(1, "c")
	if got := states(s.fold()); got != "1 partially_accepted" {
		t.Error(got)
	}
}

// TestHunksThatDoNotFit: a choice that cannot be made of the set it is about is a contradiction.
func TestHunksThatDoNotFit(t *testing.T) {
	edit := change1("a", "1", "2")
	for name, tc := range map[string]struct {
		spoil func(*Decided, *ChosenHunks)
		want  string
	}{
		"another path":         {func(_ *Decided, h *ChosenHunks) { h.File.Path = "c" }, "not the one path"},
		"more paths":           {func(d *Decided, _ *ChosenHunks) { d.Only = append(d.Only, "b") }, "not the one path"},
		"no path":              {func(d *Decided, _ *ChosenHunks) { d.Only = nil }, "not the one path"},
		"a path for another":   {func(d *Decided, _ *ChosenHunks) { d.Only = []change.Path{"b"} }, "not the one path"},
		"a delete":             {func(d *Decided, h *ChosenHunks) { d.Only, h.File.Path = []change.Path{"d"}, "d" }, "which has none"},
		"a delete of it":       {func(_ *Decided, h *ChosenHunks) { h.File.Op, h.File.Proposed = change.OpDelete, change.Absent() }, "which has none"},
		"a rename of it":       {func(_ *Decided, h *ChosenHunks) { h.File.Op, h.File.OldPath = change.OpRename, "b" }, "which has none"},
		"another base":         {func(_ *Decided, h *ChosenHunks) { h.File.Base = content("9") }, "does not lead from its base"},
		"the base":             {func(_ *Decided, h *ChosenHunks) { h.File.Proposed = h.File.Base }, "does not lead from its base"},
		"another mode":         {func(_ *Decided, h *ChosenHunks) { h.File.Proposed.Perm = 0o755 }, "does not lead from its base"},
		"no digest":            {func(_ *Decided, h *ChosenHunks) { h.File.Proposed.SHA256 = "" }, "does not lead from its base"},
		"no hunk":              {func(_ *Decided, h *ChosenHunks) { h.Chosen = nil }, "not in order"},
		"no number":            {func(_ *Decided, h *ChosenHunks) { h.Chosen[0].Number = 0 }, "not in order"},
		"a number too high":    {func(_ *Decided, h *ChosenHunks) { h.Chosen[0].Number = 3 }, "not in order"},
		"a number twice":       {func(_ *Decided, h *ChosenHunks) { h.Chosen = append(h.Chosen, h.Chosen[0]) }, "not in order"},
		"other counts":         {func(_ *Decided, h *ChosenHunks) { h.Chosen[0].NewLines = 2 }, "not in order"},
		"counts below nothing": {func(_ *Decided, h *ChosenHunks) { h.Chosen[0].OldLines = -1 }, "not in order"},
		"counts out of bounds": {func(_ *Decided, h *ChosenHunks) { h.Chosen[0].OldStart = int(^uint(0) >> 1) }, "not in order"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.open("s-1")
			gone := change1("d", "1", "")
			gone.Op = change.OpDelete
			s.stage(1, change.Ask, edit, change1("b", "1", "2"), gone)
			h := part(edit, "half")
			d := Decided{Set: 1, Decision: change.Decision{By: "person:dev", Digest: s.digests[1]}, Only: []change.Path{"a"}, Hunks: &h}
			tc.spoil(&d, &h)
			s.add(ledger.ApprovalGranted, d)
			contradicts(t, s, tc.want)
		})
	}
}

// TestHunksOfNobody: only a person's yes to a submission chooses hunks.
func TestHunksOfNobody(t *testing.T) {
	edit := change1("a", "1", "2")
	s := newStory(t)
	s.open("s-1")
	s.stage(1, change.Ask, edit)
	s.choose(ledger.ApprovalRejected, 1, part(edit, "half"))
	contradicts(t, s, "is no person's yes")
	s = newStory(t)
	s.open("s-1")
	s.stage(1, change.Auto, edit)
	s.choose(ledger.ApprovalGrantedAuto, 1, part(edit, "half"))
	contradicts(t, s, "is no person's yes")
	for _, origin := range []change.Origin{change.OriginCommit, change.OriginUndo} {
		s = newStory(t)
		files := []change.FileChange{edit}
		outcome := change.Ask
		if origin == change.OriginUndo {
			outcome = change.Auto
		}
		s.put(change.Set{ID: 1, Worktree: "main", Origin: origin, Files: files, Digest: change.Digest(files)}, outcome)
		s.choose(ledger.ApprovalGranted, 1, part(edit, "half"))
		contradicts(t, s, "of a set of origin")
	}
}

func contradicts(t *testing.T, s *story, want string) {
	t.Helper()
	var contradiction *ContradictionError
	if err := New().Fold(s.events); !errors.As(err, &contradiction) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want a contradiction with %q", err, want)
	}
}
