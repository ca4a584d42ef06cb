//go:build unix

package shadow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

func failing(err error) IgnoreFunc {
	return func(context.Context, []change.Path, map[change.Path]bool) (map[change.Path]bool, error) {
		return nil, err
	}
}

// TestScanDeep has paths that no system call takes whole, and names as long as they can be.
func TestScanDeep(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", strings.Repeat("k", 255), "1\n")
	s, _ := b.open(dir, "s-1")
	long := strings.Repeat("n", 255)
	b.agent(s, long, "x\n")
	// 17 times 241 bytes: the last folders lie beyond what a path may hold.
	part := strings.Repeat("d", 240)
	at, err := os.OpenRoot(s.Tree())
	must(t, err)
	for range 18 {
		must(t, at.Mkdir(part, 0o755))
		next, err := at.OpenRoot(part)
		must(t, err)
		must(t, errors.Join(at.Close(), next.WriteFile("f", []byte("x"), 0o644)))
		at = next
	}
	must(t, at.Close())
	r := b.scan(s, dir)
	if len(r.Changed) != 17 || r.Changed[16].Path != change.Path(long) {
		t.Errorf("%d entries", len(r.Changed))
	}
	if len(r.TooDeep) != 1 || len(r.TooDeep[0]) <= maxPath {
		t.Errorf("too deep: %d", len(r.TooDeep))
	}
	must(t, s.Close(t.Context()))
}

// TestScanUnreadable checks that what cannot be looked at is said, and never taken for deleted or unchanged.
func TestScanUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "shut/b", "1\n", "blind/c", "1\n", "d", "1\n")
	s, _ := b.open(dir, "s-1")
	b.agent(s, "shut/new", "x")
	in := func(name string) string { return filepath.Join(s.Tree(), name) }
	now, err := os.Stat(in("d"))
	must(t, err)
	b.agent(s, "d", "2\n")
	must(t, errors.Join(os.Chtimes(in("d"), now.ModTime(), now.ModTime()), os.Chmod(in("d"), 0)))
	must(t, errors.Join(os.Chmod(in("shut"), 0), os.Chmod(in("blind"), 0o444)))
	check := func(r ScanResult, want ...change.Path) {
		t.Helper()
		var got []change.Path
		for _, p := range r.Unreadable {
			got = append(got, p.Path)
		}
		wantPaths(t, "unreadable", got, want...)
		wantWords(t, "changed", r.Changed)
	}
	check(b.scan(s, dir), "blind", "d", "shut")
	check(b.scan(s, dir, "shut"), "shut")
	check(b.scan(s, dir, "shut/b"), "shut/b")
	// Closing removes it all the same.
	must(t, s.Close(t.Context()))
	if _, err := os.Lstat(b.path("shadows", "s-1")); !os.IsNotExist(err) {
		t.Errorf("left: %v", err)
	}
}

func TestScanTreeGone(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "b", "1\n")
	s, _ := b.open(dir, "s-1")
	load := func() error {
		again, err := Load(LoadOptions{State: b.path("state", "s-1"), Root: dir})
		if err == nil {
			err = again.Release()
		}
		return err
	}
	tree := s.Tree()
	must(t, os.Rename(tree, tree+".old"))
	for name, err := range map[string]error{"load": load(), "scan": second(s.Scan(t.Context(), ScanOptions{}))} {
		if te := (*TreeError)(nil); !errors.As(err, &te) {
			t.Errorf("%s without a tree: %v", name, err)
		}
	}
	must(t, os.Symlink(dir, tree))
	for name, err := range map[string]error{"load": load(), "scan": second(s.Scan(t.Context(), ScanOptions{}))} {
		if te := (*TreeError)(nil); !errors.As(err, &te) {
			t.Errorf("%s with a link to the real tree in its place: %v", name, err)
		}
	}
	must(t, os.Remove(tree))
	// Another folder with the same content is the tree from now on.
	must(t, os.CopyFS(tree, os.DirFS(tree+".old")))
	b.agent(s, "b", "2\n")
	must(t, load())
	wantWords(t, "made anew", b.scan(s, dir).Changed, "b file known")
}

func second[T any](_ T, err error) error { return err }

