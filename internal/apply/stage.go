package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

const (
	// openStaged is how many staged files wait, written, for their common flush.
	openStaged = 128
	// targetLimit bounds a symlink's target; no system takes a longer one.
	targetLimit = 64 << 10
)

// staged is a file that was written and waits for its flush.
type staged struct {
	path change.Path
	file newFile
	want change.Pin
	// done takes the file as it is on the disk.
	done func(durable.Info)
}

// stager writes new contents. Many files are written before the first of them is flushed: the system then puts them on the
// disk together.
type stager struct {
	w       *work
	waiting []staged
	buffer  []byte
	// exact says that the permission bits of the pins count in full.
	exact bool
}

const copyBuffer = 128 << 10

// stage is step 3: everything that will stand in the tree is written beside it, flushed, read back and compared. A failure
// leaves staged names for unstage.
func (w *work) stage(ctx context.Context) (err error) {
	s := &stager{w: w, buffer: make([]byte, copyBuffer), exact: w.l.RestorePerm}
	defer func() { err = errors.Join(err, s.closeAll()) }()
	for _, m := range w.moves {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !m.result.exists() {
			continue
		}
		home, err := w.place(m.home)
		if err != nil {
			return err
		}
		if err := s.move(m, home); err != nil {
			return fmt.Errorf("stage %q: %w", m.path, err)
		}
	}
	if err := s.settle(); err != nil {
		return err
	}
	// The names have to be on the disk before the journal says that they are.
	return w.flushPlaces()
}

func (s *stager) move(m *move, home folder) error {
	if m.result.pin.Kind == change.KindDir {
		return s.folder(m, home)
	}
	return s.entry(spot{folder: home, name: m.staged, path: m.path}, m.base.pin, m.result.pin, func(info durable.Info) {
		m.result.ino = info.Ino
		if info.Kind == change.KindFile {
			m.result.pin.Perm = info.Perm
		}
	})
}

// folder stages a folder with all it will hold.
func (s *stager) folder(m *move, home folder) (err error) {
	if err := s.w.mkdir(home, m.staged, m.path); err != nil {
		return err
	}
	info, err := home.Lstat(m.staged)
	if err != nil {
		return err
	}
	m.result.ino = info.Ino
	for _, rel := range m.result.folders() {
		err := s.inside(home, m.staged, rel, func(f folder) error { return s.w.mkdir(f, rel.Base(), m.path+"/"+rel) })
		if err != nil {
			return err
		}
	}
	for i := range m.result.inner {
		in := &m.result.inner[i]
		err := s.inside(home, m.staged, in.rel, func(f folder) error {
			at := spot{folder: f, name: in.rel.Base(), path: m.path + "/" + in.rel}
			return s.entry(at, change.Absent(), in.pin, func(info durable.Info) {
				in.ino = info.Ino
				if info.Kind == change.KindFile {
					in.pin.Perm = info.Perm
				}
			})
		})
		if err != nil {
			return err
		}
	}
	return s.flushFolders(m, home)
}

// inside runs do with the folder of rel below the folder name.
func (s *stager) inside(home folder, name string, rel change.Path, do func(folder) error) error {
	at, err := home.OpenDir(name)
	if err != nil {
		return err
	}
	for _, up := range rel.Ancestors() {
		next, err := at.OpenDir(up.Base())
		if err := errors.Join(err, at.Close()); err != nil {
			return err
		}
		at = next
	}
	return errors.Join(do(at), at.Close())
}

// flushFolders flushes the entries of a staged folder, at every depth. The files in it are flushed first.
func (s *stager) flushFolders(m *move, home folder) error {
	if err := s.settle(); err != nil {
		return err
	}
	for _, rel := range append([]change.Path{""}, m.result.folders()...) {
		// The folder rel itself is the one that would hold a name below it.
		if err := s.inside(home, m.staged, rel.Join("x"), folder.Sync); err != nil {
			return err
		}
	}
	return nil
}

// spot is a name in an open folder, and the path to report it under.
type spot struct {
	folder folder
	name   string
	path   change.Path
}

// entry writes one file or symlink in place of original, which may be absent. done is called with what it is on the disk,
// for a file after the flush.
func (s *stager) entry(at spot, original change.Pin, want change.Pin, done func(durable.Info)) error {
	if want.Kind == change.KindSymlink {
		return s.symlink(at, original, want, done)
	}
	like, err := openOriginal(at, original)
	if err != nil {
		return err
	}
	perm, exact := s.permission(original, want)
	create := perm
	if exact {
		// Nobody else may read the content before it has the permission bits that are meant for it.
		create = 0o600
	}
	file, err := at.folder.Create(at.name, create)
	if err != nil {
		return errors.Join(err, closeFile(like))
	}
	s.waiting = append(s.waiting, staged{path: at.path, file: file, want: want, done: done})
	err = s.fill(file, want)
	if err == nil && exact {
		err = file.Resemble(like, perm)
	}
	if err = errors.Join(err, closeFile(like)); err != nil {
		return err
	}
	file.StartFlush()
	if len(s.waiting) >= openStaged {
		return s.settle()
	}
	return nil
}

