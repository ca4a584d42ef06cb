package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The files of a repository's two layers, at its root.
const (
	RepositoryFile = ".correx.toml"
	LocalFile      = ".correx.local.toml"
)

// ReadUser reads the user's own file; it may be a symlink, as files in home folders often are. A file that is not there,
// and an empty path, give a Source without Data; one that cannot be read is an *Error.
func ReadUser(path string) (Source, error) {
	if path == "" {
		return Source{}, nil
	}
	return read(path, path, os.Stat, 0)
}

// ReadPolicy reads a file of settings that a person wants to try, which messages call name. It must be there, and be a
// regular file and no symlink; else the error is an *Error.
func ReadPolicy(name, path string) (Source, error) {
	s, err := read(name, path, os.Lstat, noFollow)
	if err == nil && s.Data == nil {
		err = &Error{File: name, Problem: "is not there"}
	}
	return s, err
}

// ReadRepository reads the two files at the root of a repository, neither through a symlink. What is there but no regular
// file, or cannot be read, is an *Error: to go on without it could be to go on with less.
func ReadRepository(root string) (repository, local Source, err error) {
	repository, err = read(RepositoryFile, filepath.Join(root, RepositoryFile), os.Lstat, noFollow)
	if err != nil {
		return Source{}, Source{}, err
	}
	local, err = read(LocalFile, filepath.Join(root, LocalFile), os.Lstat, noFollow)
	if err != nil {
		return Source{}, Source{}, err
	}
	return repository, local, nil
}

// read opens path, which messages call name, and takes what it holds. The file that is read is the one that look has
// seen, and never a FIFO or device.
func read(name, path string, look func(string) (fs.FileInfo, error), flags int) (Source, error) {
	fail := func(problem string, err error) (Source, error) {
		return Source{}, &Error{File: name, Problem: problem, Err: err}
	}
	seen, err := look(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Source{Name: name}, nil
	case err != nil:
		return fail("cannot be read", err)
	case seen.Mode()&fs.ModeSymlink != 0:
		return fail("is a symbolic link; it is read only as a regular file", nil)
	case !seen.Mode().IsRegular():
		return fail("is not a regular file", nil)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noBlock|flags, 0)
	if err != nil {
		return fail("cannot be read", err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return fail("cannot be read", err)
	}
	if !os.SameFile(seen, opened) {
		return fail("was replaced while it was being opened", nil)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return fail("cannot be read", err)
	}
	return Source{Name: name, Data: data}, nil
}
