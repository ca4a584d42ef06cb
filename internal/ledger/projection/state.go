// Package projection turns the ledger's events into what the commands show. A State is a pure function of the events that
// were folded into it, in order: it asks nobody, reads no clock and no configuration, and gives the same answer with every
// cache deleted. It writes nothing.
package projection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// Session is one agent's work in one shadow.
type Session struct {
	SessionOpened
	OpenedAt time.Time
	// Event is the id of the event that opened the session: the cause of what is staged in it.
	Event  string
	Closed bool
	// Stage is the name of the stage it is in, and StageEvent the id of the event that began it; empty for none.
	Stage, StageEvent string
	// UsedFiles and UsedBytes count what landed by itself since a person last decided on a set of this worktree.
	UsedFiles int
	UsedBytes int64
}

// Entry is a change set with all that became of it.
type Entry struct {
	change.Set
	State    change.State
	Verdict  change.Verdict
	Outcomes []FileOutcome
	// Escalated is how the user's program raised the verdict, or nil.
	Escalated *Escalated
	Decision  *change.Decision
	// Request is the id of the ApprovalPending event a decision answers, and Pending what it says.
	Request string
	Pending Pending
	// Cause is the id of the newest event about this set.
	Cause string
	// Grant is the id of the event that allowed the set to land.
	Grant string
	// GrantHits are the ids of the grants that let it in, where grants did.
	GrantHits []string
	// Only lists the paths of a partial approval, and Hunks the hunks chosen of the one there is then.
	Only  []change.Path
	Hunks *ChosenHunks
	// Landed holds the steps as they really are on disk, and Folders the folders made for them.
	Landed  []change.Step
	Folders []change.Path
	// Removed are the folders that went with it once nothing was left in them, as they were.
	Removed []change.Folder
	// Credential is the digest of the undo credential.
	Credential string
	AppliedSeq uint64
	// UndoneBy is the set that took this one back, while that holds.
	UndoneBy     int
	SupersededBy int
	// Stale lists the paths that had moved when the set was found stale.
	Stale []StalePath
	// landedAs is the state to return to when an undo is itself undone.
	landedAs change.State
}

// State is the view of the whole ledger.
type State struct {
	// Seq is the sequence number of the last event folded in.
	Seq uint64
	// Mode is the mode a person set, or "" when none was.
	Mode     change.Mode
	Sessions map[string]*Session
	Sets     map[int]*Entry
	// Last is the highest number given to a set.
	Last int
	// Grants are the remembered yeses.
	Grants grants.Book
	// Unknown counts events of types this version does not know.
	Unknown int
	// refusals remembers, by worktree, the file changes a person said no to; landings the closing event of each landing by
	// the id of the event that allowed it.
	refusals map[string]*grants.Refusals
	landings map[string]uint64
	// commits counts, by worktree, what agents committed without being asked about since a person last decided there.
	commits map[string]tally
}

// ContradictionError reports an event that cannot follow those before it.
type ContradictionError struct {
	Seq     uint64
	Type    ledger.Type
	Problem string
}

func (e *ContradictionError) Error() string {
	return fmt.Sprintf("ledger event %d (%s): %s", e.Seq, e.Type, e.Problem)
}

// New returns the state before the first event.
func New() *State {
	return &State{
		Sessions: map[string]*Session{},
		Sets:     map[int]*Entry{},
		refusals: map[string]*grants.Refusals{},
		landings: map[string]uint64{},
		commits:  map[string]tally{},
	}
}

// Fold adds events in order. An event that contradicts what came before is a *ContradictionError and ends the fold.
func (s *State) Fold(events []ledger.Event) error {
	for _, e := range events {
		if err := s.fold(e); err != nil {
			return err
		}
		s.Seq = e.Seq
	}
	return nil
}

// Committed returns the sequence number of the closing event of the landing allowed by the event grant.
func (s *State) Committed(grant string) (uint64, bool) {
	seq, ok := s.landings[grant]
	return seq, ok
}

