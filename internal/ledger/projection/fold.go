package projection

import (
	"fmt"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// fold adds one event. Types this version does not know are counted and change nothing.
func (s *State) fold(e ledger.Event) error {
	switch e.Type {
	case ledger.SessionOpened:
		return s.sessionOpened(e)
	case ledger.SessionClosed:
		return s.sessionClosed(e)
	case ledger.ChangeStaged:
		return s.staged(e)
	case ledger.PreflightCompleted:
		return s.preflighted(e)
	case ledger.ApprovalEscalated:
		return s.escalated(e)
	case ledger.ApprovalRequired, ledger.UndoIssued, ledger.CommitBlocked:
		return s.noted(e)
	case ledger.ApprovalPending:
		return s.pending(e)
	case ledger.ApprovalGranted, ledger.ApprovalGrantedAuto, ledger.ApprovalReused, ledger.ApprovalRejected, ledger.ApprovalSkipped:
		return s.decided(e)
	case ledger.StageBegan, ledger.StageEnded:
		return s.stageTurned(e)
	case ledger.ApprovalSessionGrantAdded, ledger.ApprovalStageGrantAdded:
		return s.grantAdded(e)
	case ledger.GrantLoadedFromProject:
		return s.grantLoaded(e)
	case ledger.GrantRevoked:
		return s.grantRevoked(e)
	case ledger.ApprovalTimedOut:
		return s.timedOut(e)
	case ledger.ChangeStale:
		return s.stale(e)
	case ledger.ChangeSuperseded:
		return s.superseded(e)
	case ledger.ChangeApplied, ledger.UndoApplied:
		return s.applied(e)
	case ledger.LandingReverted:
		return s.reverted(e)
	case ledger.UndoRefused:
		return s.undoRefused(e)
	case ledger.ApprovalModeChanged:
		return s.modeChanged(e)
	case ledger.LedgerRepaired, ledger.ConfigTrusted:
		return nil
	}
	s.Unknown++
	return nil
}

func (s *State) sessionOpened(e ledger.Event) error {
	d, err := decode[SessionOpened](e)
	if err != nil {
		return err
	}
	if _, dup := s.Sessions[d.Session]; dup || d.Session == "" {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("session %q was opened before", d.Session)}
	}
	s.Sessions[d.Session] = &Session{SessionOpened: d, OpenedAt: e.At, Event: e.ID}
	return nil
}

func (s *State) sessionClosed(e ledger.Event) error {
	d, err := decode[SessionClosed](e)
	if err != nil {
		return err
	}
	x, ok := s.Sessions[d.Session]
	if !ok || x.Closed {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("session %q is not open", d.Session)}
	}
	x.Closed, x.Stage, x.StageEvent = true, "", ""
	s.Grants.EndSession(d.Session)
	return nil
}

func (s *State) staged(e ledger.Event) error {
	d, err := decode[ChangeStaged](e)
	if err != nil {
		return err
	}
	set := d.Set
	if set.ID != s.Last+1 {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("set %d follows set %d", set.ID, s.Last)}
	}
	if got := change.Digest(set.Files); got != set.Digest {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("set %d has digest %.12s, its files give %.12s", set.ID, set.Digest, got)}
	}
	s.Last = set.ID
	s.Sets[set.ID] = &Entry{Set: set, State: change.StateStaged, Cause: e.ID}
	return nil
}

// about returns the set an event speaks of, in one of the states given, and notes the event as its newest.
func (s *State) about(e ledger.Event, id int, from ...change.State) (*Entry, error) {
	x, ok := s.Sets[id]
	if !ok {
		return nil, &ContradictionError{e.Seq, e.Type, fmt.Sprintf("there is no set %d", id)}
	}
	for _, st := range from {
		if x.State == st {
			x.Cause = e.ID
			return x, nil
		}
	}
	return nil, &ContradictionError{e.Seq, e.Type, fmt.Sprintf("set %d is %s", id, x.State)}
}

func (s *State) preflighted(e ledger.Event) error {
	d, err := decode[PreflightCompleted](e)
	if err != nil {
		return err
	}
	x, err := s.about(e, d.Set, change.StateStaged)
	if err != nil {
		return err
	}
	x.Verdict, x.Outcomes = d.Verdict, d.Files
	if d.Verdict.Outcome == change.Deny {
		x.State = change.StateDenied
	}
	return nil
}

func (s *State) escalated(e ledger.Event) error {
	d, err := decode[Escalated](e)
	if err != nil {
		return err
	}
	x, err := s.about(e, d.Set, change.StateStaged)
	if err != nil {
		return err
	}
	if raises := d.From == change.Auto && d.To == change.Ask || d.From != change.Deny && d.To == change.Deny; !raises {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("the verdict on set %d is raised from %q to %q", d.Set, d.From, d.To)}
	}
	x.Escalated = &d
	return nil
}

// noted checks that the set exists; the event says nothing that its state does not.
func (s *State) noted(e ledger.Event) error {
	d, err := decode[SetEvent](e)
	if err != nil {
		return err
	}
	x, ok := s.Sets[d.Set]
	if !ok {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("there is no set %d", d.Set)}
	}
	x.Cause = e.ID
	return nil
}

