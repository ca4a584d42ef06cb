//go:build unix

package shadow

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
)

// agent writes in a shadow's tree.
func (b *box) agent(s *Shadow, files ...string) { b.write(s.Tree(), files...) }

func TestScanKinds(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "edit", "1\n", "same-size", "1\n", "touch", "1\n", "chmod", "1\n", "read-only", "1\n", "gone", "1\n",
		"to-link", "1\n", "to-dir", "1\n", "to-fifo", "1\n", "dir/a", "1\n", "dir/b", "1\n", "dir2/a", "1\n", "empty", "", ".gitignore", "*.log\nbuild/\n")
	must(t, os.Symlink("edit", filepath.Join(dir, "link")))
	must(t, os.Symlink("edit", filepath.Join(dir, "link-same")))
	b.git(dir, "add", "-A")
	b.git(dir, "commit", "-qm", "links")
	s, _ := b.open(dir, "s-1")
	tree := s.Tree()
	in := func(name string) string { return filepath.Join(tree, name) }
	b.agent(s, "edit", "1\n2\n", "same-size", "2\n", "empty", "no more", "new/deep/file", "n\n", "x.log", "l\n", "build/o", "o\n", "top.log", "l\n")
	now := time.Now()
	must(t, os.Chtimes(in("touch"), now, now))
	must(t, os.Chmod(in("chmod"), 0o755))
	must(t, os.Chmod(in("read-only"), 0o444))
	for _, name := range []string{"gone", "to-link", "to-dir", "to-fifo", "dir/a", "link"} {
		must(t, os.Remove(in(name)))
	}
	must(t, os.Symlink("gone", in("to-link")))
	must(t, os.Symlink("chmod", in("link")))
	b.agent(s, "to-dir/x", "x\n")
	must(t, syscall.Mkfifo(in("to-fifo"), 0o644))
	must(t, syscall.Mkfifo(in("fifo"), 0o644))
	must(t, os.RemoveAll(in("dir2")))
	must(t, os.Symlink("dir", in("dir2")))
	must(t, os.Symlink("/etc", in("new/out")))
	b.agent(s, ".correx-stage", "x", "new/.correx-y/z", "x")
	r := b.scan(s, dir)
	want := []string{
		"chmod file known", "dir/a absent known", "dir2 symlink", "dir2/a absent known", "edit file known", "empty file known",
		"gone absent known", "link symlink known", "new/deep/file file", "new/out symlink", "same-size file known",
		"to-dir absent known", "to-dir/x file", "to-link symlink known",
	}
	wantWords(t, "changed", r.Changed, want...)
	wantPaths(t, "specials", r.Specials, "fifo", "to-fifo")
	wantPaths(t, "reserved", r.Reserved, ".correx-stage", "new/.correx-y")
	if len(r.NestedRepos)+len(r.TooDeep)+len(r.Unreadable)+len(r.Unmatched)+r.Omitted != 0 {
		t.Errorf("also: %+v", r)
	}
	for _, e := range r.Changed {
		base, err := s.Base(e.Path)
		if err != nil || base != e.Base {
			t.Errorf("%q: base %+v, %v, in the scan %+v", e.Path, base, err, e.Base)
		}
	}
	if base, _ := s.Base("edit"); base.SHA256 != sha("1\n") || base.Size != 2 || base.Perm != 0o644 {
		t.Errorf("base of edit: %+v", base)
	}
	// A second scan, by a process that has the manifest from the disk, finds the same.
	again, err := Load(LoadOptions{State: b.path("state", "s-1")})
	must(t, err)
	defer again.Release()
	wantWords(t, "changed again", b.scan(again, dir).Changed, want...)
}

// TestScanHidden has changes that a look at size and modification time does not show.
func TestScanHidden(t *testing.T) {
	for _, rest := range []bool{false, true} {
		t.Run(fmt.Sprint(rest), func(t *testing.T) {
			b := newBox(t)
			dir := b.repo("r", "a", "11\n", "b", "11\n", "c", "11\n")
			s, _ := b.open(dir, "s-1")
			if rest {
				b.scan(s, dir) // Proves the stats of the copies, so that only they can tell.
			}
			for _, name := range []string{"a", "b"} {
				file := filepath.Join(s.Tree(), name)
				info, err := os.Stat(file)
				must(t, err)
				if name == "a" {
					b.agent(s, name, "22\n")
				} else {
					b.agent(s, "tmp", "22\n")
					must(t, os.Rename(filepath.Join(s.Tree(), "tmp"), file))
				}
				must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
			}
			wantWords(t, "changed", b.scan(s, dir).Changed, "a file known", "b file known")
		})
	}
}

