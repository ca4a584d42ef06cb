//go:build unix

package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

// reset resets with git's own idea of what is shown and ignored in dir.
func (b *box) reset(s *Shadow, dir string, paths ...change.Path) Report {
	b.t.Helper()
	n := 0
	r, err := s.Reset(b.t.(*testing.T).Context(), b.source(dir), ResetOptions{Paths: paths, Ignored: b.ignoring(dir, &n), Seq: 42})
	must(b.t, err)
	return r
}

// wantShown checks that the tree shows exactly what the real tree does, but for extra paths of the agent's.
func (b *box) wantShown(s *Shadow, dir string, extra ...string) {
	b.t.Helper()
	var got []string
	known := map[string]bool{}
	for _, e := range extra {
		known[e] = true
	}
	for _, line := range compareTrees(b.t, dir, s.Tree()) {
		if !known[line] {
			got = append(got, line)
		}
		delete(known, line)
	}
	if len(got) != 0 || len(known) != 0 {
		b.t.Errorf("differs: %q, expected also %v", got, known)
	}
	if r := b.scan(s, dir); len(r.Changed) != 0 {
		b.t.Errorf("a scan finds %q", words(r.Changed))
	}
}

func TestResetAll(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "d/b", "1\n", "d/c", "1\n", "e/f", "1\n", "same", "1\n", "to-dir", "1\n", "from-dir/x", "1\n", ".gitignore", "*.log\n")
	s, _ := b.open(dir, "s-1")
	kept, err := os.Stat(filepath.Join(s.Tree(), "same"))
	must(t, err)
	// The agent's doings.
	b.agent(s, "a", "agent\n", "new/n", "n\n", "x.log", "l\n", "d/b.log", "l\n")
	must(t, errors.Join(os.RemoveAll(filepath.Join(s.Tree(), "e")), os.Remove(filepath.Join(s.Tree(), "d/c"))))
	must(t, os.Symlink(filepath.Join(dir, "d"), filepath.Join(s.Tree(), "e")))
	must(t, syscall.Mkfifo(filepath.Join(s.Tree(), "d/c"), 0o644))
	b.agent(s, ".GIT/x", "x", "n/.git/config", "x", "n/code", "x")
	// The developer's.
	b.write(dir, "d/b", "developer\n", "later", "l\n", "to-dir.new/y", "y\n")
	must(t, errors.Join(os.Remove(filepath.Join(dir, "to-dir")), os.Rename(filepath.Join(dir, "to-dir.new"), filepath.Join(dir, "to-dir"))))
	must(t, os.RemoveAll(filepath.Join(dir, "from-dir")))
	b.write(dir, "from-dir", "now a file\n")
	before := fingerprint(t, dir)
	b.reset(s, dir)
	wantSameTree(t, "real tree", before, fingerprint(t, dir))
	rest := compareTrees(t, dir, s.Tree())
	if want := "d/b.log file,n/.git/config file,n/code file,x.log file"; strings.Join(rest, ",") != want {
		t.Errorf("left: %q, want %s", rest, want)
	}
	r := b.scan(s, dir)
	wantWords(t, "changed", r.Changed, "n/.git/config file git")
	wantPaths(t, "nested", r.NestedRepos, "n")
	if now, err := os.Stat(filepath.Join(s.Tree(), "same")); err != nil || !os.SameFile(kept, now) {
		t.Errorf("a file that was the same was made anew: %v", err)
	}
	if s.Seq() != 42 {
		t.Errorf("seq %d", s.Seq())
	}
	for _, p := range []change.Path{"d/b", "later", "from-dir", "to-dir/y"} {
		base, err := s.Base(p)
		if text := b.read(dir, string(p)); err != nil || base.SHA256 != sha(text) {
			t.Errorf("%q: base %+v, %v", p, base, err)
		}
	}
	for _, p := range []change.Path{"to-dir", "from-dir/x"} {
		if base, err := s.Base(p); err != nil || base.Exists() {
			t.Errorf("%q: base %+v, %v", p, base, err)
		}
	}
	// By its name, the agent's repository goes too.
	b.reset(s, dir, "n")
	b.wantShown(s, dir, "d/b.log file", "x.log file")
}