func (s *State) decided(e ledger.Event) error {
	d, err := decode[Decided](e)
	if err != nil {
		return err
	}
	from := change.StatePending
	// Neither a yes of the envelope or of a grant nor a person's own undo was waited for.
	byItself := e.Type == ledger.ApprovalGrantedAuto || e.Type == ledger.ApprovalReused
	if x, ok := s.Sets[d.Set]; ok && (byItself || x.Origin == change.OriginUndo) {
		from = change.StateStaged
	}
	set, err := s.about(e, d.Set, from)
	if err != nil {
		return err
	}
	if d.Decision.Digest != set.Digest {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("the decision names digest %.12s, set %d has %.12s", d.Decision.Digest, d.Set, set.Digest)}
	}
	if d.Hunks != nil {
		if err := checkHunks(e, set, d); err != nil {
			return err
		}
	}
	set.Decision, set.Only, set.Hunks = &d.Decision, d.Only, d.Hunks
	switch e.Type {
	case ledger.ApprovalRejected:
		set.State = change.StateRejected
		s.refuse(set, set.Files)
	case ledger.ApprovalSkipped:
		set.State = change.StateSkipped
	default:
		set.State, set.Grant = change.StateApproved, e.ID
		s.allow(set, set.Chosen())
	}
	if e.Type == ledger.ApprovalReused {
		set.GrantHits = d.hits()
		for _, id := range set.GrantHits {
			s.Grants.Use(id, moment(e), set.ID)
		}
	}
	switch {
	case !byItself:
		s.personDecided(set)
	case set.Origin == change.OriginCommit:
		used := s.commits[set.Worktree]
		for _, f := range set.Files {
			used.files++
			used.bytes += f.Bytes
		}
		s.commits[set.Worktree] = used
	}
	return nil
}

// personDecided starts the budget of the set's worktree anew: a person has looked.
func (s *State) personDecided(set *Entry) {
	if set.Origin == change.OriginUndo {
		return
	}
	delete(s.commits, set.Worktree)
	if set.Origin != change.OriginShadow {
		return
	}
	for _, ses := range s.Sessions {
		if ses.Worktree == set.Worktree {
			ses.UsedFiles, ses.UsedBytes = 0, 0
		}
	}
}

func (s *State) stale(e ledger.Event) error {
	d, err := decode[Stale](e)
	if err != nil {
		return err
	}
	set, err := s.about(e, d.Set, change.StateStaged, change.StatePending, change.StateApproved)
	if err != nil {
		return err
	}
	set.State, set.Stale = change.StateStale, d.Paths
	return nil
}

func (s *State) superseded(e ledger.Event) error {
	d, err := decode[Superseded](e)
	if err != nil {
		return err
	}
	set, err := s.about(e, d.Set, change.StateStaged, change.StatePending, change.StateApproved, change.StateRejected,
		change.StateSkipped, change.StateTimedOut, change.StateStale, change.StateDenied)
	if err != nil {
		return err
	}
	set.State, set.SupersededBy = change.StateSuperseded, d.By
	return nil
}

func (s *State) applied(e ledger.Event) error {
	d, err := decode[Applied](e)
	if err != nil {
		return err
	}
	set, err := s.about(e, d.Set, change.StateApproved)
	if err != nil {
		return err
	}
	if d.Landing != set.Grant || d.Reverts != set.Reverts {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("set %d landed under %q, it was allowed by %q", d.Set, d.Landing, set.Grant)}
	}
	set.State = change.StateApplied
	if set.InPart() {
		set.State = change.StatePartiallyAccepted
	}
	set.landedAs = set.State
	set.Landed, set.Folders, set.Removed, set.Credential, set.AppliedSeq = d.Steps, d.Folders, d.Removed, d.Credential, e.Seq
	s.landings[d.Landing] = e.Seq
	if set.Decision.By == "correx" {
		s.spend(set)
	}
	if set.Reverts != 0 {
		return s.revertedBy(e, set)
	}
	return nil
}

func (s *State) spend(set *Entry) {
	ses, ok := s.Sessions[set.Session]
	if !ok || set.Origin != change.OriginShadow {
		return
	}
	for _, f := range set.Chosen() {
		ses.UsedFiles++
		ses.UsedBytes += f.Bytes
	}
}

// revertedBy marks what the applied set undo took back as undone, and what that one had taken back as landed again.
func (s *State) revertedBy(e ledger.Event, undo *Entry) error {
	target, ok := s.Sets[undo.Reverts]
	if !ok || target.State != change.StateApplied && target.State != change.StatePartiallyAccepted {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("set %d reverts set %d, which is not landed", undo.ID, undo.Reverts)}
	}
	s.turn(target, undo, false)
	return nil
}

// turn marks e as undone by the set by, or as landed again, and what e had taken back the other way round. What a person
// took back counts as refused, and no longer once it is back.
func (s *State) turn(e, by *Entry, landed bool) {
	switch {
	case landed:
		e.State, e.UndoneBy = e.landedAs, 0
		e.Landed, e.Folders, e.Removed = by.Landed, by.Folders, by.Removed
		s.allow(e, e.Chosen())
	default:
		e.State, e.UndoneBy = change.StateUndone, by.ID
		if e.Reverts == 0 && by.Decision.By != "correx" {
			s.refuse(e, e.Chosen())
		}
	}
	if e.Reverts != 0 {
		s.turn(s.Sets[e.Reverts], by, !landed)
	}
}

func (s *State) reverted(e ledger.Event) error {
	d, err := decode[Reverted](e)
	if err != nil {
		return err
	}
	_, err = s.about(e, d.Set, change.StateApproved)
	return err
}

func (s *State) undoRefused(e ledger.Event) error {
	d, err := decode[UndoRefused](e)
	if err != nil {
		return err
	}
	if _, ok := s.Sets[d.Set]; !ok {
		return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("there is no set %d", d.Set)}
	}
	return nil
}

func (s *State) modeChanged(e ledger.Event) error {
	d, err := decode[ModeChanged](e)
	if err != nil {
		return err
	}
	switch d.Mode {
	case change.ModeDeny, change.ModePrompt, change.ModeAuto, change.ModeYolo:
		s.Mode = d.Mode
		return nil
	}
	return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("unknown mode %q", d.Mode)}
}
