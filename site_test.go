package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// site is a repository with a home of its own, driven through the program as a user would.
type site struct {
	t         *testing.T
	dir, repo string
	env       []string
	program   string
}

// newSite makes a repository of what fill puts into a folder. The user's configuration allows decisions without a
// terminal.
func newSite(t *testing.T, fill func(repo string) error) *site {
	t.Helper()
	return newSiteIn(t, t.TempDir(), fill)
}

// newSiteIn is newSite in an empty folder.
func newSiteIn(t *testing.T, dir string, fill func(repo string) error) *site {
	t.Helper()
	s := &site{t: t, dir: dir}
	s.repo = filepath.Join(s.dir, "repo")
	home := filepath.Join(s.dir, "home")
	conf := filepath.Join(home, ".config", "correx")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary is the program when it is called by its name: see TestMain.
	bin := filepath.Join(s.dir, "bin")
	s.program = filepath.Join(bin, "correx")
	for _, err := range []error{
		os.MkdirAll(conf, 0o700),
		os.WriteFile(filepath.Join(conf, "config.toml"), []byte("[approve]\nrequire_tty = false\n"), 0o600),
		os.MkdirAll(s.repo, 0o755),
		fill(s.repo),
		os.MkdirAll(bin, 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// A name of its own, so that a hook that calls the program by its absolute name finds it; across file systems a link.
	if os.Link(exe, s.program) != nil {
		if err := os.Symlink(exe, s.program); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(plainEnviron(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.test", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.test",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	s.git("init", "-q", "-b", "main")
	s.git("add", "-A", "-f")
	// A collection of git's own in the background would go on writing while the test takes its folder away.
	s.git("-c", "gc.auto=0", "-c", "maintenance.auto=false", "commit", "-qm", "base")
	return s
}

// plainEnviron is what programs need of the environment of the tests. Much else would change what correx and git do: whoever
// runs the tests may be an agent.
func plainEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.Contains([]string{"PATH", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "GOCOVERDIR"}, strings.ToUpper(name))
	})
}

// start prepares a run of the program in dir.
func (s *site) start(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(s.program, args...)
	cmd.Dir, cmd.Env = dir, s.env
	return cmd
}

func (s *site) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.repo, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// correx runs the program and fails the test unless it exits with want. It returns what went to standard output.
func (s *site) correx(want int, dir string, args ...string) string {
	s.t.Helper()
	cmd := s.start(dir, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		s.t.Fatalf("correx %s: exit %d, want %d: %s%s", strings.Join(args, " "), code, want, out.String(), errs.String())
	}
	return out.String()
}

// shadow opens a shadow and returns its path.
func (s *site) shadow() string {
	s.t.Helper()
	return strings.TrimSpace(s.correx(0, s.repo, "shadow", "open"))
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

// setAnswer is what the tests read of a change set.
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

// state asks for the state of a set.
func (s *site) state(id string) string {
	s.t.Helper()
	var v setAnswer
	out := s.correx(0, s.repo, "show", id, "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		s.t.Fatalf("%v in %s", err, out)
	}
	return v.State
}
