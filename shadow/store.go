package shadow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/correx/correx/internal/durable"
)

// readManifest reads the manifest in the folder state.
func readManifest(state string) (*manifest, error) {
	name := filepath.Join(state, manifestName)
	data, err := readState(name)
	if err != nil {
		return nil, &ManifestError{Path: name, Problem: err}
	}
	m, err := decode(data)
	if err != nil {
		return nil, &ManifestError{Path: name, Problem: err}
	}
	return m, nil
}

func readState(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("found %v, expected a regular file", info.Mode().Type())
	}
	if info.Size() > manifestLimit {
		return nil, fmt.Errorf("is %d bytes long, limit %d", info.Size(), manifestLimit)
	}
	return os.ReadFile(name)
}

// store writes m as the manifest. On the disk is the old one or the new one at every instant.
func (s *Shadow) store(m *manifest) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(s.state, manifestName), data, 0o600)
}

// update replaces the manifest by what make returns for the newest one, under the lock; nil leaves it as it is.
func (s *Shadow) update(ctx context.Context, make func(*manifest) (*manifest, error)) error {
	unlock, err := durable.Lock(ctx, filepath.Join(s.state, lockName), s.holder)
	if err != nil {
		return err
	}
	return errors.Join(s.updateLocked(make), unlock())
}

func (s *Shadow) updateLocked(make func(*manifest) (*manifest, error)) error {
	m, err := s.newest()
	if err != nil {
		return err
	}
	next, err := make(m)
	if err != nil || next == nil {
		return err
	}
	next.head.Generation = m.head.Generation + 1
	if err := s.store(next); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m = next
	return nil
}

// Refresh takes over what other processes wrote to the manifest since it was loaded.
func (s *Shadow) Refresh() error {
	m, err := s.newest()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m = m
	return nil
}

// newest returns the manifest on disk, which is the one in memory when the generations agree.
func (s *Shadow) newest() (*manifest, error) {
	name := filepath.Join(s.state, manifestName)
	mine := s.manifest()
	head, err := readHeader(name)
	if err != nil {
		return nil, &ManifestError{Path: name, Problem: err}
	}
	if head.Session != mine.head.Session {
		return nil, &ManifestError{Path: name, Problem: fmt.Errorf("is of session %q, expected %q", head.Session, mine.head.Session)}
	}
	if head.Generation == mine.head.Generation {
		return mine, nil
	}
	return readManifest(s.state)
}

// readHeader reads no more than the header. Nothing vouches for it but the folder it lies in.
func readHeader(name string) (header, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return header{}, err
	}
	if !info.Mode().IsRegular() {
		return header{}, fmt.Errorf("found %v, expected a regular file", info.Mode().Type())
	}
	f, err := os.Open(name)
	if err != nil {
		return header{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return header{}, err
	}
	line, _, ok := bytes.Cut(bytes.TrimPrefix(data, []byte(manifestMagic)), []byte("\n"))
	if !ok || !bytes.HasPrefix(data, []byte(manifestMagic)) {
		return header{}, fmt.Errorf("has no header")
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return header{}, fmt.Errorf("header: %w", err)
	}
	return h, nil
}
