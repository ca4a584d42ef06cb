//go:build unix

package config

import "syscall"

// Flags for opening a file without following a symlink at its end, and without waiting for the other end of a FIFO.
const (
	noFollow = syscall.O_NOFOLLOW
	noBlock  = syscall.O_NONBLOCK
)
