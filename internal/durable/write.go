package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// temporaryPrefix begins every temporary name. Names beginning with ".correx-" are reserved everywhere.
	temporaryPrefix = ".correx-tmp-"
	// temporaryLimit bounds the search for a free temporary name; names left by killed processes are passed over.
	temporaryLimit = 100000
)

// files carries out the writes of this package. fault, nil outside tests, is asked before each step and its error takes
// the step's place: every routine is tested by failing, and by stopping at, each of its steps in turn.
type files struct {
	fault func(step string) error
}

func (s files) step(name string, do func() error) error {
	if s.fault != nil {
		if err := s.fault(name); err != nil {
			return err
		}
	}
	return do()
}

// WriteFile puts data at path, whole or not at all, in place of a regular file that may stand there. A new file gets perm
// less the umask; one that is replaced gets exactly perm. A symlink, a folder or a special file at path is refused with a
// *NotRegularError. After success the bytes and the name are on the disk. After a failure path holds the old content or,
// when the error is ErrFlush, the old or the new. Two writers at once: one of the two contents stands.
//
// System calls of a good run: lstat(path), open(temporary beside it, O_EXCL), write, fchmod when replacing, fsync, close,
// rename, fsync(folder). A crash before the rename leaves a file named .correx-tmp-…; after it, the rename may be lost
// until the folder is flushed.
func WriteFile(path string, data []byte, perm os.FileMode) error {
	return files{}.writeFile(path, data, perm)
}

func (s files) writeFile(path string, data []byte, perm os.FileMode) error {
	old, err := os.Lstat(path)
	switch {
	case err == nil && !old.Mode().IsRegular():
		return &NotRegularError{Path: path, Found: old.Mode().Type()}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := s.temporary(filepath.Dir(path), perm, 0)
	if err != nil {
		return err
	}
	if old != nil {
		err = s.step("chmod", func() error { return f.Chmod(perm) })
	}
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

// WriteNew creates the file at path with data; fs.ErrExist when anything stands there, which is left alone. The file gets
// perm less the umask. After success the bytes and the name are on the disk. After a failure nothing stands at path or,
// when the error is ErrFlush, nothing or the whole content. Of two writers at once, one succeeds.
//
// System calls of a good run: open(temporary beside it, O_EXCL), write, fsync, close, rename without replacing (or link
// and unlink where the file system has no such rename), fsync(folder). A crash leaves at most a file named .correx-tmp-….
func WriteNew(path string, data []byte, perm os.FileMode) error {
	return files{}.writeNew(path, data, perm)
}

func (s files) writeNew(path string, data []byte, perm os.FileMode) error {
	// The answer for a name that is taken costs no write. The rename below is what decides.
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("create %q: %w", path, fs.ErrExist)
	}
	f, err := s.temporary(filepath.Dir(path), perm, 0)
	if err != nil {
		return err
	}
	err = errors.Join(s.fill(f, data), f.Close())
	if err == nil {
		err = s.step("publish", func() error { return renameNew(f.Name(), path) })
	}
	if err != nil {
		return errors.Join(err, s.discard(f.Name()))
	}
	return s.flushFolder(filepath.Dir(path))
}

// fill writes data to f and flushes it.
func (s files) fill(f *os.File, data []byte) error {
	if err := s.step("write", func() error { _, err := f.Write(data); return err }); err != nil {
		return err
	}
	return s.step("flush", func() error { return flush(f) })
}

// temporary creates a file for writing in dir, under a name that nothing else has. The names carry no randomness: O_EXCL
// is what makes them unique.
func (s files) temporary(dir string, perm os.FileMode, nth int) (*os.File, error) {
	var f *os.File
	err := s.step("create", func() error {
		for n := range temporaryLimit {
			name := filepath.Join(dir, fmt.Sprintf("%s%d-%d", temporaryPrefix, os.Getpid(), nth+n))
			var err error
			f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
			if !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		return fmt.Errorf("create in %q: %d temporary names are taken", dir, temporaryLimit)
	})
	return f, err
}

func (s files) discard(name string) error {
	return s.step("discard", func() error {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// MkdirAll makes the folder at path and those missing above it, with perm less the umask. After success every entry it
// made is on the disk; after a failure some of the upper ones may stand. A folder that is there already, by a symlink too,
// is left as it is. Any number of callers may run at once.
//
// System calls per missing folder, outermost first: mkdir, fsync(its parent).
func MkdirAll(path string, perm os.FileMode) error {
	return files{}.mkdirAll(filepath.Clean(path), perm)
}

func (s files) mkdirAll(path string, perm os.FileMode) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		return fmt.Errorf("make folder %q: found %s", path, typeWord(info.Mode()))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(path); parent != path {
		if err := s.mkdirAll(parent, perm); err != nil {
			return err
		}
	}
	err = s.step("mkdir", func() error { return os.Mkdir(path, perm) })
	if errors.Is(err, fs.ErrExist) {
		// Somebody else made it a moment ago and may not have flushed it yet; or it is not a folder.
		if info, serr := os.Stat(path); serr != nil || !info.IsDir() {
			return err
		}
	} else if err != nil {
		return err
	}
	return s.flushFolder(filepath.Dir(path))
}

// Remove removes the file, symlink or empty folder at path and flushes its folder. Missing is no error. After a failure
// it stands, or is gone when the error is ErrFlush.
func Remove(path string) error { return files{}.remove(path) }

func (s files) remove(path string) error {
	err := s.step("remove", func() error { return os.Remove(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.flushFolder(filepath.Dir(path))
}

// RemoveAll removes the folder at path with everything in it, unflushed. It is for folders of correx's own; symlinks in
// them are removed, never followed, and folders that were made unwritable are made writable first. Missing is no error.
// After a failure any part may be gone.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if uerr := unlockFolders(path); uerr != nil {
		return errors.Join(err, uerr)
	}
	return os.RemoveAll(path)
}

// unlockFolders gives the owner every right on the folders below path. It goes through os.Root because the content may
// be changing hands: a folder swapped for a symlink must not lead the chmod out of path.
func unlockFolders(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return err
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return root.Chmod(name, 0o700)
	})
}

// WriteAt writes data at offset off of the regular file at path, which must exist and is never a symlink. Nothing is
// flushed: after a crash any part of data may be missing, which the format of the file has to allow for.
func WriteAt(path string, off int64, data []byte) error {
	f, err := openRegular(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, off)
	return errors.Join(err, f.Close())
}

// Flush puts what was written to the regular file at path, by whomever, on the disk. The error is ErrFlush when that is
// not known to have happened.
func Flush(path string) error {
	f, err := openRegular(path, flushAccess, 0)
	if err != nil {
		return err
	}
	return errors.Join(flush(f), f.Close())
}

func flush(f *os.File) error {
	if err := f.Sync(); err != nil {
		return flushError(f.Name(), err)
	}
	return nil
}

func (s files) flushFolder(dir string) error {
	return s.step("flush folder", func() error {
		if err := syncFolder(dir); err != nil {
			return flushError(dir, err)
		}
		return nil
	})
}

// openRegular opens a regular file without following a symlink in the last component and without waiting for the other
// end of a FIFO. Anything else at path is a *NotRegularError.
func openRegular(path string, flag int, perm os.FileMode) (*os.File, error) {
	// The look before the opening keeps devices from being opened at all; the look after it is the one that counts.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &NotRegularError{Path: path, Found: info.Mode().Type()}
	}
	f, err := os.OpenFile(path, flag|openSafely, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() {
		return nil, errors.Join(&NotRegularError{Path: path, Found: info.Mode().Type()}, f.Close())
	}
	return f, nil
}
