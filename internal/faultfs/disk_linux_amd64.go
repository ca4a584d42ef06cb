package faultfs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Keep is what a power cut leaves of the steps that were not flushed.
type Keep int

const (
	// KeepNone leaves nothing of them.
	KeepNone Keep = iota
	// KeepAny leaves any part: of the changes of a folder's names the first so many, of the changes of a file each or not.
	KeepAny
	// KeepAll leaves all, which is also what a killed process leaves.
	KeepAll
)

// Disk follows what a folder holds, through the steps of a Run, and tells what of it would be there after a power cut.
//
// What it takes for granted of a file system is what docs/format.md says: a flushed file keeps its bytes and a flushed
// folder its names; the changes of one folder's names reach the disk in the order in which they were made; a rename is
// there in both its folders or in neither. Anything else may be lost, also the name of a file whose bytes are flushed.
type Disk struct {
	dir   string
	first map[string]entry
	bytes map[uint64]content
}

// entry is what a name stands for.
type entry struct {
	kind   fs.FileMode // 0, fs.ModeDir or fs.ModeSymlink
	ino    uint64
	target string
}

// content is what a file holds.
type content struct {
	data []byte
	mode uint32
}

// Look remembers what the folder dir holds; all of that counts as flushed.
func Look(dir string) (*Disk, error) {
	d := &Disk{dir: dir, first: map[string]entry{}, bytes: map[uint64]content{}}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		at := entry{kind: info.Mode().Type(), ino: inode(info)}
		switch at.kind {
		case 0:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			d.bytes[at.ino] = content{b, uint32(info.Mode().Perm())}
		case fs.ModeSymlink:
			if at.target, err = os.Readlink(path); err != nil {
				return err
			}
		case fs.ModeDir:
		default:
			return nil
		}
		d.first[name] = at
		return nil
	})
	return d, err
}

// PowerCut makes the folder what the machine may find of it after losing its power at the end of steps. It holds what
// they left, and kept holds what they removed; see Run.Kept. kept is empty afterwards. random returns a number from 0 to
// n-1; only KeepAny asks it.
func (d *Disk) PowerCut(steps []Step, keep Keep, random func(n int) int, kept string) error {
	now := d.after(steps, func(int, Step) bool { return true })
	stays := d.choose(steps, keep, random)
	then := d.after(steps, func(i int, _ Step) bool { return stays[i] })
	m := mover{dir: d.dir, kept: kept, now: now, then: then}
	return m.move()
}

// choose says which steps are on the disk.
func (d *Disk) choose(steps []Step, keep Keep, random func(n int) int) []bool {
	stays := make([]bool, len(steps))
	for i := range steps {
		switch keep {
		case KeepAll:
			stays[i] = true
		case KeepAny:
			stays[i] = random(2) == 0
		}
	}
	folders := d.folders(steps)
	if keep == KeepAny {
		d.cutFolders(steps, folders, stays, random)
	}
	d.flushed(steps, folders, stays)
	return stays
}

// folders lists for each step the inodes of the folders whose names it changes.
func (d *Disk) folders(steps []Step) [][]uint64 {
	all := make([][]uint64, len(steps))
	v := d.view()
	for i, s := range steps {
		if s.namesChange() {
			all[i] = append(all[i], v.names[filepath.Dir(s.Path)].ino)
			if s.To != "" {
				all[i] = append(all[i], v.names[filepath.Dir(s.To)].ino)
			}
		}
		v.carryOut(s)
	}
	return all
}

func (s Step) namesChange() bool {
	switch s.Op {
	case OpCreate, OpMkdir, OpSymlink, OpLink, OpRename, OpExchange, OpUnlink, OpRmdir:
		return true
	}
	return false
}

// cutFolders keeps of each folder's changes the first so many, and of a change in two folders both or neither.
func (d *Disk) cutFolders(steps []Step, folders [][]uint64, stays []bool, random func(n int) int) {
	left := map[uint64]int{}
	for _, list := range folders {
		for _, ino := range list {
			left[ino]++
		}
	}
	var order []uint64
	for ino := range left {
		order = append(order, ino)
	}
	slices.Sort(order)
	for _, ino := range order {
		left[ino] = random(left[ino] + 1)
	}
	closed := map[uint64]bool{}
	for i := range steps {
		if len(folders[i]) == 0 {
			continue
		}
		stays[i] = true
		for _, ino := range folders[i] {
			if left[ino]--; left[ino] < 0 || closed[ino] {
				stays[i] = false
			}
		}
		if !stays[i] {
			for _, ino := range folders[i] {
				closed[ino] = true
			}
		}
	}
}

// flushed keeps what a flush put on the disk. A folder's flush takes along what came before in every folder that one of
// its changes also changed.
func (d *Disk) flushed(steps []Step, folders [][]uint64, stays []bool) {
	for f, flush := range steps {
		if flush.Op != OpFlush {
			continue
		}
		stays[f] = true
		until := map[uint64]int{flush.Ino: f}
		for i := f - 1; i >= 0; i-- {
			if len(folders[i]) == 0 {
				stays[i] = stays[i] || steps[i].Ino == flush.Ino
				continue
			}
			for _, ino := range folders[i] {
				if u, ok := until[ino]; ok && i < u {
					stays[i] = true
				}
			}
			if stays[i] {
				for _, ino := range folders[i] {
					until[ino] = max(until[ino], i)
				}
			}
		}
	}
}

