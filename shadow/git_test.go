//go:build unix

package shadow

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shapes are repositories of every kind, made by real git. Each returns the working tree to open a shadow of.
var shapes = []struct {
	name string
	make func(b *box) string
	// skip holds what git status says in the real tree and rightly not in the shadow.
	skip []string
}{
	{name: "plain", make: func(b *box) string { return b.repo("r", "a", "1\n", "d/b", "2\n", "x.sh", "#!/bin/sh\n") }},
	{name: "dirty", make: makeDirty},
	{name: "empty unborn", make: func(b *box) string { return b.repo("r") }},
	{name: "unborn", make: func(b *box) string {
		dir := b.repo("r")
		b.write(dir, "a", "1\n", "b", "2\n")
		b.git(dir, "add", "a")
		return dir
	}},
	{name: "detached", make: func(b *box) string {
		dir := b.repo("r", "a", "1\n")
		b.git(dir, "checkout", "-q", "--detach")
		b.write(dir, "a", "2\n")
		return dir
	}},
	{name: "linked worktree", make: func(b *box) string {
		dir := b.repo("r", "a", "1\n", "d/b", "2\n")
		b.git(dir, "worktree", "add", "-q", "-b", "side", b.path("linked"))
		b.write(b.path("linked"), "a", "changed\n", "new", "n\n")
		b.git(b.path("linked"), "add", "new")
		return b.path("linked")
	}},
	{name: "sparse", make: func(b *box) string {
		dir := b.repo("r", "in/a", "1\n", "out/b", "2\n", "top", "3\n")
		b.git(dir, "sparse-checkout", "set", "--cone", "in")
		return dir
	}},
	{name: "sparse index", make: func(b *box) string {
		dir := b.repo("r", "in/a", "1\n", "out/x/b", "2\n", "out/y/c", "2\n", "top", "3\n")
		b.git(dir, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
		return dir
	}},
	{name: "worktree config", make: func(b *box) string {
		dir := b.repo("r", "a", "1\n")
		b.git(dir, "config", "extensions.worktreeConfig", "true")
		b.git(dir, "config", "--worktree", "core.quotePath", "false")
		return dir
	}},
	{name: "sha256", make: func(b *box) string {
		dir := b.path("r")
		must(b.t, os.MkdirAll(dir, 0o755))
		b.git(dir, "init", "-q", "--object-format=sha256")
		b.write(dir, "a", "1\n", "d/b", "2\n")
		b.git(dir, "add", "-A")
		b.git(dir, "commit", "-qm", "base")
		b.write(dir, "a", "2\n")
		return dir
	}},
	{name: "split index", make: func(b *box) string {
		dir := b.repo("r", "a", "1\n", "d/b", "2\n")
		b.git(dir, "config", "core.splitIndex", "true")
		b.git(dir, "update-index", "--split-index")
		b.write(dir, "c", "3\n")
		b.git(dir, "add", "c")
		return dir
	}},
	{name: "index version 4", make: func(b *box) string {
		dir := b.repo("r", "a", "1\n", "d/b", "2\n")
		b.git(dir, "update-index", "--index-version", "4")
		return dir
	}},
	{name: "untracked cache", make: func(b *box) string {
		dir := b.repo("r", "a", "1\n", "d/b", "2\n")
		b.write(dir, "d/new", "n\n")
		b.git(dir, "config", "core.untrackedCache", "true")
		b.git(dir, "update-index", "--force-untracked-cache")
		b.git(dir, "status")
		return dir
	}},
	{name: "separate git directory", make: func(b *box) string {
		b.git(b.dir, "init", "-q", "--separate-git-dir="+b.path("x.git"), "r")
		b.write(b.path("r"), "a", "1\n")
		b.git(b.path("r"), "add", "-A")
		b.git(b.path("r"), "commit", "-qm", "base")
		return b.path("r")
	}},
	{name: "of a submodule", make: func(b *box) string {
		lib := b.repo("lib", "l", "1\n")
		dir := b.repo("r", "a", "1\n")
		b.git(dir, "submodule", "--quiet", "add", lib, "dep")
		b.write(dir, "dep/l", "2\n")
		return filepath.Join(dir, "dep")
	}},
	{name: "submodule", make: func(b *box) string {
		lib := b.repo("lib", "l", "1\n")
		dir := b.repo("r", "a", "1\n")
		b.git(dir, "submodule", "--quiet", "add", lib, "dep")
		b.git(dir, "commit", "-qm", "dep")
		return dir
	}},
	{name: "nested repository", skip: []string{"?? n/"}, make: func(b *box) string {
		dir := b.repo("r", "a", "1\n")
		b.repo("r/n", "inner", "1\n")
		return dir
	}},
	{name: "shallow", make: func(b *box) string {
		from := b.repo("from", "a", "1\n")
		for _, text := range []string{"2\n", "3\n"} {
			b.write(from, "a", text)
			b.git(from, "commit", "-qam", "more")
		}
		b.git(b.dir, "clone", "-q", "--depth=1", "file://"+from, "r")
		return b.path("r")
	}},
	{name: "alternates", make: func(b *box) string {
		b.repo("from", "a", "1\n")
		b.git(b.dir, "clone", "-q", "--shared", "from", "r")
		return b.path("r")
	}},
	{name: "partial clone", make: func(b *box) string {
		from := b.repo("from", "in/a", "1\n", "out/b", "2\n")
		b.git(from, "config", "uploadpack.allowFilter", "true")
		b.git(b.dir, "clone", "-q", "--filter=blob:none", "--sparse", "file://"+from, "r")
		b.git(b.path("r"), "sparse-checkout", "set", "in")
		return b.path("r")
	}},
	{name: "intent to add", make: func(b *box) string {
		dir := b.repo("r", "a", "1\n")
		b.write(dir, "later", "l\n")
		b.git(dir, "add", "-N", "later")
		return dir
	}},
	{name: "conflict", make: makeConflict},
	{name: "autocrlf", make: func(b *box) string {
		dir := b.repo("r")
		b.git(dir, "config", "core.autocrlf", "true")
		b.write(dir, "a", "1\r\n2\r\n", ".gitattributes", "*.lf eol=lf\n", "b.lf", "1\n")
		b.git(dir, "add", "-A")
		b.git(dir, "commit", "-qm", "base")
		return dir
	}},
	{name: "file mode off", make: func(b *box) string {
		dir := b.repo("r", "a", "1\n")
		b.git(dir, "config", "core.fileMode", "false")
		must(b.t, os.Chmod(filepath.Join(dir, "a"), 0o755))
		return dir
	}},
	{name: "odd names", make: func(b *box) string {
		names := []string{"two words", `it"s`, "it's", `back\slash`, "-rf", " lead", "trail ", "star*", "$(id)", "new\nline", "\xfcber\xff", "b/x y"}
		var files []string
		for _, n := range names {
			files = append(files, n, n+"\n")
		}
		return b.repo("re\npo \"x\"", files...)
	}},
}

func makeDirty(b *box) string {
	dir := b.repo("r", "edited", "1\n", "staged", "1\n", "both", "1\n", "gone", "1\n", "unstaged-gone", "1\n", "mode", "1\n",
		"kind", "1\n", ".gitignore", "*.log\nbuild/\n")
	b.write(dir, "edited", "2\n", "staged", "2\n", "both", "2\n", "new", "n\n", "untracked/u", "u\n", "x.log", "l\n", "build/o", "o\n")
	b.git(dir, "add", "staged", "both", "new")
	b.write(dir, "both", "3\n")
	b.git(dir, "rm", "-q", "gone")
	must(b.t, os.Remove(filepath.Join(dir, "unstaged-gone")))
	must(b.t, os.Chmod(filepath.Join(dir, "mode"), 0o755))
	must(b.t, os.Remove(filepath.Join(dir, "kind")))
	must(b.t, os.Symlink("nowhere", filepath.Join(dir, "kind")))
	b.git(dir, "tag", "-a", "-m", "t", "v1")
	b.git(dir, "branch", "other")
	b.git(dir, "stash", "create")
	return dir
}

func makeConflict(b *box) string {
	dir := b.repo("r", "a", "1\n", "b", "1\n")
	b.git(dir, "checkout", "-qb", "side")
	b.write(dir, "a", "side\n")
	b.git(dir, "commit", "-qam", "side")
	b.git(dir, "checkout", "-q", "main")
	b.write(dir, "a", "main\n")
	b.git(dir, "commit", "-qam", "main")
	if _, err := b.tryGit(dir, "merge", "side"); err == nil {
		b.t.Fatal("no conflict")
	}
	return dir
}

// status returns what git says of the tree at dir, a line a path.
func (b *box) status(dir string, skip ...string) []string {
	b.t.Helper()
	var lines []string
	for _, l := range b.lines(dir, "status", "--porcelain", "-z", "--no-renames") {
		known := false
		for _, s := range skip {
			known = known || l == s
		}
		if !known {
			lines = append(lines, l)
		}
	}
	return lines
}

// TestShapes opens a shadow of every shape, compares what git says in it with what it says in the real tree, works in it as
// an agent does, and proves that nothing outside changed.
func TestShapes(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			dir := shape.make(b)
			src := b.source(dir)
			want := strings.Join(b.status(dir, shape.skip...), "\n")
			outside := func() map[string]string {
				all := fingerprint(t, b.dir)
				for name := range all {
					if strings.HasPrefix(name, "shadows") || strings.HasPrefix(name, "state") || name == "." {
						delete(all, name)
					}
				}
				return all
			}
			before := outside()
			s, _ := b.openWith(src, b.options("s-1"))
			if filepath.Base(s.Tree()) != filepath.Base(dir) {
				t.Errorf("the tree is %q, want the name of %q", s.Tree(), dir)
			}
			if got := b.git(s.Tree(), "status"); strings.Contains(got, "warning") {
				t.Errorf("git complains: %s", got)
			}
			if got := strings.Join(b.status(s.Tree()), "\n"); got != want {
				t.Errorf("status in the shadow:\n%q\nin the real tree:\n%q", got, want)
			}
			if got := b.git(s.Tree(), "remote", "-v"); strings.Contains(got, "/") {
				t.Errorf("remotes: %q", got)
			}
			if r := b.scan(s, dir); len(r.Changed)+len(r.NestedRepos)+len(r.Specials)+len(r.Reserved) != 0 {
				t.Errorf("fresh shadow: %+v", r)
			}
			b.work(s.Tree(), src)
			b.scan(s, dir)
			must(t, s.Close(context.Background()))
			wantSameTree(t, "outside", before, outside())
			for _, left := range []string{b.path("shadows", "s-1"), b.path("state", "s-1")} {
				if _, err := os.Lstat(left); !os.IsNotExist(err) {
					t.Errorf("%q is left: %v", left, err)
				}
			}
		})
	}
}

