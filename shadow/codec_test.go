package shadow

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

func drawStat(rt *rapid.T) stat {
	n := rapid.Int64()
	return stat{size: n.Draw(rt, "size"), mtime: n.Draw(rt, "mtime"), ctime: n.Draw(rt, "ctime"), ino: rapid.Uint64().Draw(rt, "ino")}
}

func drawEntry(rt *rapid.T) entry {
	part := rapid.StringMatching(`[a-c\xff \n.]{1,3}x`)
	p := rapid.SliceOfN(part, 1, 4).Draw(rt, "path")
	e := entry{path: change.Path(strings.Join(p, "/")), kind: entryKind(rapid.IntRange(1, int(entryKindEnd)-1).Draw(rt, "kind"))}
	switch e.kind {
	case entryFile:
		e.perm = uint32(rapid.IntRange(0, 0o7777).Draw(rt, "perm"))
		fallthrough
	case entrySymlink:
		e.size = rapid.Int64Min(0).Draw(rt, "size")
		if rapid.Bool().Draw(rt, "has stat") {
			e.flags |= hasStat
			e.seen = drawStat(rt)
		}
		if rapid.Bool().Draw(rt, "racy") {
			e.flags |= racy
		}
		if e.kind == entryFile && rapid.Bool().Draw(rt, "lazy") {
			e.flags |= lazy
			origin := drawStat(rt)
			e.origin = &origin
		} else {
			copy(e.sum[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "sum"))
		}
	case entryLeftOut:
		e.reason = rapid.SampledFrom([]Reason{TooLarge, Special, Nested, Unreadable, ""}).Draw(rt, "reason")
	}
	return e
}

func drawManifest(rt *rapid.T) *manifest {
	m := &manifest{head: header{
		Version: manifestVersion, Session: "s-1", Tree: rawText(rapid.String().Draw(rt, "tree") + "\xff"),
		Seq: rapid.Uint64().Draw(rt, "seq"), Generation: rapid.Uint64().Draw(rt, "generation"),
	}}
	entries := rapid.SliceOfN(rapid.Custom(drawEntry), 0, 20).Draw(rt, "entries")
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(string(a.path), string(b.path)) })
	m.entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.path == b.path })
	return m
}

func TestManifestReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := drawManifest(rt)
		data, err := m.encode()
		if err != nil {
			rt.Fatal(err)
		}
		got, err := decode(data)
		if err != nil {
			rt.Fatal(err)
		}
		if got.head != m.head || len(got.entries) != len(m.entries) {
			rt.Fatalf("got %+v, want %+v", got, m)
		}
		for i := range m.entries {
			if !reflect.DeepEqual(got.entries[i], m.entries[i]) {
				rt.Fatalf("entry %d: got %+v, want %+v", i, got.entries[i], m.entries[i])
			}
		}
	})
}

// TestManifestDamage flips every bit of a small manifest, cuts it everywhere and adds to it: never is it read as anything.
func TestManifestDamage(t *testing.T) {
	m := &manifest{head: header{Version: manifestVersion, Session: "s-1"}}
	for _, p := range []change.Path{"a", "b/c"} {
		m.entries = append(m.entries, entry{path: p, kind: entryFile, flags: hasStat})
	}
	data, err := m.encode()
	must(t, err)
	for i := range data {
		for bit := range 8 {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << bit
			if _, err := decode(bad); err == nil {
				t.Fatalf("bit %d of byte %d flipped: read", bit, i)
			}
		}
		if _, err := decode(data[:i]); err == nil {
			t.Fatalf("cut at %d: read", i)
		}
	}
	if _, err := decode(append(bytes.Clone(data), 0)); err == nil {
		t.Fatal("with a byte more: read")
	}
}

// TestManifestMissing checks that a shadow without a usable manifest is an error of its own type, and can be removed.
func TestManifestMissing(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"missing": os.Remove,
		"empty":   func(f string) error { return os.Truncate(f, 0) },
		"cut":     func(f string) error { return os.Truncate(f, 300) },
		"a link": func(f string) error {
			return errors.Join(os.Rename(f, f+".real"), os.Symlink(f+".real", f))
		},
		"a folder": func(f string) error { return errors.Join(os.Remove(f), os.Mkdir(f, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			s, _ := b.open(b.repo("r", "a", "1\n"), "s-1")
			state := b.path("state", "s-1")
			must(t, spoil(filepath.Join(state, manifestName)))
			_, err := Load(LoadOptions{State: state})
			if me := (*ManifestError)(nil); !errors.As(err, &me) || !errors.Is(err, ErrManifest) {
				t.Fatalf("load: %v", err)
			}
			if (name == "missing") != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("missing or not: %v", err)
			}
			if err := s.SetBase(t.Context(), nil, 1); name != "cut" && !errors.Is(err, ErrManifest) {
				t.Errorf("set base: %v", err)
			}
			must(t, Discard("s-1", b.path("shadows", "s-1"), state))
			for _, left := range []string{b.path("shadows", "s-1"), state} {
				if _, err := os.Lstat(left); !os.IsNotExist(err) {
					t.Errorf("%q is left: %v", left, err)
				}
			}
		})
	}
}

func FuzzManifest(f *testing.F) {
	m := &manifest{head: header{Version: manifestVersion, Session: "s-1"}}
	m.entries = []entry{{path: "a", kind: entryFile, flags: hasStat}, {path: "b", kind: entryLeftOut, reason: TooLarge}}
	data, err := m.encode()
	must(f, err)
	f.Add(data[len(manifestMagic):])
	rest, _ := m.encode()
	f.Add(rest[bytes.IndexByte(rest[len(manifestMagic):], '\n')+len(manifestMagic)+1 : len(rest)-32])
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decodeEntries(string(data))
		if err != nil {
			return
		}
		// What is read is written as it was.
		out, err := (&manifest{head: m.head, entries: entries}).encode()
		must(t, err)
		if again, err := decode(out); err != nil || !reflect.DeepEqual(again.entries, entries) && len(entries) > 0 {
			t.Fatalf("%v: %+v", err, again)
		}
		if !bytes.Contains(out, data) {
			t.Fatalf("%q is written as %q", data, out)
		}
	})
}

func TestManifestWith(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := drawManifest(rt)
		put := drawManifest(rt).entries
		drop := map[change.Path]bool{}
		want := map[change.Path]entry{}
		for _, e := range m.entries {
			want[e.path] = e
			if rapid.Bool().Draw(rt, "drop") {
				drop[e.path] = true
				delete(want, e.path)
			}
		}
		for _, e := range put {
			want[e.path] = e
		}
		next := m.with(put, drop)
		if len(next.entries) != len(want) || !slices.IsSortedFunc(next.entries, func(a, b entry) int { return strings.Compare(string(a.path), string(b.path)) }) {
			rt.Fatalf("got %d entries, want %d", len(next.entries), len(want))
		}
		for _, e := range next.entries {
			if !reflect.DeepEqual(e, want[e.path]) {
				rt.Fatalf("%q: got %+v, want %+v", e.path, e, want[e.path])
			}
			lo, hi := next.beneath(e.path.Dir())
			if i, ok := next.find(e.path); !ok || i < lo || i >= hi {
				rt.Fatalf("%q is not beneath its folder", e.path)
			}
		}
	})
}
