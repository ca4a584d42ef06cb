package projection

import "github.com/correx/correx/internal/change"

// FirstBase returns what stood at path before the changes to it that landed by themselves in the session, since a person
// last decided on that path there: the content that a reader last saw.
func (s *State) FirstBase(session string, path change.Path) (change.Pin, bool) {
	var first change.Pin
	found := false
	for _, e := range s.Ordered("") {
		if e.Session != session || e.Origin != change.OriginShadow || e.Decision == nil {
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
