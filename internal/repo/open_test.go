package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refusals are repositories git refuses; words is a part of what git says.
func TestRefusals(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, dir, words string
		build            func(f *fixture)
		root             bool
	}{
		{name: "no repository", dir: "home", words: "not a git repository", build: func(*fixture) {}},
		{name: "bare", dir: "b", words: "bare repository", build: func(f *fixture) { f.gitIn(".", "init", "-q", "--bare", "b") }},
		{name: "core.bare flipped", dir: "r", words: "must be run in a work tree", build: func(f *fixture) {
			f.repo("r")
			f.gitIn("r", "config", "core.bare", "true")
		}},
		{name: "core.bare flipped in config.worktree", dir: "r", words: "must be run in a work tree", build: func(f *fixture) {
			f.repo("r")
			f.gitIn("r", "config", "extensions.worktreeConfig", "true")
			f.gitIn("r", "config", "--worktree", "core.bare", "true")
		}},
		{name: "inside the git directory", dir: "r/.git", words: "cannot use bare repository", build: func(f *fixture) { f.repo("r") }},
		{name: "unknown extension", dir: "r", words: "unknown repository extension", build: func(f *fixture) {
			f.repo("r")
			f.gitIn("r", "config", "core.repositoryFormatVersion", "1")
			f.gitIn("r", "config", "extensions.fromTheFuture", "1")
		}},
		{name: "unknown version", dir: "r", words: "Expected git repo version", build: func(f *fixture) {
			f.repo("r")
			f.gitIn("r", "config", "core.repositoryFormatVersion", "7")
		}},
		{name: "broken configuration", dir: "r", words: "bad config line", build: func(f *fixture) {
			f.repo("r")
			f.write("r/.git/config", "[core\n")
		}},
		{name: "another owner", dir: "r", words: "dubious ownership", root: true, build: func(f *fixture) {
			f.repo("r")
			chownAll(f, "r")
		}},
		{name: "git directory of another owner", dir: "r", words: "dubious ownership", root: true, build: func(f *fixture) {
			f.repo("r")
			chownAll(f, "r/.git")
		}},
		{name: "planted folder that looks bare", dir: "r/in", words: "safe.bareRepository", build: func(f *fixture) {
			f.repo("r")
			f.write("r/in/HEAD", "ref: refs/heads/main\n")
			f.write("r/in/objects/x", "")
			f.write("r/in/refs/x", "")
			f.write("r/in/config", "[core]\nbare = true\n")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.root {
				requireRoot(t)
			}
			f := newFixture(t)
			c.build(f)
			for name, open := range map[string]func(context.Context, Options) (*Repo, error){"Open": Open, "OpenFast": OpenFast} {
				r, err := open(context.Background(), f.options(c.dir))
				var refused *GitError
				if r != nil || !errors.As(err, &refused) || !strings.Contains(refused.Stderr, c.words) {
					t.Errorf("%s: %v, expected %q", name, err, c.words)
				}
				if errors.Is(err, ErrNotRepository) != (c.name == "no repository") {
					t.Errorf("%s: not-a-repository for %v", name, err)
				}
			}
		})
	}
}

