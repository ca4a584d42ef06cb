// Package bench measures correx against what a user would run instead, both in one run: each benchmark alternates the two
// and reports the ratio of their medians as "x/git". `make bench` runs them all.
package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

// world is a home folder, a correx binary and a repository made of the Go installation's own source.
type world struct {
	b      *testing.B
	dir    string
	repo   string
	correx string
	env    []string
}

func newWorld(b *testing.B) *world {
	b.Helper()
	return newWorldOf(b, func(repo string) error {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return err
		}
		return os.CopyFS(repo, os.DirFS(filepath.Join(strings.TrimSpace(string(root)), "src")))
	})
}

// newWorldOf is newWorld with what fill puts into the repository.
func newWorldOf(b *testing.B, fill func(repo string) error) *world {
	b.Helper()
	w := &world{b: b, dir: b.TempDir()}
	w.repo, w.correx = filepath.Join(w.dir, "src"), filepath.Join(w.dir, "correx")
	home := filepath.Join(w.dir, "home")
	if err := os.MkdirAll(filepath.Join(home, ".config", "correx"), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".config", "correx", "config.toml"), []byte("[approve]\nrequire_tty = false\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	w.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=b", "GIT_AUTHOR_EMAIL=b@example.test", "GIT_COMMITTER_NAME=b", "GIT_COMMITTER_EMAIL=b@example.test")
	build := exec.Command("go", "build", "-trimpath", "-o", w.correx, "..")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	if err := fill(w.repo); err != nil {
		b.Fatal(err)
	}
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "-qm", "base")
	return w
}

// run runs a program in dir and returns how long it took and what it printed.
func (w *world) run(dir, name string, args ...string) (time.Duration, string) {
	w.b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, w.env
	begun := time.Now()
	out, err := cmd.Output()
	took := time.Since(begun)
	if err != nil {
		w.b.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return took, strings.TrimSpace(string(out))
}

func (w *world) git(args ...string) time.Duration {
	took, _ := w.run(w.repo, "git", args...)
	return took
}

// against alternates ours and theirs and reports the medians and their ratio. Reset, when not nil, puts things back after
// each pair, unmeasured.
func (w *world) against(ours, theirs func() time.Duration, reset func()) {
	w.b.Helper()
	var a, g []float64
	ours()
	theirs()
	if reset != nil {
		reset()
	}
	w.b.ResetTimer()
	for range w.b.N {
		a = append(a, ours().Seconds()*1000)
		g = append(g, theirs().Seconds()*1000)
		if reset != nil {
			reset()
		}
	}
	w.b.ReportMetric(median(a), "correx-ms")
	w.b.ReportMetric(median(g), "git-ms")
	w.b.ReportMetric(median(a)/median(g), "x/git")
	w.b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	sort.Float64s(v)
	return v[len(v)/2]
}

// BenchmarkShadowOpen: a copy shadow of about ten thousand files against git worktree add. Goal: 1x.
func BenchmarkShadowOpen(b *testing.B) {
	w := newWorld(b)
	n, shadow := 0, ""
	w.against(func() (took time.Duration) {
		took, shadow = w.run(w.repo, w.correx, "shadow", "open", "--backend", "copy")
		return took
	}, func() time.Duration {
		n++
		return w.git("worktree", "add", "-q", "--detach", filepath.Join(w.dir, fmt.Sprintf("wt%d", n)))
	}, func() {
		w.run(shadow, w.correx, "shadow", "close")
		w.git("worktree", "remove", "--force", filepath.Join(w.dir, fmt.Sprintf("wt%d", n)))
	})
}

// BenchmarkSubmitNothing: a submission where nothing changed against git status. Goal: 2x.
func BenchmarkSubmitNothing(b *testing.B) {
	w := newWorld(b)
	_, shadow := w.run(w.repo, w.correx, "shadow", "open", "--backend", "copy")
	w.against(func() time.Duration {
		took, _ := w.run(shadow, w.correx, "submit")
		return took
	}, func() time.Duration { return w.git("status", "--porcelain") }, nil)
}

// BenchmarkHookOneFile: the pre-commit check of one staged file against git diff --cached --raw. Goal: 3x.
func BenchmarkHookOneFile(b *testing.B) {
	w := newWorld(b)
	w.run(w.repo, w.correx, "init")
	name := filepath.Join(w.repo, "fmt", "doc.go")
	text, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, append(text, "// One more line.\n"...), 0o644); err != nil {
		b.Fatal(err)
	}
	w.git("add", "fmt/doc.go")
	w.env = append(w.env, "GIT_DIR=.git", "GIT_INDEX_FILE=.git/index")
	w.against(func() time.Duration {
		took, _ := w.run(w.repo, w.correx, "hook", "pre-commit")
		return took
	}, func() time.Duration { return w.git("diff", "--cached", "--raw") }, nil)
}

// BenchmarkHookStart: what the hook path costs before it does anything, against starting git. Goal: 10 ms.
func BenchmarkHookStart(b *testing.B) {
	w := newWorld(b)
	w.against(func() time.Duration {
		took, _ := w.run(w.repo, w.correx, "hook", "--help")
		return took
	}, func() time.Duration { return w.git("version") }, nil)
}
