package repo

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/correx/correx/internal/change"
)

// shape builds a repository in which the file "a" holds "1\n" in HEAD, and returns the folder to open and the top.
type shape struct {
	name  string
	build func(f *fixture) (dir, top string)
	// fast says that a hook needs no git process to find the repository.
	fast bool
	id   string
}

func shapes() []shape {
	plain := func(setup ...[]string) func(*fixture) (string, string) {
		return func(f *fixture) (string, string) {
			f.repo("r")
			for _, args := range setup {
				f.gitIn("r", args...)
			}
			return "r", "r"
		}
	}
	return []shape{
		{name: "plain", fast: true, build: plain()},
		{name: "subfolder", build: func(f *fixture) (string, string) { f.repo("r"); return "r/in", "r" }},
		{name: "linked worktree", fast: true, id: "w-wt", build: func(f *fixture) (string, string) {
			f.repo("r")
			f.gitIn("r", "worktree", "add", "-q", "../wt")
			return "wt", "wt"
		}},
		{name: "worktree named main of a bare repository", fast: true, id: "w-main", build: func(f *fixture) (string, string) {
			f.repo("r")
			f.gitIn(".", "clone", "-q", "--bare", "r", "store.git")
			f.gitIn("store.git", "worktree", "add", "-q", "../main", "main")
			return "main", "main"
		}},
		{name: "detached", fast: true, build: plain([]string{"checkout", "-q", "--detach"})},
		{name: "sparse cone", fast: true, build: plain([]string{"sparse-checkout", "set", "--cone", "in"})},
		{name: "sparse index", fast: true, build: plain([]string{"sparse-checkout", "set", "--cone", "--sparse-index", "in"})},
		{name: "worktreeConfig in format 1", fast: true, build: plain([]string{"config", "core.repositoryFormatVersion", "1"},
			[]string{"config", "extensions.worktreeConfig", "true"})},
		{name: "preciousObjects", fast: true, build: plain([]string{"config", "core.repositoryFormatVersion", "1"},
			[]string{"config", "extensions.preciousObjects", "true"})},
		{name: "sha256", fast: true, build: func(f *fixture) (string, string) {
			f.repo("r", "--object-format=sha256")
			return "r", "r"
		}},
		{name: "split index", fast: true, build: plain([]string{"update-index", "--split-index"})},
		{name: "index version 4", fast: true, build: plain([]string{"update-index", "--index-version", "4"})},
		{name: "packed", fast: true, build: plain([]string{"gc", "-q"}, []string{"pack-refs", "--all"},
			[]string{"multi-pack-index", "write"}, []string{"commit-graph", "write"})},
		{name: "shared clone", fast: true, build: func(f *fixture) (string, string) {
			f.repo("up")
			f.gitIn(".", "clone", "-q", "--shared", "up", "r")
			return "r", "r"
		}},
		{name: "shallow clone", fast: true, build: func(f *fixture) (string, string) {
			f.repo("up")
			f.write("up/more", "x\n")
			f.commit("up", "more")
			f.gitIn(".", "clone", "-q", "--depth=1", "file://"+f.path("up"), "r")
			return "r", "r"
		}},
		{name: "partial clone", fast: true, build: func(f *fixture) (string, string) {
			f.repo("up")
			f.gitIn("up", "config", "uploadpack.allowFilter", "true")
			f.gitIn(".", "clone", "-q", "--filter=blob:none", "file://"+f.path("up"), "r")
			return "r", "r"
		}},
		{name: "separate git directory", fast: true, build: func(f *fixture) (string, string) {
			f.repo("r", "--separate-git-dir="+f.path("store"))
			return "r", "r"
		}},
		{name: "submodule", fast: true, build: func(f *fixture) (string, string) {
			f.repo("lib")
			f.repo("r")
			f.gitIn("r", "submodule", "--quiet", "add", f.path("lib"), "dep")
			f.commit("r", "dep")
			return "r", "r"
		}},
		{name: "inside a submodule", build: func(f *fixture) (string, string) {
			f.repo("lib")
			f.repo("r")
			f.gitIn("r", "submodule", "--quiet", "add", f.path("lib"), "dep")
			f.commit("r", "dep")
			return "r/dep", "r/dep"
		}},
		{name: "odd folder name", fast: true, build: func(f *fixture) (string, string) {
			f.repo("od d\n\"é")
			return "od d\n\"é", "od d\n\"é"
		}},
	}
}

func TestShapes(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			dir, top := s.build(f)
			r := f.open(dir)
			if r.Root() != f.path(top) {
				t.Errorf("root %q, expected %q", r.Root(), f.path(top))
			}
			if want := "r/in"; strings.HasPrefix(dir, want) && r.Prefix() != "in" {
				t.Errorf("prefix %q", r.Prefix())
			}
			if id := r.WorktreeID(); id != s.id && (s.id != "" || id != "main") {
				t.Errorf("worktree %q, expected %q", id, s.id)
			}
			checkReads(t, f, r, top)
			env := parseEnviron(f.env)
			if s.id != "" {
				env["GIT_DIR"] = r.GitDir()
			}
			at, ok := discoverFast(f.path(dir), env)
			if ok != s.fast {
				t.Fatalf("found in process: %v, expected %v", ok, s.fast)
			}
			want := place{format: r.ObjectFormat(), gitDir: r.GitDir(), commonDir: r.CommonDir(), root: r.Root()}
			if ok && at != want {
				t.Errorf("found in process: %+v, expected %+v", at, want)
			}
			quick, err := OpenFast(context.Background(), f.options(dir))
			if err != nil {
				t.Fatal(err)
			}
			checkStaging(t, f, quick, top)
		})
	}
}

