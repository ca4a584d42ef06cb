package shadow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

const (
	// smallFile is the size up to which a file is read in one piece before its copy is made.
	smallFile = 256 << 10
	// copyTries bounds how often a file is copied that is being written to meanwhile. The last copy counts: its digest is
	// that of what was really copied, so the worst that comes of it is a stale submission.
	copyTries = 3
	// copyRun is how many files, neighbours in the tree, one worker takes at a time.
	copyRun = 16
)

// cloneFunc shares the content of src with a new file at p in the tree, or answers durable.ErrNoClone.
type cloneFunc func(p change.Path, src *os.File, perm uint32, mtimeNS int64) (bool, error)

// copier brings files of the real tree into the tree. Its methods may be called by several goroutines at once.
type copier struct {
	real, tree *durable.Root
	// clone is nil for the copy backend.
	clone cloneFunc
	// start is the file system's time before the first file was looked at.
	start        int64
	maxUntracked int64
	workers      int
	progress     func(done, total int)
}

// copied is what became of a list of files.
type copied struct {
	entries []entry
	leftOut []LeftOut
	files   int
	bytes   int64
}

func (c *copied) add(d copied) {
	c.entries = append(c.entries, d.entries...)
	c.leftOut = append(c.leftOut, d.leftOut...)
	c.files += d.files
	c.bytes += d.bytes
}

// all brings every file over. After an error the tree holds some of them.
func (c *copier) all(ctx context.Context, files []SourceFile) (copied, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b SourceFile) int { return strings.Compare(string(a.Path), string(b.Path)) })
	files = slices.CompactFunc(files, func(a, b SourceFile) bool { return a.Path == b.Path })
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		next atomic.Int64
		wait sync.WaitGroup
		mu   sync.Mutex
		done int
		sum  copied
	)
	for range c.workers {
		wait.Go(func() {
			w := copyWorker{copier: c, buf: make([]byte, smallFile+1)}
			for ctx.Err() == nil {
				from := int(next.Add(copyRun)) - copyRun
				if from >= len(files) {
					break
				}
				run := files[from:min(from+copyRun, len(files))]
				if err := w.run(ctx, run); err != nil {
					cancel(err)
					break
				}
				mu.Lock()
				if done += len(run); c.progress != nil {
					c.progress(done, len(files))
				}
				mu.Unlock()
			}
			mu.Lock()
			sum.add(w.copied)
			mu.Unlock()
		})
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return copied{}, err
	}
	slices.SortFunc(sum.entries, func(a, b entry) int { return strings.Compare(string(a.path), string(b.path)) })
	slices.SortFunc(sum.leftOut, func(a, b LeftOut) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return sum, nil
}

// copyWorker is one goroutine's share of a copier's work.
type copyWorker struct {
	*copier
	copied
	buf []byte
	// from and to are the folders of the file at hand on both sides, kept open for its neighbours. to is nil until
	// something was made in it.
	from, to *durable.Dir
}

// run brings neighbours over.
func (w *copyWorker) run(ctx context.Context, files []SourceFile) error {
	defer w.leaveFolder()
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.file(f); err != nil {
			return err
		}
	}
	return nil
}

// enter opens the folder of p in the real tree, unless it is open already.
func (w *copyWorker) enter(p change.Path) (err error) {
	if w.from != nil && w.from.Path() == p.Dir() {
		return nil
	}
	w.leaveFolder()
	w.from, err = w.real.Dir(p.Dir())
	var kind *durable.KindError
	if errors.As(err, &kind) {
		// Below something that is no folder, nothing is.
		return fs.ErrNotExist
	}
	return err
}

func (w *copyWorker) leaveFolder() {
	for _, dir := range []*durable.Dir{w.from, w.to} {
		if dir != nil {
			_ = dir.Close() // It was opened for looking only.
		}
	}
	w.from, w.to = nil, nil
}

func (w *copyWorker) leave(p change.Path, reason Reason, detail string) error {
	w.leftOut = append(w.leftOut, LeftOut{Path: p, Reason: reason, Detail: detail})
	return nil
}

// file brings one path over, leaves it out with a reason, or passes over it when nothing stands there.
func (w *copyWorker) file(f SourceFile) error {
	switch {
	case reservedComponent(f.Path), f.Path.Under(gitName):
		return nil
	case f.Nested || gitComponent(f.Path):
		return w.leave(f.Path, Nested, "")
	}
	for try := 1; ; try++ {
		again, err := w.try(f, try == copyTries)
		if err != nil {
			return fmt.Errorf("copy %q into the shadow: %w", f.Path, err)
		}
		if !again {
			return nil
		}
	}
}

// try makes one attempt at a path. It answers true when what stands there changed meanwhile and nothing was left in the
// tree; on the last attempt a file that is being written is taken as it was read.
func (w *copyWorker) try(f SourceFile, last bool) (again bool, err error) {
	if err := w.enter(f.Path); err != nil {
		return false, w.unreadable(f.Path, err)
	}
	info, err := w.from.Lstat(f.Path.Base())
	if err != nil {
		return false, w.unreadable(f.Path, err)
	}
	switch {
	case f.Submodule && info.Kind == change.KindDir:
		w.entries = append(w.entries, entry{path: f.Path, kind: entrySubmodule})
		return false, w.tree.MkdirAll(f.Path)
	case info.Kind == change.KindSymlink:
		return w.symlink(f.Path)
	case info.Kind == change.KindOther:
		return false, w.leave(f.Path, Special, "")
	case info.Kind != change.KindFile:
		// A folder where a file was: what it holds is listed by itself.
		return false, nil
	case f.Untracked && w.maxUntracked > 0 && info.Size > w.maxUntracked:
		return false, w.leave(f.Path, TooLarge, fmt.Sprintf("%d bytes, limit %d", info.Size, w.maxUntracked))
	}
	return w.regular(f.Path, info, last)
}

