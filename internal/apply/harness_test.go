package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/faultfs"
)

// faults stands between the engine and the disk and counts everything the engine asks of it.
type faults struct {
	faultfs.Fault
	// slow takes the exchange away, and the rename that does not replace.
	slow bool
	// nobodyKnows takes the answer away who has a file open.
	nobodyKnows bool
	// flushing is how long the flushes took.
	flushing time.Duration
}

// flushed carries out a flush.
func (f *faults) flushed(do func() error) error {
	begun := time.Now()
	err := do()
	f.flushing += time.Since(begun)
	return err
}

// flush is step for a flush, whose failures are marked as durable marks them.
func (f *faults) flush(op string) error {
	if err := f.Step(op); err != nil {
		return fmt.Errorf("flush: %w: %w", durable.ErrFlush, err)
	}
	return nil
}

type faultyTree struct {
	f    *faults
	real *durable.Root
	dir  string
}

func (t faultyTree) Folder(p change.Path) (folder, error) {
	if err := t.f.Step("folder " + string(p)); err != nil {
		return nil, err
	}
	inner, err := diskTree{t.real}.Folder(p)
	if err != nil {
		return nil, err
	}
	return faultyFolder{diskFolder: inner.(diskFolder), f: t.f, dir: t.dir}, nil
}

type faultyFolder struct {
	diskFolder
	f   *faults
	dir string
}

func (d faultyFolder) step(op, name string) error {
	return d.f.Step(op + " " + string(d.Path().Join(name)))
}

func (d faultyFolder) Self() (durable.Info, error) {
	if err := d.step("self", "."); err != nil {
		return durable.Info{}, err
	}
	return d.diskFolder.Self()
}

func (d faultyFolder) Lstat(name string) (durable.Info, error) {
	if err := d.step("lstat", name); err != nil {
		return durable.Info{}, err
	}
	return d.diskFolder.Lstat(name)
}

func (d faultyFolder) ReadDir() ([]durable.DirEntry, error) {
	if err := d.step("readdir", "."); err != nil {
		return nil, err
	}
	return d.diskFolder.ReadDir()
}

func (d faultyFolder) OpenDir(name string) (folder, error) {
	if err := d.step("opendir", name); err != nil {
		return nil, err
	}
	inner, err := d.diskFolder.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return faultyFolder{diskFolder: inner.(diskFolder), f: d.f, dir: d.dir}, nil
}

func (d faultyFolder) Open(name string) (*os.File, error) {
	if err := d.step("open", name); err != nil {
		return nil, err
	}
	return d.diskFolder.Open(name)
}

func (d faultyFolder) Pin(name string) (change.Pin, error) {
	if err := d.step("pin", name); err != nil {
		return change.Pin{}, err
	}
	return d.diskFolder.Pin(name)
}

func (d faultyFolder) Writers(name string) (writers, error) {
	if err := d.step("writers", name); err != nil {
		return writersUnknown, err
	}
	if d.f.nobodyKnows {
		return writersUnknown, nil
	}
	return d.diskFolder.Writers(name)
}

func (d faultyFolder) Create(name string, perm uint32) (newFile, error) {
	if err := d.step("create", name); err != nil {
		return nil, err
	}
	n, err := d.diskFolder.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return faultyFile{newFile: n, f: d.f, name: string(d.Path().Join(name))}, nil
}

func (d faultyFolder) Symlink(name, target string) error {
	if err := d.step("symlink", name); err != nil {
		return err
	}
	return d.diskFolder.Symlink(name, target)
}

func (d faultyFolder) Mkdir(name string, perm uint32, exactly bool) error {
	if err := d.step("mkdir", name); err != nil {
		return err
	}
	return d.diskFolder.Mkdir(name, perm, exactly)
}

func (d faultyFolder) Exchange(name, other string) error {
	if err := d.step("exchange", name); err != nil {
		return err
	}
	if d.f.slow {
		return durable.ErrNoExchange
	}
	return d.diskFolder.Exchange(name, other)
}

