package projection

import (
	"fmt"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
)

// checkHunks makes sure that a choice of hunks is one that can be made of the set: a person's yes to one path, an edit that
// has hunks, from its base in its mode to something else, by hunks in order and apart that add up to its counts. Whether
// they are those of the images is for whoever reads images.
func checkHunks(e ledger.Event, set *Entry, d Decided) error {
	h := d.Hunks
	problem := ""
	switch f, ok := set.file(h.File.Path); {
	case e.Type != ledger.ApprovalGranted:
		problem = "but is no person's yes"
	case set.Origin == change.OriginCommit || set.Origin == change.OriginUndo:
		problem = fmt.Sprintf("of a set of origin %s", set.Origin)
	case len(d.Only) != 1 || d.Only[0] != h.File.Path || !ok:
		problem = fmt.Sprintf("of %q, which is not the one path it is about", h.File.Path)
	case !f.HasHunks() || !h.File.HasHunks():
		problem = fmt.Sprintf("of %q, which has none", h.File.Path)
	case !h.File.Base.Equal(f.Base) || h.File.Proposed.Perm != f.Base.Perm || h.File.Proposed.SHA256 == f.Base.SHA256 || h.File.Proposed.SHA256 == "":
		problem = fmt.Sprintf("of %q, which does not lead from its base to a part of it", h.File.Path)
	case !h.inOrder():
		problem = "that are not in order or do not add up"
	default:
		return nil
	}
	return &ContradictionError{e.Seq, e.Type, fmt.Sprintf("the decision on set %d chooses hunks %s", set.ID, problem)}
}

// inOrder reports whether the chosen hunks have rising numbers up to Of, stand apart, and come to the counts of the file.
func (h *ChosenHunks) inOrder() bool {
	const most = 1 << 30 // more lines than any content has, so that no sum overflows
	number, oldEnd, newEnd, added, removed := 0, 0, 0, 0, 0
	for _, c := range h.Chosen {
		for _, n := range []int{c.OldStart, c.OldLines, c.NewStart, c.NewLines} {
			if n < 0 || n > most {
				return false
			}
		}
		if c.Number <= number || c.Number > h.Of || c.OldStart < oldEnd || c.NewStart < newEnd || c.OldLines+c.NewLines == 0 {
			return false
		}
		number, oldEnd, newEnd = c.Number, c.OldStart+c.OldLines, c.NewStart+c.NewLines
		added, removed = added+c.NewLines, removed+c.OldLines
	}
	return number > 0 && added == h.File.Added && removed == h.File.Removed
}

// file returns the file change of a path of the set.
func (e *Entry) file(p change.Path) (change.FileChange, bool) {
	for _, f := range e.Files {
		if f.Path == p {
			return f, true
		}
	}
	return change.FileChange{}, false
}
