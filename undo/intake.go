package undo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/correx/correx/internal/durable"
)

// openImages is how many images wait, written, for their common flush.
const openImages = 128

// Intake stores many images: what Put takes is in the store, and on the disk, after Settle. It is not for use by several
// goroutines at once, and must end with Close.
type Intake struct {
	store *Store
	// waiting will get the names finals.
	waiting []*durable.Incoming
	finals  []string
	// taken holds what waits, so that equal content is written once.
	taken map[string]bool
}

// Intake returns an intake of the store. The caller holds Share.
func (s *Store) Intake() *Intake { return &Intake{store: s, taken: map[string]bool{}} }

// Put takes what r gives and returns its digest and size. Content that the store has is compared, as Store.Put does. After
// a failure the store is as it was, but for what Settle would have brought.
func (in *Intake) Put(r io.Reader) (sha string, size int64, err error) {
	if len(in.waiting) >= openImages {
		if err := in.Settle(); err != nil {
			return "", 0, err
		}
	}
	if err := durable.MkdirAll(in.store.dir, 0o700); err != nil {
		return "", 0, err
	}
	content, err := durable.NewIncoming(in.store.dir)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(content, h), r)
	if err != nil {
		return "", 0, errors.Join(err, content.Abort())
	}
	sha = hex.EncodeToString(h.Sum(nil))
	switch {
	case in.taken[sha]:
		return sha, size, content.Abort()
	case in.store.Has(sha):
		return sha, size, errors.Join(in.store.Check(sha), content.Abort())
	}
	content.StartFlush()
	in.taken[sha] = true
	in.waiting, in.finals = append(in.waiting, content), append(in.finals, in.store.path(sha))
	return sha, size, nil
}

// Settle puts all that was taken into the store and on the disk. After an error some of it may be there.
func (in *Intake) Settle() error {
	if len(in.waiting) == 0 {
		return nil
	}
	there, err := durable.CommitAll(in.waiting, in.finals)
	if err != nil {
		return fmt.Errorf("store images: %w", errors.Join(err, in.Close()))
	}
	in.waiting, in.finals, in.taken = nil, nil, map[string]bool{}
	// Somebody else stored the same content in between.
	for _, path := range there {
		if err := in.store.Check(filepath.Base(path)); err != nil {
			return err
		}
	}
	return nil
}

// Close drops what was taken and not settled.
func (in *Intake) Close() error {
	var err error
	for _, content := range in.waiting {
		err = errors.Join(err, content.Abort())
	}
	in.waiting, in.finals = nil, nil
	return err
}