// view is what is there at one moment.
type view struct {
	names map[string]entry
	bytes map[uint64]content
}

func (d *Disk) view() view {
	v := view{names: map[string]entry{}, bytes: map[uint64]content{}}
	for name, e := range d.first {
		v.names[name] = e
	}
	for ino, c := range d.bytes {
		v.bytes[ino] = c
	}
	return v
}

// after is what is there when some of the steps have been carried out.
func (d *Disk) after(steps []Step, which func(int, Step) bool) view {
	v := d.view()
	for i, s := range steps {
		if which(i, s) {
			v.carryOut(s)
		} else if s.Op == OpCreate {
			// Nothing names it, but what is written to it later must have a place.
			v.bytes[s.Ino] = content{mode: s.Mode}
		}
	}
	v.dropOrphans()
	return v
}

func (v view) carryOut(s Step) {
	c := v.bytes[s.Ino]
	switch s.Op {
	case OpCreate:
		v.names[s.Path] = entry{ino: s.Ino}
		v.bytes[s.Ino] = content{mode: s.Mode}
	case OpMkdir:
		v.names[s.Path] = entry{kind: fs.ModeDir, ino: s.Ino}
	case OpSymlink:
		v.names[s.Path] = entry{kind: fs.ModeSymlink, ino: s.Ino, target: s.Target}
	case OpLink:
		v.names[s.To] = v.names[s.Path]
	case OpRename, OpExchange:
		v.rename(s)
	case OpUnlink, OpRmdir:
		delete(v.names, s.Path)
	case OpWrite:
		v.bytes[s.Ino] = content{overlay(c.data, s.Data, s.Offset), c.mode}
	case OpTruncate:
		data := make([]byte, s.Offset)
		copy(data, c.data)
		v.bytes[s.Ino] = content{data, c.mode}
	case OpMode:
		v.bytes[s.Ino] = content{c.data, s.Mode}
	}
}

func overlay(old, data []byte, at int64) []byte {
	b := make([]byte, max(int64(len(old)), at+int64(len(data))))
	copy(b, old)
	copy(b[at:], data)
	return b
}

// rename moves a name, or exchanges two, with everything below.
func (v view) rename(s Step) {
	moved := map[string]entry{}
	take := func(from, to string) {
		for name, e := range v.names {
			if rest, ok := strings.CutPrefix(name, from); ok && (rest == "" || rest[0] == '/') {
				moved[to+rest] = e
				delete(v.names, name)
			}
		}
	}
	take(s.Path, s.To)
	if s.Op == OpExchange {
		take(s.To, s.Path)
	} else {
		delete(v.names, s.To)
	}
	for name, e := range moved {
		v.names[name] = e
	}
}

// dropOrphans takes out what lies in a folder that is not there.
func (v view) dropOrphans() {
	for name := range v.names {
		for up := filepath.Dir(name); up != "."; up = filepath.Dir(up) {
			if v.names[up].kind != fs.ModeDir {
				delete(v.names, name)
				break
			}
		}
	}
}

// mover turns one view into another, on the real disk, and keeps the inodes.
type mover struct {
	dir, kept string
	now, then view
}

// move takes away what differs, deepest first, into kept, and puts it where it goes, shallowest first.
func (m mover) move() error {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range m.now.names {
			if !yield(name) {
				return
			}
		}
	})
	for _, name := range slices.Backward(names) {
		if e := m.now.names[name]; m.then.names[name] != e {
			if err := m.takeAway(name, e); err != nil {
				return fmt.Errorf("take away %q: %w", name, err)
			}
		}
	}
	names = names[:0]
	for name := range m.then.names {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := m.putBack(name, m.then.names[name]); err != nil {
			return fmt.Errorf("put back %q: %w", name, err)
		}
	}
	left, err := os.ReadDir(m.kept)
	for _, e := range left {
		if rerr := os.RemoveAll(filepath.Join(m.kept, e.Name())); rerr != nil {
			return rerr
		}
	}
	return err
}

func (m mover) takeAway(name string, e entry) error {
	path, kept := filepath.Join(m.dir, name), keptName(m.kept, e.ino)
	if e.kind == fs.ModeDir {
		return os.Rename(path, kept)
	}
	if _, err := os.Lstat(kept); err == nil {
		return os.Remove(path)
	}
	return os.Rename(path, kept)
}

func (m mover) putBack(name string, e entry) error {
	path, kept := filepath.Join(m.dir, name), keptName(m.kept, e.ino)
	if m.now.names[name] != e {
		put := os.Link
		if e.kind == fs.ModeDir {
			put = os.Rename
		}
		err := put(kept, path)
		if err != nil {
			return err
		}
	}
	if e.kind != 0 {
		return nil
	}
	want, have := m.then.bytes[e.ino], m.now.bytes[e.ino]
	if slices.Equal(want.data, have.data) && want.mode == have.mode {
		return nil
	}
	if err := os.WriteFile(path, want.data, 0o600); err != nil {
		return err
	}
	return os.Chmod(path, fs.FileMode(want.mode))
}
