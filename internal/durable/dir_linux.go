package durable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/correx/correx/internal/change"
)

// handle is a descriptor of a folder, opened with O_PATH: searching the folder is all the right it takes.
type handle int

const (
	folderFlags  = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	beneathFlags = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
	// raceTries bounds how often the kernel's "somebody moved a folder, try again" is obeyed before the path is walked.
	raceTries = 8
)

func openHandle(dir string) (handle, error) {
	fd, err := openAt(unix.AT_FDCWD, dir, folderFlags, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open folder", Path: dir, Err: err}
	}
	return handle(fd), nil
}

func (h handle) close() error { return unix.Close(int(h)) }

// folder opens the folder at the relative path p beneath h, "" for h itself.
func (h handle) folder(p string) (handle, error) {
	if p == "" {
		fd, err := openAt(int(h), ".", folderFlags, 0)
		return handle(fd), err
	}
	how := unix.OpenHow{Flags: folderFlags, Resolve: beneathFlags}
	for range raceTries {
		fd, err := unix.Openat2(int(h), p, &how)
		switch {
		case err == nil:
			return handle(fd), nil
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
			return -1, errNotFolder
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, unix.E2BIG):
			return h.walk(p)
		}
		return -1, err
	}
	return h.walk(p)
}

// walk opens p component by component. A symlink opened with O_PATH, O_DIRECTORY and O_NOFOLLOW is ENOTDIR.
func (h handle) walk(p string) (handle, error) {
	at := h
	for part := range strings.SplitSeq(p, "/") {
		fd, err := openAt(int(at), part, folderFlags|unix.O_NOFOLLOW, 0)
		if at != h {
			_ = at.close()
		}
		if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			return -1, errNotFolder
		}
		if err != nil {
			return -1, err
		}
		at = handle(fd)
	}
	return at, nil
}

func (h handle) self() (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(int(h), &st) })
	return infoOf(&st), err
}

