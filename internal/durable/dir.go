package durable

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/correx/correx/internal/change"
)

// pinTries is how often a file that changes while it is read is read again.
const pinTries = 5

// errNotFolder is in the chain of an error about a component that is a symlink or otherwise no folder.
var errNotFolder = errors.New("not a folder")

// Dir is an open folder beneath a Root. Its methods take single names, never paths, and never follow a symlink. They
// reach the folder that was opened even when it has been renamed since; Self tells whether a path still leads to it. The
// methods that change something say what they promise; none of them flushes but Sync.
type Dir struct {
	h       handle
	at      change.Path
	buffers *sync.Pool
}

// Close gives the folder back.
func (d *Dir) Close() error { return d.h.close() }

// Path is where the folder was when it was opened, "" for the root.
func (d *Dir) Path() change.Path { return d.at }

// Self looks at the folder itself, wherever it is now.
func (d *Dir) Self() (Info, error) {
	info, err := d.h.self()
	return info, d.wrap("look at", "", err)
}

// Lstat looks at name. Missing: fs.ErrNotExist.
func (d *Dir) Lstat(name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	info, err := d.h.lstat(name)
	return info, d.wrap("look at", name, err)
}

// Open opens the regular file name for reading; see Root.Open.
func (d *Dir) Open(name string) (*os.File, error) {
	info, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Kind != change.KindFile {
		return nil, &KindError{Path: d.at.Join(name), Expected: change.KindFile, Found: info.Kind}
	}
	f, err := d.h.open(name)
	if errors.Is(err, errNotRegular) {
		return nil, &KindError{Path: d.at.Join(name), Expected: change.KindFile, Found: change.KindOther}
	}
	return f, d.wrap("open", name, err)
}

// Readlink returns the target of the symlink name, as it is stored.
func (d *Dir) Readlink(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	target, err := d.h.readlink(name)
	return target, d.wrap("read link", name, err)
}

// ReadDir lists the folder, in no order.
func (d *Dir) ReadDir() ([]DirEntry, error) {
	list, err := d.h.readDir()
	return list, d.wrap("list", "", err)
}

// OpenDir opens the folder name inside d. A symlink or a non-folder: *KindError.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	h, err := d.h.folder(name)
	if errors.Is(err, errNotFolder) {
		info, lerr := d.Lstat(name)
		if lerr != nil {
			return nil, lerr
		}
		return nil, &KindError{Path: d.at.Join(name), Expected: change.KindDir, Found: info.Kind}
	}
	if err != nil {
		return nil, d.wrap("open folder", name, err)
	}
	return &Dir{h: h, at: d.at.Join(name), buffers: d.buffers}, nil
}

// Pin returns what name is: for a regular file kind, permission bits, size and digest, for a symlink size and digest of
// its target; a folder and a special file have only their kind, a missing name is absent. The content is also written to
// w, if there is one. A file that changes while it is read is read again a few times, then it is a *BusyError; with a w,
// which cannot be rewound, it is one at once.
func (d *Dir) Pin(name string, w io.Writer) (change.Pin, error) {
	for range pinTries {
		info, err := d.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return change.Absent(), nil
		}
		if err != nil {
			return change.Pin{}, err
		}
		pin, steady, err := d.pinOnce(name, info, w)
		if err != nil || steady {
			return pin, err
		}
		if w != nil {
			break
		}
	}
	return change.Pin{}, &BusyError{Path: d.at.Join(name)}
}

// pinOnce reads what info describes and reports whether it was the same from beginning to end.
func (d *Dir) pinOnce(name string, info Info, w io.Writer) (change.Pin, bool, error) {
	sum := sha256.New()
	pin := change.Pin{Kind: info.Kind}
	var err error
	switch info.Kind {
	case change.KindFile:
		pin.Perm = info.Perm
		pin.Size, err = d.readFile(name, sum, w)
	case change.KindSymlink:
		pin.Size, err = d.readTarget(name, sum, w)
	default:
		return pin, true, nil
	}
	var kind *KindError
	if errors.As(err, &kind) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotLink) {
		return change.Pin{}, false, nil
	}
	if err != nil {
		return change.Pin{}, false, err
	}
	after, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return change.Pin{}, false, nil
	}
	pin.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return pin, after == info && (pin.Size == info.Size || info.Kind == change.KindSymlink), err
}

func (d *Dir) readFile(name string, sum hash.Hash, w io.Writer) (int64, error) {
	f, err := d.Open(name)
	if err != nil {
		return 0, err
	}
	n, err := d.stream(sum, w, f)
	if err != nil {
		err = d.wrap("read", name, err)
	}
	return n, errors.Join(err, f.Close())
}

func (d *Dir) readTarget(name string, sum hash.Hash, w io.Writer) (int64, error) {
	target, err := d.Readlink(name)
	if err != nil {
		return 0, err
	}
	sum.Write([]byte(target))
	if w != nil {
		_, err = io.WriteString(w, target)
	}
	return int64(len(target)), err
}

// stream copies src into sum, and into w when there is one.
func (d *Dir) stream(sum hash.Hash, w io.Writer, src io.Reader) (int64, error) {
	buf := d.buffers.Get().(*[]byte)
	defer d.buffers.Put(buf)
	var dst io.Writer = sum
	if w != nil {
		dst = io.MultiWriter(sum, w)
	}
	// The struct hides the file's own way of copying, which would not use the buffer.
	return io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, *buf)
}

