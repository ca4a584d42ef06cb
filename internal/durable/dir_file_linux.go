package durable

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const accessACL = "system.posix_acl_access"

func statFile(f *os.File) (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(int(f.Fd()), &st) })
	return infoOf(&st), err
}

func findWriters(f *os.File) (some, known bool) {
	fd := f.Fd()
	_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return true, true
	case err != nil:
		return false, false
	}
	// Giving back a lease that was just granted can only fail if it is gone already.
	_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
	return false, true
}

// startFlush makes the file system allocate the file's blocks now. Its errors come back from Flush.
func startFlush(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}

// setPerm gives f exactly perm and looks whether it stuck: the kernel drops set-id bits silently in some cases.
func setPerm(f *os.File, perm uint32) error {
	info, err := statFile(f)
	if err != nil {
		return err
	}
	if info.Perm == perm {
		return nil
	}
	if err := again(func() error { return unix.Fchmod(int(f.Fd()), perm) }); err != nil {
		return &PreserveError{What: "permission bits", Err: err}
	}
	if info, err = statFile(f); err == nil && info.Perm != perm {
		err = &PreserveError{What: "permission bits", Err: fmt.Errorf("expected %04o, found %04o", perm, info.Perm)}
	}
	return err
}

func cloneFile(dst, src *os.File) error {
	err := again(func() error { return unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())) })
	for _, no := range []error{unix.EOPNOTSUPP, unix.EXDEV, unix.EINVAL, unix.ENOTTY, unix.ENOSYS} {
		if errors.Is(err, no) {
			return ErrNoClone
		}
	}
	return err
}

// copyAttributes makes dst like src in owner, extended attributes and ACL. The owner comes first because changing it drops
// other things; permission bits are the caller's next step because an ACL carries some of them.
func copyAttributes(dst, src *os.File) error {
	from, err := statFile(src)
	if err != nil {
		return err
	}
	to, err := statFile(dst)
	if err != nil {
		return err
	}
	if from.UID != to.UID || from.GID != to.GID {
		if err := again(func() error { return unix.Fchown(int(dst.Fd()), int(from.UID), int(from.GID)) }); err != nil {
			return &PreserveError{What: "owner", Err: err}
		}
	}
	names, err := listAttributes(src)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := copyAttribute(dst, src, name); err != nil {
			return &PreserveError{What: fmt.Sprintf("extended attribute %q", name), Err: err}
		}
	}
	return dropInheritedACL(dst, names)
}

// dropInheritedACL takes away the ACL that the folder's default gave dst where the old file has none.
func dropInheritedACL(dst *os.File, wanted []string) error {
	has, err := listAttributes(dst)
	if err != nil {
		return err
	}
	if !slices.Contains(has, accessACL) || slices.Contains(wanted, accessACL) {
		return nil
	}
	if err := again(func() error { return unix.Fremovexattr(int(dst.Fd()), accessACL) }); err != nil {
		return &PreserveError{What: "absence of an ACL", Err: err}
	}
	return nil
}

func copyAttribute(dst, src *os.File, name string) error {
	if name == "security.ima" || name == "security.evm" {
		return nil
	}
	value, err := attribute(src, name)
	if errors.Is(err, unix.ENODATA) {
		return nil
	}
	if err != nil {
		return err
	}
	if has, err := attribute(dst, name); err == nil && bytes.Equal(has, value) {
		return nil
	}
	return again(func() error { return unix.Fsetxattr(int(dst.Fd()), name, value, 0) })
}

func attribute(f *os.File, name string) ([]byte, error) {
	return sized(func(buf []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, buf) })
}

func listAttributes(f *os.File) ([]string, error) {
	list, err := sized(func(buf []byte) (int, error) { return unix.Flistxattr(int(f.Fd()), buf) })
	if errors.Is(err, unix.ENOTSUP) || len(list) == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00"), err
}

// sized calls get with a buffer large enough for what it returns, which may grow in between.
func sized(get func([]byte) (int, error)) ([]byte, error) {
	buf := make([]byte, 256)
	for {
		n, err := get(buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ERANGE) && len(buf) < 1<<20:
			buf = make([]byte, 4*len(buf))
			continue
		case err != nil:
			return nil, err
		}
		return buf[:n], nil
	}
}
