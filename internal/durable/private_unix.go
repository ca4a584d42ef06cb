//go:build unix

package durable

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// CheckPrivate checks that nobody but this user could have written to the folder at dir: it is a folder and not a symlink
// to one, belongs to the effective user, and neither group nor others may write to it. Else a *PrivateError, or
// fs.ErrNotExist when it is missing.
func CheckPrivate(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: dir, Err: err}
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return &PrivateError{Path: dir, Problem: "expected a folder, found a symlink"}
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return &PrivateError{Path: dir, Problem: "expected a folder, found something else"}
	case int(st.Uid) != os.Geteuid():
		return &PrivateError{Path: dir, Problem: fmt.Sprintf("owned by user %d, expected %d", st.Uid, os.Geteuid())}
	case st.Mode&0o022 != 0:
		return &PrivateError{Path: dir, Problem: fmt.Sprintf("others may write to it (mode %04o), expected 0700", st.Mode&0o7777)}
	}
	return nil
}