// TestScanProves checks that a file that was read once and found unchanged is not read again, and that being read is what
// happens to young files.
func TestScanProves(t *testing.T) {
	b := newBox(t)
	var files []string
	for i := range 100 {
		files = append(files, fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat("x", i))
	}
	dir := b.repo("r", files...)
	s, _ := b.open(dir, "s-1")
	young := 0
	for _, e := range s.manifest().entries {
		if e.flags&hasStat == 0 {
			t.Fatalf("%q has no stat", e.path)
		}
		if e.flags&racy != 0 {
			young++
		}
	}
	if young == 0 {
		// A slow machine took longer than a tick: one is made young again.
		s.manifest().entries[0].flags |= racy
		young = 1
	}
	waitPast(t, s)
	for range 2 {
		if r := b.scan(s, dir); len(r.Changed) != 0 || r.Looked < 100 {
			t.Fatalf("%+v", r)
		}
	}
	onDisk, err := readManifest(b.path("state", "s-1"))
	must(t, err)
	for _, m := range []*manifest{onDisk, s.manifest()} {
		for _, e := range m.entries {
			// For a few files the manifest is not written.
			if e.flags&racy != 0 && (m != onDisk || young >= noteFiles) {
				t.Errorf("%q is still young", e.path)
			}
		}
	}
}

// waitPast waits until the file system's clock has ticked past everything in the tree.
func waitPast(t testing.TB, s *Shadow) {
	t.Helper()
	first, err := s.clock()
	must(t, err)
	for range 100000 {
		now, err := s.clock()
		must(t, err)
		if (stat{ctime: first}).settled(now) {
			return
		}
	}
	t.Fatal("the file system's clock stands still")
}

func TestScanGitNames(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "sub/known", "1\n")
	s, _ := b.open(dir, "s-1")
	b.agent(s, ".GIT/hooks/pre-commit", "x", ".git/config", "broken [", "sub/.git/config", "x", "sub/.git/objects/aa/bb", "x",
		"sub/known", "2\n", "sub/new", "n\n", "sub/deeper/new", "n\n", "GIT~1", "x", "d/.git", "gitdir: /x", "d/new", "n\n",
		"e/.Git ", "x", ".gitignore", "z\n")
	r := b.scan(s, dir)
	want := []string{
		".GIT/hooks/pre-commit file git", ".gitignore file", "GIT~1 file git", "d/.git file git", "e/.Git  file git",
		"sub/.git/config file git", "sub/known file known",
	}
	wantWords(t, "changed", r.Changed, want...)
	wantPaths(t, "nested", r.NestedRepos, "d", "e", "sub")
	if r.Omitted != 1 {
		t.Errorf("omitted %d, want the object folder", r.Omitted)
	}
	// Asked for by name, each says what it is.
	for p, want := range map[change.Path]string{
		".GIT/hooks/pre-commit": ".GIT/hooks/pre-commit file git", ".git/config": ".git/config file git",
		"sub/.git": "sub/.git/config file git", "d/.git": "d/.git file git", "sub/known": "sub/known file known", "a": "",
		".gitignore": ".gitignore file",
	} {
		got := strings.Join(words(b.scan(s, dir, p).Changed), ",")
		if got != want {
			t.Errorf("%q: %q, want %q", p, got, want)
		}
	}
	if r := b.scan(s, dir, "sub/new"); len(r.Changed) != 0 || !slices.Equal(r.NestedRepos, []change.Path{"sub"}) {
		t.Errorf("in a nested repository: %+v", r)
	}
	// The agent's own git directory may be in any state.
	must(t, os.RemoveAll(filepath.Join(s.Tree(), ".git")))
	must(t, os.Symlink(dir+"/.git", filepath.Join(s.Tree(), ".git")))
	wantWords(t, "with .git a link", b.scan(s, dir).Changed, want...)
}

