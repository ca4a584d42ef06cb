package textdiff

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/correx/correx/internal/change"
)

// The modes that a File may have.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeSymlink    = "120000"
	ModeSubmodule  = "160000"
)

// File is one file of a patch, with both sides. A side whose mode is "" is absent. The content of a symlink is its
// target, that of a submodule what Submodule returns.
type File struct {
	// Path names the file. OldPath is where it comes from when it was renamed, else empty.
	Path, OldPath    change.Path
	OldMode, NewMode string
	Old, New         Content
	// Similarity is the percentage that a rename states.
	Similarity int
	// Diff is the difference of both contents if it is known already; Patch makes it otherwise.
	Diff *Diff
}

// PatchOptions says how a patch is written.
type PatchOptions struct {
	// Objects is the object format of the repository the patch is for. Binary parts name whole object ids, which git
	// apply checks.
	Objects ObjectFormat
}

// Patch writes f as `git diff --binary --full-index -M` would: git apply of it to the old side gives exactly the bytes
// and the mode of the new one. A content is binary when it holds a NUL byte, and when it is streamed. A file that
// becomes a symlink, or the other way round, is a deletion and a creation.
//
// It writes to w in small pieces and returns the first error of w, of a stream, ErrMode or ErrNoChange; after an error
// a part may have been written.
func Patch(w io.Writer, f File, o PatchOptions) error {
	for _, mode := range []string{f.OldMode, f.NewMode} {
		switch mode {
		case "", ModeFile, ModeExecutable, ModeSymlink, ModeSubmodule:
		default:
			return fmt.Errorf("%q: %w: %q", string(f.Path), ErrMode, mode)
		}
	}
	buffered := bufio.NewWriter(w)
	p := patcher{w: buffered, o: o}
	if err := p.file(f); err != nil {
		return fmt.Errorf("%q: %w", string(f.Path), err)
	}
	return buffered.Flush()
}

type patcher struct {
	w *bufio.Writer
	o PatchOptions
}

func (p patcher) file(f File) error {
	if f.OldPath == f.Path {
		f.OldPath = ""
	}
	if f.OldMode != "" && f.NewMode != "" && kind(f.OldMode) != kind(f.NewMode) {
		gone := File{Path: f.Path, OldMode: f.OldMode, Old: f.Old}
		if f.OldPath != "" {
			gone.Path = f.OldPath
		}
		if err := p.side(gone); err != nil {
			return err
		}
		return p.side(File{Path: f.Path, NewMode: f.NewMode, New: f.New})
	}
	return p.side(f)
}

// kind takes the two modes of regular files as one.
func kind(mode string) string {
	if mode == ModeExecutable {
		return ModeFile
	}
	return mode
}

// side writes one "diff --git" part.
func (p patcher) side(f File) error {
	oldID, err := p.id(f.OldMode, f.Old)
	if err != nil {
		return err
	}
	newID, err := p.id(f.NewMode, f.New)
	if err != nil {
		return err
	}
	from := f.Path
	if f.OldPath != "" {
		from = f.OldPath
	}
	if oldID == newID && f.OldMode == f.NewMode && from == f.Path {
		return ErrNoChange
	}
	oldName, newName := quotePrefixed("a/", string(from)), quotePrefixed("b/", string(f.Path))
	p.print("diff --git ", oldName, " ", newName, "\n")
	p.header(f, from)
	if oldID == newID {
		return nil
	}
	p.print("index ", oldID, "..", newID)
	if f.OldMode == f.NewMode {
		p.print(" ", f.OldMode)
	}
	p.print("\n")
	if f.Old.streamed() || f.New.streamed() || IsBinary(f.Old.Bytes) || IsBinary(f.New.Bytes) {
		return writeBinary(p.w, f.Old, f.New)
	}
	return p.hunks(f, oldName, newName)
}

// id returns the object id of a side, or the one that stands for none.
func (p patcher) id(mode string, c Content) (string, error) {
	switch mode {
	case "":
		return p.o.Objects.none(), nil
	case ModeSubmodule:
		return c.commit()
	}
	return c.id(p.o.Objects)
}

// header writes what is said of modes and names.
func (p patcher) header(f File, from change.Path) {
	switch {
	case f.OldMode == "":
		p.print("new file mode ", f.NewMode, "\n")
	case f.NewMode == "":
		p.print("deleted file mode ", f.OldMode, "\n")
	case f.OldMode != f.NewMode:
		p.print("old mode ", f.OldMode, "\nnew mode ", f.NewMode, "\n")
	}
	if from != f.Path {
		p.print(fmt.Sprintf("similarity index %d%%\n", f.Similarity))
		p.print("rename from ", Quote(string(from)), "\nrename to ", Quote(string(f.Path)), "\n")
	}
}

func (p patcher) hunks(f File, oldName, newName string) error {
	d := f.Diff
	if d == nil {
		made := Lines(f.Old.Bytes, f.New.Bytes)
		d = &made
	}
	hunks := d.Hunks(Context)
	if len(hunks) == 0 {
		return nil // an empty file that comes or goes: the header says it all
	}
	p.print("--- ", label(oldName, f.OldMode), "\n+++ ", label(newName, f.NewMode), "\n")
	for _, h := range hunks {
		if err := d.WriteHunk(p.w, h); err != nil {
			return err
		}
	}
	return nil
}

// label is the name in a "---" or "+++" line. One with a space in it is ended by a tab, so that readers know where it
// stops.
func label(name, mode string) string {
	if mode == "" {
		return "/dev/null"
	}
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

// print writes to the buffer, which keeps the first error for Flush.
func (p patcher) print(parts ...string) {
	for _, s := range parts {
		p.w.WriteString(s)
	}
}

// Similarity returns, in percent, how much of the larger of two contents is in the other: whole lines, and of long lines
// pieces of 64 bytes, wherever they stand. Two empty contents have nothing in common.
func Similarity(old, new []byte) int {
	return NewFingerprint(old).Similarity(NewFingerprint(new))
}

// Kept returns how many bytes of whole lines of old are still in new, wherever they stand there. A line that occurs
// more often in old than in new is kept that often.
func Kept(old, new []byte) int64 {
	if bytes.Equal(old, new) {
		return int64(len(old))
	}
	t := newText(new)
	in := newInterner(t.len() + bytes.Count(old, newline) + 1)
	left := make([]int32, 0, t.len())
	for i := range t.ends {
		id := in.id(t.line(i))
		if int(id) == len(left) {
			left = append(left, 0)
		}
		left[id]++
	}
	kept := int64(0)
	o := newText(old)
	for i := range o.ends {
		line := o.line(i)
		if id := int(in.id(line)); id < len(left) && left[id] > 0 {
			left[id]--
			kept += int64(len(line))
		}
	}
	return kept
}