// work does in a shadow's tree what agents do.
func (b *box) work(tree string, src Source) {
	b.t.Helper()
	conflict := strings.Contains(strings.Join(b.status(tree), "\n"), "UU ")
	if !src.Head.Unborn && !conflict {
		b.write(tree, "in/stashed", "s\n")
		b.git(tree, "add", "-N", "in/stashed")
		b.git(tree, "reset", "-q")
		b.write(tree, "in/stashed", "s\n")
		b.git(tree, "stash", "push", "-q", "-u")
		if got := b.git(tree, "stash", "list"); !strings.Contains(got, "stash@{0}") {
			b.t.Errorf("stash list: %q", got)
		}
		b.git(tree, "stash", "pop", "-q")
	}
	b.write(tree, "in/agent", "a\n", "in/agent.log", "l\n")
	b.git(tree, "add", "-A", "--", "in/agent")
	if conflict {
		b.git(tree, "merge", "--abort")
		b.write(tree, "in/agent", "a\n")
		b.git(tree, "add", "-A", "--", "in/agent")
	}
	b.git(tree, "diff", "--cached")
	b.git(tree, "commit", "-qm", "agent")
	b.git(tree, "checkout", "-q", "-b", "agent-branch")
	b.write(tree, "in/agent", "b\n")
	b.git(tree, "commit", "-qam", "agent 2")
	if got := b.git(tree, "log", "--format=%s", "-2"); got != "agent 2\nagent\n" {
		b.t.Errorf("log: %q", got)
	}
	b.git(tree, "tag", "agent-tag")
	b.git(tree, "config", "user.name", "agent")
	b.write(tree, "in/agent", "c\n", "in/litter", "x\n")
	b.git(tree, "reset", "-q", "--hard", "HEAD~1")
	b.git(tree, "clean", "-qfdx")
	if got := strings.ReplaceAll(b.read(tree, "in/agent"), "\r", ""); got != "a\n" {
		b.t.Errorf("after reset --hard: %q", got)
	}
	if got := b.status(tree); len(got) != 0 {
		b.t.Errorf("after reset and clean: %q", got)
	}
	if out, err := b.tryGit(tree, "gc", "-q", "--prune=now"); err != nil && !strings.Contains(out, "promisor") {
		b.t.Errorf("gc: %v: %s", err, out)
	}
	if _, err := b.tryGit(tree, "push"); err == nil {
		b.t.Error("a push went somewhere")
	}
	if !src.Head.Unborn && src.Head.Ref != "" {
		b.git(tree, "checkout", "-q", strings.TrimPrefix(src.Head.Ref, "refs/heads/"))
	}
}

// TestIndexTrusted checks that git need not read a fresh shadow's files to know that they are unchanged: it does not even
// notice a change that only another time would show.
func TestIndexTrusted(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "b", "1\n")
	old := time.Unix(1000000000, 987654321)
	must(t, os.Chtimes(filepath.Join(dir, "a"), old, old))
	b.git(dir, "update-index", "--refresh")
	s, _ := b.open(dir, "s-1")
	b.agent(s, "a", "2\n", "b", "2\n")
	if got := strings.Join(b.status(s.Tree()), ","); got != " M a, M b" {
		t.Errorf("changed: %q", got)
	}
	must(t, os.Chtimes(filepath.Join(s.Tree(), "a"), old, old))
	if got := strings.Join(b.status(s.Tree()), ","); got != " M b" {
		t.Errorf("with the old time: %q", got)
	}
	wantWords(t, "a scan", b.scan(s, dir).Changed, "a file known", "b file known")
}