func TestScanManyGitNames(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n")
	s, _ := b.open(dir, "s-1")
	for i := range 150 {
		b.agent(s, fmt.Sprintf("n/.git/d/f%03d", i), "x", fmt.Sprintf("n/.git/d/e/f%03d", i), "x")
	}
	b.agent(s, "zz", "z\n")
	r := b.scan(s, dir)
	if len(r.Changed) != 101 || r.Changed[100].Path != "zz" || r.Omitted == 0 {
		t.Errorf("%d entries, %d omitted", len(r.Changed), r.Omitted)
	}
}

func TestScanSubmodule(t *testing.T) {
	b := newBox(t)
	lib := b.repo("lib", "l", "1\n")
	dir := b.repo("r", "a", "1\n")
	b.git(dir, "submodule", "--quiet", "add", lib, "dep")
	b.git(dir, "commit", "-qm", "dep")
	s, _ := b.open(dir, "s-1")
	if names, err := os.ReadDir(filepath.Join(s.Tree(), "dep")); err != nil || len(names) != 0 {
		t.Fatalf("the submodule's folder: %v, %v", names, err)
	}
	b.agent(s, "dep/l", "2\n", "dep/sub/m", "2\n")
	wantWords(t, "written", b.scan(s, dir).Changed, "dep/l file submodule", "dep/sub/m file submodule")
	wantWords(t, "named", b.scan(s, dir, "dep/l").Changed, "dep/l file submodule")
	wantWords(t, "named folder", b.scan(s, dir, "dep/sub").Changed, "dep/sub/m file submodule")
	b.agent(s, "dep/.git", "gitdir: x")
	r := b.scan(s, dir)
	wantWords(t, "populated", r.Changed, "dep/.git file git submodule")
	wantPaths(t, "nested", r.NestedRepos, "dep")
	must(t, os.RemoveAll(filepath.Join(s.Tree(), "dep")))
	wantWords(t, "removed", b.scan(s, dir).Changed, "dep absent known submodule")
	b.agent(s, "dep", "file")
	wantWords(t, "a file", b.scan(s, dir).Changed, "dep file known submodule")
}

func TestScanLeftOut(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n")
	b.repo("r/n", "inner", "1\n")
	must(t, os.Truncate(must1(os.Create(filepath.Join(dir, "disk.img")))(t), 40<<30))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	o := b.options("s-1")
	o.MaxUntracked = 1 << 20
	src := b.source(dir)
	src.Files = append(src.Files, SourceFile{Path: "pipe", Untracked: true}, SourceFile{Path: ".correx-x"}, SourceFile{Path: "x/.git/y"})
	s, report := b.openWith(src, o)
	var got []string
	for _, l := range report.LeftOut {
		got = append(got, string(l.Path)+": "+string(l.Reason))
	}
	if want := []string{"disk.img: too large", "n: another repository", "pipe: not a regular file", "x/.git/y: another repository"}; !slices.Equal(got, want) {
		t.Errorf("left out %q, want %q", got, want)
	}
	if report.Files != 1 || report.Bytes != 2 || report.Backend != BackendCopy {
		t.Errorf("report %+v", report)
	}
	b.agent(s, "disk.img", "x", "n/inner", "2\n", "n/new/x", "2\n")
	must(t, os.Symlink("a", filepath.Join(s.Tree(), "pipe")))
	want := []string{"disk.img file left-out", "n/inner file left-out", "n/new/x file left-out", "pipe symlink left-out"}
	wantWords(t, "changed", b.scan(s, dir).Changed, want...)
	wantWords(t, "named", b.scan(s, dir, "disk.img", "n", "pipe").Changed, want...)
	wantWords(t, "named deep", b.scan(s, dir, "n/new").Changed, "n/new/x file left-out")
	if r, err := s.Scan(t.Context(), ScanOptions{}); err != nil || r.Changed[0].LeftOut != TooLarge || r.Changed[1].LeftOut != Nested {
		t.Errorf("reasons: %+v, %v", r.Changed, err)
	}
}