// Git lists a tracked file also where a folder, or nothing, has taken its place, or a file stands above it. What the shadow
// holds of the real tree's stays, however often and in whatever order that is reset.
func TestResetChangedPlaces(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "to-dir", "1\n", "deep/to-dir", "1\n", "from-dir/x/y/z", "1\n", "gone/x", "1\n", "a", "1\n")
	s, _ := b.open(dir, "s-1")
	for _, p := range []string{"to-dir", "deep/to-dir", "from-dir", "gone"} {
		must(t, os.RemoveAll(filepath.Join(dir, p)))
	}
	b.write(dir, "to-dir/n", "n\n", "to-dir/m/n", "n\n", "deep/to-dir/e/f/n", "n\n", "from-dir/x", "now a file\n")
	b.reset(s, dir)
	b.wantShown(s, dir)
	b.reset(s, dir)
	b.wantShown(s, dir)
	for _, p := range []change.Path{"to-dir", "deep/to-dir", "from-dir/x/y/z", "from-dir/x/y", "from-dir/x", "from-dir", "gone/x", "to-dir/n"} {
		b.reset(s, dir, p)
		b.wantShown(s, dir)
	}
	b.agent(s, "to-dir/n", "agent\n", "gone/new", "agent\n")
	must(t, os.Remove(filepath.Join(s.Tree(), "from-dir/x")))
	b.agent(s, "from-dir/x/y/z", "agent\n")
	b.reset(s, dir)
	b.wantShown(s, dir)
}

func TestResetPaths(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "b", "1\n", "d/c", "1\n", "d/d", "1\n", ".gitignore", "*.log\n")
	s, _ := b.open(dir, "s-1")
	b.agent(s, "a", "2\n", "b", "2\n", "d/c", "2\n", "d/new", "2\n", "d/x.log", "l\n", "d/e/f", "x")
	must(t, os.Remove(filepath.Join(s.Tree(), "d/d")))
	b.write(dir, "b", "developer\n", "d/d", "developer\n")
	b.reset(s, dir, "a", "d")
	wantWords(t, "changed", b.scan(s, dir).Changed, "b file known")
	if b.read(s.Tree(), "a") != "1\n" || b.read(s.Tree(), "d/d") != "developer\n" || b.read(s.Tree(), "d/x.log") != "l\n" {
		t.Error("not what the real tree holds, or too much")
	}
	if _, err := os.Lstat(filepath.Join(s.Tree(), "d/e")); !os.IsNotExist(err) {
		t.Errorf("an emptied folder is left: %v", err)
	}
	if base, err := s.Base("b"); err != nil || base.SHA256 != sha("1\n") || s.Seq() != 0 {
		t.Errorf("beyond the paths: base %+v, %v, seq %d", base, err, s.Seq())
	}
	b.reset(s, dir, "d/x.log", "nowhere")
	if _, err := os.Lstat(filepath.Join(s.Tree(), "d/x.log")); !os.IsNotExist(err) {
		t.Errorf("an ignored file asked for by name is left: %v", err)
	}
	b.reset(s, dir)
	b.wantShown(s, dir)
}

// TestResetOddPlaces has submodules, what was left out, and a tree without its git directory.
func TestResetOddPlaces(t *testing.T) {
	b := newBox(t)
	lib := b.repo("lib", "l", "1\n")
	dir := b.repo("r", "a", "1\n")
	b.git(dir, "submodule", "--quiet", "add", lib, "dep")
	b.git(dir, "commit", "-qm", "dep")
	b.repo("r/n", "inner", "1\n")
	s, _ := b.open(dir, "s-1")
	b.agent(s, "dep/l", "x", "n/inner", "x")
	must(t, os.RemoveAll(filepath.Join(s.Tree(), ".git")))
	report := b.reset(s, dir)
	if len(report.LeftOut) != 1 || report.LeftOut[0].Path != "n" {
		t.Errorf("report %+v", report)
	}
	if names, err := os.ReadDir(filepath.Join(s.Tree(), "dep")); err != nil || len(names) != 0 {
		t.Errorf("the submodule's folder: %v, %v", names, err)
	}
	if r := b.scan(s, dir); len(r.Changed)+len(r.NestedRepos) != 0 {
		t.Errorf("%+v", r)
	}
	must(t, os.RemoveAll(filepath.Join(s.Tree(), "dep")))
	b.agent(s, "dep", "a file")
	b.reset(s, dir)
	if info, err := os.Stat(filepath.Join(s.Tree(), "dep")); err != nil || !info.IsDir() {
		t.Errorf("the submodule's folder: %v, %v", info, err)
	}
}

