package projection

import (
	"fmt"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// MomentFormat is how moments are written that are compared as texts, in UTC.
const MomentFormat = "2006-01-02T15:04:05Z"

func moment(e ledger.Event) string { return e.At.UTC().Format(MomentFormat) }

// hits returns the grants of a reused approval.
func (d Decided) hits() []string {
	if len(d.GrantHits) > 0 {
		return d.GrantHits
	}
	return []string{d.GrantHit}
}

// stageTurned begins or ends a stage. One that begins must not stand in another; one that ends takes its grants along.
func (s *State) stageTurned(e ledger.Event) error {
	d, err := decode[Stage](e)
	if err != nil {
		return err
	}
	x, ok := s.Sessions[d.Session]
	began := e.Type == ledger.StageBegan
	switch {
	case !ok || x.Closed:
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("session %q is not open", d.Session)}
	case d.Stage == "" || began == (x.Stage != "") || !began && x.Stage != d.Stage:
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("session %q is in stage %q, not %q", d.Session, x.Stage, d.Stage)}
	case began:
		x.Stage, x.StageEvent = d.Stage, e.ID
	default:
		s.Grants.EndStage(x.StageEvent)
		x.Stage, x.StageEvent = "", ""
	}
	return nil
}

// grantAdded takes in a grant of a session or of the stage that the session is in.
func (s *State) grantAdded(e ledger.Event) error {
	d, err := decode[GrantAdded](e)
	if err != nil {
		return err
	}
	scope := grants.Session
	if e.Type == ledger.ApprovalStageGrantAdded {
		scope = grants.Stage
	}
	x, ok := s.Sessions[d.Session]
	if !ok || x.Closed || d.Grant.Scope != scope || (scope == grants.Stage && (d.Began == "" || d.Began != x.StageEvent)) {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("grant %q is for session %q and stage %q, which are not open", d.Grant.ID, d.Session, d.Stage)}
	}
	if d.Grant.ID == "" || !s.Grants.Add(grants.Held{
		Grant: d.Grant, Session: d.Session, StageEvent: d.Began, Stage: d.Stage, Event: e.ID, At: moment(e), By: e.Actor, Set: d.Set,
	}) {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("grant %q was added before", d.Grant.ID)}
	}
	return nil
}

func (s *State) grantLoaded(e ledger.Event) error {
	d, err := decode[GrantLoaded](e)
	if err != nil {
		return err
	}
	h := grants.Held{Grant: d.Grant, Event: e.ID, At: moment(e), File: d.File, Set: d.Set}
	if d.How != "" {
		h.By = e.Actor
	}
	if d.Grant.ID == "" || d.Grant.Scope != grants.Project || !s.Grants.Add(h) {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("%q is no project's grant", d.Grant.ID)}
	}
	return s.editLanded(e, d.Landing)
}

func (s *State) grantRevoked(e ledger.Event) error {
	d, err := decode[GrantRevoked](e)
	if err != nil {
		return err
	}
	s.Grants.Revoke(d.Grant)
	return s.editLanded(e, d.Landing)
}

// editLanded notes that the event e closes the landing of an edit of a repository's file, which a person let in as for a commit.
// Events of a grant that no edit goes with name no landing.
func (s *State) editLanded(e ledger.Event, landing string) error {
	if landing == "" {
		return nil
	}
	for id := s.Last; id > 0; id-- {
		if set := s.Sets[id]; set.Grant == landing && set.State == change.StateApproved && set.Origin == change.OriginCommit {
			if _, twice := s.landings[landing]; !twice {
				set.Cause, s.landings[landing] = e.ID, e.Seq
				return nil
			}
		}
	}
	return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("no edit is allowed to land by %q", landing)}
}
