package preflight

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/textdiff"
)

// Hunks returns the hunks of f in order; f.HasHunks must hold. They are the blocks that a patch of f shows, numbered from
// 1, and do not depend on how many lines are shown around them. Nothing is written.
func Hunks(images Images, f change.FileChange) ([]change.Hunk, error) {
	old, new, err := bothEnds(images, f)
	if err != nil {
		return nil, err
	}
	changes := textdiff.Lines(old, new).Changes()
	list := make([]change.Hunk, len(changes))
	for i, c := range changes {
		list[i] = change.Hunk{
			Number: i + 1, OldStart: firstLine(c.OldStart, c.OldCount), OldLines: c.OldCount,
			NewStart: firstLine(c.NewStart, c.NewCount), NewLines: c.NewCount,
		}
	}
	return list, nil
}

// firstLine turns a start that counts from 0 into one that counts from 1, and an empty run into the line before it;
// startOf turns it back.
func firstLine(start, count int) int {
	if count == 0 {
		return start
	}
	return start + 1
}

func startOf(first, count int) int {
	if count == 0 {
		return first
	}
	return first - 1
}

// Part is what some hunks of a file change come to by themselves.
type Part struct {
	// File goes from the base of the file change to the base with the hunks' lines replaced. It keeps the base's mode, and
	// its proposal has no object id.
	File change.FileChange
	// Content is what File proposes. It is stored nowhere yet and must not be written to.
	Content []byte
	diff    textdiff.Diff
}

// TakeHunks returns what hunks of f, in order, come to: every byte outside of them is the base's. Hunks that do not fit the
// images of f, wherever they come from, are an error that wraps textdiff.ErrChange. Nothing is written.
func TakeHunks(images Images, f change.FileChange, hunks []change.Hunk) (Part, error) {
	old, new, err := bothEnds(images, f)
	if err != nil {
		return Part{}, err
	}
	changes := make([]textdiff.Change, len(hunks))
	for i, h := range hunks {
		changes[i] = textdiff.Change{
			OldStart: startOf(h.OldStart, h.OldLines), OldCount: h.OldLines, NewStart: startOf(h.NewStart, h.NewLines), NewCount: h.NewLines,
		}
	}
	diff, err := textdiff.Partly(old, new, changes)
	if err != nil {
		return Part{}, fmt.Errorf("hunks of %q: %w", string(f.Path), err)
	}
	p := Part{Content: diff.New(), diff: diff}
	sum := sha256.Sum256(p.Content)
	p.File = change.FileChange{Path: f.Path, Op: change.OpEdit, Base: f.Base, Proposed: f.Base}
	p.File.Proposed.Size, p.File.Proposed.SHA256, p.File.Proposed.OID = int64(len(p.Content)), hex.EncodeToString(sum[:]), ""
	measureLines(&p.File, diff)
	kept := textdiff.Kept(old, p.Content)
	p.File.Kept = share(kept, f.Base.Size)
	if overwrites(old, kept) {
		p.File.Op = change.OpOverwrite
	}
	return p, nil
}

// WritePatch writes p as a git patch that shows exactly the hunks it was made of: git apply of it to the base gives
// Content. After an error of w a part may have been written.
func (p Part) WritePatch(w io.Writer, objects textdiff.ObjectFormat) error {
	file := textdiff.File{
		Path: p.File.Path, OldMode: p.File.Base.GitMode(), NewMode: p.File.Proposed.GitMode(),
		Old: textdiff.Content{Bytes: p.diff.Old()}, New: textdiff.Content{Bytes: p.Content}, Diff: &p.diff,
	}
	if err := textdiff.Patch(w, file, textdiff.PatchOptions{Objects: objects}); err != nil {
		return fmt.Errorf("patch of %w", err)
	}
	return nil
}

// bothEnds reads both images of f.
func bothEnds(images Images, f change.FileChange) (old, new []byte, err error) {
	var before, after bytes.Buffer
	err = errors.Join(stream(images, f.Base, &before), stream(images, f.Proposed, &after))
	return before.Bytes(), after.Bytes(), err
}