func must1(f *os.File, err error) func(t testing.TB) string {
	return func(t testing.TB) string {
		t.Helper()
		must(t, err)
		must(t, f.Close())
		return f.Name()
	}
}

// TestScanIgnored checks that ignored folders cost one question a level, and nothing in the manifest is asked about.
func TestScanIgnored(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", ".gitignore", "node_modules/\n*.log\nbuild/*\n!build/keep\n")
	b.write(dir, "build/tracked", "1\n")
	b.git(dir, "add", "-f", "build/tracked")
	b.git(dir, "commit", "-qm", "tracked though ignored")
	s, _ := b.open(dir, "s-1")
	for i := range 200 {
		b.agent(s, fmt.Sprintf("node_modules/p%d/m.js", i), "x", fmt.Sprintf("new/p%d/x.log", i), "x")
	}
	b.agent(s, "build/tracked", "2\n", "build/other", "x", "build/keep", "x", "new/p1/code", "x")
	asked := 0
	r, err := s.Scan(t.Context(), ScanOptions{Ignored: b.ignoring(dir, &asked)})
	must(t, err)
	wantWords(t, "changed", r.Changed, "build/keep file", "build/tracked file known", "new/p1/code file")
	if asked > 4 {
		t.Errorf("asked %d times", asked)
	}
	wantWords(t, "named file", b.scan(s, dir, "new/p1/x.log").Changed, "new/p1/x.log file ignored")
	wantWords(t, "named folder", b.scan(s, dir, "new/p1").Changed, "new/p1/code file")
	if r := b.scan(s, dir, "node_modules"); len(r.Changed) != 200 || !r.Changed[0].Ignored {
		t.Errorf("named ignored folder: %d entries", len(r.Changed))
	}
	if _, err := s.Scan(t.Context(), ScanOptions{MaxNew: 10}); !errors.As(err, new(*LimitError)) {
		t.Errorf("with a limit: %v", err)
	}
	fail := errors.New("git is gone")
	_, err = s.Scan(t.Context(), ScanOptions{Ignored: failing(fail)})
	if !errors.Is(err, fail) {
		t.Errorf("when nobody can tell what is ignored: %v", err)
	}
}

func TestScanNamed(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "d/b", "1\n", "d/c", "1\n", "e/f/g", "1\n", "gone/x", "1\n", "d-x", "1\n", "d0", "1\n")
	s, _ := b.open(dir, "s-1")
	b.agent(s, "a", "2\n", "d/b", "2\n", "d/new", "2\n", "d-x", "2\n", "d0", "2\n", "e/f/new", "2\n")
	must(t, os.RemoveAll(filepath.Join(s.Tree(), "gone")))
	must(t, os.RemoveAll(filepath.Join(s.Tree(), "e/f/g")))
	b.agent(s, "e/f/g/h", "x\n")
	for _, c := range []struct {
		paths []change.Path
		want  string
	}{
		{[]change.Path{"a"}, "a file known"},
		{[]change.Path{"d"}, "d/b file known,d/new file"},
		{[]change.Path{"d", "d/b", "d/new"}, "d/b file known,d/new file"},
		{[]change.Path{"d/c"}, ""},
		{[]change.Path{"gone"}, "gone/x absent known"},
		{[]change.Path{"gone/x"}, "gone/x absent known"},
		{[]change.Path{"e/f/g"}, "e/f/g absent known,e/f/g/h file"},
		{[]change.Path{"e"}, "e/f/g absent known,e/f/g/h file,e/f/new file"},
		{[]change.Path{"a", ""}, "a file known,d-x file known,d/b file known,d/new file,d0 file known,e/f/g absent known,e/f/g/h file,e/f/new file,gone/x absent known"},
	} {
		if got := strings.Join(words(b.scan(s, dir, c.paths...).Changed), ","); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.paths, got, c.want)
		}
	}
	r := b.scan(s, dir, "nowhere", "a/below", "gone/y", ".correx-z/x", change.Path(strings.Repeat("x", 5000)))
	wantPaths(t, "unmatched", r.Unmatched, "a/below", "gone/y", "nowhere")
	if len(r.Changed) != 0 || len(r.Reserved) != 1 || len(r.TooDeep) != 1 {
		t.Errorf("%+v", r)
	}
}
