package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockAt is the offset of the one byte that is locked. Locks are mandatory on Windows; a byte far beyond the end leaves
// the holder's text readable.
const lockAt = 0x7fffffff

func lockFile(f *os.File, mode lockMode) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if mode == lockExclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: lockAt})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

func unlockFile(f *os.File) error {
	err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{Offset: lockAt})
	return os.NewSyscallError("UnlockFileEx", err)
}

// processThere reports whether a process of this number runs.
func processThere(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err == nil {
		err = windows.CloseHandle(h)
	}
	return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
}