// unreadable turns an error of the real tree into a path that is left out, where only this path is concerned. A path that
// is not there is no error and not left out either.
func (w *copyWorker) unreadable(p change.Path, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return w.leave(p, Unreadable, err.Error())
	case errors.Is(err, syscall.ENAMETOOLONG):
		return w.leave(p, NameTooLong, "")
	}
	return err
}

func (w *copyWorker) symlink(p change.Path) (again bool, err error) {
	target, err := w.from.Readlink(p.Base())
	if err != nil {
		var kind *durable.KindError
		if errors.As(err, &kind) {
			return true, nil
		}
		return false, w.unreadable(p, err)
	}
	if err := w.tree.Symlink(p, target); err != nil {
		return false, err
	}
	e := entry{path: p, kind: entrySymlink, size: int64(len(target)), sum: sha256.Sum256([]byte(target))}
	return false, w.took(e, int64(len(target)))
}

// took records e, whose file was just made in the tree.
func (w *copyWorker) took(e entry, bytes int64) error {
	if w.to == nil {
		dir, err := w.tree.Dir(e.path.Dir())
		if err != nil {
			return err
		}
		w.to = dir
	}
	info, err := w.to.Lstat(e.path.Base())
	if err != nil {
		return err
	}
	e.seen, e.flags = statOf(info), e.flags|hasStat|racy
	w.entries = append(w.entries, e)
	w.files++
	w.bytes += bytes
	return nil
}

// regular brings a regular file over. info is what it was a moment ago.
func (w *copyWorker) regular(p change.Path, info durable.Info, last bool) (again bool, err error) {
	src, err := w.from.Open(p.Base())
	if err != nil {
		var kind *durable.KindError
		if errors.As(err, &kind) {
			return true, nil
		}
		return false, w.unreadable(p, err)
	}
	defer src.Close()
	e := entry{path: p, kind: entryFile, perm: info.Perm}
	// Set-id and sticky bits have no business in a copy. The base keeps them.
	perm := info.Perm & 0o777
	if w.clone != nil {
		ok, err := w.clone(p, src, perm, info.MTimeNS)
		switch {
		case ok:
			return w.cloned(e, info, last)
		case err != nil && !errors.Is(err, durable.ErrNoClone):
			return false, err
		}
	}
	if info.Size <= smallFile {
		err = w.small(&e, src, perm, info)
	} else {
		err = w.large(&e, src, perm, info)
	}
	if err != nil {
		return false, err
	}
	return w.settle(e, info, last)
}

// small copies a file that fits into the buffer: what is hashed is what is written.
func (w *copyWorker) small(e *entry, src *os.File, perm uint32, info durable.Info) error {
	n, err := io.ReadFull(src, w.buf)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	e.size, e.sum = int64(n), sha256.Sum256(w.buf[:n])
	return w.tree.WriteFile(e.path, bytes.NewReader(w.buf[:n]), perm, info.MTimeNS)
}

// large copies a file as it streams, and no more of it than it held when it was looked at.
func (w *copyWorker) large(e *entry, src *os.File, perm uint32, info durable.Info) error {
	hash := sha256.New()
	counted := &counter{w: hash}
	from := io.TeeReader(io.LimitReader(src, info.Size), counted)
	if err := w.tree.WriteFile(e.path, from, perm, info.MTimeNS); err != nil {
		return err
	}
	e.size = counted.n
	hash.Sum(e.sum[:0])
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// settle looks at the real file once more: when it changed while it was copied, the copy is dropped for another try, or
// taken as it is after the last one.
func (w *copyWorker) settle(e entry, before durable.Info, last bool) (again bool, err error) {
	after, err := w.from.Lstat(e.path.Base())
	if err == nil && (statOf(after) == statOf(before) || last) {
		return false, w.took(e, e.size)
	}
	if err := w.tree.Remove(e.path); err != nil {
		return false, err
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, w.unreadable(e.path, err)
	}
	return err == nil, nil
}

// cloned records a file whose content the tree shares. Its digest is computed when somebody asks for it, provided that
// the real file's stat will then prove that it is still the same; else now.
func (w *copyWorker) cloned(e entry, info durable.Info, last bool) (again bool, err error) {
	after, err := w.from.Lstat(e.path.Base())
	same := err == nil && statOf(after) == statOf(info)
	if same && statOf(info).settled(w.start) {
		origin := statOf(info)
		e.size, e.flags, e.origin = info.Size, lazy, &origin
		return false, w.took(e, e.size)
	}
	pin, err := w.tree.Pin(e.path, nil)
	if err != nil {
		return false, err
	}
	perm := e.perm
	e, ok := pinned(e.path, pin)
	if !ok || e.kind != entryFile {
		return false, fmt.Errorf("shadow file %q: found %s where a clone was made", e.path, pin.Kind)
	}
	e.perm = perm
	return w.settle(e, info, last)
}

// workersOr returns n, or the number of processors for 0.
func workersOr(n int) int {
	if n > 0 {
		return n
	}
	return max(runtime.GOMAXPROCS(0), 1)
}