func (h handle) lstat(name string) (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(int(h), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
}

// open opens a name that was a regular file a moment ago, and makes sure that it still was when it was opened.
func (h handle) open(name string) (*os.File, error) {
	fd, err := openAt(int(h), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return nil, errNotRegular
	}
	if err != nil {
		return nil, err
	}
	// The opening must not wait for the other end of a FIFO. Reading a regular file never does, and the library would ask
	// for the flag at each look at the descriptor.
	_ = unix.SetNonblock(fd, false)
	f := os.NewFile(uintptr(fd), name)
	info, err := statFile(f)
	if err == nil && info.Kind != change.KindFile {
		err = errNotRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (h handle) readlink(name string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(int(h), name, buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EINVAL):
			return "", errNotLink
		case err != nil:
			return "", err
		case n < size:
			return string(buf[:n]), nil
		}
	}
}

// readDir reads the entries itself: the standard library looks at entries whose kind the file system does not tell by a
// path, which may lead elsewhere by then.
func (h handle) readDir() ([]DirEntry, error) {
	fd, err := openAt(int(h), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var list []DirEntry
	buf := make([]byte, 32<<10)
	for {
		var n int
		err := again(func() (err error) { n, err = unix.ReadDirent(fd, buf); return err })
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return list, nil
		}
		if list, err = h.parseDir(list, buf[:n]); err != nil {
			return nil, err
		}
	}
}

// parseDir reads struct linux_dirent64: inode 8 bytes, offset 8, record length 2, kind 1, then the name up to a NUL.
func (h handle) parseDir(list []DirEntry, buf []byte) ([]DirEntry, error) {
	const header = 19
	for len(buf) >= header {
		size := int(binary.NativeEndian.Uint16(buf[16:]))
		if size < header || size > len(buf) {
			return nil, fmt.Errorf("folder entry of %d bytes in a piece of %d", size, len(buf))
		}
		name, _, _ := strings.Cut(string(buf[header:size]), "\x00")
		kind := change.KindOther
		switch buf[18] {
		case unix.DT_REG:
			kind = change.KindFile
		case unix.DT_DIR:
			kind = change.KindDir
		case unix.DT_LNK:
			kind = change.KindSymlink
		case unix.DT_UNKNOWN:
			info, err := h.lstat(name)
			if errors.Is(err, fs.ErrNotExist) {
				buf = buf[size:]
				continue
			}
			if err != nil {
				return nil, err
			}
			kind = info.Kind
		}
		if name != "." && name != ".." {
			list = append(list, DirEntry{Name: name, Kind: kind})
		}
		buf = buf[size:]
	}
	return list, nil
}

func (h handle) create(name string, perm uint32) (*os.File, error) {
	fd, err := openAt(int(h), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (h handle) symlink(name, target string) error {
	return again(func() error { return unix.Symlinkat(target, int(h), name) })
}

func (h handle) chownLink(name string, uid, gid uint32) error {
	return again(func() error { return unix.Fchownat(int(h), name, int(uid), int(gid), unix.AT_SYMLINK_NOFOLLOW) })
}

func (h handle) mkdir(name string, perm uint32) error {
	return again(func() error { return unix.Mkdirat(int(h), name, perm) })
}

func (h handle) chmodFolder(name string, perm uint32) error {
	fd, err := openAt(int(h), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(again(func() error { return unix.Fchmod(fd, perm) }), unix.Close(fd))
}

func (h handle) exchange(name, other string) error {
	err := again(func() error { return unix.Renameat2(int(h), name, int(h), other, unix.RENAME_EXCHANGE) })
	if noSuchRename(err) {
		return ErrNoExchange
	}
	return err
}

func (h handle) moveNew(name string, to handle, toName string) error {
	err := again(func() error { return unix.Renameat2(int(h), name, int(to), toName, unix.RENAME_NOREPLACE) })
	if !noSuchRename(err) {
		return err
	}
	info, err := h.lstat(name)
	if err != nil {
		return err
	}
	if info.Kind == change.KindDir {
		return h.moveLooking(name, to, toName)
	}
	if err := again(func() error { return unix.Linkat(int(h), name, int(to), toName, 0) }); err != nil {
		return err
	}
	return h.unlink(name)
}

func (h handle) moveAway(name string, to handle, toName string) error {
	err := again(func() error { return unix.Renameat2(int(h), name, int(to), toName, unix.RENAME_NOREPLACE) })
	if noSuchRename(err) {
		return h.moveLooking(name, to, toName)
	}
	return err
}

// moveLooking renames after a look at the new name.
func (h handle) moveLooking(name string, to handle, toName string) error {
	if _, err := to.lstat(toName); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = unix.EEXIST
		}
		return err
	}
	return again(func() error { return unix.Renameat(int(h), name, int(to), toName) })
}

func noSuchRename(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP)
}

func (h handle) unlink(name string) error {
	return again(func() error { return unix.Unlinkat(int(h), name, 0) })
}

func (h handle) rmdir(name string) error {
	err := again(func() error { return unix.Unlinkat(int(h), name, unix.AT_REMOVEDIR) })
	if errors.Is(err, unix.ENOTDIR) {
		return errNotFolder
	}
	return err
}

func isNotEmpty(err error) bool { return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) }

// setMTime sets the modification time of the file name and leaves the access time.
func (h handle) setMTime(name string, ns int64) error {
	ts := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(ns)}
	return again(func() error { return unix.UtimesNanoAt(int(h), name, ts, unix.AT_SYMLINK_NOFOLLOW) })
}

func (h handle) writable() error {
	return again(func() error { return unix.Faccessat(int(h), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) })
}

func (h handle) sync() error {
	fd, err := openAt(int(h), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(again(func() error { return unix.Fsync(fd) }), unix.Close(fd))
}

func openAt(dir int, name string, flags int, perm uint32) (fd int, err error) {
	err = again(func() (err error) { fd, err = unix.Openat(dir, name, flags, perm); return err })
	if err != nil {
		return -1, err
	}
	return fd, nil
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// foreign names what this system cannot have in a path; Linux takes every byte.
func foreign(string) string { return "" }

func infoOf(st *unix.Stat_t) Info {
	info := Info{
		Kind: change.KindOther, Perm: st.Mode & 0o7777, Size: st.Size, MTimeNS: st.Mtim.Nano(), CTimeNS: st.Ctim.Nano(),
		Ino: st.Ino, Dev: st.Dev, Nlink: uint64(st.Nlink), UID: st.Uid, GID: st.Gid,
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		info.Kind = change.KindFile
	case unix.S_IFDIR:
		info.Kind = change.KindDir
	case unix.S_IFLNK:
		info.Kind = change.KindSymlink
	}
	return info
}
