package repo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// blobBatch is one git process that answers for many blobs, one after the other. It ends with its input, at the latest
// with this process. Repo.batchMu guards it.
type blobBatch struct {
	process *process
	in      io.WriteCloser
	out     *bufio.Reader
}

// PrepareBlobs starts the process that OpenBlob reads small blobs from, so that its start goes on while something else is
// done. Without it OpenBlob reads in this process where it can. Close ends it.
func (r *Repo) PrepareBlobs(ctx context.Context) error {
	in, feed := io.Pipe()
	p, err := r.git.start(ctx, call{args: []string{"cat-file", "--batch"}, stdin: in})
	if err != nil {
		return fmt.Errorf("prepare blobs: %w", err)
	}
	r.batchMu.Lock()
	defer r.batchMu.Unlock()
	r.closeBatch()
	r.batch = &blobBatch{process: p, in: feed, out: bufio.NewReader(p.out)}
	return nil
}

// Close ends the process of PrepareBlobs, if there is one. The Repo can be used on.
func (r *Repo) Close() {
	r.batchMu.Lock()
	defer r.batchMu.Unlock()
	r.closeBatch()
}

func (r *Repo) closeBatch() {
	if r.batch != nil {
		r.batch.in.Close()
		r.batch.process.abandon()
		r.batch = nil
	}
}

// errTooLarge is returned by the batch for a blob that is to be streamed by a process of its own.
var errTooLarge = errors.New("blob is too large to be held")

// openBlobFromBatch asks the process of PrepareBlobs; errNotHere where there is none. After any error but a missing object
// the process is given up.
func (r *Repo) openBlobFromBatch(oid string) (io.ReadCloser, int64, error) {
	r.batchMu.Lock()
	defer r.batchMu.Unlock()
	if r.batch == nil {
		return nil, 0, errNotHere
	}
	data, err := r.batch.read(oid)
	var missing *MissingObjectError
	if err != nil && !errors.As(err, &missing) {
		r.closeBatch()
	}
	if err != nil {
		return nil, 0, err
	}
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
}

// read returns a whole blob.
func (b *blobBatch) read(oid string) ([]byte, error) {
	if _, err := io.WriteString(b.in, oid+"\n"); err != nil {
		return nil, err
	}
	size, err := blobHeader(b.out, oid)
	if err != nil {
		return nil, err
	}
	if size > largeBlob {
		return nil, errTooLarge
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil, err
	}
	return data[:size], nil
}
