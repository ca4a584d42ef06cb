//go:build unix

package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openSafely is added to every open of a file of correx's own.
const openSafely = unix.O_NOFOLLOW | unix.O_NONBLOCK

// flushAccess is the access that a flush needs.
const flushAccess = os.O_RDONLY

// syncFolder puts the entries of dir on the disk.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// linkNew gives the file at from the name to, if that is free, and takes the old name away.
func linkNew(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	// The new name stands, which is all that was promised. An old one that cannot be taken away, or is left by a crash
	// here, is one of the temporary names that are swept later.
	_ = os.Remove(from)
	return nil
}
