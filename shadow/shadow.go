package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// Shadow is an open shadow. Its methods may be used by several goroutines at once, and several processes may have the
// same shadow open: what changes the manifest does so under its lock, on top of what the others wrote.
type Shadow struct {
	folder, state, holder string
	// worktree is the real tree's path, for bases that are computed late; "" when it was not given.
	worktree string

	mu   sync.Mutex
	m    *manifest
	tree *durable.Root
	real *durable.Root
	// old are trees that were replaced while they were open.
	old []*durable.Root
}

// Info says what a shadow is.
type Info struct {
	Session, Agent, Name string
	// Backend is "copy" or "clone".
	Backend string
	// Tree is the shadow's copy of the working tree. GitDir and CommonDir are the repository's when it was opened. All
	// are absolute paths of the operating system.
	Tree, GitDir, CommonDir string
	// Worktree is the id under which correx knows the worktree.
	Worktree string
	// Seq is the number of the ledger's last event that the bases reflect.
	Seq uint64
	// Files counts the paths that the shadow last showed.
	Files int
}

func (m *manifest) info() Info {
	h := m.head
	return Info{
		Session: h.Session, Agent: h.Agent, Name: h.Name, Backend: h.Backend, Tree: string(h.Tree),
		GitDir: string(h.GitDir), CommonDir: string(h.CommonDir), Worktree: h.Worktree, Seq: h.Seq, Files: len(m.entries),
	}
}

// LoadOptions names a shadow that was opened before.
type LoadOptions struct {
	// State is the folder of its manifest.
	State string
	// Root is the real tree, "" if no base will be asked for. Only a shadow of the clone backend needs it.
	Root string
	// Holder is what others are told of this process while it holds the manifest's lock.
	Holder string
}

// Load opens a shadow that Open made, in this process or another. A *ManifestError when the manifest is missing or
// damaged, a *TreeError when the tree is gone or something else stands in its place; Discard removes what is left.
func Load(o LoadOptions) (*Shadow, error) {
	m, err := readManifest(o.State)
	if err != nil {
		return nil, err
	}
	tree := string(m.head.Tree)
	s := &Shadow{folder: filepath.Dir(tree), state: o.State, holder: o.Holder, worktree: o.Root, m: m}
	if s.tree, err = openTree(tree, o.Root); err != nil {
		return nil, err
	}
	return s, nil
}

// ReadInfo returns what the manifest in the folder state says of its shadow, whose tree need not be there.
func ReadInfo(state string) (Info, error) {
	m, err := readManifest(state)
	if err != nil {
		return Info{}, err
	}
	return m.info(), nil
}

// openTree opens a shadow's tree. A symlink in its place is refused: it could lead into the real tree.
func openTree(tree, worktree string) (*durable.Root, error) {
	if err := checkTree(tree, worktree); err != nil {
		return nil, err
	}
	root, err := durable.OpenRoot(tree)
	if err != nil {
		return nil, err
	}
	// What was opened must be what was looked at.
	if err := sameTree(root, tree); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

func checkTree(tree, worktree string) error {
	info, err := os.Lstat(tree)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &TreeError{Tree: tree, Problem: "is gone"}
	case err != nil:
		return err
	case !info.IsDir():
		return &TreeError{Tree: tree, Problem: fmt.Sprintf("found %v, expected a folder", info.Mode().Type())}
	}
	if worktree == "" {
		return nil
	}
	if other, err := os.Stat(worktree); err == nil && os.SameFile(info, other) {
		return &TreeError{Tree: tree, Problem: "is the real tree"}
	}
	return nil
}

// sameTree checks that the folder root was opened on is still the one at the path tree.
func sameTree(root *durable.Root, tree string) error {
	info, err := os.Lstat(tree)
	if errors.Is(err, fs.ErrNotExist) {
		return &TreeError{Tree: tree, Problem: "is gone"}
	}
	if err != nil {
		return err
	}
	self, err := root.Lstat("")
	if err != nil {
		return err
	}
	if dev, ino, ok := fileID(info); ok && (dev != self.Dev || ino != self.Ino) {
		return &TreeError{Tree: tree, Problem: "another folder was put in its place"}
	}
	return nil
}

// Info returns what the shadow is.
func (s *Shadow) Info() Info { return s.manifest().info() }

// Tree returns the absolute path of the shadow's copy of the working tree, which is what the agent is given.
func (s *Shadow) Tree() string { return string(s.manifest().head.Tree) }

// Root returns the tree, opened for reading what it holds. It stays valid until Release. A *TreeError when the tree is
// gone. When the agent put another folder in the tree's place, that one is the tree from now on.
func (s *Shadow) Root() (*durable.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		return nil, fs.ErrClosed
	}
	path := string(s.m.head.Tree)
	if sameTree(s.tree, path) == nil {
		return s.tree, nil
	}
	tree, err := openTree(path, s.worktree)
	if err != nil {
		return nil, err
	}
	// Others may be at work in the old one.
	s.old = append(s.old, s.tree)
	s.tree = tree
	return tree, nil
}

// Seq returns the number of the ledger's last event that the bases reflect.
func (s *Shadow) Seq() uint64 { return s.manifest().head.Seq }