// openOriginal opens the regular file that the new one is to resemble, if there is one. Whether it still is the base does
// not matter here: that is looked at once it came out of its name.
func openOriginal(at spot, original change.Pin) (*os.File, error) {
	if original.Kind != change.KindFile {
		return nil, nil
	}
	return at.folder.Open(at.path.Base())
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// permission returns the permission bits of a new file, and whether they are exact or less the umask. An edit keeps all of
// the old file's bits but the executable ones, which are set, wherever there is a read bit, or cleared as git does it.
func (s *stager) permission(original, want change.Pin) (perm uint32, exact bool) {
	switch {
	case s.exact:
		return want.Perm, true
	case original.Kind == change.KindFile && original.Executable() == want.Executable():
		return original.Perm, true
	case original.Kind == change.KindFile && want.Executable():
		return original.Perm | original.Perm&0o444>>2, true
	case original.Kind == change.KindFile:
		return original.Perm &^ 0o111, true
	case want.Executable():
		return 0o777, false
	}
	return 0o666, false
}

// fill copies the image of want, which the store verifies as it is read.
func (s *stager) fill(file newFile, want change.Pin) error {
	image, err := s.w.e.images.Open(want.SHA256)
	if err != nil {
		return err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{file}, struct{ io.Reader }{image}, s.buffer)
	if err == nil && n != want.Size {
		err = fmt.Errorf("image %s: expected %d bytes, found %d", want.SHA256, want.Size, n)
	}
	return errors.Join(err, image.Close())
}

func (s *stager) symlink(at spot, original, want change.Pin, done func(durable.Info)) error {
	target, err := s.target(want)
	if err != nil {
		return err
	}
	if err := at.folder.Symlink(at.name, target); err != nil {
		return err
	}
	pin, err := at.folder.Pin(at.name)
	if err != nil {
		return err
	}
	if !pin.Equal(want) {
		return fmt.Errorf("link %q: expected %s, found %s", at.path, describe(want), describe(pin))
	}
	info, err := at.folder.Lstat(at.name)
	if err != nil {
		return err
	}
	if original.Exists() && original.Kind != change.KindDir {
		if err := keepOwner(at, info); err != nil {
			return err
		}
	}
	done(info)
	return nil
}

// keepOwner gives a staged symlink the owner of what it takes the place of.
func keepOwner(at spot, info durable.Info) error {
	old, err := at.folder.Lstat(at.path.Base())
	if err != nil || old.UID == info.UID && old.GID == info.GID {
		return err
	}
	return at.folder.ChownLink(at.name, old.UID, old.GID)
}

func (s *stager) target(want change.Pin) (string, error) {
	image, err := s.w.e.images.Open(want.SHA256)
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(io.LimitReader(image, targetLimit+1))
	if err == nil && (len(raw) > targetLimit || int64(len(raw)) != want.Size) {
		err = fmt.Errorf("image %s: expected a link target of %d bytes, found %d", want.SHA256, want.Size, len(raw))
	}
	return string(raw), errors.Join(err, image.Close())
}

// settle flushes what waits and reads it back: what lands is what the disk's own file holds, not what was meant to be
// written. A flush that fails is not followed by a read.
func (s *stager) settle() error {
	for _, f := range s.waiting {
		if err := f.file.Flush(); err != nil {
			return err
		}
		info, digest, err := f.file.ReadBack()
		if err != nil {
			return err
		}
		if digest != f.want.SHA256 || info.Size != f.want.Size {
			return fmt.Errorf("read back %q: expected %d bytes with digest %s, found %d with %s",
				f.path, f.want.Size, f.want.SHA256, info.Size, digest)
		}
		f.done(info)
	}
	return s.closeAll()
}

func (s *stager) closeAll() error {
	var err error
	for _, f := range s.waiting {
		err = errors.Join(err, f.file.Close())
	}
	s.waiting = nil
	return err
}

// unstage removes the staged names of a landing that is not ready, whole or in part.
func (w *work) unstage() error {
	for _, m := range w.moves {
		if !m.result.exists() {
			continue
		}
		home, err := w.place(m.home)
		if lost(err) {
			continue
		}
		if err == nil {
			err = w.removePart(m, home)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removePart removes what was staged of m, whole or in part. What this very process staged is its own.
func (w *work) removePart(m *move, home folder) error {
	if m.homeIno == 0 {
		return w.removeOwn(m, home, m.staged, m.result)
	}
	return w.removeBeginning(m, home, m.staged, m.result)
}

// removeBeginning removes from a working name of m what a process that died was writing there. What does not begin as c does
// was written by somebody else, and gets a visible name.
func (w *work) removeBeginning(m *move, home folder, name string, c content) error {
	if c.pin.Kind == change.KindFile {
		ours, err := w.isBeginning(home, name, c.pin)
		if err != nil {
			return err
		}
		if !ours {
			return w.keep(m, home, name)
		}
	}
	return w.removeOwn(m, home, name, c)
}

// sameBeginning reports whether all that a holds is what b begins with.
func sameBeginning(a, b io.Reader) (bool, error) {
	x, y := make([]byte, copyBuffer), make([]byte, copyBuffer)
	for {
		n, err := io.ReadFull(a, x)
		if n == 0 || err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err == nil, err
		}
		k, kerr := io.ReadFull(b, y[:n])
		if k < n || !bytes.Equal(x[:n], y[:n]) {
			if errors.Is(kerr, io.EOF) || errors.Is(kerr, io.ErrUnexpectedEOF) {
				kerr = nil
			}
			return false, kerr
		}
	}
}
