package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// site is a repository with a home of its own, driven through the program as a user would.
type site struct {
	t         *testing.T
	dir, repo string
	env       []string
	shadow    string
}

// newSite makes a repository of everything below from.
func newSite(t *testing.T, from string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	s.repo = filepath.Join(s.dir, "repo")
	home := filepath.Join(s.dir, "home")
	conf := filepath.Join(home, ".config", "correx")
	for _, err := range []error{
		os.MkdirAll(conf, 0o700),
		os.WriteFile(filepath.Join(conf, "config.toml"), []byte("[approve]\nrequire_tty = false\n"), 0o600),
		os.CopyFS(s.repo, os.DirFS(from)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(s.dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	// The test binary is the program when it is called by its name: see TestMain.
	if err := os.Symlink(exe, filepath.Join(bin, "correx")); err != nil {
		t.Fatal(err)
	}
	s.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.test", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.test",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	s.git("init", "-q", "-b", "main")
	s.git("add", "-A", "-f")
	s.git("commit", "-qm", "base")
	return s
}

// run runs a program and returns its standard output and exit code.
func (s *site) run(dir, name string, args ...string) (string, int) {
	s.t.Helper()
	path := name
	if name == "correx" {
		path = filepath.Join(s.dir, "bin", "correx")
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = dir, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		s.t.Logf("%s %s: %v: %s", name, strings.Join(args, " "), err, errs.String())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func (s *site) git(args ...string) string {
	s.t.Helper()
	out, code := s.run(s.repo, "git", args...)
	if code != 0 {
		s.t.Fatalf("git %s: exit %d", strings.Join(args, " "), code)
	}
	return strings.TrimSpace(out)
}

// correx runs the program and fails the test unless it exits with want.
func (s *site) correx(want int, dir string, args ...string) string {
	s.t.Helper()
	out, code := s.run(dir, "correx", args...)
	if code != want {
		s.t.Fatalf("correx %s: exit %d, want %d: %s", strings.Join(args, " "), code, want, out)
	}
	return out
}

// treeID is git's own name for everything in dir, as git would store it, seen through a private index.
func (s *site) treeID(dir string) string {
	s.t.Helper()
	index := filepath.Join(s.t.TempDir(), "index")
	for _, args := range [][]string{{"add", "-A", "-f"}, {"write-tree"}} {
		cmd := exec.Command("git", append([]string{"--git-dir", filepath.Join(s.repo, ".git"), "--work-tree", dir}, args...)...)
		cmd.Dir, cmd.Env = dir, append(s.env, "GIT_INDEX_FILE="+index)
		out, err := cmd.Output()
		if err != nil {
			s.t.Fatalf("git %v: %v", args, err)
		}
		if args[0] == "write-tree" {
			return strings.TrimSpace(string(out))
		}
	}
	return ""
}

type setAnswer struct {
	ID    int    `json:"id"`
	State string `json:"state"`
	Undo  string `json:"undo"`
	Files []struct {
		Path string `json:"path"`
		Op   string `json:"op"`
	} `json:"files"`
}

func decodeSets(t *testing.T, out string) []setAnswer {
	t.Helper()
	var v struct {
		Sets []setAnswer `json:"change_sets"`
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return v.Sets
}

// goSource is the source of the Go installation that runs the tests: a large tree that every machine with Go has.
func goSource(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("go env GOROOT: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// TestLargeTree works in the source of the Go installation: edits, creates, deletes and renames in a shadow, submission,
// approval and undo, with every tree compared byte for byte through git.
func TestLargeTree(t *testing.T) {
	s := newSite(t, goSource(t))
	base := s.treeID(s.repo)
	s.shadow = strings.TrimSpace(s.correx(0, s.repo, "shadow", "open"))
	if got := s.treeID(s.shadow); got != base {
		t.Fatalf("a new shadow holds %s, the real tree %s", got, base)
	}
	edit := func(name string, f func([]byte) []byte) {
		p := filepath.Join(s.shadow, filepath.FromSlash(name))
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f(b), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit("fmt/doc.go", func(b []byte) []byte { return bytes.Replace(b, []byte("Package fmt"), []byte("Package  fmt"), 1) })
	sets := decodeSets(t, s.correx(0, s.shadow, "submit", "--json"))
	if len(sets) != 1 || sets[0].State != "applied" || s.treeID(s.repo) != s.treeID(s.shadow) {
		t.Fatalf("a small edit: %+v", sets)
	}
	small := sets[0]
	edit("net/http/server.go", func(b []byte) []byte { return append(b, "\n// The end.\n"...) })
	for _, err := range []error{
		os.WriteFile(filepath.Join(s.shadow, "brand_new.go"), []byte("package src\n"), 0o644),
		os.Remove(filepath.Join(s.shadow, "errors", "join.go")),
		os.RemoveAll(filepath.Join(s.shadow, "container")),
		os.Rename(filepath.Join(s.shadow, "sort"), filepath.Join(s.shadow, "sorted")),
		os.Chmod(filepath.Join(s.shadow, "strings", "strings.go"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before, proposed := s.treeID(s.repo), s.treeID(s.shadow)
	sets = decodeSets(t, s.correx(3, s.shadow, "submit", "--json"))
	if len(sets) != 1 || sets[0].State != "pending" || s.treeID(s.repo) != before {
		t.Fatalf("a large change: %+v", sets)
	}
	ops := map[string]int{}
	for _, f := range sets[0].Files {
		ops[f.Op]++
	}
	for _, op := range []string{"create", "edit", "delete", "rename", "chmod"} {
		if ops[op] == 0 {
			t.Errorf("no %s among %v", op, ops)
		}
	}
	s.correx(0, s.repo, "approve", "2")
	if got := s.treeID(s.repo); got != proposed {
		t.Fatalf("landed %s, proposed %s", got, proposed)
	}
	s.correx(0, s.repo, "undo", "2")
	if got := s.treeID(s.repo); got != before {
		t.Fatalf("undone to %s, it was %s", got, before)
	}
	s.correx(0, s.repo, "undo", small.Undo)
	if got := s.treeID(s.repo); got != base {
		t.Fatalf("undone to %s, it began as %s", got, base)
	}
	if _, err := os.Stat(filepath.Join(s.repo, "sorted")); !os.IsNotExist(err) {
		t.Errorf("the folder that a rename made is still there: %v", err)
	}
	s.correx(0, s.repo, "fsck")
	if got := s.git("status", "--porcelain"); got != "" {
		t.Errorf("git sees changes: %s", got)
	}
}
