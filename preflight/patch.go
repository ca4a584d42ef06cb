package preflight

import (
	"bytes"
	"fmt"
	"io"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/textdiff"
)

// WritePatch writes files as one git patch for a repository with SHA-1 object ids; see WritePatchAs.
func WritePatch(w io.Writer, images Images, files []change.FileChange) error {
	return WritePatchAs(w, images, files, textdiff.SHA1)
}

// WritePatchAs writes files, in their order, as one git patch: git apply of it to the base gives exactly the proposed
// bytes and modes. It is made from the stored images alone. A copy is written as a creation. What is too large to compare
// is written whole, as git writes binary content.
//
// After an error of w or of the store a part may have been written.
func WritePatchAs(w io.Writer, images Images, files []change.FileChange, objects textdiff.ObjectFormat) error {
	for _, f := range files {
		part, err := patchFile(images, f)
		if err != nil {
			return fmt.Errorf("patch of %q: %w", string(f.Path), err)
		}
		if err := textdiff.Patch(w, part, textdiff.PatchOptions{Objects: objects}); err != nil {
			return fmt.Errorf("patch of %w", err)
		}
	}
	return nil
}

func patchFile(images Images, f change.FileChange) (textdiff.File, error) {
	part := textdiff.File{Path: f.Path, OldMode: f.Base.GitMode(), NewMode: f.Proposed.GitMode()}
	if f.Op == change.OpRename {
		part.OldPath, part.Similarity = f.OldPath, 100
	}
	if sameContent(f.Base, f.Proposed) && (part.OldMode == textdiff.ModeSymlink) == (part.NewMode == textdiff.ModeSymlink) {
		return part, nil // only a name or a mode changes: the content need not be read
	}
	var err error
	if part.Old, err = content(images, f.Base, f.TooLarge); err != nil {
		return part, err
	}
	if part.New, err = content(images, f.Proposed, f.TooLarge); err != nil {
		return part, err
	}
	if f.Op == change.OpRename && !f.TooLarge {
		part.Similarity = textdiff.Similarity(part.Old.Bytes, part.New.Bytes)
	}
	return part, nil
}

// content returns one side of a patch: its bytes, or for what is too large how to open it.
func content(images Images, pin change.Pin, large bool) (textdiff.Content, error) {
	switch {
	case !pin.Exists():
		return textdiff.Content{}, nil
	case pin.Kind == change.KindSubmodule:
		return textdiff.Submodule(pin.OID), nil
	case large:
		open := func() (io.ReadCloser, error) { return images.Open(pin.SHA256) }
		return textdiff.Content{Size: pin.Size, Open: open}, nil
	}
	var b bytes.Buffer
	if err := stream(images, pin, &b); err != nil {
		return textdiff.Content{}, err
	}
	return textdiff.Content{Bytes: b.Bytes()}, nil
}
