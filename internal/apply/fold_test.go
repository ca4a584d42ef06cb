package apply

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/faultfs"
)

// foldingTree behaves like a disk that folds letter case and keeps the spelling.
type foldingTree struct{ diskTree }

func (t foldingTree) Folder(p change.Path) (folder, error) {
	f, err := t.diskTree.Folder("")
	if err != nil {
		return nil, err
	}
	at := folder(foldingFolder{f.(diskFolder)})
	if p == "" {
		return at, nil
	}
	for part := range strings.SplitSeq(string(p), "/") {
		next, err := at.OpenDir(part)
		if err := errors.Join(err, at.Close()); err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

type foldingFolder struct{ diskFolder }

// real returns the spelling of name that is in the folder.
func (f foldingFolder) real(name string) string {
	list, err := f.ReadDir()
	if err != nil {
		return name
	}
	for _, e := range list {
		if strings.EqualFold(e.Name, name) {
			return e.Name
		}
	}
	return name
}

func (f foldingFolder) OpenDir(name string) (folder, error) {
	d, err := f.diskFolder.OpenDir(f.real(name))
	if err != nil {
		return nil, err
	}
	return foldingFolder{d.(diskFolder)}, nil
}

func (f foldingFolder) Lstat(name string) (durable.Info, error) {
	return f.diskFolder.Lstat(f.real(name))
}
func (f foldingFolder) Open(name string) (*os.File, error)  { return f.diskFolder.Open(f.real(name)) }
func (f foldingFolder) Pin(name string) (change.Pin, error) { return f.diskFolder.Pin(f.real(name)) }
func (f foldingFolder) Unlink(name string) error            { return f.diskFolder.Unlink(f.real(name)) }
func (f foldingFolder) Rmdir(name string) (bool, error)     { return f.diskFolder.Rmdir(f.real(name)) }
func (f foldingFolder) Mkdir(name string, perm uint32, exactly bool) error {
	return f.free(name, func() error { return f.diskFolder.Mkdir(name, perm, exactly) })
}

func (f foldingFolder) Writers(name string) (writers, error) {
	return f.diskFolder.Writers(f.real(name))
}

func (f foldingFolder) Exchange(name, other string) error {
	return f.diskFolder.Exchange(f.real(name), f.real(other))
}

func (f foldingFolder) MoveNew(name string, to folder, toName string) error {
	target := to.(foldingFolder)
	return target.free(toName, func() error { return f.diskFolder.MoveNew(f.real(name), target.diskFolder, toName) })
}

func (f foldingFolder) MoveAway(name string, to folder, toName string) error {
	target := to.(foldingFolder)
	return target.free(toName, func() error { return f.diskFolder.MoveAway(f.real(name), target.diskFolder, toName) })
}

func (f foldingFolder) free(name string, do func() error) error {
	if _, err := f.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fs.ErrExist)
	}
	return do()
}

// TestCaseOnlyRename renames a file to another spelling of its name, as it is and with an edit, on a disk that folds case
// and on one that does not, and back.
func TestCaseOnlyRename(t *testing.T) {
	for _, folding := range []bool{true, false} {
		for _, s := range []scenario{
			{"pure", layout{"d/Readme.md": file("hello"), "d/x": file("x")}, layout{"d/README.md": file("hello"), "d/x": file("x")}},
			{"edited", layout{"d/Readme.md": file("hello")}, layout{"d/README.md": file("hello, world")}},
			{"two", layout{"a": file("1"), "B": file("2")}, layout{"A": file("1"), "b": file("2")}},
			{"link", layout{"L": lnk("x")}, layout{"l": lnk("x")}},
		} {
			respell(t, s, folding, &faults{})
			respell(t, s, folding, &faults{Fault: faultfs.Fault{At: 1, Only: func(op string) bool { return op == "commit" }}})
		}
	}
}

func respell(t *testing.T, s scenario, folding bool, f *faults) {
	t.Helper()
	r := newTrial(t, s, f)
	e := newEngine(t, r.root, r.store, nil)
	if folding {
		e.tree = foldingTree{diskTree{e.root}}
	}
	must(t, e.Check(context.Background(), r.l.Steps))
	out, err := e.Land(context.Background(), r.l, r.commit)
	if r.committed == f.Struck() || (err == nil) != r.committed || errors.Is(err, ErrUnfinished) {
		t.Fatalf("%s, folding %v: %v", s.name, folding, err)
	}
	r.expectWhole(t)
	if f.Struck() {
		return
	}
	back := Landing{ID: "back", RestorePerm: true}
	for _, step := range out.Landed {
		back.Steps = append(back.Steps, change.Step{Path: step.Path, Base: step.Result, Result: step.Base})
	}
	_, err = e.Land(context.Background(), back, r.commit)
	must(t, err)
	expectTree(t, r.root, s.before)
}

// TestTwoNewSpellings creates two names that a folding disk takes for one: neither lands.
func TestTwoNewSpellings(t *testing.T) {
	s := scenario{"two", layout{"x": file("x")}, layout{"x": file("x"), "new": file("1"), "NEW": file("2")}}
	r := newTrial(t, s, &faults{})
	e := newEngine(t, r.root, r.store, nil)
	e.tree = foldingTree{diskTree{e.root}}
	_, err := e.Land(context.Background(), r.l, r.commit)
	var stale *StaleError
	if !errors.As(err, &stale) || r.committed {
		t.Fatalf("%v", err)
	}
	r.expectWhole(t)
}

// TestSpellingOfAnotherFile creates a name whose other spelling is a file that stays.
func TestSpellingOfAnotherFile(t *testing.T) {
	s := scenario{"other", layout{"Name": file("x"), "gone": file("g")}, layout{"Name": file("x"), "name": file("y")}}
	r := newTrial(t, s, &faults{})
	e := newEngine(t, r.root, r.store, nil)
	e.tree = foldingTree{diskTree{e.root}}
	err := e.Check(context.Background(), r.l.Steps)
	var stale *StaleError
	if !errors.As(err, &stale) || len(stale.Paths) != 1 || stale.Paths[0].Path != "name" {
		t.Fatalf("%v", err)
	}
}