// TestResetStopped ends a reset at each step in turn; the next one completes it.
func TestResetStopped(t *testing.T) {
	b := newBox(t)
	var files []string
	for i := range 60 {
		files = append(files, fmt.Sprintf("d%d/f%d", i%5, i), "1\n")
	}
	dir := b.repo("r", files...)
	src := b.source(dir)
	before := fingerprint(t, dir)
	for k := 1; ; k++ {
		s, _ := b.openWith(src, b.options("s-1"))
		for i := 0; i < len(files); i += 2 {
			b.agent(s, files[i], "agent\n", files[i]+".new", "n\n")
		}
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		_, err := s.Reset(ctx, src, ResetOptions{Progress: func(int, int) {
			if calls++; calls == k {
				cancel()
			}
		}})
		cancel()
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			for _, p := range b.scan(s, dir).Changed {
				if text, err := os.ReadFile(filepath.Join(s.Tree(), string(p.Path))); err == nil && string(text) != "agent\n" {
					t.Errorf("stopped at %d: %q is neither the agent's nor unchanged", k, p.Path)
				}
			}
			b.reset(s, dir)
		}
		b.wantShown(s, dir)
		must(t, s.Close(t.Context()))
		if err == nil && calls < k {
			break
		}
	}
	wantSameTree(t, "real tree", before, fingerprint(t, dir))
}

// TestResetProperty lets agent and developer do random things and resets: the shadow shows the real tree, which is as the
// developer left it.
func TestResetProperty(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "a.b", "a-b"})
	rapid.Check(t, func(rt *rapid.T) {
		b := newBox(t)
		dir := b.repo("r")
		act := func(root, who string) {
			for range rapid.IntRange(0, 8).Draw(rt, who) {
				file := filepath.Join(root, strings.Join(rapid.SliceOfN(names, 1, 3).Draw(rt, "path"), "/"))
				switch rapid.SampledFrom([]string{"write", "write", "remove", "link", "chmod"}).Draw(rt, "step") {
				case "write":
					_ = os.MkdirAll(filepath.Dir(file), 0o755)
					_ = os.WriteFile(file, []byte(rapid.SampledFrom([]string{"", "1", "2"}).Draw(rt, "text")), 0o644)
				case "remove":
					_ = os.RemoveAll(file)
				case "link":
					_ = os.Symlink(rapid.SampledFrom([]string{"a", dir, "../r"}).Draw(rt, "target"), file)
				case "chmod":
					if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
						must(t, os.Chmod(file, info.Mode()^0o100))
					}
				}
			}
		}
		act(dir, "first")
		s, _ := b.open(dir, "s-1")
		act(dir, "developer")
		before := fingerprint(t, dir)
		// The agent follows links it made; the sandbox is not what is tested here.
		actInTree(rt, b, s.Tree(), names)
		b.reset(s, dir)
		b.wantShown(s, dir)
		wantSameTree(t, "real tree", before, fingerprint(t, dir))
		must(t, s.Release())
	})
}

// actInTree does what act does, through a root that links do not lead out of.
func actInTree(rt *rapid.T, b *box, tree string, names *rapid.Generator[string]) {
	root, err := os.OpenRoot(tree)
	must(b.t, err)
	defer root.Close()
	for range rapid.IntRange(0, 8).Draw(rt, "agent") {
		file := strings.Join(rapid.SliceOfN(names, 1, 3).Draw(rt, "path"), "/")
		switch rapid.SampledFrom([]string{"write", "write", "remove", "link"}).Draw(rt, "step") {
		case "write":
			_ = root.MkdirAll(filepath.Dir(file), 0o755)
			_ = root.WriteFile(file, []byte(rapid.SampledFrom([]string{"", "1", "2"}).Draw(rt, "text")), 0o644)
		case "remove":
			_ = root.RemoveAll(file)
		case "link":
			_ = root.Symlink(rapid.SampledFrom([]string{"a", "/", b.path("r"), "../.."}).Draw(rt, "target"), file)
		}
	}
}
