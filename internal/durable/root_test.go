package durable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
)

func openTestRoot(t *testing.T) (*Root, string) {
	t.Helper()
	dir := t.TempDir()
	r, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, dir
}

func put(t *testing.T, path, content string, perm os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, perm); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no symlinks here:", err)
	}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestPathsThatLeave(t *testing.T) {
	r, dir := openTestRoot(t)
	outside := t.TempDir()
	put(t, filepath.Join(outside, "secret"), "secret", 0o644)
	put(t, filepath.Join(dir, "in/file"), "in", 0o644)
	put(t, filepath.Join(dir, "plain"), "p", 0o644)
	link(t, outside, filepath.Join(dir, "out"))
	link(t, "in", filepath.Join(dir, "inner"))
	link(t, "../plain", filepath.Join(dir, "in/up"))

	for _, raw := range []string{"..", "../x", "in/../plain", "/etc/passwd", "in//file", "./plain", "in/.", "a\x00b"} {
		p := change.Path(raw)
		if _, err := r.Lstat(p); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Lstat(%q) = %v, want a refusal", p, err)
		}
		if err := r.WriteFile(p, strings.NewReader("x"), 0o644, 0); err == nil {
			t.Errorf("WriteFile(%q) was not refused", p)
		}
		if _, err := r.Pin(p, nil); err == nil {
			t.Errorf("Pin(%q) was not refused", p)
		}
	}
	for _, c := range []struct {
		path, parent change.Path
		kind         change.Kind
	}{
		{"out/secret", "out", change.KindSymlink},
		{"inner/file", "inner", change.KindSymlink},
		{"inner/deep/er", "inner", change.KindSymlink},
		{"plain/x", "plain", change.KindFile},
		{"in/file/x/y", "in/file", change.KindFile},
	} {
		_, err := r.Lstat(c.path)
		var parent *ParentError
		if !errors.As(err, &parent) || parent.Parent != c.parent || parent.Kind != c.kind || parent.Path != c.path {
			t.Errorf("Lstat(%q) = %v, want a ParentError at %q", c.path, err, c.parent)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Lstat(%q): not fs.ErrNotExist", c.path)
		}
		if pin, err := r.Pin(c.path, nil); err != nil || pin.Exists() {
			t.Errorf("Pin(%q) = %v, %v, want absent", c.path, pin, err)
		}
		if err := r.WriteFile(c.path, strings.NewReader("x"), 0o644, 0); err == nil {
			t.Errorf("WriteFile(%q) was not refused", c.path)
		}
		if _, err := r.Open(c.path); err == nil {
			t.Errorf("Open(%q) was not refused", c.path)
		}
	}
	if got, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(got) != "secret" {
		t.Fatalf("outside: %q, %v", got, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Fatalf("outside: %v, %v", entries, err)
	}
}

func TestPin(t *testing.T) {
	r, dir := openTestRoot(t)
	put(t, filepath.Join(dir, "a/f"), "hello", 0o750)
	put(t, filepath.Join(dir, "empty"), "", 0o644)
	link(t, "a/f", filepath.Join(dir, "l"))
	cases := map[change.Path]change.Pin{
		"a/f":     {Kind: change.KindFile, Perm: 0o750, Size: 5, SHA256: digest("hello")},
		"empty":   {Kind: change.KindFile, Perm: 0o644, SHA256: digest("")},
		"l":       {Kind: change.KindSymlink, Size: 3, SHA256: digest("a/f")},
		"a":       {Kind: change.KindDir},
		"missing": change.Absent(),
		"no/no":   change.Absent(),
	}
	for p, want := range cases {
		var tee bytes.Buffer
		got, err := r.Pin(p, &tee)
		if err != nil || got != want {
			t.Errorf("Pin(%q) = %+v, %v, want %+v", p, got, err, want)
		}
		if want.SHA256 != "" && digest(tee.String()) != want.SHA256 {
			t.Errorf("Pin(%q) handed on %q", p, tee.String())
		}
		if again, err := r.Pin(p, nil); err != nil || again != want {
			t.Errorf("second Pin(%q) = %+v, %v", p, again, err)
		}
	}
	if got, err := r.Readlink("l"); err != nil || got != "a/f" {
		t.Errorf("Readlink = %q, %v", got, err)
	}
	info, err := r.Lstat("")
	if err != nil || info.Kind != change.KindDir {
		t.Errorf("Lstat of the root = %+v, %v", info, err)
	}
}

