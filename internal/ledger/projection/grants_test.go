package projection

import (
	"errors"
	"slices"
	"testing"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

func (s *story) reuse(id int, hits ...string) {
	d := change.Decision{By: "correx", How: "grant", Digest: s.digests[id]}
	data := Decided{Set: id, Decision: d, GrantHit: hits[0]}
	if len(hits) > 1 {
		data.GrantHits = hits
	}
	s.grants[id] = s.add(ledger.ApprovalReused, data)
}

func (s *story) grant(t ledger.Type, id string, scope grants.Scope, began string) {
	s.add(t, GrantAdded{Grant: grants.Grant{ID: id, Scope: scope, Ops: change.Ops(), Paths: []string{"a"}}, Session: "s-1", Stage: "x", Began: began})
}

// edit stages and approves the edit of a repository's file, and editLanded closes a landing of one.
func (s *story) edit(id int) {
	files := []change.FileChange{change1(".correx.toml", "1", "2")}
	s.put(change.Set{ID: id, Worktree: "main", Origin: change.OriginCommit, Files: files, Digest: change.Digest(files)}, change.Ask)
	s.decide(ledger.ApprovalGranted, id, "person:dev")
}

func (s *story) editLanded(landing string) {
	s.add(ledger.GrantLoadedFromProject, GrantLoaded{Grant: grants.Grant{ID: "g", Scope: grants.Project}, File: ".correx.toml", How: "terminal", Landing: landing})
}

func standing(s *State) []string {
	list := []string{}
	for _, h := range s.Grants.Standing() {
		list = append(list, h.ID)
	}
	return list
}

// TestGrantsInTheFold: grants end with what they are for; their uses are counted, and are no decision of a person.
func TestGrantsInTheFold(t *testing.T) {
	s := newStory(t)
	s.open("s-1")
	s.grant(ledger.ApprovalSessionGrantAdded, "g-1", grants.Session, "")
	began := s.add(ledger.StageBegan, Stage{"s-1", "x"})
	s.grant(ledger.ApprovalStageGrantAdded, "g-2", grants.Stage, began)
	s.stage(1, change.Auto, change1("a", "1", "2"))
	s.reuse(1, "g-1")
	s.apply(1, "c-1")
	s.add(ledger.GrantLoadedFromProject, GrantLoaded{Grant: grants.Grant{ID: "g-3", Scope: grants.Project}, File: ".correx.toml"})
	s.stage(2, change.Auto, change1("b", "1", "2"))
	s.reuse(2, "g-3", "g-1")
	s.apply(2, "c-2")
	state := s.fold()
	if got := states(state); got != "1 applied, 2 applied" {
		t.Errorf("%s", got)
	}
	if got := standing(state); !slices.Equal(got, []string{"g-1", "g-2"}) {
		t.Errorf("%v stand", got)
	}
	if h, _ := state.Grants.Get("g-1"); h.Uses != 2 || h.LastSet != 2 || h.LastUse != "2026-01-02T03:04:12Z" {
		t.Errorf("%+v", h)
	}
	if h, _ := state.Grants.Get("g-3"); h.Uses != 1 || h.By != "" {
		t.Errorf("%+v", h)
	}
	if x := state.Sessions["s-1"]; x.UsedFiles != 2 || x.Stage != "x" {
		t.Errorf("%+v", x)
	}
	if e := state.Sets[2]; !slices.Equal(e.GrantHits, []string{"g-3", "g-1"}) {
		t.Errorf("%+v", e)
	}
	s.add(ledger.StageEnded, Stage{"s-1", "x"})
	again := s.add(ledger.StageBegan, Stage{"s-1", "x"})
	if got := standing(s.fold()); !slices.Equal(got, []string{"g-1"}) {
		t.Errorf("a stage of the same name brings a grant back: %v", got)
	}
	s.grant(ledger.ApprovalStageGrantAdded, "g-4", grants.Stage, again)
	s.add(ledger.GrantRevoked, GrantRevoked{Grant: "g-1", Scope: grants.Session})
	if got := standing(s.fold()); !slices.Equal(got, []string{"g-4"}) {
		t.Errorf("%v stand", got)
	}
	s.add(ledger.SessionClosed, SessionClosed{Session: "s-1"})
	if got := standing(s.fold()); len(got) > 0 {
		t.Errorf("%v stand after the session", got)
	}
}

// TestEditsLand: the event of a grant closes the landing that it names, also where the grant was known, and no other.
func TestEditsLand(t *testing.T) {
	s := newStory(t)
	s.edit(1)
	s.edit(2)
	s.editLanded(s.grants[1])
	s.add(ledger.GrantRevoked, GrantRevoked{Grant: "g", Scope: grants.Project})
	if _, done := s.fold().Committed(s.grants[2]); done {
		t.Error("an event without a landing closed one")
	}
	s.add(ledger.GrantRevoked, GrantRevoked{Grant: "g", Scope: grants.Project, Landing: s.grants[2]})
	s.edit(3)
	state := s.fold()
	for id, want := range map[int]bool{1: true, 2: true, 3: false} {
		if _, done := state.Committed(s.grants[id]); done != want {
			t.Errorf("#%d landed: %t", id, done)
		}
	}
	if got := states(state); got != "1 approved, 2 approved, 3 approved" {
		t.Errorf("%s", got)
	}
}

// TestGrantContradictions: no grant without what it is for, and no stage inside a stage.
func TestGrantContradictions(t *testing.T) {
	for name, tell := range map[string]func(s *story){
		"another session": func(s *story) {
			s.add(ledger.ApprovalSessionGrantAdded, GrantAdded{Grant: grants.Grant{ID: "g", Scope: grants.Session}, Session: "s-2"})
		},
		"another scope": func(s *story) { s.grant(ledger.ApprovalSessionGrantAdded, "g", grants.Stage, "") },
		"no stage":      func(s *story) { s.grant(ledger.ApprovalStageGrantAdded, "g", grants.Stage, "") },
		"a stage that ended": func(s *story) {
			began := s.add(ledger.StageBegan, Stage{"s-1", "x"})
			s.add(ledger.StageEnded, Stage{"s-1", "x"})
			s.add(ledger.StageBegan, Stage{"s-1", "x"})
			s.grant(ledger.ApprovalStageGrantAdded, "g", grants.Stage, began)
		},
		"twice": func(s *story) {
			s.grant(ledger.ApprovalSessionGrantAdded, "g", grants.Session, "")
			s.grant(ledger.ApprovalSessionGrantAdded, "g", grants.Session, "")
		},
		"no id": func(s *story) { s.grant(ledger.ApprovalSessionGrantAdded, "", grants.Session, "") },
		"a stage in a stage": func(s *story) {
			s.add(ledger.StageBegan, Stage{"s-1", "x"})
			s.add(ledger.StageBegan, Stage{"s-1", "y"})
		},
		"the end of no stage": func(s *story) { s.add(ledger.StageEnded, Stage{"s-1", "x"}) },
		"of another stage": func(s *story) {
			s.add(ledger.StageBegan, Stage{"s-1", "x"})
			s.add(ledger.StageEnded, Stage{"s-1", "y"})
		},
		"a closed session": func(s *story) {
			s.add(ledger.SessionClosed, SessionClosed{"s-1"})
			s.add(ledger.StageBegan, Stage{"s-1", "x"})
		},
		"no project's": func(s *story) {
			s.add(ledger.GrantLoadedFromProject, GrantLoaded{Grant: grants.Grant{ID: "g", Scope: grants.Session}})
		},
		"landed by nothing": func(s *story) { s.editLanded("e-9") },
		"landed by another's decision": func(s *story) {
			s.stage(1, change.Ask, change1("a", "1", "2"))
			s.decide(ledger.ApprovalGranted, 1, "person:dev")
			s.editLanded(s.grants[1])
		},
		"landed twice":      func(s *story) { s.edit(1); s.editLanded(s.grants[1]); s.editLanded(s.grants[1]) },
		"landed and stale":  func(s *story) { s.edit(1); s.add(ledger.ChangeStale, Stale{Set: 1}); s.editLanded(s.grants[1]) },
		"reused, not asked": func(s *story) { s.stage(1, change.Ask, change1("a", "1", "2")); s.reuse(1, "g") },
	} {
		s := newStory(t)
		s.open("s-1")
		tell(s)
		var contra *ContradictionError
		if err := New().Fold(s.events); !errors.As(err, &contra) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
