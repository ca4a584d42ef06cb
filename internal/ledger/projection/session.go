package projection

import "github.com/correx/correx/internal/change"

// tally counts files and their bytes.
type tally struct {
	files int
	bytes int64
}

// Used returns how many files and bytes have landed by themselves in the sessions of a worktree, but for the one named, or
// were committed by agents without being asked about, since a person last decided there: a new session does not begin with
// a new budget.
func (s *State) Used(worktree, but string) (files int, bytes int64) {
	files, bytes = s.commits[worktree].files, s.commits[worktree].bytes
	for id, ses := range s.Sessions {
		if id != but && ses.Worktree == worktree {
			files, bytes = files+ses.UsedFiles, bytes+ses.UsedBytes
		}
	}
	return files, bytes
}

// FirstBase returns what stood at path before the changes to it that landed by themselves in the sessions of a worktree,
// since a person last decided on that path there: the content that a reader last saw.
func (s *State) FirstBase(worktree string, path change.Path) (change.Pin, bool) {
	var first change.Pin
	found := false
	for _, e := range s.Ordered(worktree) {
		if e.Origin != change.OriginShadow || e.Decision == nil {
			continue
		}
		for _, f := range e.Chosen() {
			if f.Path != path {
				continue
			}
			switch {
			case e.Decision.By != "correx":
				found = false
			case e.State.Landed() && !found:
				first, found = f.Base, true
			}
		}
	}
	return first, found
}
