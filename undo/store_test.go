package undo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

func sum(b string) string {
	h := sha256.Sum256([]byte(b))
	return hex.EncodeToString(h[:])
}

func put(t *testing.T, s *Store, content string) string {
	t.Helper()
	sha, size, err := s.Put(strings.NewReader(content))
	if err != nil || sha != sum(content) || size != int64(len(content)) {
		t.Fatalf("put %q: %s, %d, %v", content, sha, size, err)
	}
	return sha
}

func fetch(s *Store, sha string) (string, error) {
	r, err := s.Open(sha)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}

// names returns every file in the store, beneath dir.
func names(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "store")
	s := OpenStore(dir)
	if s.Has(sum("a")) || names(t, dir) != "" {
		t.Fatal("a new store holds something")
	}
	if err := s.Each(func(string, int64) error { return errors.New("called") }); err != nil {
		t.Fatalf("each of nothing: %v", err)
	}
	big := strings.Repeat("0123456789", 100000)
	for _, content := range []string{"a", "", "line\n", big, "a", "\x00\xff"} {
		sha := put(t, s, content)
		if got, err := fetch(s, sha); err != nil || got != content || !s.Has(sha) || s.Check(sha) != nil {
			t.Fatalf("%d bytes came back as %d, %v", len(content), len(got), err)
		}
	}
	a := sum("a")
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{"": 0o700, a[:2]: 0o700, a[:2] + "/" + a: 0o600} {
			if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
				t.Errorf("%q: %v %v", path, info.Mode(), err)
			}
		}
	}
	found := map[string]int64{}
	last := ""
	err := s.Each(func(sha string, size int64) error {
		if sha <= last {
			t.Errorf("%s after %s", sha, last)
		}
		last = sha
		found[sha] = size
		return nil
	})
	if err != nil || len(found) != 5 || found[sum(big)] != int64(len(big)) {
		t.Fatalf("%v, %v", found, err)
	}
	stop := errors.New("stop")
	if err := s.Each(func(string, int64) error { return stop }); err != stop {
		t.Fatalf("each: %v", err)
	}
	if strings.Contains(names(t, dir), ".correx") {
		t.Fatalf("left behind: %s", names(t, dir))
	}
	if err := s.Drop(a); err != nil || s.Has(a) {
		t.Fatalf("drop: %v", err)
	}
	if err := s.Drop(a); err != nil {
		t.Fatalf("drop twice: %v", err)
	}
	var missing *MissingImageError
	if _, err := s.Open(a); !errors.As(err, &missing) || missing.SHA256 != a {
		t.Fatalf("open what was dropped: %v", err)
	}
}

// A name that is no digest never becomes part of a path.
func TestStoreRefusesOtherNames(t *testing.T) {
	dir := t.TempDir()
	s := OpenStore(filepath.Join(dir, "store"))
	put(t, s, "a")
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var missing *MissingImageError
	for _, bad := range []string{
		"", "a", "../../secret", "..", strings.ToUpper(sum("a")), sum("a")[:63], sum("a") + "0",
		strings.Repeat("../", 21) + "x", strings.Repeat("g", 64), sum("a")[:63] + "\x00",
	} {
		if _, err := s.Open(bad); !errors.As(err, &missing) {
			t.Errorf("open %q: %v", bad, err)
		}
		if err := s.Check(bad); !errors.As(err, &missing) {
			t.Errorf("check %q: %v", bad, err)
		}
		if err := s.Drop(bad); !errors.As(err, &missing) {
			t.Errorf("drop %q: %v", bad, err)
		}
		if s.Has(bad) {
			t.Errorf("has %q", bad)
		}
	}
}