func (d faultyFolder) MoveNew(name string, to folder, toName string) error {
	if err := d.step("move", name); err != nil {
		return err
	}
	target := to.(faultyFolder)
	if !d.f.slow {
		return d.diskFolder.MoveNew(name, target.diskFolder, toName)
	}
	from, dest := d.path(name), target.path(toName)
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err := os.Lstat(dest); err == nil {
			return fs.ErrExist
		}
		return os.Rename(from, dest)
	}
	if err := os.Link(from, dest); err != nil {
		return err
	}
	if err := d.step("unlink after link", name); err != nil {
		return err
	}
	return os.Remove(from)
}

func (d faultyFolder) MoveAway(name string, to folder, toName string) error {
	if err := d.step("move away", name); err != nil {
		return err
	}
	target := to.(faultyFolder)
	if !d.f.slow {
		return d.diskFolder.MoveAway(name, target.diskFolder, toName)
	}
	if _, err := os.Lstat(target.path(toName)); err == nil {
		return fs.ErrExist
	}
	return os.Rename(d.path(name), target.path(toName))
}

func (d faultyFolder) path(name string) string {
	return filepath.Join(d.dir, string(d.Path().Join(name)))
}

func (d faultyFolder) Unlink(name string) error {
	if err := d.step("unlink", name); err != nil {
		return err
	}
	return d.diskFolder.Unlink(name)
}

func (d faultyFolder) Rmdir(name string) (bool, error) {
	if err := d.step("rmdir", name); err != nil {
		return false, err
	}
	return d.diskFolder.Rmdir(name)
}

func (d faultyFolder) Sync() error {
	if err := d.f.flush("sync " + string(d.Path())); err != nil {
		return err
	}
	return d.f.flushed(d.diskFolder.Sync)
}

type faultyFile struct {
	newFile
	f    *faults
	name string
}

func (n faultyFile) Write(p []byte) (int, error) {
	if err := n.f.Step("write " + n.name); err != nil {
		// A full disk takes a part.
		half, werr := n.newFile.Write(p[:len(p)/2])
		return half, errors.Join(err, werr)
	}
	return n.newFile.Write(p)
}

func (n faultyFile) StartFlush() {
	_ = n.f.flushed(func() error { n.newFile.StartFlush(); return nil }) // it has no error to give
}

func (n faultyFile) Flush() error {
	if err := n.f.flush("flush " + n.name); err != nil {
		return err
	}
	return n.f.flushed(n.newFile.Flush)
}

func (n faultyFile) Resemble(like *os.File, perm uint32) error {
	if err := n.f.Step("resemble " + n.name); err != nil {
		return err
	}
	return n.newFile.Resemble(like, perm)
}

func (n faultyFile) ReadBack() (durable.Info, string, error) {
	if err := n.f.Step("read back " + n.name); err != nil {
		return durable.Info{}, "", err
	}
	return n.newFile.ReadBack()
}

type faultyShelf struct {
	shelf
	f *faults
}

func (s faultyShelf) Read() ([]byte, durable.Info, error) {
	if err := s.f.Step("journal read"); err != nil {
		return nil, durable.Info{}, err
	}
	return s.shelf.Read()
}

func (s faultyShelf) Write(data []byte) error {
	if err := s.f.Step("journal write"); err != nil {
		return err
	}
	err := s.f.flushed(func() error { return s.shelf.Write(data) })
	if err == nil {
		err = s.f.flush("journal written")
	}
	return err
}

func (s faultyShelf) Clear() error {
	if err := s.f.Step("journal clear"); err != nil {
		return err
	}
	return s.f.flushed(s.shelf.Clear)
}

// newEngine returns an engine over a root made by build, and its state folder, with f in between.
func newEngine(t testing.TB, root string, images Images, f *faults) *Engine {
	t.Helper()
	e, err := Open(root, filepath.Join(filepath.Dir(root), "state"), images)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if f != nil {
		e.tree = faultyTree{f: f, real: e.root, dir: root}
		e.shelf = faultyShelf{shelf: e.shelf, f: f}
	}
	return e
}
