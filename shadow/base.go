package shadow

import (
	"context"
	"fmt"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// SetBase records what landed: from now on the shadow counts as having seen pins, absent for what is gone, and every
// landing up to the event number seq. A shadow file that holds its new base is no candidate; one that does not is. After
// success the manifest is on the disk, after a failure it is as it was. It costs writing the whole manifest, so many
// paths belong into one call.
func (s *Shadow) SetBase(ctx context.Context, pins map[change.Path]change.Pin, seq uint64) error {
	tree, err := s.Root()
	if err != nil {
		return fmt.Errorf("set base: %w", err)
	}
	err = s.update(ctx, func(m *manifest) (*manifest, error) {
		// Asked before the files are read; see Scan.
		now, err := s.clock()
		if err != nil {
			return nil, err
		}
		var put []entry
		drop := map[change.Path]bool{}
		for p, pin := range pins {
			if !pin.Exists() {
				drop[p] = true
				continue
			}
			e, ok := pinned(p, pin)
			if !ok {
				return nil, fmt.Errorf("%q: a %s is no base", p, pin.Kind)
			}
			look(tree, &e, now)
			put = append(put, e)
		}
		next := m.with(put, drop)
		next.head.Seq = max(m.head.Seq, seq)
		return next, nil
	})
	if err != nil {
		return fmt.Errorf("set base: %w", err)
	}
	return nil
}

// look gives e the stat of the shadow's file, if that holds e's base. Without one the file is read by the next scan, so
// what cannot be looked at is no error here.
func look(tree *durable.Root, e *entry, now int64) {
	if e.kind == entrySubmodule {
		return
	}
	before, err := tree.Lstat(e.path)
	if err != nil {
		return
	}
	pin, err := tree.Pin(e.path, nil)
	if err != nil || !pin.SameForGit(e.pin()) {
		return
	}
	if after, err := tree.Lstat(e.path); err == nil && statOf(before) == statOf(after) {
		e.saw(statOf(after), now)
	}
}
