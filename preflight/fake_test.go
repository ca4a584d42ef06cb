package preflight

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/correx/correx/internal/change"
)

// memory is an image store in memory.
type memory map[string][]byte

func (m memory) Put(r io.Reader) (string, int64, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", 0, err
	}
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	m[name] = data
	return name, int64(len(data)), nil
}

func (m memory) Open(name string) (io.ReadCloser, error) {
	data, ok := m[name]
	if !ok {
		return nil, fmt.Errorf("image %q: %w", name, fs.ErrNotExist)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (m memory) Has(name string) bool {
	_, ok := m[name]
	return ok
}

// thing is what stands at a path of a small tree.
type thing struct {
	kind change.Kind
	perm uint32
	data string
}

func file(data string) thing { return thing{change.KindFile, 0o644, data} }

func program(data string) thing { return thing{change.KindFile, 0o755, data} }

func link(target string) thing { return thing{kind: change.KindSymlink, data: target} }

type things map[change.Path]thing

// pin stores a thing and returns its pin.
func (m memory) pin(t testing.TB, x thing, ok bool) change.Pin {
	t.Helper()
	if !ok {
		return change.Absent()
	}
	sum, size, err := m.Put(bytes.NewReader([]byte(x.data)))
	if err != nil {
		t.Fatal(err)
	}
	return change.Pin{Kind: x.kind, Perm: x.perm, Size: size, SHA256: sum}
}

// ends pins two trees.
func (m memory) ends(t testing.TB, old, new things) []Ends {
	t.Helper()
	names := map[change.Path]bool{}
	for p := range old {
		names[p] = true
	}
	for p := range new {
		names[p] = true
	}
	var list []Ends
	for _, p := range slices.Sorted(maps.Keys(names)) {
		before, hadOld := old[p]
		after, hasNew := new[p]
		list = append(list, Ends{Path: p, Base: m.pin(t, before, hadOld), Proposed: m.pin(t, after, hasNew)})
	}
	return list
}