// writerDuring changes the file while it is being pinned.
type writerDuring struct {
	path string
	n    int
}

func (w *writerDuring) Write(p []byte) (int, error) {
	w.n++
	return len(p), os.WriteFile(w.path, fmt.Appendf(nil, "changed %d times", w.n), 0o644)
}

func TestPinOfAFileThatChanges(t *testing.T) {
	r, dir := openTestRoot(t)
	path := filepath.Join(dir, "f")
	put(t, path, "before", 0o644)
	_, err := r.Pin("f", &writerDuring{path: path})
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Path != "f" {
		t.Fatalf("Pin = %v, want a BusyError", err)
	}
}

func TestPinHandsOnTheWritersError(t *testing.T) {
	r, dir := openTestRoot(t)
	put(t, filepath.Join(dir, "f"), "x", 0o644)
	pr, pw := io.Pipe()
	if err := pr.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Pin("f", pw); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("Pin = %v", err)
	}
}

func TestReadDir(t *testing.T) {
	r, dir := openTestRoot(t)
	want := []DirEntry{{"d", change.KindDir}, {"f", change.KindFile}, {"l", change.KindSymlink}, {"\xff\n", change.KindFile}}
	for _, e := range want {
		switch path := filepath.Join(dir, e.Name); e.Kind {
		case change.KindDir:
			put(t, filepath.Join(path, "x"), "", 0o644)
		case change.KindFile:
			put(t, path, "", 0o644)
		default:
			link(t, "nowhere", path)
		}
	}
	got, err := r.ReadDir("")
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	if !slices.Equal(got, want) {
		t.Fatalf("ReadDir = %v, want %v", got, want)
	}
	var kind *KindError
	if _, err := r.ReadDir("f"); !errors.As(err, &kind) || kind.Found != change.KindFile {
		t.Errorf("ReadDir of a file = %v", err)
	}
	if _, err := r.ReadDir("l"); !errors.As(err, &kind) || kind.Found != change.KindSymlink {
		t.Errorf("ReadDir of a link = %v", err)
	}
	if _, err := r.ReadDir("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadDir of nothing = %v", err)
	}
}

func TestReadDirOfManyNames(t *testing.T) {
	r, dir := openTestRoot(t)
	for i := range 3000 {
		put(t, filepath.Join(dir, "d", fmt.Sprintf("%04d-%s", i, strings.Repeat("n", i%200))), "", 0o644)
	}
	got, err := r.ReadDir("d")
	if err != nil || len(got) != 3000 {
		t.Fatalf("%d names, %v", len(got), err)
	}
}

func TestWriteFileForShadows(t *testing.T) {
	r, dir := openTestRoot(t)
	mtime := time.Date(2020, 1, 2, 3, 4, 5, 678_000_000, time.UTC).UnixNano()
	if err := r.WriteFile("a/b/c", strings.NewReader("content"), 0o755, mtime); err != nil {
		t.Fatal(err)
	}
	info, err := r.Lstat("a/b/c")
	if err != nil || info.Perm != 0o755 || info.MTimeNS != mtime || info.Size != 7 {
		t.Fatalf("%+v, %v", info, err)
	}
	if err := r.WriteFile("a/b/c", strings.NewReader("other"), 0o644, 0); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	link(t, "nowhere", filepath.Join(dir, "dangling"))
	if err := r.WriteFile("dangling", strings.NewReader("x"), 0o644, 0); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a dangling link: %v", err)
	}
	if err := r.WriteFile("a", strings.NewReader("x"), 0o644, 0); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a folder: %v", err)
	}
	broken := io.MultiReader(strings.NewReader("half"), errReader{})
	if err := r.WriteFile("broken", broken, 0o644, 0); !errors.Is(err, errInjected) {
		t.Errorf("broken source: %v", err)
	}
	if _, err := r.Lstat("broken"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part of a file stayed: %v", err)
	}
	if err := r.Symlink("x/l", "../a"); err != nil {
		t.Fatal(err)
	}
	if err := r.MkdirAll("x/l/y"); err == nil {
		t.Error("MkdirAll followed a link")
	}
	if err := r.MkdirAll("a/b"); err != nil {
		t.Errorf("MkdirAll of what is there: %v", err)
	}
	if err := r.Remove("a"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove of a full folder: %v", err)
	}
	for _, p := range []change.Path{"a/b/c", "a/b", "a", "x/l", "x"} {
		if err := r.Remove(p); err != nil {
			t.Errorf("Remove(%q): %v", p, err)
		}
	}
	if err := r.Remove("a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove of nothing: %v", err)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errInjected }