func chownAll(f *fixture, dir string) {
	err := filepath.WalkDir(f.path(dir), func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, 65534, 65534)
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// What the user lists in safe.directory is fine, as it is for git.
func TestSafeDirectory(t *testing.T) {
	requireRoot(t)
	f := newFixture(t)
	f.repo("r")
	chownAll(f, "r")
	f.gitIn(".", "config", "--global", "safe.directory", f.path("r"))
	r, err := OpenFast(context.Background(), f.options("r"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Files(context.Background()); err != nil {
		t.Error(err)
	}
}

// Nothing of git's environment reaches the processes but what was handed in on purpose.
func TestForeignEnvironment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.repo("other")
	f.write("other/stranger", "x\n")
	f.commit("other", "stranger")
	junk := []string{
		"GIT_DIR=" + f.path("other/.git"), "GIT_WORK_TREE=" + f.path("other"), "GIT_INDEX_FILE=" + f.path("other/.git/index"),
		"GIT_OBJECT_DIRECTORY=" + f.path("other/.git/objects"), "GIT_COMMON_DIR=" + f.path("other/.git"),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.worktree", "GIT_CONFIG_VALUE_0=" + f.path("other"),
		"GIT_CONFIG_PARAMETERS='core.bare'='true'", "GIT_CONFIG=" + f.path("other/.git/config"), "GIT_NAMESPACE=x",
		"GIT_CEILING_DIRECTORIES=/", "GIT_PREFIX=zz/", "GIT_TRACE=1", "GIT_EXEC_PATH=" + f.path("nowhere"),
		"GIT_LITERAL_PATHSPECS=0", "GIT_ATTR_SOURCE=HEAD", "GIT_SSH_COMMAND=false", "GIT_EXTERNAL_DIFF=false",
	}
	o := f.options("r")
	o.Environ = append(append([]string{}, o.Environ...), junk...)
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Root() != f.path("r") {
		t.Fatalf("root %q", r.Root())
	}
	checkReads(t, f, r, "r")
	checkStaging(t, f, r, "r")
	for _, entry := range r.git.env {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_OPTIONAL_LOCKS", "GIT_NO_LAZY_FETCH", "GIT_NO_REPLACE_OBJECTS",
			"GIT_TERMINAL_PROMPT", "GIT_ALLOW_PROTOCOL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM":
		default:
			if strings.HasPrefix(name, "GIT_") {
				t.Errorf("%s reaches git", entry)
			}
		}
	}
}

// Git tells a hook where it is by GIT_DIR, and by GIT_WORK_TREE for a tree that is kept apart from a bare repository.
func TestHookEnvironment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("seed")
	f.gitIn(".", "clone", "-q", "--bare", "seed", "dot.git")
	f.write("tree/a", "2\n")
	f.gitIn("tree", "--git-dir=../dot.git", "--work-tree=.", "add", "a")
	o := f.options("tree")
	if _, err := Open(context.Background(), o); !errors.Is(err, ErrNotRepository) {
		t.Fatalf("Open: %v", err)
	}
	o.Environ = append(append([]string{}, o.Environ...), "GIT_DIR=../dot.git", "GIT_WORK_TREE=.")
	r, err := OpenFast(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	staged, err := r.StagedChanges(context.Background())
	if err != nil || len(staged) != 3 {
		t.Errorf("staged %+v, %v", staged, err)
	}
	if r.Root() != f.path("tree") {
		t.Errorf("root %q", r.Root())
	}
}

func TestNoGitOnPath(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	real, err := findProgram(os.Getenv("PATH"), outside{})
	if err != nil {
		t.Fatal(err)
	}
	f.script("r/bin/git", "#!/bin/sh\necho planted >>"+f.path("ran")+"\n")
	if err := os.Symlink(f.path("r/bin"), f.path("link")); err != nil {
		t.Fatal(err)
	}
	trees := outsideOf(f.path("r"))
	planted := strings.Join([]string{"r/bin", "bin", f.path("r/bin"), f.path("link"), ""}, ":")
	if p, err := findProgram(planted, trees); !errors.Is(err, ErrNoGit) {
		t.Errorf("found %+v, %v", p, err)
	}
	p, err := findProgram(planted+":"+filepath.Dir(real.file), trees)
	if err != nil || p.file != real.file {
		t.Errorf("found %+v, %v", p, err)
	}
	// An empty PATH means the usual folders.
	if _, err := findProgram("", trees); err != nil {
		t.Error(err)
	}
}

// Whatever the configuration file says in whatever spelling: what is found without git, git finds too.
func TestFastDiscoveryAgreesWithGit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	base := "[core]\n\trepositoryformatversion = 0\n"
	for _, content := range []string{
		"", base, base + "bare = false\n", base + "bare = 0\n", base + "bare = no\n", base + "bare = off\n", base + "bare =\n",
		base + "bare\n", base + "bare = true\n", base + "bare = 1\n", base + "bare = yes\n", base + "bare = on\n", base + "bare = 2\n",
		base + "bare = false\n[core]\nbare = true\n", base + "bare = true\n[core]\nbare = false\n", "[CORE]\nBARE = TRUE\n",
		"[Core] bare = tr\\\nue\n", "[core]bare=true", "[core \"x\"]\nbare = true\n", "[core] ; bare\n# x\nbare = \"true\" ; c\n",
		base + "worktree = ../in\n", "[core] WorkTree = /\n", base + "bare = perhaps\n", "[core]\nrepositoryformatversion = 2\n",
		"[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n", "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha1\n",
		"[core]\nrepositoryformatversion = 0\n[extensions]\nobjectFormat = sha256\n", "[core]\nrepositoryformatversion = 1\n[Extensions]\nNoop = 1\n",
		"[include]\npath = other\n", "[core]\nrepositoryformatversion = 1\n[extensions \"x\"]\ny = z\n", "[core", "\x00", "[core]\nbare = tr\x00ue\n",
		"\ufeff[core]\nbare = true\n", "[core]\r\n\tbare = true\r\n",
	} {
		f.write("r/.git/config", content)
		f.write("r/.git/other", "[core]\nbare = true\n")
		at, ok := discoverFast(f.path("r"), parseEnviron(f.env))
		r, err := Open(context.Background(), f.options("r"))
		if !ok {
			continue
		}
		if err != nil {
			t.Errorf("%q: found without git, refused by git: %v", content, err)
		} else if r.root != at.root || r.format != at.format || r.gitDir != at.gitDir {
			t.Errorf("%q: %+v, git says %q %q %q", content, at, r.root, r.gitDir, r.format)
		}
	}
}
