package repo

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
)

// fixture is a place with a home of its own, in which real git makes real repositories.
type fixture struct {
	t   *testing.T
	dir string
	env []string
	// oldBlob is an object that a test takes away or that filters apply to.
	oldBlob string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dir: dir, env: []string{
		"HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_CONFIG_GLOBAL=" + filepath.Join(dir, "home", ".gitconfig"),
	}}
	if err := os.MkdirAll(filepath.Join(dir, "home"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("home/.gitconfig", "[user]\n name = dev\n email = dev@example.test\n[init]\n defaultBranch = main\n"+
		"[protocol \"file\"]\n allow = always\n[advice]\n detachedHead = false\n[core]\n safecrlf = false\n")
	return f
}

// path returns the absolute name of a file in the fixture.
func (f *fixture) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f *fixture) write(name, content string) {
	f.t.Helper()
	file := f.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) script(name, content string) string {
	f.t.Helper()
	f.write(name, content)
	if err := os.Chmod(f.path(name), 0o755); err != nil {
		f.t.Fatal(err)
	}
	return f.path(name)
}

// try runs git in a folder of the fixture.
func (f *fixture) try(dir string, args ...string) (string, error) {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = f.path(dir), f.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (f *fixture) gitIn(dir string, args ...string) string {
	f.t.Helper()
	out, err := f.try(dir, args...)
	if err != nil {
		f.t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return out
}

// repo makes a repository with a few committed files.
func (f *fixture) repo(name string, initArgs ...string) {
	f.t.Helper()
	f.gitIn(".", append([]string{"init", "-q", name}, initArgs...)...)
	f.write(name+"/a", "1\n")
	f.write(name+"/in/b", "b\n")
	f.write(name+"/out/c", "c\n")
	f.commit(name, "base")
}

func (f *fixture) commit(dir, message string) {
	f.t.Helper()
	f.gitIn(dir, "add", "-A")
	f.gitIn(dir, "commit", "-qm", message)
}

func (f *fixture) options(dir string) Options { return Options{Dir: f.path(dir), Environ: f.env} }

func (f *fixture) open(dir string) *Repo {
	f.t.Helper()
	r, err := Open(context.Background(), f.options(dir))
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func readBlob(t *testing.T, r *Repo, oid string) string {
	t.Helper()
	body, size, err := r.OpenBlob(context.Background(), oid)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(data)) != size {
		t.Fatalf("blob %s: %d bytes, announced %d", oid, len(data), size)
	}
	return string(data)
}

func trackedPaths(l Listing) []string {
	var paths []string
	for _, e := range l.Tracked {
		paths = append(paths, string(e.Path))
	}
	return paths
}

func strs(paths []change.Path) []string {
	out := pathspecs(paths)
	slices.Sort(out)
	return out
}

func nulFields(s string) []string {
	s = strings.TrimSuffix(s, "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: files of another user are made")
	}
}