func TestCloneFileOrNothing(t *testing.T) {
	r, dir := openTestRoot(t)
	put(t, filepath.Join(dir, "src"), "shared", 0o644)
	src, err := r.Open("src")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	cloned, err := r.CloneFile("d/dst", src, 0o600, 0)
	if cloned {
		if pin, err := r.Pin("d/dst", nil); err != nil || pin.SHA256 != digest("shared") || pin.Perm != 0o600 {
			t.Fatalf("%+v, %v", pin, err)
		}
		return
	}
	if !errors.Is(err, ErrNoClone) {
		t.Fatalf("CloneFile = %v", err)
	}
	if _, err := r.Lstat("d/dst"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("something stayed: %v", err)
	}
}

func TestMoves(t *testing.T) {
	r, dir := openTestRoot(t)
	put(t, filepath.Join(dir, "a"), "A", 0o644)
	put(t, filepath.Join(dir, "d/b"), "B", 0o644)
	top, err := r.Dir("")
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	sub, err := top.OpenDir("d")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := top.MoveNew("a", sub, "b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("MoveNew onto a file: %v", err)
	}
	if err := top.MoveNew("none", sub, "c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("MoveNew of nothing: %v", err)
	}
	if err := top.MoveNew("a", sub, "c"); err != nil {
		t.Fatal(err)
	}
	if err := sub.MoveAway("c", sub, "b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("MoveAway onto a file: %v", err)
	}
	if err := errors.Join(sub.MoveAway("c", top, "working"), top.MoveAway("working", sub, "c")); err != nil {
		t.Error(err)
	}
	if removed, err := top.Rmdir("d"); removed || err != nil {
		t.Errorf("Rmdir of a full folder: %v, %v", removed, err)
	}
	if err := sub.Exchange("b", "c"); err == nil {
		if got, err := os.ReadFile(filepath.Join(dir, "d/b")); err != nil || string(got) != "A" {
			t.Errorf("after the exchange b holds %q, %v", got, err)
		}
	} else if !errors.Is(err, ErrNoExchange) {
		t.Error(err)
	}
	for _, name := range []string{"", ".", "..", "a/b", "/a"} {
		if err := sub.Unlink(name); err == nil {
			t.Errorf("Unlink(%q) was not refused", name)
		}
	}
	if err := top.Unlink("d"); err == nil {
		t.Error("Unlink removed a folder")
	}
	for _, name := range []string{"b", "c"} {
		if err := sub.Unlink(name); err != nil {
			t.Error(err)
		}
	}
	if removed, err := top.Rmdir("d"); !removed || err != nil {
		t.Errorf("Rmdir: %v, %v", removed, err)
	}
	if removed, err := top.Rmdir("d"); removed || err != nil {
		t.Errorf("second Rmdir: %v, %v", removed, err)
	}
}

func TestNewFile(t *testing.T) {
	r, dir := openTestRoot(t)
	top, err := r.Dir("")
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	f, err := top.Create("f", 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "written"); err != nil {
		t.Fatal(err)
	}
	f.StartFlush()
	if err := errors.Join(f.Resemble(nil, 0o640), f.Flush(), top.Sync()); err != nil {
		t.Fatal(err)
	}
	info, sum, err := f.ReadBack()
	if err != nil || sum != digest("written") || info.Perm != 0o640 || info.Size != 7 {
		t.Fatalf("%+v, %s, %v", info, sum, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := top.Create("f", 0o666); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a file: %v", err)
	}
	link(t, "elsewhere", filepath.Join(dir, "l"))
	if _, err := top.Create("l", 0o666); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a link: %v", err)
	}
}
