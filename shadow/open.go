package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

const (
	manifestName = "manifest"
	lockName     = "manifest.lock"
	clockName    = "clock"
)

// Open makes a shadow of src. After success the tree shows what the real tree shows, git works in it, and the manifest is
// on the disk; the agent may be told the tree's path. After a failure nothing of it stays, but for the folder that
// holds the shadows. ErrExists when the session has a shadow. Several sessions may be opened at once.
//
// Steps: claim the session by its marker, make the folders, copy the files, write the git directory, write the manifest.
// A crash before the last leaves a session without a manifest, which Load refuses and Discard removes.
func Open(ctx context.Context, src Source, o Options) (*Shadow, Report, error) {
	return opening{src: src, o: o}.run(ctx)
}

// opening is the work of one Open.
type opening struct {
	src Source
	o   Options
	// clone stands in for the file system's own in tests.
	clone func(tree *durable.Root) cloneFunc
}

func (op opening) run(ctx context.Context) (*Shadow, Report, error) {
	if err := op.check(); err != nil {
		return nil, Report{}, err
	}
	marker, err := op.claim()
	if err != nil {
		return nil, Report{}, fmt.Errorf("open shadow: %w", err)
	}
	s, report, err := op.fill(ctx, marker)
	if err != nil {
		return nil, Report{}, errors.Join(fmt.Errorf("open shadow: %w", err), discard(filepath.Dir(marker.Tree), op.o.State))
	}
	return s, report, nil
}

// check refuses what could never become a shadow.
func (op opening) check() error {
	if !validSession(op.o.Session) {
		return &SourceError{What: "session", Value: op.o.Session, Problem: "not a name for a folder"}
	}
	switch op.o.Backend {
	case "", BackendCopy, BackendClone:
	default:
		return &SourceError{What: "backend", Value: op.o.Backend, Problem: "expected copy or clone"}
	}
	for _, f := range []struct{ what, path string }{
		{"parent folder", op.o.Parent}, {"state folder", op.o.State}, {"root", op.src.Root},
		{"git directory", op.src.GitDir}, {"common directory", op.src.CommonDir},
	} {
		if !filepath.IsAbs(f.path) {
			return &SourceError{What: f.what, Value: f.path, Problem: "not an absolute path"}
		}
	}
	for _, dir := range []string{op.src.GitDir, op.src.CommonDir} {
		if _, inside := below(dir, op.o.Parent); inside {
			return &SourceError{What: "parent folder", Value: op.o.Parent, Problem: "lies inside the git directory"}
		}
	}
	return nil
}

// below returns the path of name relative to dir when it is dir ("") or lies inside it.
func below(dir, name string) (change.Path, bool) {
	rel, err := filepath.Rel(dir, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	if rel == "." {
		return "", true
	}
	return change.Path(filepath.ToSlash(rel)), true
}

// claim makes the session's folder and its marker, which only one caller can, and the empty tree.
func (op opening) claim() (Marker, error) {
	folder := filepath.Join(op.o.Parent, op.o.Session)
	m := Marker{
		Session: op.o.Session, Tree: filepath.Join(folder, treeName(op.src.Root)), State: op.o.State,
		CommonDir: op.src.CommonDir, GitDir: op.src.GitDir, Root: op.src.Root, Worktree: op.o.Worktree,
	}
	data, err := m.encode()
	if err != nil {
		return Marker{}, err
	}
	if err := durable.MkdirAll(folder, 0o700); err != nil {
		return Marker{}, err
	}
	if err := durable.CheckPrivate(folder); err != nil {
		return Marker{}, err
	}
	if err := durable.WriteNew(filepath.Join(folder, MarkerName), data, 0o600); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("session %q in %q: %w", op.o.Session, op.o.Parent, ErrExists)
		}
		return Marker{}, err
	}
	if _, err := os.Lstat(m.Tree); err == nil {
		// A tree without a marker is what an interrupted removal leaves.
		if err := durable.RemoveAll(m.Tree); err != nil {
			return Marker{}, err
		}
	}
	return m, durable.MkdirAll(m.Tree, 0o755)
}

