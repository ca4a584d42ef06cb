package shadow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
)

// gitEnv is the environment git runs in: nothing of the machine's own configuration.
func gitEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM=1",
		"LC_ALL=C", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.test", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.test", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow",
		"GIT_CONFIG_VALUE_0=always", "GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=main",
	}
}

// box is a folder for one test with real repositories in it.
type box struct {
	t    testing.TB
	dir  string
	home string
}

func newBox(t testing.TB) *box {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, dir: dir, home: filepath.Join(dir, "home")}
	must(t, os.MkdirAll(b.home, 0o755))
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *box) path(parts ...string) string {
	return filepath.Join(append([]string{b.dir}, parts...)...)
}

// tryGit runs git and returns its output, errors included.
func (b *box) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, gitEnv(b.home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (b *box) git(dir string, args ...string) string {
	b.t.Helper()
	out, err := b.tryGit(dir, args...)
	if err != nil {
		b.t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return out
}

// repo makes a repository with a first commit of the files given as name, content pairs.
func (b *box) repo(name string, files ...string) string {
	b.t.Helper()
	dir := b.path(name)
	must(b.t, os.MkdirAll(dir, 0o755))
	b.git(dir, "init", "-q")
	b.write(dir, files...)
	if len(files) > 0 {
		b.git(dir, "add", "-A")
		b.git(dir, "commit", "-qm", "base")
	}
	return dir
}

// write makes files given as name, content pairs, or writes over them.
func (b *box) write(dir string, files ...string) {
	b.t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		must(b.t, os.MkdirAll(filepath.Dir(name), 0o755))
		_, err := os.Lstat(name)
		must(b.t, os.WriteFile(name, []byte(files[i+1]), 0o644))
		if err != nil {
			must(b.t, os.Chmod(name, 0o644)) // Whatever the umask.
		}
	}
}

func (b *box) read(parts ...string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	must(b.t, err)
	return string(data)
}

func (b *box) lines(dir string, args ...string) []string {
	b.t.Helper()
	return strings.FieldsFunc(b.git(dir, args...), func(r rune) bool { return r == 0 })
}

// source describes the repository whose working tree is dir, by asking git.
func (b *box) source(dir string) Source {
	b.t.Helper()
	line := func(args ...string) string { return strings.TrimSuffix(b.git(dir, args...), "\n") }
	src := Source{
		Root:         dir,
		GitDir:       line("rev-parse", "--absolute-git-dir"),
		CommonDir:    line("rev-parse", "--path-format=absolute", "--git-common-dir"),
		ObjectFormat: line("rev-parse", "--show-object-format"),
	}
	if ref, err := b.tryGit(dir, "symbolic-ref", "-q", "HEAD"); err == nil {
		src.Head.Ref = strings.TrimSpace(ref)
	}
	if oid, err := b.tryGit(dir, "rev-parse", "-q", "--verify", "HEAD"); err == nil {
		src.Head.OID = strings.TrimSpace(oid)
	} else {
		src.Head.Unborn = true
	}
	for l := range strings.Lines(b.git(dir, "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)")) {
		f := strings.Split(strings.TrimSuffix(l, "\n"), " ")
		src.Refs = append(src.Refs, Ref{Name: f[0], OID: f[1], Peeled: f[2]})
	}
	for _, kv := range b.lines(dir, "config", "--list", "-z", "--local", "--includes") {
		k, v, _ := strings.Cut(kv, "\n")
		src.Config = append(src.Config, [2]string{k, v})
	}
	if out, err := b.tryGit(dir, "config", "--list", "-z", "--worktree"); err == nil {
		for _, kv := range strings.FieldsFunc(out, func(r rune) bool { return r == 0 }) {
			k, v, _ := strings.Cut(kv, "\n")
			src.Config = append(src.Config, [2]string{k, v})
		}
	}
	src.CopyFiles = map[string]string{"shallow": filepath.Join(src.CommonDir, "shallow")}
	for _, name := range []string{"index", "info/sparse-checkout", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE"} {
		src.CopyFiles[name] = filepath.Join(src.GitDir, name)
	}
	for _, name := range []string{"info/exclude", "info/attributes"} {
		src.CopyFiles[name] = filepath.Join(src.CommonDir, name)
	}
	shared, err := filepath.Glob(filepath.Join(src.GitDir, "sharedindex.*"))
	must(b.t, err)
	for _, name := range shared {
		src.CopyFiles[filepath.Base(name)] = name
	}
	src.ObjectDirs = []string{filepath.Join(src.CommonDir, "objects")}
	b.sourceFiles(dir, &src)
	return src
}

func (b *box) sourceFiles(dir string, src *Source) {
	b.t.Helper()
	for _, l := range b.lines(dir, "ls-files", "-z", "-s", "-t") {
		f := strings.SplitN(l, "\t", 2)
		if strings.HasPrefix(f[0], "S ") {
			continue
		}
		src.Files = append(src.Files, SourceFile{Path: change.Path(f[1]), Submodule: strings.Contains(f[0], " 160000 ")})
	}
	for _, p := range b.lines(dir, "ls-files", "-z", "-o", "--exclude-standard") {
		nested := strings.HasSuffix(p, "/")
		src.Files = append(src.Files, SourceFile{Path: change.Path(strings.TrimSuffix(p, "/")), Untracked: true, Nested: nested})
	}
}

// options returns options for the session in the box.
func (b *box) options(session string) Options {
	return Options{
		Session: session, Agent: "agent", Parent: b.path("shadows"), State: b.path("state", session), Worktree: "w-1",
		Holder: "test",
	}
}

// open opens a shadow of the repository whose working tree is dir.
func (b *box) open(dir, session string) (*Shadow, Report) {
	b.t.Helper()
	return b.openWith(b.source(dir), b.options(session))
}

func (b *box) openWith(src Source, o Options) (*Shadow, Report) {
	b.t.Helper()
	s, report, err := Open(context.Background(), src, o)
	must(b.t, err)
	b.t.Cleanup(func() { _ = s.Release() })
	return s, report
}

// ignoring asks git in dir what it ignores, and counts the questions.
func (b *box) ignoring(dir string, count *int) IgnoreFunc {
	return func(_ context.Context, paths []change.Path, dirs map[change.Path]bool) (map[change.Path]bool, error) {
		*count++
		// Of what is or lies below a symlink of the real tree git refuses to tell.
		paths = slices.DeleteFunc(slices.Clone(paths), func(p change.Path) bool {
			return slices.ContainsFunc(append(p.Ancestors(), p), func(up change.Path) bool {
				info, err := os.Lstat(filepath.Join(dir, string(up)))
				return err == nil && info.Mode().Type() == fs.ModeSymlink
			})
		})
		var in bytes.Buffer
		for _, p := range paths {
			in.WriteString(string(p))
			if dirs[p] {
				in.WriteString("/")
			}
			in.WriteByte(0)
		}
		cmd := exec.Command("git", "check-ignore", "-z", "--stdin", "--no-index")
		cmd.Dir, cmd.Env, cmd.Stdin = dir, gitEnv(b.home), &in
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && (!asExit(err, &exit) || exit.ExitCode() != 1) {
			return nil, fmt.Errorf("check-ignore %q: %w: %s", paths, err, exit.Stderr)
		}
		ignored := map[change.Path]bool{}
		for p := range strings.SplitSeq(string(out), "\x00") {
			ignored[change.Path(strings.TrimSuffix(p, "/"))] = true
		}
		return ignored, nil
	}
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

// scan scans with git's own idea of what is ignored in dir.
func (b *box) scan(s *Shadow, dir string, paths ...change.Path) ScanResult {
	b.t.Helper()
	n := 0
	r, err := s.Scan(context.Background(), ScanOptions{Paths: paths, Ignored: b.ignoring(dir, &n)})
	must(b.t, err)
	return r
}

// words renders entries as "path kind" with their marks.
func words(entries []Entry) []string {
	list := []string{}
	for _, e := range entries {
		w := string(e.Path) + " " + string(e.Kind)
		for _, m := range []struct {
			on   bool
			word string
		}{
			{e.Base.Exists(), "known"}, {e.Git, "git"}, {e.Submodule, "submodule"}, {e.Ignored, "ignored"},
			{e.LeftOut != "", "left-out"}, {e.BaseUnknown, "unknown-base"},
		} {
			if m.on {
				w += " " + m.word
			}
		}
		list = append(list, w)
	}
	return list
}

func wantWords(t testing.TB, what string, got []Entry, want ...string) {
	t.Helper()
	if w := words(got); !slices.Equal(w, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, w, want)
	}
}

func wantPaths(t testing.TB, what string, got []change.Path, want ...change.Path) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// fingerprint describes everything below dir: kinds, permission bits, content, link targets, and times of files of the
// working tree. Times below .git are left out: git renews those of objects it reuses.
func fingerprint(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		mark := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			mark += " " + hex.EncodeToString(sum[:])
			if !strings.Contains(rel, ".git") {
				mark += " " + info.ModTime().String()
			}
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			mark += " " + target
		}
		all[rel] = mark
		return nil
	})
	must(t, err)
	return all
}

func wantSameTree(t testing.TB, what string, before, after map[string]string) {
	t.Helper()
	for name, mark := range before {
		if after[name] != mark {
			t.Errorf("%s: %q is %q, was %q", what, name, after[name], mark)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s: %q is new", what, name)
		}
	}
}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
