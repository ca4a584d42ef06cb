package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/internal/textdiff"
	"github.com/correx/correx/preflight"
)

// Hunks are some hunks chosen of one file of a set, and what that file comes to by them.
type Hunks struct {
	// digest is that of the set.
	digest string
	choice projection.ChosenHunks
	part   preflight.Part
}

// Chosen returns what the decision records of the choice. It must not be changed.
func (h *Hunks) Chosen() *projection.ChosenHunks { return &h.choice }

// WritePatch writes the git patch of exactly the chosen hunks, from the bytes that land.
func (h *Hunks) WritePatch(w io.Writer, objects textdiff.ObjectFormat) error {
	return h.part.WritePatch(w, objects)
}

// ChooseHunks turns the word of --hunks, "1,3" or "2-4", into a choice of the one file that only leaves of e, or nil where
// the choice comes to all of the file. Order and repetition do not count. A *UsageError where the set, the file or a number
// allows no choice, or where the set was approved with another. Nothing is written.
func (g *Gate) ChooseHunks(ctx context.Context, e *projection.Entry, only []change.Path, word string) (*Hunks, error) {
	h, err := g.chooseHunks(ctx, e, only, word)
	if err == nil && e.State == change.StateApproved && (h == nil || (yes{hunks: h}).other(e)) {
		return nil, &UsageError{Problem: fmt.Sprintf("--hunks: #%d was approved before and lands as it was approved", e.ID)}
	}
	return h, err
}

func (g *Gate) chooseHunks(ctx context.Context, e *projection.Entry, only []change.Path, word string) (*Hunks, error) {
	f, err := oneFile(e, only)
	if err != nil {
		return nil, err
	}
	all, err := preflight.Hunks(g.store, f)
	if err != nil {
		return nil, &ImageError{ID: e.ID, Path: f.Path, Cause: err}
	}
	wanted, err := numbers(word, len(all))
	if err != nil {
		return nil, &UsageError{Problem: fmt.Sprintf("--hunks %q: %v: %q has %s", word, err, f.Path, hunkCount(len(all))), Hint: fmt.Sprintf("correx show %d", e.ID)}
	}
	var some []change.Hunk
	for _, h := range all {
		if wanted[h.Number] {
			some = append(some, h)
		}
	}
	if len(some) == len(all) {
		return nil, nil
	}
	h := &Hunks{digest: e.Digest, choice: projection.ChosenHunks{Chosen: some, Of: len(all)}}
	if h.part, err = preflight.TakeHunks(g.store, f, some); err != nil {
		return nil, err
	}
	h.choice.File = h.part.File
	switch to := h.choice.File.Proposed; {
	case to.SHA256 == f.Base.SHA256:
		return nil, &UsageError{Problem: fmt.Sprintf("--hunks %q: these hunks of %q come to no change without the others", word, f.Path)}
	case to.SameForGit(f.Proposed):
		return nil, nil
	}
	h.choice.File.Proposed.OID, err = g.blobID(ctx, f.Path, h.part)
	return h, err
}

// oneFile returns the one file whose hunks can be chosen, or says why there is none.
func oneFile(e *projection.Entry, only []change.Path) (change.FileChange, error) {
	refuse := func(format string, args ...any) (change.FileChange, error) {
		return change.FileChange{}, &UsageError{Problem: "--hunks: " + fmt.Sprintf(format, args...)}
	}
	if e.Origin == change.OriginCommit {
		return refuse("#%d was made by a commit, where nothing lands: take hunks out of the index with git", e.ID)
	}
	if e.State == change.StateApproved && e.Hunks == nil {
		return refuse("#%d was approved before and lands as it was approved", e.ID)
	}
	files := yes{only: only}.files(e)
	if len(files) != 1 {
		_, err := refuse("needs exactly one file, and %d are chosen", len(files))
		return change.FileChange{}, &UsageError{Problem: err.Error(), Hint: fmt.Sprintf("correx approve %d --only PATH --hunks LIST", e.ID)}
	}
	f := files[0]
	switch {
	case f.HasHunks():
		return f, nil
	case f.TooLarge:
		return refuse("%q is too large to be compared line by line", f.Path)
	case f.Base.Kind == change.KindSymlink || f.Proposed.Kind == change.KindSymlink:
		return refuse("%q is a symlink", f.Path)
	case f.Op == change.OpChmod:
		return refuse("of %q only the mode changes", f.Path)
	case f.Binary:
		return refuse("%q is binary", f.Path)
	}
	return refuse("%q lands whole or not at all (%s)", f.Path, f.Op)
}

