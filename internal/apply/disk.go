package apply

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// tree opens folders beneath the root. This and the interfaces below are everything the engine does to a disk; the tests
// put a disk in between that fails, or stops, at any of it.
type tree interface {
	// Folder opens the folder at p, "" for the root.
	Folder(p change.Path) (folder, error)
}

// folder is one open folder; see durable.Dir for what each method promises.
type folder interface {
	looker
	reader
	maker
	mover
	Close() error
}

type looker interface {
	Self() (durable.Info, error)
	Lstat(name string) (durable.Info, error)
	ReadDir() ([]durable.DirEntry, error)
	OpenDir(name string) (folder, error)
	Writable() error
}

type reader interface {
	Open(name string) (*os.File, error)
	Pin(name string) (change.Pin, error)
	// Writers asks whether anybody has the regular file name open for writing.
	Writers(name string) (writers, error)
}

type maker interface {
	Create(name string, perm uint32) (newFile, error)
	Symlink(name, target string) error
	ChownLink(name string, uid, gid uint32) error
	Mkdir(name string, perm uint32, exactly bool) error
}

type mover interface {
	Exchange(name, other string) error
	// MoveNew puts a working name where nothing stands, MoveAway what stands somewhere at a working name.
	MoveNew(name string, to folder, toName string) error
	MoveAway(name string, to folder, toName string) error
	Unlink(name string) error
	Rmdir(name string) (removed bool, err error)
	Sync() error
}

// newFile is a file being staged; see durable.NewFile.
type newFile interface {
	io.Writer
	StartFlush()
	Flush() error
	Resemble(like *os.File, perm uint32) error
	ReadBack() (info durable.Info, sha256 string, err error)
	Close() error
}

// shelf keeps the journal.
type shelf interface {
	// Read returns the journal and what its file is; fs.ErrNotExist when there is none.
	Read() ([]byte, durable.Info, error)
	// Write replaces the journal in one flushed step.
	Write(data []byte) error
	// Clear removes the journal, flushed. Missing is no error.
	Clear() error
}

type diskTree struct{ root *durable.Root }

func (t diskTree) Folder(p change.Path) (folder, error) {
	d, err := t.root.Dir(p)
	if err != nil {
		return nil, err
	}
	return diskFolder{d}, nil
}

type diskFolder struct{ *durable.Dir }

func (f diskFolder) OpenDir(name string) (folder, error) {
	d, err := f.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return diskFolder{d}, nil
}

func (f diskFolder) Pin(name string) (change.Pin, error) { return f.Dir.Pin(name, nil) }

// writers says whether anybody has a file open for writing.
type writers int

// From the best answer to the worst.
const (
	nobodyWrites writers = iota
	writersUnknown
	somebodyWrites
)

func (f diskFolder) Writers(name string) (writers, error) {
	file, err := f.Open(name)
	if err != nil {
		return writersUnknown, err
	}
	answer := nobodyWrites
	switch some, known := durable.FindWriters(file); {
	case some:
		answer = somebodyWrites
	case !known:
		answer = writersUnknown
	}
	return answer, file.Close()
}

func (f diskFolder) Create(name string, perm uint32) (newFile, error) {
	n, err := f.Dir.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (f diskFolder) MoveNew(name string, to folder, toName string) error {
	target, ok := to.(diskFolder)
	if !ok {
		return errors.New("move between folders of two trees")
	}
	return f.Dir.MoveNew(name, target.Dir, toName)
}

func (f diskFolder) MoveAway(name string, to folder, toName string) error {
	target, ok := to.(diskFolder)
	if !ok {
		return errors.New("move between folders of two trees")
	}
	return f.Dir.MoveAway(name, target.Dir, toName)
}

const (
	journalName = "journal"
	lockName    = "landing.lock"
	// journalLimit bounds what is read back: a landing of a million paths stays below it.
	journalLimit = 1 << 30
)

type diskShelf struct{ dir string }

func (s diskShelf) path() string { return filepath.Join(s.dir, journalName) }

func (s diskShelf) Read() (data []byte, info durable.Info, err error) {
	root, err := durable.OpenRoot(s.dir)
	if err != nil {
		return nil, info, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if info, err = root.Lstat(journalName); err != nil {
		return nil, info, err
	}
	f, err := root.Open(journalName)
	if err != nil {
		return nil, info, err
	}
	data, err = io.ReadAll(io.LimitReader(f, journalLimit))
	return data, info, errors.Join(err, f.Close())
}

func (s diskShelf) Write(data []byte) error { return durable.WriteFile(s.path(), data, 0o600) }

func (s diskShelf) Clear() error { return durable.Remove(s.path()) }

// gone reports that err means a folder is not there, or is no folder any more.
func gone(err error) bool {
	var kind *durable.KindError
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &kind)
}
