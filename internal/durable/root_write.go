package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/correx/correx/internal/change"
)

// WriteFile makes the regular file p with what src gives, exactly the permission bits perm, and the modification time
// mtimeNS unless that is 0. Missing folders above it are made. It is for shadows: nothing is flushed. Whatever stands at p
// is left alone: fs.ErrExist. After any other failure nothing stands at p; folders that were made stay.
//
// System calls of a good run: mkdir per missing folder, open(O_EXCL), write, fchmod, close, utimensat. A crash leaves a part.
func (r *Root) WriteFile(p change.Path, src io.Reader, perm uint32, mtimeNS int64) error {
	return r.create(p, perm, mtimeNS, func(f *os.File) error {
		buf := r.top.buffers.Get().(*[]byte)
		defer r.top.buffers.Put(buf)
		_, err := io.CopyBuffer(f, src, *buf)
		return err
	})
}

// CloneFile makes the regular file p share the bytes of src, which must be open for reading, as WriteFile would copy
// them. Where the file system cannot: false and ErrNoClone, and nothing stands at p.
//
// System calls of a good run: as WriteFile, with ioctl(FICLONE) in place of the writes.
func (r *Root) CloneFile(p change.Path, src *os.File, perm uint32, mtimeNS int64) (cloned bool, err error) {
	err = r.create(p, perm, mtimeNS, func(f *os.File) error { return cloneFile(f, src) })
	return err == nil, err
}

func (r *Root) create(p change.Path, perm uint32, mtimeNS int64, fill func(*os.File) error) error {
	d, done, err := r.madeParent(p)
	if err != nil {
		return err
	}
	defer done()
	name := p.Base()
	f, err := d.h.create(name, 0o600)
	if err != nil {
		return d.wrap("create", name, err)
	}
	err = fill(f)
	if err == nil {
		err = setPerm(f, perm)
	}
	err = errors.Join(err, f.Close())
	if err == nil && mtimeNS != 0 {
		err = d.h.setMTime(name, mtimeNS)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", p, err), d.Unlink(name))
	}
	return nil
}

// madeParent is parent, with missing folders made.
func (r *Root) madeParent(p change.Path) (*Dir, func(), error) {
	d, done, err := r.parent(p)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, done, err
	}
	if err := r.MkdirAll(p.Dir()); err != nil {
		return nil, nil, err
	}
	return r.parent(p)
}

// Symlink makes the symlink p with exactly this target, and missing folders above it. Unflushed. fs.ErrExist when
// anything stands there.
func (r *Root) Symlink(p change.Path, target string) error {
	d, done, err := r.madeParent(p)
	if err != nil {
		return err
	}
	defer done()
	return d.Symlink(p.Base(), target)
}

// MkdirAll makes the folder p and those missing above it, 0755 less the umask. Unflushed. What is there already must be a
// folder, not a symlink to one.
func (r *Root) MkdirAll(p change.Path) error {
	if err := checkPath(p); err != nil || p == "" {
		return err
	}
	for _, up := range append(p.Ancestors(), p) {
		if err := r.mkdir(up); err != nil {
			return err
		}
	}
	return nil
}

func (r *Root) mkdir(p change.Path) error {
	d, done, err := r.parent(p)
	if err != nil {
		return err
	}
	defer done()
	err = d.Mkdir(p.Base(), 0o755, false)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := d.Lstat(p.Base())
	if err == nil && info.Kind != change.KindDir {
		err = &KindError{Path: p, Expected: change.KindDir, Found: info.Kind}
	}
	return err
}

// Remove removes the file, symlink, special file or empty folder at p. Unflushed. Missing: fs.ErrNotExist.
func (r *Root) Remove(p change.Path) error {
	d, done, err := r.parent(p)
	if err != nil {
		return err
	}
	defer done()
	info, err := d.Lstat(p.Base())
	if err != nil {
		return err
	}
	if info.Kind != change.KindDir {
		return d.Unlink(p.Base())
	}
	return d.wrap("remove", p.Base(), d.h.rmdir(p.Base()))
}
