package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// AppendFile is a regular file that grows at its end. Its methods are not for use by several goroutines at once, and who
// appends must hold a lock that keeps other processes from doing so.
type AppendFile struct {
	file appendTarget
	path string
}

// appendTarget is what AppendFile needs of the file below it.
type appendTarget interface {
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Stat() (os.FileInfo, error)
	Close() error
}

// OpenAppend opens the regular file at path for appending, and makes it (0600) when it is missing. A symlink is refused.
// After success the name is on the disk: the folder is flushed whenever the file is empty, since whoever made it may have
// been stopped before doing so.
func OpenAppend(path string) (*AppendFile, error) {
	f, err := openRegular(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	a := &AppendFile{file: f, path: path}
	size, err := a.Size()
	if err == nil && size == 0 {
		err = files{}.flushFolder(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Append writes p at the end and returns the offset at which it begins; nothing is flushed. After a failure the file is cut
// back to what it was and the cut is flushed, so that no crash brings a part of p back. When even that does not succeed,
// the error is ErrFlush and part of p, or all of it, may stand at the end.
func (a *AppendFile) Append(p []byte) (off int64, err error) {
	off, err = a.Size()
	if err != nil {
		return 0, err
	}
	if _, err := a.file.WriteAt(p, off); err != nil {
		return 0, errors.Join(err, a.cutBack(off))
	}
	return off, nil
}

func (a *AppendFile) cutBack(n int64) error {
	if err := a.Truncate(n); err != nil {
		return fmt.Errorf("cut %q back to %d bytes: %w: %w", a.path, n, ErrFlush, err)
	}
	return a.Sync()
}

// Sync puts everything appended so far on the disk. An error is ErrFlush.
func (a *AppendFile) Sync() error {
	if err := a.file.Sync(); err != nil {
		return flushError(a.path, err)
	}
	return nil
}

// Truncate cuts the file back to n bytes. It never makes the file longer.
func (a *AppendFile) Truncate(n int64) error {
	size, err := a.Size()
	if err != nil {
		return err
	}
	if n < 0 || n > size {
		return fmt.Errorf("cut %q to %d bytes: it has %d", a.path, n, size)
	}
	return a.file.Truncate(n)
}

// Reserve sets room for n more bytes aside without changing the size, so that appending them does not find the disk full.
// Where the system or the file system has no such thing it does nothing.
func (a *AppendFile) Reserve(n int64) error {
	size, err := a.Size()
	if err != nil {
		return err
	}
	f, ok := a.file.(*os.File)
	if !ok || n <= 0 {
		return nil
	}
	if err := reserve(f, size, n); err != nil {
		return fmt.Errorf("reserve %d bytes in %q: %w", n, a.path, err)
	}
	return nil
}

// Size returns the number of bytes in the file.
func (a *AppendFile) Size() (int64, error) {
	info, err := a.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close closes the file. It flushes nothing.
func (a *AppendFile) Close() error { return a.file.Close() }
