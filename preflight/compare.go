package preflight

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/textdiff"
)

const (
	// maxDiff is the default size of a content up to which it is compared line by line.
	maxDiff = 32 << 20
	// maxLines is the number of lines of a content up to which it is compared line by line.
	maxLines = 2_000_000
	// overwriteLines is the number of lines up to which a file is too short to be overwritten.
	overwriteLines = 10
)

// Ends are the pins of one path before and after. The images of both must be in the store; a base whose image is not
// there is pinned but not compared, as if it were too large. A submodule has no image: it is compared as the line that
// stands for it in a patch.
type Ends struct {
	Path           change.Path
	Base, Proposed change.Pin
}

// Options says what Compare may look at.
type Options struct {
	// MaxDiff is the size in bytes up to which a content is compared line by line; 0 means 32 MiB.
	MaxDiff int64
	// Sources are files of the base that a new file may be a copy of. The bases of the ends count besides.
	Sources map[change.Path]change.Pin
}

func (o Options) limit() int64 {
	if o.MaxDiff > 0 {
		return o.MaxDiff
	}
	return maxDiff
}

// Compare says what becomes of each path, sorted by path. Ends that git would see as the same are left out.
//
// A created file that holds what a deleted one held is a rename, also when at least half of it is the same; each end is
// used once, the most similar first. A created file that is byte for byte another one is a copy. Empty files are neither.
// Symlinks are not renamed: one goes and one comes.
//
// Nothing is written. It returns a *KindError, a *DuplicateError, or what the store returned.
func Compare(images Images, ends []Ends, o Options) ([]change.FileChange, error) {
	ends, err := ordered(ends)
	if err != nil {
		return nil, err
	}
	c := comparer{images: images, limit: o.limit()}
	moved, err := c.renames(ends)
	if err != nil {
		return nil, err
	}
	gone := map[change.Path]bool{}
	for _, from := range moved {
		gone[from.Path] = true
	}
	sources := newSources(ends, o.Sources)
	var files []change.FileChange
	for _, e := range ends {
		if gone[e.Path] {
			continue
		}
		f := change.FileChange{Path: e.Path, Base: e.Base, Proposed: e.Proposed}
		if from, ok := moved[e.Path]; ok {
			f.Op, f.OldPath, f.Base = change.OpRename, from.Path, from.Base
		} else if f.Op = op(e); f.Op == change.OpCreate {
			if from, ok := sources.of(e); ok {
				f.Op, f.OldPath = change.OpCopy, from
			}
		}
		if err := c.measure(&f); err != nil {
			return nil, fmt.Errorf("compare %q: %w", string(e.Path), err)
		}
		if !e.Base.Exists() {
			f.Hidden += hiddenInName(string(f.Path))
		}
		files = append(files, f)
	}
	return files, nil
}

// ordered returns the ends that differ, sorted by path.
func ordered(ends []Ends) ([]Ends, error) {
	list := make([]Ends, 0, len(ends))
	for _, e := range ends {
		for _, pin := range []change.Pin{e.Base, e.Proposed} {
			if pin.Exists() && !pin.HasImage() && pin.Kind != change.KindSubmodule {
				return nil, &KindError{Path: e.Path, Kind: pin.Kind}
			}
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b Ends) int { return strings.Compare(string(a.Path), string(b.Path)) })
	for i := 1; i < len(list); i++ {
		if list[i].Path == list[i-1].Path {
			return nil, &DuplicateError{Path: list[i].Path}
		}
	}
	return slices.DeleteFunc(list, func(e Ends) bool { return e.Base.SameForGit(e.Proposed) }), nil
}

// op says what becomes of a path looked at alone. An edit may turn out to be an overwrite.
func op(e Ends) change.Op {
	switch {
	case !e.Proposed.Exists():
		return change.OpDelete
	case !e.Base.Exists():
		if e.Proposed.Kind == change.KindSymlink {
			return change.OpSymlink
		}
		return change.OpCreate
	case e.Base.Kind != e.Proposed.Kind:
		return change.OpRetype
	case e.Base.Kind == change.KindSymlink:
		return change.OpSymlink
	case sameContent(e.Base, e.Proposed):
		return change.OpChmod
	}
	return change.OpEdit
}

func sameContent(a, b change.Pin) bool { return a.SHA256 == b.SHA256 && a.Size == b.Size }

type comparer struct {
	images Images
	limit  int64
}

// measure fills in what can be said of f by its contents: counts, bytes, kept, binary, hidden, overwrite.
func (c comparer) measure(f *change.FileChange) error {
	if f.Base.Exists() && f.Proposed.Exists() && f.Op != change.OpRetype && sameContent(f.Base, f.Proposed) {
		f.Kept = 1000
		return nil
	}
	if !c.stored(f.Base) {
		return c.measureLarge(f)
	}
	old, oldFits, err := c.read(f.Base)
	if err != nil {
		return err
	}
	new, newFits, err := c.read(f.Proposed)
	if err != nil {
		return err
	}
	if !oldFits || !newFits {
		return c.measureLarge(f)
	}
	f.Binary = textdiff.IsBinary(old) || textdiff.IsBinary(new)
	switch {
	case f.Binary:
		f.Bytes = f.Base.Size + f.Proposed.Size
	case f.Op == change.OpRetype:
		f.Added, f.Removed = textdiff.CountLines(new), textdiff.CountLines(old)
		f.Bytes = f.Base.Size + f.Proposed.Size
		f.Hidden = CountHidden(new)
	default:
		measureLines(f, textdiff.Lines(old, new))
	}
	if f.Op == change.OpEdit || f.Op == change.OpRename {
		kept := textdiff.Kept(old, new)
		f.Kept = share(kept, f.Base.Size)
		if f.Op == change.OpEdit && overwrites(old, kept) {
			f.Op = change.OpOverwrite
		}
	}
	return nil
}

