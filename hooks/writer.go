package hooks

import (
	"io/fs"
	"path/filepath"

	"github.com/correx/correx/internal/durable"
)

// writer carries out every write of this package. fault, nil outside tests, is asked before each one, and its error takes
// the write's place.
type writer struct {
	fault func(step string) error
}

func (w writer) step(name string, do func() error) error {
	if w.fault != nil {
		if err := w.fault(name); err != nil {
			return err
		}
	}
	return do()
}

func (w writer) mkdirAll(path string, perm fs.FileMode) error {
	return w.step("make folder", func() error { return durable.MkdirAll(path, perm) })
}

func (w writer) writeFile(path string, data []byte, perm fs.FileMode) error {
	return w.step("write record", func() error { return durable.WriteFile(path, data, perm) })
}

func (w writer) replace(path string, data []byte, perm fs.FileMode) error {
	return w.step("replace hook", func() error { return durable.Replace(path, data, perm) })
}

func (w writer) replaceLink(path, target string) error {
	return w.step("replace hook", func() error { return durable.ReplaceLink(path, target) })
}

func (w writer) keepAs(path, kept, target string) error {
	return w.step("keep hook", func() error { return durable.KeepAs(path, kept, target) })
}

func (w writer) move(from, path string) error {
	return w.step("move hook", func() error { return durable.Move(from, path) })
}

func (w writer) remove(path string) error {
	return w.step("remove", func() error { return durable.Remove(path) })
}

// sweep removes what killed installations left.
func (w writer) sweep(o Options) error {
	for _, dir := range []string{o.Dir, filepath.Join(o.Dir, ChainedDir), filepath.Join(o.State, recordDir)} {
		if err := w.step("sweep", func() error { _, err := durable.SweepAbandoned(dir); return err }); err != nil {
			return err
		}
	}
	return nil
}
