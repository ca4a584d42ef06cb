package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/correx/correx/internal/change"
)

// Root is a folder opened once, beneath which paths are resolved without following a symlink in any component and
// without ever leaving it: not by "..", not by a link, not by a folder that is moved while a path is resolved. Mounts
// below it are entered. Its methods may be used by any number of goroutines at once, Close by one, after the others.
//
// Linux: openat2 with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS, else (an older kernel, a path
// longer than PATH_MAX) component by component with O_NOFOLLOW. Elsewhere: os.Root, each component looked at first.
type Root struct {
	dir string
	top *Dir
}

// Info is what a look at a path tells without opening it.
type Info struct {
	Kind change.Kind
	// Perm holds the permission bits as chmod takes them, 0 to 07777.
	Perm uint32
	Size int64
	// MTimeNS and CTimeNS are nanoseconds since 1970; 0 where the system does not tell.
	MTimeNS, CTimeNS int64
	// Ino is 0 where the system does not tell.
	Ino, Dev, Nlink uint64
	UID, GID        uint32
}

// DirEntry is one name in a folder.
type DirEntry struct {
	Name string
	// Kind is KindDir, KindFile, KindSymlink or KindOther.
	Kind change.Kind
}

// OpenRoot opens the folder dir. A symlink in dir itself is followed: the caller names the root, nobody else does.
func OpenRoot(dir string) (*Root, error) {
	h, err := openHandle(dir)
	if err != nil {
		return nil, err
	}
	return &Root{dir: dir, top: &Dir{h: h, buffers: &sync.Pool{New: newBuffer}}}, nil
}

// Close gives the folder back.
func (r *Root) Close() error { return r.top.Close() }

// Name returns dir as it was given to OpenRoot.
func (r *Root) Name() string { return r.dir }

// Dir opens the folder at p, "" for the root, which the caller closes. What is done through it reaches that folder even
// when it is renamed meanwhile. Missing: fs.ErrNotExist. A symlink or a non-folder above p: *ParentError; at p:
// *KindError.
func (r *Root) Dir(p change.Path) (*Dir, error) {
	if err := checkPath(p); err != nil {
		return nil, err
	}
	h, err := r.top.h.folder(string(p))
	if err != nil {
		return nil, r.explain("open folder", p, err)
	}
	return &Dir{h: h, at: p, buffers: r.top.buffers}, nil
}

// parent returns the folder of p and what gives it back.
func (r *Root) parent(p change.Path) (*Dir, func(), error) {
	if err := checkPath(p); err != nil {
		return nil, nil, err
	}
	if p == "" {
		return nil, nil, &KindError{Path: p, Expected: change.KindFile, Found: change.KindDir}
	}
	if p.Dir() == "" {
		return r.top, func() {}, nil
	}
	d, err := r.Dir(p.Dir())
	if err != nil {
		return nil, nil, asParent(p, err)
	}
	// A descriptor that only names a folder has nothing to lose when it is closed.
	return d, func() { _ = d.Close() }, nil
}

// asParent turns the error about p's folder into one about p.
func asParent(p change.Path, err error) error {
	var kind *KindError
	var parent *ParentError
	switch {
	case errors.As(err, &kind):
		return &ParentError{Path: p, Parent: kind.Path, Kind: kind.Found}
	case errors.As(err, &parent):
		return &ParentError{Path: p, Parent: parent.Parent, Kind: parent.Kind}
	case errors.Is(err, fs.ErrNotExist):
		return &fs.PathError{Op: "look at", Path: string(p), Err: fs.ErrNotExist}
	}
	return err
}

// explain finds the component that made opening the folder p fail.
func (r *Root) explain(op string, p change.Path, err error) error {
	if !errors.Is(err, errNotFolder) {
		return &fs.PathError{Op: op, Path: string(p), Err: err}
	}
	at := r.top.h
	defer func() {
		if at != r.top.h {
			_ = at.close()
		}
	}()
	for _, up := range append(p.Ancestors(), p) {
		info, lerr := at.lstat(up.Base())
		if lerr != nil {
			return &fs.PathError{Op: op, Path: string(p), Err: lerr}
		}
		if info.Kind != change.KindDir && up == p {
			return &KindError{Path: p, Expected: change.KindDir, Found: info.Kind}
		}
		if info.Kind != change.KindDir {
			return &ParentError{Path: p, Parent: up, Kind: info.Kind}
		}
		next, oerr := at.folder(up.Base())
		if errors.Is(oerr, errNotFolder) {
			break
		}
		if oerr != nil {
			return &fs.PathError{Op: op, Path: string(p), Err: oerr}
		}
		if at != r.top.h {
			_ = at.close()
		}
		at = next
	}
	// What was in the way is gone or keeps changing, and was something else than a folder.
	return &KindError{Path: p, Expected: change.KindDir, Found: change.KindOther}
}

// Lstat looks at p without following a symlink in any component. Missing: fs.ErrNotExist. A symlink or a non-folder above
// p: *ParentError, which is fs.ErrNotExist too. "" is the root itself.
func (r *Root) Lstat(p change.Path) (Info, error) {
	if p == "" {
		return r.top.Self()
	}
	d, done, err := r.parent(p)
	if err != nil {
		return Info{}, err
	}
	defer done()
	return d.Lstat(p.Base())
}

// Open opens the regular file at p for reading. Anything else is a *KindError and is not opened: no FIFO is waited for,
// no device is touched.
func (r *Root) Open(p change.Path) (*os.File, error) {
	d, done, err := r.parent(p)
	if err != nil {
		return nil, err
	}
	defer done()
	return d.Open(p.Base())
}

// Readlink returns the target of the symlink at p, as it is stored.
func (r *Root) Readlink(p change.Path) (string, error) {
	d, done, err := r.parent(p)
	if err != nil {
		return "", err
	}
	defer done()
	return d.Readlink(p.Base())
}

// ReadDir lists the folder at p, "" for the root, in no order.
func (r *Root) ReadDir(p change.Path) ([]DirEntry, error) {
	d, err := r.Dir(p)
	if err != nil {
		return nil, err
	}
	list, err := d.ReadDir()
	return list, errors.Join(err, d.Close())
}

// Pin looks at p as Dir.Pin does. A path below a symlink or a non-folder is absent.
func (r *Root) Pin(p change.Path, w io.Writer) (change.Pin, error) {
	d, done, err := r.parent(p)
	if errors.Is(err, fs.ErrNotExist) {
		return change.Absent(), nil
	}
	if err != nil {
		return change.Pin{}, err
	}
	defer done()
	return d.Pin(p.Base(), w)
}

// checkPath refuses what is no path inside a root; "" is the root.
func checkPath(p change.Path) error {
	if p == "" {
		return nil
	}
	if _, err := change.ParsePath(string(p)); err != nil {
		return err
	}
	if problem := foreign(string(p)); problem != "" {
		return fmt.Errorf("path %q: %s", p, problem)
	}
	return nil
}

// copyBuffer is the size of the pieces in which contents are read.
const copyBuffer = 128 << 10

func newBuffer() any {
	b := make([]byte, copyBuffer)
	return &b
}
