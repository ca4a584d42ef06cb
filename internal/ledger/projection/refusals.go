package projection

import (
	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
)

// refuse remembers files as refused by set, in its worktree.
func (s *State) refuse(set *Entry, files []change.FileChange) {
	r := s.refusals[set.Worktree]
	if r == nil {
		r = &grants.Refusals{}
		s.refusals[set.Worktree] = r
	}
	r.Add(grants.Refusal{Set: set.ID, Reason: set.Decision.Reason}, files)
}

// allow forgets refusals of files that a later decision let in.
func (s *State) allow(set *Entry, files []change.FileChange) {
	if r := s.refusals[set.Worktree]; r != nil {
		r.Forget(files)
	}
}

// Refused returns the set by which a person first refused exactly this file change in the worktree. The set is in state
// rejected, or undone when the person took it back.
func (s *State) Refused(worktree string, f change.FileChange) (*Entry, bool) {
	return s.AllRefused(worktree, []change.FileChange{f})
}

// AllRefused returns the set that first refused one of files if every one of them was refused in the worktree.
func (s *State) AllRefused(worktree string, files []change.FileChange) (*Entry, bool) {
	r := s.refusals[worktree]
	if r == nil {
		return nil, false
	}
	first, ok := r.All(files)
	return s.Sets[first.Set], ok
}