func (s *Shadow) manifest() *manifest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m
}

// Base returns what the shadow last saw of the real file at p: absent for what it does not show. For a file that was
// cloned without being read, this reads the real file; if that changed since, the error is ErrUnknownBase.
func (s *Shadow) Base(p change.Path) (change.Pin, error) {
	e := s.manifest().get(p)
	if e == nil {
		return change.Absent(), nil
	}
	return s.base(e)
}

func (s *Shadow) base(e *entry) (change.Pin, error) {
	if e.flags&lazy == 0 {
		return e.pin(), nil
	}
	real, err := s.realRoot()
	if err != nil {
		return change.Pin{}, fmt.Errorf("base of %q: %w", e.path, err)
	}
	// The stat must be the one of the clone before and after reading: then what was read is what was cloned.
	for range 2 {
		info, err := real.Lstat(e.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return change.Pin{}, fmt.Errorf("base of %q: %w", e.path, err)
		}
		if err != nil || info.Kind != change.KindFile || statOf(info) != *e.origin {
			return change.Pin{}, fmt.Errorf("base of %q: %w", e.path, ErrUnknownBase)
		}
		pin, err := real.Pin(e.path, nil)
		if err != nil {
			return change.Pin{}, fmt.Errorf("base of %q: %w", e.path, err)
		}
		if info, err = real.Lstat(e.path); err == nil && statOf(info) == *e.origin && pin.Kind == change.KindFile {
			pin.Perm = e.perm
			return pin, nil
		}
	}
	return change.Pin{}, fmt.Errorf("base of %q: %w", e.path, ErrUnknownBase)
}

func (s *Shadow) realRoot() (*durable.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.real != nil {
		return s.real, nil
	}
	if s.worktree == "" {
		return nil, fmt.Errorf("the real tree is not known: %w", ErrUnknownBase)
	}
	real, err := durable.OpenRoot(s.worktree)
	if err != nil {
		return nil, err
	}
	s.real = real
	return real, nil
}

// Release gives back what the shadow holds open. The shadow itself stays.
func (s *Shadow) Release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, root := range append(s.old, s.tree, s.real) {
		if root != nil {
			errs = append(errs, root.Close())
		}
	}
	s.tree, s.real, s.old = nil, nil, nil
	return errors.Join(errs...)
}

// Close removes the shadow with all it holds, and its manifest. What was not submitted is gone. Nobody should be writing
// in the tree; read-only folders in it are removed too. After a failure part of it may be left: Close or Discard again.
func (s *Shadow) Close(ctx context.Context) error {
	unlock, err := durable.Lock(ctx, filepath.Join(s.state, lockName), s.holder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		unlock = func() error { return nil } // Nobody can be at work in a folder that is gone.
	case err != nil:
		return fmt.Errorf("close shadow: %w", err)
	}
	// The lock's file goes with its folder; whoever waits for it then finds no manifest.
	err = errors.Join(s.Release(), discard(s.folder, s.state), unlock())
	if err != nil {
		return fmt.Errorf("close shadow: %w", err)
	}
	return nil
}

// Discard removes a shadow that Load refuses by its two folders, the session's and the manifest's, whatever is left of
// them. Both must be called by the session's name, and neither may say that it is of another session.
func Discard(session, folder, state string) error {
	if !validSession(session) || filepath.Base(folder) != session || filepath.Base(state) != session {
		return &SourceError{What: "session", Value: session, Problem: "not the name of both folders"}
	}
	if m, err := readMarker(filepath.Join(folder, MarkerName)); err == nil && m.Session != session {
		return &SourceError{What: "session", Value: session, Problem: fmt.Sprintf("the marker names %q", m.Session)}
	}
	if m, err := readManifest(state); err == nil && m.head.Session != session {
		return &SourceError{What: "session", Value: session, Problem: fmt.Sprintf("the manifest names %q", m.head.Session)}
	}
	return discard(folder, state)
}

// discard removes the tree first, then the marker, then the manifest: at every instant in between, the shadow is either
// found by its marker or known by its manifest, so that it can be closed again.
func discard(folder, state string) error {
	names, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, n := range names {
		if n.Name() == MarkerName {
			continue
		}
		if err := durable.RemoveAll(filepath.Join(folder, n.Name())); err != nil {
			return err
		}
	}
	if err := durable.RemoveAll(folder); err != nil {
		return err
	}
	return durable.RemoveAll(state)
}

// clock returns the file system's own time: the change time of a file made now beside the tree. Stats are compared with
// it and never with the system's clock, which runs differently, and on another machine where the disk is remote. 0 is no
// answer: no stat is settled then.
func (s *Shadow) clock() (int64, error) {
	root, err := durable.OpenRoot(s.folder)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	if err := root.Remove(clockName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	// Somebody else asking at the same time may be first; then theirs is the older time, which is on the safe side.
	if err := root.WriteFile(clockName, strings.NewReader(""), 0o600, 0); err != nil && !errors.Is(err, fs.ErrExist) {
		return 0, err
	}
	info, err := root.Lstat(clockName)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return info.CTimeNS, err
}
