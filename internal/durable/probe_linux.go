package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

func probeExchange(one, two string) bool {
	return unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, two, unix.RENAME_EXCHANGE) == nil
}

func probeReflink(from, to string) bool {
	src, err := os.Open(from)
	if err != nil {
		return false
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	defer dst.Close()
	return unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())) == nil
}
