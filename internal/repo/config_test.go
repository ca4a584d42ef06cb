package repo

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/correx/correx/internal/change"
)

// What stands in a file in the tree counts for nothing, and is reported; what stands elsewhere counts again.
func TestSettingsInTheTreeAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.write("r/team/gitconfig", "[core]\n autocrlf = true\n excludesFile = "+f.path("all")+"\n eol\n bigFileThreshold = 1m\n"+
		"[user]\n name = planted\n[a \"b=c\"]\n key = v\n[include]\n path = more\n[core]\n hooksPath = team/hooks\n")
	f.write("r/team/more", "[user]\n email = planted@example.test\n")
	f.write("all", "*\n")
	f.gitIn("r", "config", "core.autocrlf", "input")
	f.gitIn("r", "config", "core.excludesFile", f.path("none"))
	f.gitIn("r", "config", "include.path", "../team/gitconfig")
	f.write("r/new", "x\n")
	if out := f.gitIn("r", "ls-files", "-o", "--exclude-standard"); out != "" {
		t.Fatalf("positive control: git lists %q", out)
	}
	r := f.open("r")
	l, err := r.Files(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"new", "team/gitconfig", "team/more"}, strs(l.Untracked)); d != "" {
		t.Error(d)
	}
	found, err := r.InTreeSettings(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, s := range found {
		keys = append(keys, s.Key+" "+string(s.InTree))
	}
	want := []string{"core.autocrlf team/gitconfig", "core.excludesfile team/gitconfig", "core.eol team/gitconfig",
		"core.bigfilethreshold team/gitconfig", "user.name team/gitconfig", "a.b=c.key team/gitconfig", "include.path team/gitconfig",
		"user.email team/more", "core.hookspath team/gitconfig"}
	if d := cmp.Diff(want, keys); d != "" {
		t.Error(d)
	}
	seed, err := r.ShadowSeed(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range seed.Config {
		if strings.Contains(v.Value, "planted") || v.Key == "core.autocrlf" && v.Value != "input" {
			t.Errorf("seed holds %+v", v)
		}
	}
	// The hooks folder is the one exception: git uses it, so it is told.
	h, err := r.HooksDir(context.Background())
	if err != nil || !h.InTree || h.Path != f.path("r/team/hooks") || h.Origin != f.path("r/team/gitconfig") {
		t.Errorf("hooks folder %+v, %v", h, err)
	}
}

// A user's configuration file may itself be a link into the tree, as in a repository of dotfiles.
func TestUserConfigLinkedIntoTree(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	if err := os.Rename(f.path("home/.gitconfig"), f.path("r/gitconfig")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../r/gitconfig", f.path("home/.gitconfig")); err != nil {
		t.Fatal(err)
	}
	paths, err := f.open("r").Programs(context.Background())
	if err != nil || !slices.Contains(paths, "gitconfig") {
		t.Errorf("programs %q, %v", paths, err)
	}
}

func TestHooksDir(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, value, scope string
		want               func(f *fixture) string
		inTree             bool
	}{
		{name: "default", want: func(f *fixture) string { return f.path("r/.git/hooks") }},
		{name: "relative", value: ".husky/_", scope: "--local", want: func(f *fixture) string { return f.path("r/.husky/_") }, inTree: true},
		{name: "absolute", value: "ROOT/shared", scope: "--global", want: func(f *fixture) string { return f.path("shared") }},
		{name: "home", value: "~/hooks", scope: "--global", want: func(f *fixture) string { return f.path("home/hooks") }},
		{name: "absolute, in the git directory", value: "ROOT/r/.git/mine", scope: "--local", want: func(f *fixture) string { return f.path("r/.git/mine") }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.repo("r")
			if c.value != "" {
				f.gitIn("r", "config", c.scope, "core.hooksPath", strings.ReplaceAll(c.value, "ROOT", f.dir))
			}
			h, err := f.open("r/in").HooksDir(context.Background())
			if err != nil || h.Path != c.want(f) || h.InTree != c.inTree || h.Configured != (c.value != "") {
				t.Fatalf("%+v, %v", h, err)
			}
			// Git proves that it looks there.
			f.script(strings.TrimPrefix(h.Path, f.dir+"/")+"/pre-commit", "#!/bin/sh\necho ran >'"+f.path("ran")+"'\n")
			f.gitIn("r/in", "commit", "-q", "--allow-empty", "-m", "x")
			if !f.ran() {
				t.Errorf("git runs no hook in %s", h.Path)
			}
		})
	}
}