func measureLines(f *change.FileChange, d textdiff.Diff) {
	f.Added, f.Removed = d.Added(), d.Removed()
	for _, part := range d.Changes() {
		added := d.NewBytes(part)
		f.Bytes += int64(len(added) + len(d.OldBytes(part)))
		f.Hidden += countHidden(added, part.NewStart == 0)
	}
}

// share returns part of whole in thousandths; all of nothing is there.
func share(part, whole int64) int {
	if whole == 0 {
		return 1000
	}
	return int(part * 1000 / whole)
}

// overwrites is the rule: less than half of the old bytes are kept in whole lines, and the old content has more than ten
// lines.
func overwrites(old []byte, kept int64) bool {
	return 2*kept < int64(len(old)) && textdiff.CountLines(old) > overwriteLines
}

// measureLarge says what can be said without comparing: the sizes, and whether a side holds a NUL or the proposed one,
// all of which counts as added, hidden characters.
func (c comparer) measureLarge(f *change.FileChange) error {
	f.TooLarge = true
	f.Bytes = f.Base.Size + f.Proposed.Size
	var before, after hiddenCounter
	if c.stored(f.Base) {
		if err := c.scan(f.Base, &before); err != nil {
			return err
		}
	}
	if err := c.scan(f.Proposed, &after); err != nil {
		return err
	}
	f.Binary = before.binary || after.binary
	if !f.Binary {
		f.Hidden = after.finish()
	}
	return nil
}

// stored reports whether the image of pin can be read, or there is none to read.
func (c comparer) stored(pin change.Pin) bool { return !pin.HasImage() || c.images.Has(pin.SHA256) }

// scan passes the image of pin through counter, if there is one.
func (c comparer) scan(pin change.Pin, counter *hiddenCounter) error {
	if !pin.HasImage() {
		return nil
	}
	return stream(c.images, pin, counter)
}

// read returns the content of pin, or fits false when it is too large to be compared. An absent pin has no bytes.
func (c comparer) read(pin change.Pin) (content []byte, fits bool, err error) {
	if !pin.Exists() {
		return nil, true, nil
	}
	if pin.Kind == change.KindSubmodule {
		return textdiff.Submodule(pin.OID).Bytes, true, nil
	}
	if pin.Size > c.limit {
		return nil, false, nil
	}
	var b bytes.Buffer
	b.Grow(int(pin.Size))
	if err := stream(c.images, pin, &b); err != nil {
		return nil, false, err
	}
	if textdiff.CountLines(b.Bytes()) > maxLines {
		return nil, false, nil
	}
	return b.Bytes(), true, nil
}

// stream copies the image of pin to w and checks its length; the store checks the bytes.
func stream(images Images, pin change.Pin, w io.Writer) error {
	r, err := images.Open(pin.SHA256)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err == nil && n != pin.Size {
		err = fmt.Errorf("image %.12s has %d bytes, expected %d", pin.SHA256, n, pin.Size)
	}
	return err
}

// Overwrites reports whether going from old to new would be an overwrite: less than half of the bytes of old are kept in
// whole lines, and it has more than ten lines. Both must be regular files, else it is not. What is too large to compare
// is not called an overwrite; it is called too large.
func Overwrites(images Images, old, new change.Pin) (bool, error) {
	before, after, differ, err := twoFiles(images, old, new)
	if err != nil || !differ {
		return false, err
	}
	return overwrites(before, textdiff.Kept(before, after)), nil
}

// twoFiles reads two regular files; differ is false where they are not, are the same, or are too large to compare.
func twoFiles(images Images, old, new change.Pin) (before, after []byte, differ bool, err error) {
	if old.Kind != change.KindFile || new.Kind != change.KindFile || sameContent(old, new) {
		return nil, nil, false, nil
	}
	c := comparer{images: images, limit: maxDiff}
	before, fits, err := c.read(old)
	if err != nil || !fits {
		return nil, nil, false, err
	}
	after, fits, err = c.read(new)
	return before, after, fits, err
}

// Recodes reports whether going from old to new changes the encoding of a text: one of them is UTF-8, the other is not, and
// old holds more than ASCII. What is too large to compare is not looked at.
func Recodes(images Images, old, new change.Pin) (bool, error) {
	before, after, differ, err := twoFiles(images, old, new)
	if err != nil || !differ {
		return false, err
	}
	ascii := !bytes.ContainsFunc(before, func(r rune) bool { return r >= utf8.RuneSelf })
	return !ascii && utf8.Valid(before) != utf8.Valid(after), nil
}
