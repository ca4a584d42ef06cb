package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace puts a regular file with data and exactly perm at path, in place of the file or symlink that may stand there. A
// symlink is replaced itself and never followed; a folder or a special file is refused with a *NotRegularError. After
// success the bytes and the name are on the disk. After a failure path holds what it held before or, when the error is
// ErrFlush, the one or the other; at no instant does nothing stand there.
//
// System calls of a good run: lstat(path), open(temporary beside it, O_EXCL), fchmod, write, fsync, close, rename,
// fsync(folder). A crash before the rename leaves a file named .correx-tmp-….
func Replace(path string, data []byte, perm os.FileMode) error {
	return files{}.replace(path, data, perm)
}

func (s files) replace(path string, data []byte, perm os.FileMode) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink:
		return &NotRegularError{Path: path, Found: info.Mode().Type()}
	}
	f, err := s.temporary(filepath.Dir(path), perm, 0)
	if err != nil {
		return err
	}
	err = s.step("chmod", func() error { return f.Chmod(perm) })
	if err == nil {
		err = s.fill(f, data)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = s.step("rename", func() error { return os.Rename(f.Name(), path) })
	}
	if err != nil {
		return errors.Join(err, s.discard(f.Name()))
	}
	return s.flushFolder(filepath.Dir(path))
}

// KeepAs gives the regular file or symlink at path a second name, kept, in a folder that exists: fs.ErrExist when anything
// stands there. A file keeps its inode, and with it mode, times and attributes; where the file system has no hard links it
// is copied with its permission bits. A symlink is made anew with the target given, because a relative one depends on its
// folder. After success both names are on the disk; after a failure path is as it was, and kept is free or, when the error
// is ErrFlush, may stand.
func KeepAs(path, kept, target string) error { return files{}.keepAs(path, kept, target) }

func (s files) keepAs(path, kept, target string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		err = s.step("symlink", func() error { return os.Symlink(target, kept) })
	case !info.Mode().IsRegular():
		return &NotRegularError{Path: path, Found: info.Mode().Type()}
	default:
		err = s.step("link", func() error { return os.Link(path, kept) })
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return s.copyNew(path, kept, info.Mode().Perm())
		}
	}
	if err != nil {
		return err
	}
	return s.flushFolder(filepath.Dir(kept))
}

// copyNew is for file systems without hard links.
func (s files) copyNew(path, kept string, perm os.FileMode) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := s.writeNew(kept, data, perm); err != nil {
		return err
	}
	return s.step("chmod", func() error { return os.Chmod(kept, perm) })
}

// Move renames from to path, in place of the file or symlink that may stand there; never a folder. After success both
// folders are on the disk. After a failure nothing has changed or, when the error is ErrFlush, it may have.
func Move(from, path string) error { return files{}.move(from, path) }

func (s files) move(from, path string) error {
	for _, name := range []string{from, path} {
		if info, err := os.Lstat(name); err == nil && info.IsDir() {
			return fmt.Errorf("move %q to %q: %w", from, path, &NotRegularError{Path: name, Found: fs.ModeDir})
		}
	}
	if err := s.step("rename", func() error { return os.Rename(from, path) }); err != nil {
		return err
	}
	if err := s.flushFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return s.flushFolder(filepath.Dir(from))
}

// ReplaceLink puts a symlink with the target at path, in place of the file or symlink that may stand there. The promises
// are those of Replace.
func ReplaceLink(path, target string) error { return files{}.replaceLink(path, target) }

func (s files) replaceLink(path, target string) error {
	dir := filepath.Dir(path)
	for n := range temporaryLimit {
		name := filepath.Join(dir, fmt.Sprintf("%s%d-%d", temporaryPrefix, os.Getpid(), n))
		err := s.step("symlink", func() error { return os.Symlink(target, name) })
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := s.move(name, path); err != nil {
			return errors.Join(err, s.discard(name))
		}
		return nil
	}
	return fmt.Errorf("replace %q: %d temporary names are taken", path, temporaryLimit)
}
