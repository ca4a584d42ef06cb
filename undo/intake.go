package undo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/correx/correx/internal/durable"
)

const (
	// openImages is how many images wait, written, for their common flush.
	openImages = 128
	// inMemory is the size from which content is written before its digest is known.
	inMemory = 64 << 10
)

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
	// What fits is hashed before anything is written: much of it is in the store already.
	head, err := io.ReadAll(io.LimitReader(r, inMemory))
	if err != nil {
		return "", 0, err
	}
	if len(head) < inMemory {
		sha = digest(head)
		if there, err := in.has(sha); there || err != nil {
			return sha, int64(len(head)), err
		}
		r = bytes.NewReader(head)
	} else {
		r = io.MultiReader(bytes.NewReader(head), r)
	}
	return in.write(r)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// has reports whether content is there or waits. What is there is compared.
func (in *Intake) has(sha string) (bool, error) {
	if in.taken[sha] {
		return true, nil
	}
	if !in.store.Has(sha) {
		return false, nil
	}
	return true, in.store.Check(sha)
}

// write writes content that is to be stored, unless it turns out to be there.
func (in *Intake) write(r io.Reader) (sha string, size int64, err error) {
	if err := durable.MkdirAll(in.store.dir, 0o700); err != nil {
		return "", 0, err
	}
	content, err := durable.NewIncoming(in.store.dir, len(in.waiting))
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(content, h), r)
	sha = hex.EncodeToString(h.Sum(nil))
	there := false
	if err == nil {
		there, err = in.has(sha)
	}
	if there || err != nil {
		return sha, size, errors.Join(err, content.Abort())
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
