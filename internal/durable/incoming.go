package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Incoming is a file being written that has no final name yet. It is for content that is stored under its digest, which
// is known only when the last byte is written. Not for use by several goroutines at once.
type Incoming struct {
	files files
	file  *os.File
	// name is "" once the temporary name is gone.
	name string
}

// NewIncoming opens an empty file (0600) with a temporary name in dir, which must exist. It must end with Commit or Abort;
// a crash before that leaves the file, and SweepIncoming removes it. nth is how many the caller has open in dir: the search
// for a free name begins there.
func NewIncoming(dir string, nth int) (*Incoming, error) { return files{}.newIncoming(dir, nth) }

func (s files) newIncoming(dir string, nth int) (*Incoming, error) {
	f, err := s.temporary(dir, 0o600, nth)
	if err != nil {
		return nil, err
	}
	return &Incoming{files: s, file: f, name: f.Name()}, nil
}

// Write adds p to the content. After an error the only thing left to do is Abort.
func (in *Incoming) Write(p []byte) (n int, err error) {
	err = in.files.step("write", func() error { n, err = in.file.Write(p); return err })
	return n, err
}

// Commit gives the content its final name, which must be on the same file system and in a folder that exists. When that
// name is taken, what stands there is left as it is, the content is dropped and created is false: equal bytes under a
// digest need no second copy, and whether they are equal is for the caller to check. After success, created or not, bytes
// and name are on the disk. After an error the final name is free or taken by the whole content, never by a part of it.
//
// System calls of a good run: fsync, close, rename without replacing, fsync(folder). A crash before the rename leaves the
// temporary name.
func (in *Incoming) Commit(final string) (created bool, err error) {
	if in.name == "" {
		return false, fmt.Errorf("commit %q: nothing is open", final)
	}
	created, err = in.publish(final)
	if !created {
		err = errors.Join(err, in.Abort())
	}
	if err != nil {
		return false, err
	}
	return created, in.files.flushFolder(filepath.Dir(final))
}

// StartFlush makes the system begin to put what was written on the disk. It promises nothing and makes Commit shorter.
func (in *Incoming) StartFlush() { startFlush(in.file) }

// publish flushes the content and takes the final name, unless that is taken.
func (in *Incoming) publish(final string) (bool, error) {
	if _, err := os.Lstat(final); err == nil {
		return false, nil
	}
	if err := in.settle(); err != nil {
		return false, err
	}
	return in.take(final)
}

// settle puts the content on the disk.
func (in *Incoming) settle() error {
	if err := in.files.step("flush", func() error { return flush(in.file) }); err != nil {
		return err
	}
	return in.file.Close()
}

// take gives the content, which is on the disk, its final name, unless that is taken.
func (in *Incoming) take(final string) (bool, error) {
	err := in.files.step("publish", func() error { return renameNew(in.name, final) })
	if errors.Is(err, os.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	in.name = ""
	return true, nil
}

// CommitAll is Commit for many at once: list[i] gets the name finals[i]. Folders of those are made (0700) where they are
// missing, below one that exists.
// After success all bytes and names are on the disk; taken lists the final names that something stood at, which is left as
// it is. After an error each final name is free or taken by a whole content, and those that got none still have to be
// aborted.
//
// System calls of a good run: fsync and close of each content, mkdir of each missing folder, rename without replacing of
// each, and one fsync of each folder that changed: many contents cost little more than one. A crash leaves temporary
// names, as it does within Commit.
func CommitAll(list []*Incoming, finals []string) (taken []string, err error) {
	return files{}.commitAll(list, finals)
}

func (s files) commitAll(list []*Incoming, finals []string) (taken []string, err error) {
	for _, in := range list {
		if err := in.settle(); err != nil {
			return nil, err
		}
	}
	folders, err := s.makeFolders(finals)
	if err != nil {
		return nil, err
	}
	for i, in := range list {
		created, err := in.take(finals[i])
		if err == nil && !created {
			taken = append(taken, finals[i])
			err = in.Abort()
		}
		if err != nil {
			return taken, err
		}
	}
	for _, dir := range folders {
		if err := s.flushFolder(dir); err != nil {
			return taken, err
		}
	}
	return taken, nil
}

// makeFolders makes the folders of the final names, and returns those that have to be flushed.
func (s files) makeFolders(finals []string) ([]string, error) {
	var folders, above []string
	for _, final := range finals {
		dir := filepath.Dir(final)
		if slices.Contains(folders, dir) {
			continue
		}
		folders = append(folders, dir)
		err := s.step("mkdir", func() error { return os.Mkdir(dir, 0o700) })
		switch {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return nil, err
		case !slices.Contains(above, filepath.Dir(dir)):
			above = append(above, filepath.Dir(dir))
		}
	}
	return append(folders, above...), nil
}

// Abort drops the content. Nothing happens after Commit or an earlier Abort, so that it can be deferred.
func (in *Incoming) Abort() error {
	if in.name == "" {
		return nil
	}
	name := in.name
	in.name = ""
	// The content is thrown away, and Commit may have closed the file already: an error of the closing says nothing.
	_ = in.file.Close()
	return in.files.discard(name)
}

// SweepIncoming removes what killed processes left in dir under temporary names, and returns how many files that were. The
// caller holds a lock that keeps everybody else from having one open.
func SweepIncoming(dir string) (int, error) {
	return sweep(dir, func(string) bool { return true })
}

// SweepAbandoned is SweepIncoming for a folder that no lock guards: it removes the temporary names of processes that are
// not there any more. Missing folders are no error.
func SweepAbandoned(dir string) (int, error) {
	n, err := sweep(dir, func(name string) bool {
		pid, _, ok := strings.Cut(strings.TrimPrefix(name, temporaryPrefix), "-")
		number, err := strconv.Atoi(pid)
		return ok && err == nil && !processThere(number)
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return n, err
}

func sweep(dir string, abandoned func(name string) bool) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		ours := strings.HasPrefix(e.Name(), temporaryPrefix) && (e.Type().IsRegular() || e.Type() == fs.ModeSymlink)
		if !ours || !abandoned(e.Name()) {
			continue
		}
		if err := (files{}).discard(filepath.Join(dir, e.Name())); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