// checkReads compares what a repository says with what git says.
func checkReads(t *testing.T, f *fixture, r *Repo, top string) {
	t.Helper()
	ctx := context.Background()
	head, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(f.gitIn(top, "rev-parse", "HEAD")); head.OID != want || head.Unborn {
		t.Errorf("HEAD %+v, expected %s", head, want)
	}
	byGit, err := r.headByGit(ctx)
	if err != nil || byGit != head {
		t.Errorf("HEAD by git %+v, %v; in process %+v", byGit, err, head)
	}
	l, err := r.Files(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(nulFields(f.gitIn(top, "ls-files", "-z")), trackedPaths(l)); d != "" {
		t.Errorf("tracked files: %s", d)
	}
	refs, err := r.Refs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(f.gitIn(top, "for-each-ref"), "\n"); len(refs) != want {
		t.Errorf("%d refs, expected %d", len(refs), want)
	}
	mode, oid, err := r.HeadEntry(ctx, "in/b")
	if err != nil || mode != ModeFile || oid != strings.TrimSpace(f.gitIn(top, "rev-parse", "HEAD:in/b")) {
		t.Errorf("HEAD entry %s %s, %v", mode, oid, err)
	}
	for _, p := range []change.Path{"in", "nothing", "in/nothing", "a/below"} {
		mode, _, err := r.HeadEntry(ctx, p)
		byMode, _, gitErr := r.findByGit(ctx, head.OID, p)
		if err != nil || gitErr != nil || mode != byMode {
			t.Errorf("HEAD entry of %q: %q, %v; by git %q, %v", p, mode, err, byMode, gitErr)
		}
	}
	if _, err := r.ShadowSeed(ctx); err != nil {
		t.Error(err)
	}
	if _, err := r.Programs(ctx); err != nil {
		t.Error(err)
	}
}

// checkStaging stages an edit, a new file, a deletion and a mode, and reads them back.
func checkStaging(t *testing.T, f *fixture, r *Repo, top string) {
	t.Helper()
	ctx := context.Background()
	before, err := r.StagedChanges(ctx)
	if err != nil || len(before) != 0 {
		t.Fatalf("staged in a fresh repository: %v, %v", before, err)
	}
	f.write(top+"/a", "2\n")
	f.write(top+"/new", "new\n")
	f.gitIn(top, "add", "a", "new")
	f.gitIn(top, "update-index", "--chmod=+x", "new")
	f.gitIn(top, "rm", "-q", "--cached", "in/b")
	staged, err := r.StagedChanges(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, s := range staged {
		said = append(said, string(s.Path)+" "+s.OldMode+" "+s.NewMode)
	}
	if d := cmp.Diff([]string{"a 100644 100644", "in/b 100644 ", "new  100755"}, said); d != "" {
		t.Fatalf("staged: %s", d)
	}
	if got := readBlob(t, r, staged[0].NewOID); got != "2\n" {
		t.Errorf("staged content %q", got)
	}
	// The old blob of a partial clone is missing only where checkout did not need it, which here it did.
	if got := readBlob(t, r, staged[0].OldOID); got != "1\n" {
		t.Errorf("content in HEAD %q", got)
	}
}

func TestUnborn(t *testing.T) {
	t.Parallel()
	for _, format := range []string{formatSHA1, formatSHA256} {
		f := newFixture(t)
		f.gitIn(".", "init", "-q", "--object-format="+format, "r")
		f.write("r/x", "x\n")
		f.gitIn("r", "add", "x")
		for _, open := range []func(context.Context, Options) (*Repo, error){Open, OpenFast} {
			r, err := open(context.Background(), f.options("r"))
			if err != nil {
				t.Fatal(err)
			}
			head, err := r.Head(context.Background())
			if err != nil || !head.Unborn || head.Ref != "refs/heads/main" || head.OID != "" {
				t.Errorf("HEAD %+v, %v", head, err)
			}
			staged, err := r.StagedChanges(context.Background())
			if err != nil || len(staged) != 1 || staged[0].Path != "x" || staged[0].OldMode != "" {
				t.Errorf("staged %+v, %v", staged, err)
			}
			if mode, _, err := r.HeadEntry(context.Background(), "x"); mode != "" || err != nil {
				t.Errorf("HEAD entry %q, %v", mode, err)
			}
			if _, err := r.ShadowSeed(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
}

// A branch that is broken is not one without commits.
func TestBrokenHead(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty": "", "garbage": "zz\n", "missing object": strings.Repeat("7", 40) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.repo("r")
			f.write("r/.git/refs/heads/main", content)
			r := f.open("r")
			if head, err := r.headByGit(context.Background()); err == nil {
				t.Errorf("HEAD by git %+v, expected an error", head)
			}
			if staged, err := r.StagedChanges(context.Background()); err == nil {
				t.Errorf("staged %+v, expected an error", staged)
			}
		})
	}
}

func TestSparseEntriesAreMarked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.gitIn("r", "sparse-checkout", "set", "--cone", "in")
	l, err := f.open("r").Files(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var skipped []string
	for _, e := range l.Tracked {
		if e.SkipWorktree {
			skipped = append(skipped, string(e.Path))
		}
	}
	if !slices.Equal(skipped, []string{"out/c"}) {
		t.Errorf("skipped %q", skipped)
	}
	if _, err := os.Lstat(f.path("r/out")); err == nil {
		t.Error("the fixture is not sparse")
	}
}