// Every flipped bit, cut or added byte of an image is found before its end is reached, and storing the right bytes again
// does not hide it.
func TestSpoiltImages(t *testing.T) {
	s := OpenStore(t.TempDir())
	content := "some content\n"
	sha := put(t, s, content)
	path := s.path(sha)
	spoilt := []string{"", content + "x", content[1:], content[:5]}
	for i := range content {
		b := []byte(content)
		b[i] ^= 1
		spoilt = append(spoilt, string(b))
	}
	for _, bad := range spoilt {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		var corrupt *CorruptImageError
		if got, err := fetch(s, sha); !errors.As(err, &corrupt) || corrupt.SHA256 != sha {
			t.Errorf("%q was read as %q, %v", bad, got, err)
		}
		if err := s.Check(sha); !errors.As(err, &corrupt) {
			t.Errorf("%q: check: %v", bad, err)
		}
		if _, _, err := s.Put(strings.NewReader(content)); !errors.As(err, &corrupt) {
			t.Errorf("%q: put: %v", bad, err)
		}
		file := change.FileChange{Path: "p", Proposed: change.Pin{Kind: change.KindFile, SHA256: sha}}
		if err := s.CheckProposed([]change.FileChange{{Path: "gone", Proposed: change.Absent()}, file}); !errors.As(err, &corrupt) {
			t.Errorf("%q: check proposed: %v", bad, err)
		}
		if !s.Has(sha) {
			t.Error("has not")
		}
	}
	r, err := s.Open(sha)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	io.Copy(io.Discard, r)
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.As(err, new(*CorruptImageError)) {
		t.Errorf("a read behind the end: %d, %v", n, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	os.WriteFile(other, []byte(content), 0o600)
	if err := os.Symlink(other, path); err != nil {
		t.Skip(err)
	}
	if _, err := s.Open(sha); !errors.As(err, new(*CorruptImageError)) {
		t.Errorf("a symlink as an image: %v", err)
	}
}

func TestPutThatFailsLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := OpenStore(dir)
	broken := errors.New("broken")
	for n := range 3 {
		r := io.MultiReader(strings.NewReader(strings.Repeat("x", n)), iotest.ErrReader(broken))
		if _, _, err := s.Put(r); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if got := names(t, dir); got != "" {
		t.Errorf("left %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, sum("a")[:2]), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Put(strings.NewReader("a")); err == nil {
		t.Error("stored below a file")
	}
	if got := names(t, dir); got != sum("a")[:2] {
		t.Errorf("left %s", got)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	s := OpenStore(filepath.Join(dir, "store"))
	if n, err := s.Sweep(); n != 0 || err != nil {
		t.Fatalf("no store: %d, %v", n, err)
	}
	sha := put(t, s, "kept")
	in, err := durable.NewIncoming(s.dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	in.Write([]byte("never finished"))
	if err := s.Each(func(got string, _ int64) error {
		if got != sha {
			t.Errorf("each: %s", got)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		in.Abort()
		return
	}
	if n, err := s.Sweep(); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if err := s.Check(sha); err != nil {
		t.Fatal(err)
	}
}

func TestShareAndAlone(t *testing.T) {
	s := OpenStore(filepath.Join(t.TempDir(), "store"))
	one, err := s.Share(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.Share(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	var held *durable.HeldError
	if _, err := s.Alone(ctx); !errors.As(err, &held) {
		t.Fatalf("alone beside others: %v", err)
	}
	put(t, s, "stored while shared")
	for _, release := range []func() error{one, two} {
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	alone, err := s.Alone(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Share(ctx); !errors.As(err, &held) {
		t.Fatalf("shared beside one alone: %v", err)
	}
	if err := alone(); err != nil {
		t.Fatal(err)
	}
}

func TestPutAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for g := range 12 {
		wg.Go(func() {
			s := OpenStore(dir)
			for i := range 8 {
				content := bytes.Repeat([]byte(fmt.Sprint((g+i)%8)), 10000)
				sha, _, err := s.Put(bytes.NewReader(content))
				if err != nil || sha != sum(string(content)) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	wg.Wait()
	n := 0
	err := OpenStore(dir).Each(func(sha string, size int64) error { n++; return OpenStore(dir).Check(sha) })
	if err != nil || n != 8 {
		t.Fatalf("%d images, %v", n, err)
	}
	if strings.Contains(names(t, dir), ".correx") {
		t.Fatalf("left behind: %s", names(t, dir))
	}
}