// numbers reads a list of numbers and ranges, each from 1 to most.
func numbers(word string, most int) (map[int]bool, error) {
	wanted := map[int]bool{}
	for item := range strings.SplitSeq(word, ",") {
		from, to, ranged := strings.Cut(item, "-")
		if !ranged {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 64)
		last, err2 := strconv.ParseUint(to, 10, 64)
		switch err = errors.Join(err, err2); {
		case errors.Is(err, strconv.ErrSyntax) || first > last:
			return nil, errors.New("expected numbers and ranges such as 1,3 or 2-4")
		case err != nil || first < 1 || last > uint64(most):
			return nil, fmt.Errorf("there is no hunk %s", item)
		}
		for n := first; n <= last; n++ {
			wanted[int(n)] = true
		}
	}
	return wanted, nil
}

func hunkCount(n int) string {
	if n == 1 {
		return "1 hunk"
	}
	return fmt.Sprintf("%d hunks", n)
}

// blobID names what a part comes to as git would, by which a commit is recognised later.
func (g *Gate) blobID(ctx context.Context, p change.Path, part preflight.Part) (string, error) {
	ids, err := g.repo.BlobIDs(ctx, []repo.BlobInput{{Path: p, Pin: part.File.Proposed, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(part.Content)), nil
	}}})
	return ids[p], err
}

// RecordedHunks makes the choice of hunks that a decision recorded anew from the images, or returns nil where it chose
// none. A *HunksError if the images do not give what was recorded, an *ImageError if one is not there.
func (g *Gate) RecordedHunks(e *projection.Entry) (*Hunks, error) { return recordedHunks(g.store, e) }

func recordedHunks(images preflight.Images, e *projection.Entry) (*Hunks, error) {
	if e.Hunks == nil {
		return nil, nil
	}
	f := yes{only: e.Only}.files(e)[0]
	part, err := preflight.TakeHunks(images, f, e.Hunks.Chosen)
	switch want := e.Hunks.File.Proposed; {
	case errors.Is(err, textdiff.ErrChange):
		return nil, &HunksError{ID: e.ID, Path: f.Path, Cause: err}
	case err != nil:
		return nil, &ImageError{ID: e.ID, Path: f.Path, Cause: err}
	case part.File.Proposed.SHA256 != want.SHA256:
		return nil, &HunksError{ID: e.ID, Path: f.Path, Cause: fmt.Errorf("expected %.12s, they come to %.12s", want.SHA256, part.File.Proposed.SHA256)}
	}
	return &Hunks{digest: e.Digest, choice: *e.Hunks, part: part}, nil
}

// rest returns what is left of a partly approved set once the decision's part has landed: the files that were not chosen,
// and of a file whose hunks were, the way from what lands to what was proposed.
func (g *Gate) rest(e *projection.Entry) ([]change.FileChange, error) {
	if e.Hunks == nil {
		return without(e.Files, e.Chosen()), nil
	}
	var left []change.FileChange
	for _, f := range e.Files {
		if f.Path == e.Hunks.File.Path {
			ends := preflight.Ends{Path: f.Path, Base: e.Hunks.File.Proposed, Proposed: f.Proposed}
			files, err := preflight.Compare(g.store, []preflight.Ends{ends}, preflight.Options{})
			if err != nil {
				return nil, err
			}
			left = append(left, files...)
			continue
		}
		left = append(left, f)
	}
	return left, nil
}

// landedOn gives files the bases that really stand there after a landing: what is left of a file goes on from what landed.
func landedOn(files []change.FileChange, landed []change.Step) []change.FileChange {
	for i, f := range files {
		for _, st := range landed {
			if st.Path == f.Path {
				oid := f.Base.OID
				files[i].Base = st.Result
				files[i].Base.OID = oid
			}
		}
	}
	return files
}
