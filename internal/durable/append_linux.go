package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func reserve(f *os.File, off, n int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, off, n)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
			return nil
		default:
			return os.NewSyscallError("fallocate", err)
		}
	}
}