// Ordered returns the sets of one worktree by number; all worktrees when worktree is "".
func (s *State) Ordered(worktree string) []*Entry {
	var list []*Entry
	for _, e := range s.Sets {
		if worktree == "" || e.Worktree == worktree {
			list = append(list, e)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// Landed returns the sets of a worktree that are landed, undos among them, in the order in which they landed: a set with a
// lower number may have waited longer.
func (s *State) Landed(worktree string) []*Entry {
	list := slices.DeleteFunc(s.Ordered(worktree), func(e *Entry) bool { return !e.State.Landed() })
	slices.SortFunc(list, func(a, b *Entry) int { return cmp.Compare(a.AppliedSeq, b.AppliedSeq) })
	return list
}

// Waiting returns the sets of a worktree that wait for a person, or were approved and have not landed, by number. A
// commit's set ends at approved: its bytes are in the tree already.
func (s *State) Waiting(worktree string) []*Entry {
	var list []*Entry
	for _, e := range s.Ordered(worktree) {
		if e.State == change.StatePending || e.State == change.StateApproved && e.Origin != change.OriginCommit {
			list = append(list, e)
		}
	}
	return list
}

// OpenSessions returns the open sessions of a worktree, oldest first; all worktrees when worktree is "".
func (s *State) OpenSessions(worktree string) []*Session {
	var list []*Session
	for _, x := range s.Sessions {
		if !x.Closed && (worktree == "" || x.Worktree == worktree) {
			list = append(list, x)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		if !list[i].OpenedAt.Equal(list[j].OpenedAt) {
			return list[i].OpenedAt.Before(list[j].OpenedAt)
		}
		return list[i].Session < list[j].Session
	})
	return list
}

// ByCredential returns the set whose undo credential has the given digest.
func (s *State) ByCredential(digest string) (*Entry, bool) {
	for _, e := range s.Sets {
		if e.Credential != "" && e.Credential == digest {
			return e, true
		}
	}
	return nil, false
}

// FileState says what became of file i of the set; where the set as a whole came to an end, that is the set's state. A file
// of which only some hunks landed is partially_accepted.
func (e *Entry) FileState(i int) change.FileState {
	switch e.State {
	case change.StateApproved:
		if e.partOf(e.Files[i]) {
			return change.FileApproved
		}
	case change.StateRejected:
		return change.FileRejected
	case change.StateDenied, change.StateStale, change.StateSuperseded, change.StateSkipped, change.StateTimedOut:
		return change.FileState(e.State)
	case change.StateApplied, change.StatePartiallyAccepted:
		if e.partOf(e.Files[i]) && e.Hunks != nil {
			return change.FileState(change.StatePartiallyAccepted)
		}
		if e.partOf(e.Files[i]) {
			return change.FileApplied
		}
	case change.StateUndone:
		if e.partOf(e.Files[i]) {
			return change.FileUndone
		}
	}
	return change.FilePending
}

// Chosen returns the files of e that its decision covers, as far as it covers them: of a file whose hunks were chosen, the
// change that these come to.
func (e *Entry) Chosen() []change.FileChange {
	var files []change.FileChange
	for _, f := range e.Files {
		switch {
		case !e.partOf(f):
		case e.Hunks != nil:
			files = append(files, e.Hunks.File)
		default:
			files = append(files, f)
		}
	}
	return files
}

// InPart reports whether the decision on e covers less than all of it.
func (e *Entry) InPart() bool { return e.Hunks != nil || len(e.Chosen()) < len(e.Files) }

func (e *Entry) partOf(f change.FileChange) bool {
	if len(e.Only) == 0 {
		return true
	}
	for _, p := range e.Only {
		if p == f.Path {
			return true
		}
	}
	return false
}

func decode[T any](e ledger.Event) (T, error) {
	var v T
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return v, &ContradictionError{e.Seq, e.Type, "data cannot be read: " + err.Error()}
	}
	return v, nil
}