// TestScanWhileWriting scans while the agent writes, removes and renames: no scan fails, and the last one tells the truth.
func TestScanWhileWriting(t *testing.T) {
	b := newBox(t)
	var files []string
	for i := range 60 {
		files = append(files, fmt.Sprintf("d%d/f%d", i%5, i), "1\n")
	}
	dir := b.repo("r", files...)
	s, _ := b.open(dir, "s-1")
	done := make(chan error)
	go func() {
		done <- func() error {
			for i := range 400 {
				at := filepath.Join(s.Tree(), fmt.Sprintf("d%d", i%5))
				name := filepath.Join(at, fmt.Sprintf("f%d", i%60))
				err := errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(name, []byte(strings.Repeat("x", i)), 0o644))
				switch i % 4 {
				case 0:
					err = errors.Join(err, os.Rename(at, at+"x"), os.WriteFile(at, nil, 0o644), os.Remove(at), os.Rename(at+"x", at))
				case 1:
					err = errors.Join(err, os.Remove(name), syscall.Mkfifo(name, 0o600), os.Remove(name))
				}
				if err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	for running := true; running; {
		select {
		case err := <-done:
			must(t, err)
			running = false
		default:
		}
		b.scan(s, dir)
	}
	for _, e := range b.scan(s, dir).Changed {
		info, err := os.Lstat(filepath.Join(s.Tree(), string(e.Path)))
		if (err == nil) != (e.Kind == change.KindFile) || err == nil && !info.Mode().IsRegular() {
			t.Errorf("%q is %v, %v, the scan says %s", e.Path, info, err, e.Kind)
		}
	}
}

func TestScanStops(t *testing.T) {
	b := newBox(t)
	s, _ := b.open(b.repo("r", "a", "1\n"), "s-1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Scan(ctx, ScanOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	must(t, s.Release())
	if _, err := s.Scan(t.Context(), ScanOptions{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("released: %v", err)
	}
}

// TestScanProperty does random things to a tree and compares the scan with a plain walk over both trees.
func TestScanProperty(t *testing.T) {
	n := 0
	names := rapid.SampledFrom([]string{"a", "b", "c", "a.b", "a-b", "a0", "\xff"})
	rapid.Check(t, func(rt *rapid.T) {
		n++
		b := newBox(t)
		path := func(label string) string {
			return strings.Join(rapid.SliceOfN(names, 1, 3).Draw(rt, label), "/")
		}
		dir := b.repo("r")
		write := func(root, name, text string) bool {
			file := filepath.Join(root, name)
			return os.MkdirAll(filepath.Dir(file), 0o755) == nil && os.WriteFile(file, []byte(text), 0o644) == nil
		}
		for range rapid.IntRange(0, 8).Draw(rt, "files") {
			write(dir, path("file"), rapid.SampledFrom([]string{"", "1", "2"}).Draw(rt, "text"))
		}
		s, _ := b.open(dir, fmt.Sprintf("s-%d", n))
		for range rapid.IntRange(0, 8).Draw(rt, "steps") {
			file := filepath.Join(s.Tree(), path("at"))
			switch rapid.SampledFrom([]string{"write", "remove", "link", "chmod", "scan", "same"}).Draw(rt, "step") {
			case "write":
				write(s.Tree(), strings.TrimPrefix(file, s.Tree()+"/"), rapid.SampledFrom([]string{"", "1", "2"}).Draw(rt, "text"))
			case "remove":
				_ = os.RemoveAll(file)
			case "link":
				_ = os.Symlink("a", file)
			case "chmod":
				if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
					must(t, os.Chmod(file, info.Mode()^0o111))
				}
			case "same":
				if data, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(file, s.Tree()))); err == nil {
					write(s.Tree(), strings.TrimPrefix(file, s.Tree()+"/"), string(data))
				}
			case "scan":
				b.scan(s, dir)
			}
		}
		var got []string
		for _, e := range b.scan(s, dir).Changed {
			got = append(got, string(e.Path)+" "+string(e.Kind))
		}
		if want := compareTrees(t, dir, s.Tree()); !slices.Equal(got, want) {
			rt.Fatalf("got %q, want %q", got, want)
		}
		must(t, s.Release())
	})
}

// compareTrees lists what differs as git would see it, without what lies in ".git".
func compareTrees(t testing.TB, real, tree string) []string {
	marks := func(dir string) map[string]string {
		all := map[string]string{}
		for name, mark := range fingerprint(t, dir) {
			info, err := os.Lstat(filepath.Join(dir, name))
			must(t, err)
			if info.IsDir() || strings.HasPrefix(name, ".git") {
				continue
			}
			f := strings.Fields(mark)
			all[name] = fmt.Sprintf("%v %v %s", info.Mode().Type(), info.Mode()&0o100, f[1])
		}
		return all
	}
	a, b := marks(real), marks(tree)
	var diff []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if _, ok := b[name]; !ok {
			diff = append(diff, name+" absent")
		}
	}
	for name, mark := range b {
		if a[name] == mark {
			continue
		}
		kind := "file"
		if strings.HasPrefix(mark, "L") {
			kind = "symlink"
		}
		diff = append(diff, name+" "+kind)
	}
	slices.Sort(diff)
	return diff
}
