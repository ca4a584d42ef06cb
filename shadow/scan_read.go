package shadow

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// Below these a scan does not write the manifest for what it proved: reading so little again is cheaper.
const (
	noteFiles = 64
	noteBytes = 1 << 20
)

// read reads the files whose stat proves nothing.
func (sc *scan) read(ctx context.Context) error {
	slices.Sort(sc.check)
	check := slices.Compact(sc.check)
	workers := make([]part, min(workersOr(sc.o.Workers), len(check)))
	err := share(ctx, len(workers), len(check), func(worker, i int) error {
		return sc.readEntry(&workers[worker], check[i])
	})
	for i := range workers {
		sc.merge(&workers[i])
	}
	return err
}

// readEntry compares the content of one file with its base.
func (sc *scan) readEntry(to *part, index int) error {
	e := &sc.m.entries[index]
	before, err := sc.tree.Lstat(e.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return to.found.problem(e.path, err)
	}
	pin, err := sc.tree.Pin(e.path, nil)
	var busy *durable.BusyError
	switch {
	case errors.As(err, &busy):
		// Somebody is writing it: whatever it holds in the end is pinned again before it counts.
		return sc.candidate(to, index, change.KindFile)
	case err != nil:
		return to.found.problem(e.path, err)
	case pin.Kind == change.KindOther:
		to.found.Specials = append(to.found.Specials, e.path)
		return nil
	case pin.Kind == change.KindDir:
		return sc.candidate(to, index, change.KindAbsent)
	}
	base, err := sc.s.base(e)
	if err != nil && !errors.Is(err, ErrUnknownBase) {
		return err
	}
	if err != nil || !pin.SameForGit(base) {
		return sc.candidate(to, index, pin.Kind)
	}
	found := proof{index: index, base: base}
	if after, err := sc.tree.Lstat(e.path); err == nil && statOf(before) == statOf(after) {
		seen := statOf(after)
		found.seen = &seen
	}
	to.proved = append(to.proved, found)
	return nil
}

// note keeps what a scan proved of m, so that those files need not be read the next time: always in memory, and on disk
// where it saves enough. now is the file system's time before they were read. Nothing is lost when it does not come about,
// because somebody else writes, or wrote, the manifest or its folder cannot be written; so errors are dropped.
func (s *Shadow) note(m *manifest, proved []proof, now int64) {
	if len(proved) == 0 {
		return
	}
	next := &manifest{head: m.head, entries: slices.Clone(m.entries)}
	var bytes int64
	worth := len(proved) >= noteFiles
	for _, p := range proved {
		e := &next.entries[p.index]
		bytes += e.size
		if e.flags&lazy != 0 {
			// A base that was lazy can be told only until the real file changes.
			worth = true
			known, ok := pinned(e.path, p.base)
			if !ok {
				continue
			}
			e.sum, e.flags, e.origin = known.sum, e.flags&^lazy, nil
		}
		if p.seen != nil {
			e.saw(*p.seen, now)
		}
	}
	s.mu.Lock()
	fresh := s.m == m
	if fresh {
		s.m = next
	}
	s.mu.Unlock()
	if !fresh || !worth && bytes < noteBytes {
		return
	}
	unlock, err := durable.TryLock(filepath.Join(s.state, lockName), s.holder)
	if err != nil {
		return
	}
	defer unlock()
	_ = s.updateLocked(func(newest *manifest) (*manifest, error) {
		if newest != next {
			return nil, nil
		}
		return &manifest{head: next.head, entries: next.entries}, nil
	})
}
