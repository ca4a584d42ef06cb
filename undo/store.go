package undo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

const lockName = "store.lock"

// Store is the image store in one folder. Any number of processes and goroutines may use it at once.
type Store struct {
	dir string
}

// OpenStore returns the store in the folder dir, which is made with the first image.
func OpenStore(dir string) *Store { return &Store{dir: dir} }

// Put stores what r gives and returns its digest and size. After success the image is in the store and on the disk. One
// that is there already is compared: equal bytes are success, others a *CorruptImageError. After a failure the store is as
// it was. The caller holds Share.
func (s *Store) Put(r io.Reader) (sha string, size int64, err error) {
	in := s.Intake()
	defer func() { err = errors.Join(err, in.Close()) }()
	if sha, size, err = in.Put(r); err != nil {
		return "", 0, err
	}
	return sha, size, in.Settle()
}

// Open returns the bytes of an image. They are hashed while they are read: in place of the end of the file comes a
// *CorruptImageError if they are not what the name says, so nothing may be trusted before io.EOF. The error is a
// *MissingImageError when the store does not hold it.
func (s *Store) Open(sha string) (io.ReadCloser, error) {
	if _, err := s.lstat(sha); err != nil {
		return nil, err
	}
	f, err := os.Open(s.path(sha))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingImageError{SHA256: sha}
	}
	if err != nil {
		return nil, err
	}
	return &image{file: f, sha: sha, hash: sha256.New()}, nil
}

// Has reports whether the store holds an image of that name. Its bytes are not looked at.
func (s *Store) Has(sha string) bool {
	_, err := s.lstat(sha)
	return err == nil
}

// Check reads an image and returns nil if its bytes are what its name says.
func (s *Store) Check(sha string) error {
	r, err := s.Open(sha)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}

// CheckProposed checks that the store holds, unspoilt, every image that landing files would need.
func (s *Store) CheckProposed(files []change.FileChange) error {
	for _, f := range files {
		if !f.Proposed.Exists() {
			continue
		}
		if err := s.Check(f.Proposed.SHA256); err != nil {
			return fmt.Errorf("path %q: %w", f.Path, err)
		}
	}
	return nil
}

// Each calls fn for every image, in the order of the names, until it returns an error. Images that come or go meanwhile
// may be left out.
func (s *Store) Each(fn func(sha string, size int64) error) error {
	shelves, err := readDir(s.dir)
	if err != nil {
		return err
	}
	for _, shelf := range shelves {
		if !shelf.IsDir() || len(shelf.Name()) != 2 {
			continue
		}
		if err := s.eachOn(shelf.Name(), fn); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) eachOn(shelf string, fn func(sha string, size int64) error) error {
	images, err := readDir(filepath.Join(s.dir, shelf))
	if err != nil {
		return err
	}
	for _, e := range images {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !isDigest(e.Name()) || e.Name()[:2] != shelf || !info.Mode().IsRegular() {
			continue
		}
		if err := fn(e.Name(), info.Size()); err != nil {
			return err
		}
	}
	return nil
}

// readDir is os.ReadDir for which a missing folder is an empty one.
func readDir(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// Share keeps images from being dropped until release is called, which is after the event that names the stored images was
// flushed. Any number may hold it at once. Order of locks: landing, then store, then ledger.
func (s *Store) Share(ctx context.Context) (release func() error, err error) {
	if err := durable.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	return durable.LockShared(ctx, filepath.Join(s.dir, lockName), "storing images")
}

// Alone waits until nobody holds Share, and keeps everybody from taking it. Drop and Sweep are for its holder only.
func (s *Store) Alone(ctx context.Context) (release func() error, err error) {
	if err := durable.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	return durable.Lock(ctx, filepath.Join(s.dir, lockName), "dropping images")
}

// Drop removes an image. The event that says so is on the disk before. Missing is no error.
func (s *Store) Drop(sha string) error {
	if !isDigest(sha) {
		return &MissingImageError{SHA256: sha}
	}
	return durable.Remove(s.path(sha))
}

// Sweep removes what writers that were killed left in the store, and returns how many files that were.
func (s *Store) Sweep() (int, error) {
	n, err := durable.SweepIncoming(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return n, err
}

// lstat looks at an image without opening it.
func (s *Store) lstat(sha string) (os.FileInfo, error) {
	// The name comes from an event or a journal: anything but a digest must not become part of a path.
	if !isDigest(sha) {
		return nil, &MissingImageError{SHA256: sha}
	}
	info, err := os.Lstat(s.path(sha))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingImageError{SHA256: sha}
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &CorruptImageError{SHA256: sha, Problem: "expected a regular file, found " + info.Mode().Type().String()}
	}
	return info, nil
}

func (s *Store) path(sha string) string { return filepath.Join(s.dir, sha[:2], sha) }

func isDigest(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return true
}

// image reads and hashes.
type image struct {
	file *os.File
	sha  string
	hash hash.Hash
	// end is what every Read returns once the end was reached.
	end error
}

func (i *image) Read(p []byte) (int, error) {
	if i.end != nil {
		return 0, i.end
	}
	n, err := i.file.Read(p)
	i.hash.Write(p[:n])
	if errors.Is(err, io.EOF) {
		i.end = io.EOF
		if got := hex.EncodeToString(i.hash.Sum(nil)); got != i.sha {
			i.end = &CorruptImageError{SHA256: i.sha, Problem: fmt.Sprintf("its bytes give %.12s", got)}
		}
		err = i.end
	}
	return n, err
}

func (i *image) Close() error { return i.file.Close() }
