package durable

import (
	"os"

	"golang.org/x/sys/windows"
)

// openSafely is empty: Windows has no flag to match, and the look before the opening stands alone.
const openSafely = 0

// flushAccess is the access that a flush needs.
const flushAccess = os.O_RDWR

// syncFolder does nothing: Windows offers no flush of a folder to ordinary users, its journal orders the entries.
func syncFolder(string) error { return nil }

// renameNew renames from to to, or fails with fs.ErrExist when anything stands there.
func renameNew(from, to string) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	if err := windows.MoveFileEx(f, t, windows.MOVEFILE_WRITE_THROUGH); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