// fill does everything after the claim.
func (op opening) fill(ctx context.Context, marker Marker) (s *Shadow, report Report, err error) {
	folder := filepath.Dir(marker.Tree)
	s = &Shadow{folder: folder, state: op.o.State, holder: op.o.Holder, worktree: op.src.Root}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Release())
		}
	}()
	if s.tree, err = durable.OpenRoot(marker.Tree); err != nil {
		return s, Report{}, err
	}
	if s.real, err = durable.OpenRoot(op.src.Root); err != nil {
		return s, Report{}, err
	}
	c, backend, err := op.copier(s)
	if err != nil {
		return s, Report{}, err
	}
	sum, err := c.all(ctx, op.files())
	if err != nil {
		return s, Report{}, err
	}
	if err := writeGitDir(s.tree, op.src); err != nil {
		return s, Report{}, err
	}
	report = Report{Files: sum.files, Bytes: sum.bytes, Backend: backend, LeftOut: sum.leftOut}
	now, err := s.clock()
	if err != nil {
		return s, Report{}, err
	}
	s.m = &manifest{head: op.header(marker, backend), entries: sum.entries}
	settleAll(s.m.entries, now)
	s.m = s.m.with(leftOutEntries(sum.leftOut), nil)
	if err := durable.MkdirAll(op.o.State, 0o700); err != nil {
		return s, Report{}, err
	}
	return s, report, s.store(s.m)
}

func (op opening) header(marker Marker, backend string) header {
	return header{
		Version: manifestVersion, Session: op.o.Session, Agent: op.o.Agent, Name: op.o.Name, Backend: backend,
		Tree: rawText(marker.Tree), Worktree: op.o.Worktree, GitDir: rawText(op.src.GitDir),
		CommonDir: rawText(op.src.CommonDir), Seq: op.o.Seq, Generation: 1,
	}
}

// files returns what is to be shown, without what lies below the folder of the shadows, which may be in the real tree.
func (op opening) files() []SourceFile {
	parent, inside := below(op.src.Root, op.o.Parent)
	if !inside || parent == "" {
		return op.src.Files
	}
	files := make([]SourceFile, 0, len(op.src.Files))
	for _, f := range op.src.Files {
		if !f.Path.Under(parent) {
			files = append(files, f)
		}
	}
	return files
}

// copier returns the backend that was asked for. Whether the file system can clone is tried out on the first regular
// file.
func (op opening) copier(s *Shadow) (*copier, string, error) {
	c := &copier{
		real: s.real, tree: s.tree, maxUntracked: op.o.MaxUntracked, workers: workersOr(op.o.Workers), progress: op.o.Progress,
	}
	if op.o.Backend == BackendCopy {
		return c, BackendCopy, nil
	}
	clone := cloneFunc(s.tree.CloneFile)
	if op.clone != nil {
		clone = op.clone(s.tree)
	}
	can, err := op.canClone(s, clone)
	if err != nil {
		return nil, "", err
	}
	if !can {
		if op.o.Backend == BackendClone {
			return nil, "", fmt.Errorf("backend clone, from %q to %q: %w", op.src.Root, op.o.Parent, ErrNoClone)
		}
		return c, BackendCopy, nil
	}
	now, err := s.clock()
	if err != nil {
		return nil, "", err
	}
	c.clone, c.start = clone, now
	return c, BackendClone, nil
}

// canClone makes a clone of a file of the real tree in the tree and removes it again. An empty repository cannot tell.
func (op opening) canClone(s *Shadow, clone cloneFunc) (bool, error) {
	for _, f := range op.src.Files {
		info, err := s.real.Lstat(f.Path)
		if err != nil || info.Kind != change.KindFile || info.Size == 0 {
			continue
		}
		src, err := s.real.Open(f.Path)
		if err != nil {
			continue
		}
		ok, err := clone(probeName, src, 0o600, info.MTimeNS)
		src.Close()
		if ok {
			return true, s.tree.Remove(probeName)
		}
		if errors.Is(err, durable.ErrNoClone) {
			err = nil
		}
		return false, err
	}
	return false, nil
}

// probeName is a name no file of a repository has.
const probeName change.Path = ".correx-probe"

func leftOutEntries(left []LeftOut) []entry {
	entries := make([]entry, 0, len(left))
	for _, l := range left {
		entries = append(entries, entry{path: l.Path, kind: entryLeftOut, reason: l.Reason})
	}
	return entries
}

// settleAll takes the racy mark off the entries whose stat can be trusted at now, the file system's time.
func settleAll(entries []entry, now int64) {
	for i := range entries {
		if e := &entries[i]; e.flags&hasStat != 0 && e.seen.settled(now) {
			e.flags &^= racy
		}
	}
}
