//go:build !linux

package durable

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/correx/correx/internal/change"
)

// handle is a folder held through os.Root, which never leaves it. os.Root follows symlinks that stay inside, so every
// component is looked at first; somebody who swaps a folder for a symlink between the two is not noticed.
type handle struct{ root *os.Root }

func openHandle(dir string) (handle, error) {
	root, err := os.OpenRoot(dir)
	return handle{root}, err
}

func (h handle) close() error { return h.root.Close() }

func (h handle) folder(p string) (handle, error) {
	if p == "" {
		p = "."
	}
	for i := range len(p) + 1 {
		if i < len(p) && p[i] != '/' {
			continue
		}
		info, err := h.root.Lstat(p[:i])
		if err != nil {
			return handle{}, err
		}
		if !info.IsDir() {
			return handle{}, errNotFolder
		}
	}
	root, err := h.root.OpenRoot(p)
	return handle{root}, err
}

func (h handle) self() (Info, error) { return h.lstat(".") }

func (h handle) lstat(name string) (Info, error) {
	info, err := h.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func (h handle) open(name string) (*os.File, error) {
	f, err := h.root.OpenFile(name, os.O_RDONLY|openSafely, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (h handle) readlink(name string) (string, error) {
	target, err := h.root.Readlink(name)
	if err != nil {
		if info, lerr := h.root.Lstat(name); lerr == nil && info.Mode()&fs.ModeSymlink == 0 {
			return "", errNotLink
		}
	}
	return target, err
}

func (h handle) readDir() ([]DirEntry, error) {
	entries, err := fs.ReadDir(h.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	list := make([]DirEntry, 0, len(entries))
	for _, e := range entries {
		list = append(list, DirEntry{Name: e.Name(), Kind: kindOf(e.Type())})
	}
	return list, nil
}

func (h handle) create(name string, perm uint32) (*os.File, error) {
	return h.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, modeOf(perm))
}

func (h handle) symlink(name, target string) error { return h.root.Symlink(target, name) }

func (h handle) chownLink(name string, uid, gid uint32) error {
	return h.root.Lchown(name, int(uid), int(gid))
}

func (h handle) mkdir(name string, perm uint32) error { return h.root.Mkdir(name, modeOf(perm)) }

func (h handle) chmodFolder(name string, perm uint32) error { return h.root.Chmod(name, modeOf(perm)) }

func (h handle) exchange(string, string) error { return ErrNoExchange }

// moveNew reaches the other folder by the path that it was opened by, because os.Root has no rename between two of them.
func (h handle) moveNew(name string, to handle, toName string) error {
	if h != to {
		return h.moveAcross(name, to, toName)
	}
	info, err := h.root.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return h.moveAway(name, to, toName)
	}
	if err := h.root.Link(name, toName); err != nil {
		return err
	}
	return h.root.Remove(name)
}

func (h handle) moveAway(name string, to handle, toName string) error {
	if h != to {
		return h.moveAcross(name, to, toName)
	}
	if _, err := h.root.Lstat(toName); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fs.ErrExist)
	}
	return h.root.Rename(name, toName)
}

// moveAcross leaves the choice between the old and the new name to renameNew, which is one step where the system has it.
func (h handle) moveAcross(name string, to handle, toName string) error {
	return renameNew(h.root.Name()+string(os.PathSeparator)+name, to.root.Name()+string(os.PathSeparator)+toName)
}

func (h handle) unlink(name string) error {
	info, err := h.root.Lstat(name)
	if err == nil && info.IsDir() {
		err = errNotRegular
	}
	if err != nil {
		return err
	}
	return h.root.Remove(name)
}

func (h handle) rmdir(name string) error {
	info, err := h.root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = errNotFolder
	}
	if err != nil {
		return err
	}
	if entries, err := fs.ReadDir(h.root.FS(), name); err == nil && len(entries) > 0 {
		return errFolderNotEmpty
	}
	return h.root.Remove(name)
}

var errFolderNotEmpty = errors.New("folder is not empty")

func isNotEmpty(err error) bool { return errors.Is(err, errFolderNotEmpty) }

func (h handle) setMTime(name string, ns int64) error {
	return h.root.Chtimes(name, time.Time{}, time.Unix(0, ns))
}

// writable says nothing here: the first write answers.
func (h handle) writable() error { return nil }

func (h handle) sync() error { return syncFolder(h.root.Name()) }

// foreign names what this system cannot have in a path without meaning something else.
func foreign(p string) string {
	if runtime.GOOS == "windows" && strings.ContainsAny(p, `\:`) {
		return "has a character that this system gives a meaning of its own"
	}
	return ""
}

func statFile(f *os.File) (Info, error) {
	info, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func findWriters(*os.File) (some, known bool) { return false, false }

func startFlush(*os.File) {}

func setPerm(f *os.File, perm uint32) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	if err := f.Chmod(modeOf(perm)); err != nil {
		return &PreserveError{What: "permission bits", Err: err}
	}
	return nil
}

func cloneFile(*os.File, *os.File) error { return ErrNoClone }

// copyAttributes gives dst the owner of src. Extended attributes and ACLs are not carried over on this system.
func copyAttributes(dst, src *os.File) error {
	from, err := statFile(src)
	if err != nil {
		return err
	}
	to, err := statFile(dst)
	if err != nil || (from.UID == to.UID && from.GID == to.GID) {
		return err
	}
	if err := dst.Chown(int(from.UID), int(from.GID)); err != nil {
		return &PreserveError{What: "owner", Err: err}
	}
	return nil
}

// modeOf turns permission bits as chmod takes them into those of the standard library.
func modeOf(perm uint32) fs.FileMode {
	mode := fs.FileMode(perm & 0o777)
	for bit, m := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if perm&bit != 0 {
			mode |= m
		}
	}
	return mode
}

func infoOf(info fs.FileInfo) Info {
	mode := info.Mode()
	out := Info{Kind: kindOf(mode), Perm: uint32(mode.Perm()), Size: info.Size(), MTimeNS: info.ModTime().UnixNano()}
	for bit, m := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&m != 0 {
			out.Perm |= bit
		}
	}
	addSystemInfo(&out, info)
	return out
}

func kindOf(mode fs.FileMode) change.Kind {
	switch {
	case mode.IsRegular():
		return change.KindFile
	case mode.IsDir():
		return change.KindDir
	case mode&fs.ModeSymlink != 0:
		return change.KindSymlink
	}
	return change.KindOther
}