// Create makes the empty regular file name, with perm less the umask unless the folder's default ACL says otherwise, and
// opens it. fs.ErrExist when anything stands there, a symlink too.
func (d *Dir) Create(name string, perm uint32) (*NewFile, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	f, err := d.h.create(name, perm)
	if err != nil {
		return nil, d.wrap("create", name, err)
	}
	return &NewFile{f: f, dir: d, name: name}, nil
}

// Symlink makes the symlink name with exactly this target; fs.ErrExist when anything stands there.
func (d *Dir) Symlink(name, target string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return d.wrap("make link", name, d.h.symlink(name, target))
}

// ChownLink gives the symlink name an owner.
func (d *Dir) ChownLink(name string, uid, gid uint32) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := d.h.chownLink(name, uid, gid); err != nil {
		return d.wrap("change owner", name, &PreserveError{What: "owner", Err: err})
	}
	return nil
}

// Mkdir makes the folder name with perm less the umask, unless the folder's default ACL says otherwise, or with exactly perm;
// fs.ErrExist when anything stands there. A crash may leave a folder that was to have exactly perm closed to all but its
// owner.
func (d *Dir) Mkdir(name string, perm uint32, exactly bool) error {
	if err := checkName(name); err != nil {
		return err
	}
	if !exactly {
		return d.wrap("make folder", name, d.h.mkdir(name, perm))
	}
	err := d.h.mkdir(name, 0o700)
	if err == nil {
		err = d.h.chmodFolder(name, perm)
	}
	return d.wrap("make folder", name, err)
}

// Exchange swaps what stands at name and at other in one step, whatever their kinds: there is no instant at which one of
// the names is missing, and a crash leaves either the old or the new arrangement. Both must exist. ErrNoExchange where
// the file system cannot.
//
// System call: renameat2(RENAME_EXCHANGE).
func (d *Dir) Exchange(name, other string) error {
	if err := errors.Join(checkName(name), checkName(other)); err != nil {
		return err
	}
	return d.wrap("exchange", name, d.h.exchange(name, other))
}

// MoveNew moves name to the name toName in the folder to, of the same file system, where nothing may stand: fs.ErrExist
// then, and nothing is changed.
//
// System call: renameat2(RENAME_NOREPLACE), a crash leaves the one name or the other. Where there is none: linkat,
// unlinkat, and a crash in between leaves both names for one file, while a save to name in between is lost: name must be a
// working name of the caller's own. A folder goes by a plain rename after a look, which replaces at most an empty folder.
func (d *Dir) MoveNew(name string, to *Dir, toName string) error {
	if err := errors.Join(checkName(name), checkName(toName)); err != nil {
		return err
	}
	return d.wrap("move", name, d.h.moveNew(name, to.h, toName))
}

// MoveAway moves name to the name toName in the folder to, of the same file system. toName must be a working name of the
// caller's own: it is expected to be free, fs.ErrExist otherwise, but on a file system without a rename that does not
// replace, what somebody puts there in the instant after the look is lost. In return there is no instant at which both
// names are there: a save to name is never taken for what was moved.
//
// System call: renameat2(RENAME_NOREPLACE), else fstatat and renameat; a crash leaves the one name or the other.
func (d *Dir) MoveAway(name string, to *Dir, toName string) error {
	if err := errors.Join(checkName(name), checkName(toName)); err != nil {
		return err
	}
	return d.wrap("move", name, d.h.moveAway(name, to.h, toName))
}

// Unlink removes the file, symlink or special file name. A folder is refused. Missing: fs.ErrNotExist.
func (d *Dir) Unlink(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return d.wrap("remove", name, d.h.unlink(name))
}

// Rmdir removes the folder name if it is empty. Not empty, missing or no folder at all: false, and no error.
func (d *Dir) Rmdir(name string) (removed bool, err error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	err = d.h.rmdir(name)
	if isNotEmpty(err) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder) {
		return false, nil
	}
	return err == nil, d.wrap("remove folder", name, err)
}

// Writable reports by its error whether names in the folder can be made, moved and removed by this process.
func (d *Dir) Writable() error { return d.wrap("write into", "", d.h.writable()) }

// Sync puts the folder's entries on the disk. The error is ErrFlush when that is not known to have happened.
func (d *Dir) Sync() error {
	if err := d.h.sync(); err != nil {
		return flushError(d.display(""), err)
	}
	return nil
}

func (d *Dir) display(name string) string {
	switch {
	case name != "":
		return string(d.at.Join(name))
	case d.at == "":
		return "."
	}
	return string(d.at)
}

func (d *Dir) wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: d.display(name), Err: err}
}

// checkName refuses what is not a single component.
func checkName(name string) error {
	p, err := change.ParsePath(name)
	if err != nil {
		return err
	}
	if p.Dir() != "" {
		return fmt.Errorf("name %q is more than one component", name)
	}
	if problem := foreign(name); problem != "" {
		return fmt.Errorf("name %q: %s", name, problem)
	}
	return nil
}