func TestHooksDirOfLinkedWorktree(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.gitIn("r", "worktree", "add", "-q", "../wt")
	h, err := f.open("wt").HooksDir(context.Background())
	if err != nil || h.Path != f.path("r/.git/hooks") {
		t.Errorf("%+v, %v", h, err)
	}
	f.gitIn("r", "config", "core.hooksPath", "hooks")
	h, err = f.open("wt").HooksDir(context.Background())
	if err != nil || h.Path != f.path("wt/hooks") || !h.InTree {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestCommandPaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	r := f.open("r")
	cases := map[string][]change.Path{
		"git-lfs clean -- %f":          nil,
		"python3 tools/x.py":           {"tools/x.py"},
		"sh -c 'exec ./run.sh'":        {"run.sh"},
		"node clean.js":                {"clean.js"},
		"cat a":                        {"a"},
		"cat nothing-here":             nil,
		"!f() { tools/f; }; f":         {"tools/f"},
		"prog --config=conf/x --other": {"conf/x"},
		"\"$(git rev-parse --show-toplevel)/bin/x\" y": {"bin/x"},
		"$HOME/bin/x":             {"bin/x"},
		"$TOOL a.txt":             {"a.txt"},
		"`pwd`/bin/y":             {"bin/y"},
		f.path("r/bin/z") + " -v": {"bin/z"},
		f.path("elsewhere/z"):     nil,
		"../r/bin/q":              {"bin/q"},
		".git/hooks/x":            nil,
		"in/../../r/in/x":         {"in/x"},
	}
	for line, want := range cases {
		if d := cmp.Diff(want, r.commandPaths(line)); d != "" {
			t.Errorf("%q: %s", line, d)
		}
	}
}

func TestShadowSeed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.gitIn("r", "tag", "-a", "-m", "one", "v1")
	f.gitIn("r", "symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main")
	f.gitIn("r", "update-index", "--split-index")
	f.gitIn("r", "sparse-checkout", "set", "--cone", "in")
	f.gitIn("r", "config", "filter.x.clean", "tr a b")
	f.gitIn("r", "config", "core.excludesFile", "~/ignore")
	f.gitIn("r", "config", "user.name", "local dev")
	f.gitIn("r", "config", "remote.origin.url", "ssh://host.invalid/x")
	f.write("r/.git/info/exclude", "*.x\n")
	s, err := f.open("r").ShadowSeed(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, v := range s.Config {
		values[v.Key] = v.Value
	}
	for key, want := range map[string]string{"core.excludesfile": f.path("home/ignore"), "user.name": "local dev",
		"user.email": "dev@example.test", "core.sparsecheckout": "true", "core.sparsecheckoutcone": "true", "filter.x.clean": "tr a b",
		"remote.origin.url": ""} {
		if values[key] != want {
			t.Errorf("%s = %q, expected %q", key, values[key], want)
		}
	}
	git := f.path("r/.git")
	if s.Index != filepath.Join(git, "index") || len(s.SharedIndexes) == 0 || s.Exclude != filepath.Join(git, "info/exclude") ||
		s.SparseCheckout != filepath.Join(git, "info/sparse-checkout") || s.Shallow != "" || s.Attributes != "" ||
		s.ObjectDir != filepath.Join(git, "objects") {
		t.Errorf("files %+v", s)
	}
	var names []string
	for _, ref := range s.Refs {
		names = append(names, ref.Name+" "+ref.Symbolic)
	}
	if d := cmp.Diff([]string{"refs/heads/main ", "refs/remotes/origin/HEAD refs/heads/main", "refs/tags/v1 "}, names); d != "" {
		t.Error(d)
	}
}

// Nothing that is asked writes into the git directory.
func TestReadingWritesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("lib")
	f.repo("up")
	f.gitIn("up", "submodule", "--quiet", "add", f.path("lib"), "dep")
	f.commit("up", "dep")
	f.gitIn(".", "clone", "-q", "up", "r")
	f.gitIn("r", "submodule", "--quiet", "init")
	f.write("r/a", "staged\n")
	f.gitIn("r", "add", "a")
	f.write("r/out/c", "c\n")
	before := snapshot(t, f.path("r"))
	f.oldBlob = strings.TrimSpace(f.gitIn("r", "rev-parse", "HEAD:a"))
	readEverything(f, func(*Repo) {})
	if d := cmp.Diff(before, snapshot(t, f.path("r"))); d != "" {
		t.Error(d)
	}
}

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			files[name] = "folder"
			return err
		}
		data, err := os.ReadFile(name)
		info, _ := e.Info()
		files[name] = info.ModTime().String() + " " + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
