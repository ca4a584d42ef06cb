package gate_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/repo"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world is a repository in a temporary folder, with everything a gate needs handed in.
type world struct {
	t      tester
	dir    string
	repo   *repo.Repo
	config config.Config
	random *rand.ChaCha8
	now    time.Time
}

// newWorld makes a repository with files in dir, which must be empty.
func newWorld(t tester, dir string, files map[string]string) *world {
	t.Helper()
	w := &world{
		t: t, dir: dir, config: config.Default(), random: rand.NewChaCha8([32]byte{1}), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	for name, text := range files {
		w.write(w.root(), name, text)
	}
	environ := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.test", "commit", "-q", "--allow-empty", "-m", "base"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = w.root(), environ
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	var err error
	if w.repo, err = repo.Open(context.Background(), repo.Options{Dir: w.root(), Environ: environ}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) root() string { return filepath.Join(w.dir, "repo") }

// write puts text at a path below root; "" takes the file away.
func (w *world) write(root, name, text string) {
	w.t.Helper()
	p := filepath.Join(root, filepath.FromSlash(name))
	if text == "" {
		if err := os.Remove(p); err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// open opens a gate, as every process does for itself. The caller closes it.
func (w *world) open() *gate.Gate {
	w.t.Helper()
	g, err := gate.Open(context.Background(), gate.Options{
		Repo: w.repo, Config: w.config, ShadowHome: filepath.Join(w.dir, "shadows"), Clock: w.clock, Rand: w.random, Holder: "test",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

// clock advances by a second with each look, so that no two events have one time.
func (w *world) clock() time.Time {
	w.now = w.now.Add(time.Second)
	return w.now
}

// fsck fails the test unless everything verifies.
func (w *world) fsck() {
	w.t.Helper()
	report, err := gate.Fsck(context.Background(), w.repo, ledger.Options{Clock: w.clock, Rand: w.random, Holder: "fsck"})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(report.Findings) > 0 || report.Journal != "empty" {
		w.t.Fatalf("fsck: %+v", report)
	}
}

// checks bounds how often a slow property is tried and how long a failure is made smaller; -rapid.checks still asks for
// more.
func checks(t *testing.T, n int) {
	t.Helper()
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(n), "rapid.shrinktime": "10s"} {
		f := flag.Lookup(name)
		before := f.Value.String()
		if before != f.DefValue {
			continue
		}
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(before) })
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
