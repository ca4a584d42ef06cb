//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile tries flock(2), which belongs to the open file description: another open of the same file is another holder,
// in this process too.
func lockFile(f *os.File, mode lockMode) (bool, error) {
	how := unix.LOCK_EX
	if mode == lockShared {
		how = unix.LOCK_SH
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, os.NewSyscallError("flock", err)
		}
	}
}

func unlockFile(f *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(f.Fd()), unix.LOCK_UN))
}

// processThere reports whether a process of this number runs.
func processThere(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
