package shadow

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// mode says how what the manifest does not know is taken in a folder.
type mode uint8

const (
	// inNested: not at all, the folder is another repository's.
	inNested mode = 1 << iota
	// inSubmodule, inLeftOut, inGit: marked, without asking what is ignored.
	inSubmodule
	inLeftOut
	inGit
	// inIgnored: ignored, and asked for.
	inIgnored

	// marked are the modes of places where nothing can land.
	marked = inSubmodule | inLeftOut | inGit
	// unasked are the modes in which git is not asked what is ignored.
	unasked = marked | inIgnored
)

// folder is a folder to list, with the range of the manifest's entries below it.
type folder struct {
	path   change.Path
	lo, hi int
	mode   mode
	// reason is why the folder was left out, with inLeftOut.
	reason Reason
}

// unknown is a path that the manifest does not know and git is to be asked about.
type unknown struct {
	path change.Path
	kind change.Kind
	// named: it was asked for by name, so it counts even if it is ignored.
	named bool
	mode  mode
}

// proof is what reading found out about an entry: the stat of the file while it held the base, when it does, and the base
// itself where the manifest did not have it.
type proof struct {
	index int
	seen  *stat
	base  change.Pin
}

// scan is one run over the tree. It goes down level by level, so that git is asked once for a level and never about what
// lies in an ignored folder; within a level, folders are shared among workers.
type scan struct {
	s     *Shadow
	m     *manifest
	tree  *durable.Root
	o     ScanOptions
	limit int
	// now is the file system's time before the scan began.
	now int64

	part
}

// part is what a worker, or the whole scan, came upon.
type part struct {
	found ScanResult
	// asks and next are the work of this level's end and of the next level; check holds the entries, by index, whose
	// files must be read.
	asks   []unknown
	next   []folder
	check  []int
	proved []proof
	// taken counts what the manifest does not know.
	taken int
}

func (p *part) merge(q *part) {
	p.found.add(&q.found)
	p.asks = append(p.asks, q.asks...)
	p.next = append(p.next, q.next...)
	p.check = append(p.check, q.check...)
	p.proved = append(p.proved, q.proved...)
	p.taken += q.taken
}

func (sc *scan) run(ctx context.Context) error {
	if len(sc.o.Paths) == 0 || slices.Contains(sc.o.Paths, "") {
		sc.next = []folder{{hi: len(sc.m.entries)}}
	} else if err := sc.start(); err != nil {
		return err
	}
	for len(sc.next) > 0 || len(sc.asks) > 0 {
		level := sc.next
		sc.next = nil
		if err := sc.level(ctx, level); err != nil {
			return err
		}
		if err := sc.ask(ctx); err != nil {
			return err
		}
	}
	return sc.read(ctx)
}

// level lists the folders of one level.
func (sc *scan) level(ctx context.Context, folders []folder) error {
	folders = sc.cut(folders)
	workers := make([]lister, min(workersOr(sc.o.Workers), len(folders)))
	err := share(ctx, len(workers), len(folders), func(worker, i int) error {
		l := &workers[worker]
		l.scan = sc
		return l.folder(folders[i])
	})
	for i := range workers {
		sc.merge(&workers[i].part)
	}
	if err == nil && sc.taken > sc.limit {
		err = &LimitError{What: "new files and folders", Limit: sc.limit}
	}
	return err
}

// cut drops the folders in which nothing can land once enough was said about such places.
func (sc *scan) cut(folders []folder) []folder {
	count := 0
	for i := range sc.found.Changed {
		if sc.found.Changed[i].flagged() {
			count++
		}
	}
	if count < maxFlagged {
		return folders
	}
	return slices.DeleteFunc(folders, func(f folder) bool {
		drop := f.mode&marked != 0 && f.lo == f.hi
		if drop {
			sc.found.Omitted++
		}
		return drop
	})
}

// ask finds out which of a level's unknown paths are ignored, and takes in the others.
func (sc *scan) ask(ctx context.Context) error {
	asks := sc.asks
	sc.asks = nil
	if len(asks) == 0 {
		return nil
	}
	ignored, err := sc.ignored(ctx, asks)
	if err != nil {
		return err
	}
	for _, a := range asks {
		if ignored[a.path] && !a.named {
			continue
		}
		if ignored[a.path] {
			a.mode |= inIgnored
		}
		switch a.kind {
		case change.KindDir:
			f := folder{path: a.path, mode: a.mode}
			f.lo, f.hi = sc.m.beneath(a.path)
			sc.next = append(sc.next, f)
		default:
			sc.found.take(a.path, a.kind, a.mode, "")
		}
	}
	return nil
}

func (sc *scan) ignored(ctx context.Context, asks []unknown) (map[change.Path]bool, error) {
	if sc.o.Ignored == nil {
		return nil, nil
	}
	paths, dirs := make([]change.Path, 0, len(asks)), map[change.Path]bool{}
	for _, a := range asks {
		paths = append(paths, a.path)
		if a.kind == change.KindDir {
			dirs[a.path] = true
		}
	}
	slices.Sort(paths)
	return sc.o.Ignored(ctx, slices.Compact(paths), dirs)
}

// take adds a path that the manifest does not know, which is no folder.
func (r *ScanResult) take(p change.Path, kind change.Kind, m mode, reason Reason) {
	if kind == change.KindOther {
		r.Specials = append(r.Specials, p)
		return
	}
	r.Changed = append(r.Changed, Entry{
		Path: p, Base: change.Absent(), Kind: kind, LeftOut: reason,
		Git: m&inGit != 0, Submodule: m&inSubmodule != 0, Ignored: m&inIgnored != 0,
	})
}

// problem notes a path that could not be looked at, where only this path is concerned.
func (r *ScanResult) problem(p change.Path, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ENAMETOOLONG):
		r.TooDeep = append(r.TooDeep, p)
		return nil
	case errors.Is(err, fs.ErrPermission):
		r.Unreadable = append(r.Unreadable, Problem{Path: p, Err: err})
		return nil
	}
	return err
}

// candidate adds the manifest's entry at index, which is now of the kind given.
func (sc *scan) candidate(to *part, index int, kind change.Kind) error {
	e := &sc.m.entries[index]
	c := Entry{Path: e.path, Kind: kind, Submodule: e.kind == entrySubmodule}
	base, err := sc.s.base(e)
	switch {
	case errors.Is(err, ErrUnknownBase):
		c.BaseUnknown = true
	case err != nil:
		return err
	case e.flags&lazy != 0:
		to.proved = append(to.proved, proof{index: index, base: base})
	}
	c.Base = base
	to.found.Changed = append(to.found.Changed, c)
	return nil
}

// share calls do for 0 to n-1, each once, from the given number of goroutines, until all are done or one fails.
func share(ctx context.Context, workers, n int, do func(worker, i int) error) error {
	var (
		next atomic.Int64
		wait sync.WaitGroup
		once sync.Once
		fail error
		stop atomic.Bool
	)
	work := func(worker int) {
		for !stop.Load() {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = do(worker, i)
			}
			if err != nil {
				once.Do(func() { fail = err })
				stop.Store(true)
			}
		}
	}
	for worker := 1; worker < workers; worker++ {
		wait.Go(func() { work(worker) })
	}
	work(0)
	wait.Wait()
	return fail
}
