package commands

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
)

// world is a home folder and a repository in which commands run inside the test's own process.
type world struct {
	t          *testing.T
	home, repo string
	environ    []string
}

// newWorld makes a repository with one commit of files. Its user's configuration allows decisions without a terminal.
func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "repo")}
	w.environ = []string{
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.test",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.test",
	}
	w.put(filepath.Join(w.home, ".config", "correx", "config.toml"), "[approve]\nrequire_tty = false\n")
	w.put(filepath.Join(w.repo, "README"), "read me\n")
	for name, text := range files {
		w.put(filepath.Join(w.repo, name), text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "base"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = w.repo, w.environ
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return w
}

func (w *world) put(p, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// answer is what one run said.
type answer struct {
	code           int
	stdout, stderr string
}

// run runs a command line in dir.
func (w *world) run(dir string, args ...string) answer {
	w.t.Helper()
	out, errs := w.file(), w.file()
	in, err := os.Open(os.DevNull)
	if err != nil {
		w.t.Fatal(err)
	}
	defer in.Close()
	exe, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	code := run(context.Background(), Env{
		Args: append([]string{"correx"}, args...), Stdin: in, Stdout: out, Stderr: errs, Environ: w.environ, Dir: dir,
		Executable: exe, Clock: time.Now, Rand: rand.Reader, User: "dev", Pid: os.Getpid(),
	})
	return answer{code, w.content(out), w.content(errs)}
}

func (w *world) file() *os.File {
	w.t.Helper()
	f, err := os.CreateTemp(w.t.TempDir(), "out")
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func (w *world) content(f *os.File) string {
	w.t.Helper()
	defer f.Close()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// must runs a command that has to exit with want, and returns its standard output.
func (w *world) must(want int, dir string, args ...string) string {
	w.t.Helper()
	a := w.run(dir, args...)
	if a.code != want {
		w.t.Fatalf("correx %s: exit %d, want %d: %s%s", strings.Join(args, " "), a.code, want, a.stdout, a.stderr)
	}
	return a.stdout
}

// shadow opens a shadow and returns its path.
func (w *world) shadow() string {
	w.t.Helper()
	return strings.TrimSpace(w.must(codeDone, w.repo, "shadow", "open"))
}

// object reads standard output as exactly one JSON object.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	if dec.More() {
		t.Fatalf("more than one document: %q", text)
	}
	return v
}

// leaf is a command that does something, with the words that name it.
type leaf struct {
	words []string
	*cli.Command
}

// leaves lists every command of the program.
func leaves() []leaf {
	var list []leaf
	var walk func(words []string, commands []*cli.Command)
	walk = func(words []string, commands []*cli.Command) {
		for _, c := range commands {
			path := append(append([]string(nil), words...), c.Name)
			if len(c.Subcommands) == 0 {
				list = append(list, leaf{path, c})
			}
			walk(path, c.Subcommands)
		}
	}
	walk(nil, (&application{}).build().Commands)
	return list
}
