package apply

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

const (
	whyWriting = "is open for writing in another program"
	whyBusy    = "is being written by another program"
)

// seen is what a look at one name found.
type seen struct {
	pin change.Pin
	// info is what a look without opening tells, taken before the content was read.
	info durable.Info
	// writers is only asked for regular files; of a folder's files it is the worst answer.
	writers writers
	// bad lists where it differs from what was expected; none means it is that.
	bad []StalePath
}

func (s seen) matches() bool { return len(s.bad) == 0 }

// exists reports whether anything stood there, also where it was written to and has no pin.
func (s seen) exists() bool { return s.info.Kind != "" && s.info.Kind != change.KindAbsent }

// isRestOf reports whether all that was found is as expected, though some of a folder's names are missing: what a removal
// leaves that was cut short.
func (s seen) isRestOf(want content) bool {
	return s.matches() || want.pin.Kind == change.KindDir && s.pin.Kind == change.KindDir &&
		!slices.ContainsFunc(s.bad, func(p StalePath) bool { return p.Found.Exists() })
}

// examine compares what stands at name in f with want, in full: kind, permission bits, size, digest or target, inode where
// want has one, and that nobody is writing to it. Of a folder it compares every name at any depth. at is the path under
// which differences are reported.
func examine(f folder, name string, at change.Path, want content) (seen, error) {
	info, err := f.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if !want.exists() {
			return seen{pin: change.Absent()}, nil
		}
		return seen{pin: change.Absent(), bad: want.differs(at, change.Absent())}, nil
	}
	if err != nil {
		return seen{}, err
	}
	s := seen{pin: change.Pin{Kind: info.Kind}, info: info}
	switch {
	case want.opaque && info.Kind == want.pin.Kind:
	case info.Kind == change.KindDir && want.pin.Kind == change.KindDir:
		err = s.folder(f, name, at, want)
	case info.Kind == change.KindFile, info.Kind == change.KindSymlink:
		err = s.file(f, name, at, want)
	default:
		s.bad = want.differs(at, s.pin)
	}
	if s.matches() && err == nil && want.ino != 0 && info.Ino != 0 && want.ino != info.Ino {
		s.bad = []StalePath{{Path: at, Expected: want.pin, Found: s.pin, Why: "was replaced by another program"}}
	}
	return s, err
}

// differs lists the paths of c as not found, and what stands there instead.
func (c content) differs(at change.Path, found change.Pin) []StalePath {
	if c.pin.Kind != change.KindDir || c.opaque {
		return []StalePath{{Path: at, Expected: c.pin, Found: found}}
	}
	var bad []StalePath
	if found.Exists() {
		bad = append(bad, StalePath{Path: at, Expected: change.Pin{Kind: change.KindDir}, Found: found})
	}
	for _, in := range c.inner {
		bad = append(bad, StalePath{Path: at + "/" + in.rel, Expected: in.pin, Found: change.Absent()})
	}
	return bad
}

// file asks for writers first and reads then: who opened the file before is found, and who opens a working name later has
// no name to open it by.
func (s *seen) file(f folder, name string, at change.Path, want content) error {
	var err error
	if s.info.Kind == change.KindFile {
		s.writers, err = f.Writers(name)
	}
	if err == nil {
		s.pin, err = f.Pin(name)
	}
	var busy *durable.BusyError
	switch {
	case errors.As(err, &busy):
		s.writers = somebodyWrites
		s.bad = []StalePath{{Path: at, Expected: want.pin, Found: s.pin, Why: whyBusy}}
		return nil
	case gone(err):
		s.pin = change.Absent()
	case err != nil:
		return err
	}
	switch {
	case !want.is(s.pin) || s.pin.Exists() != want.exists():
		s.bad = want.differs(at, s.pin)
	case s.writers == somebodyWrites:
		s.bad = []StalePath{{Path: at, Expected: want.pin, Found: s.pin, Why: whyWriting}}
	}
	return nil
}

// folder compares a folder: exactly the expected names, each as expected.
func (s *seen) folder(f folder, name string, at change.Path, want content) error {
	d, err := f.OpenDir(name)
	if gone(err) {
		s.bad = want.differs(at, change.Absent())
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(s.entries(d, at, want.inner), d.Close())
}

// entries compares the entries of one folder with the inner files expected in it, whose paths are relative to it.
func (s *seen) entries(d folder, at change.Path, want []inner) error {
	list, err := d.ReadDir()
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b durable.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	files, below := split(want)
	for _, e := range list {
		path := at.Join(e.Name)
		if in, ok := files[e.Name]; ok {
			delete(files, e.Name)
			err = s.add(d, e.Name, path, content{pin: in.pin, ino: in.ino, lenient: in.lenient})
		} else if inside, ok := below[e.Name]; ok {
			delete(below, e.Name)
			err = s.add(d, e.Name, path, content{pin: change.Pin{Kind: change.KindDir}, inner: inside})
		} else {
			s.bad = append(s.bad, StalePath{Path: path, Expected: change.Absent(), Found: change.Pin{Kind: e.Kind}})
		}
		if err != nil {
			return err
		}
	}
	for name, in := range files {
		s.bad = append(s.bad, StalePath{Path: at.Join(name), Expected: in.pin, Found: change.Absent()})
	}
	for name, inside := range below {
		s.bad = append(s.bad, content{pin: change.Pin{Kind: change.KindDir}, inner: inside}.differs(at.Join(name), change.Absent())...)
	}
	return nil
}

func (s *seen) add(d folder, name string, at change.Path, want content) error {
	got, err := examine(d, name, at, want)
	s.bad = append(s.bad, got.bad...)
	s.writers = max(s.writers, got.writers)
	return err
}

// split parts inner files into those directly in the folder and those below each of its folders.
func split(list []inner) (files map[string]inner, below map[string][]inner) {
	files, below = map[string]inner{}, map[string][]inner{}
	for _, in := range list {
		name, rest, deeper := strings.Cut(string(in.rel), "/")
		if !deeper {
			files[name] = in
			continue
		}
		below[name] = append(below[name], inner{rel: change.Path(rest), pin: in.pin, ino: in.ino, lenient: in.lenient})
	}
	return files, below
}

// sortStale puts differences in the order of their paths, each path once.
func sortStale(list []StalePath) []StalePath {
	slices.SortStableFunc(list, func(a, b StalePath) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return slices.CompactFunc(list, func(a, b StalePath) bool { return a.Path == b.Path })
}
