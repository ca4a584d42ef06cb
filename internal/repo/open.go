package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/correx/correx/internal/change"
)

// Options say where to look and on whose behalf.
type Options struct {
	// Dir is a folder in the working tree, as an absolute name.
	Dir string
	// Environ is the caller's environment as os.Environ gives it. Little of it reaches git.
	Environ []string
	// IndexFile is the index git handed to a hook (GIT_INDEX_FILE), relative to Dir or absolute; "" for the worktree's
	// own. Only what is staged is read from it.
	IndexFile string
}

// Repo is a repository seen from one of its working trees. It may be used from several goroutines. Configuration is
// read once: open the repository again to see later edits of it.
type Repo struct {
	root, gitDir, commonDir string
	prefix                  change.Path
	format                  string
	index                   string
	env                     environment
	git                     runner
	// fast says that a hook waits: configuration is read in this process where it is plain.
	fast bool

	configMu sync.Mutex
	config   *configuration

	objectsMu sync.Mutex
	objects   *objectStore
}

// Open finds the repository of a folder the way git does, its ownership check included. A folder outside any
// repository is ErrNotRepository; what else git refuses (a bare repository, one of another user, an extension it does
// not know) is a *GitError with git's own message.
func Open(ctx context.Context, o Options) (*Repo, error) {
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("open repository: %q is not an absolute name", o.Dir)
	}
	env := parseEnviron(o.Environ)
	// The tree is not known yet, so every folder above that holds a .git counts as one.
	git, err := newRunner(env, o.Dir, treesAbove(o.Dir))
	if err != nil {
		return nil, fmt.Errorf("open repository %q: %w", o.Dir, err)
	}
	found, err := discover(ctx, git)
	if err != nil {
		return nil, fmt.Errorf("open repository %q: %w", o.Dir, err)
	}
	return newRepo(o, env, found)
}

// place is where a repository is.
type place struct {
	format, gitDir, commonDir, root, prefix string
}

// newRepo binds git processes to the place, whatever the folders look like later.
func newRepo(o Options, env environment, at place) (*Repo, error) {
	git, err := newRunner(env, at.root, []string{at.root, at.gitDir, at.commonDir})
	if err != nil {
		return nil, fmt.Errorf("open repository %q: %w", at.root, err)
	}
	r := &Repo{
		root: at.root, gitDir: at.gitDir, commonDir: at.commonDir, format: at.format, env: env,
		git: git.with("GIT_DIR="+at.gitDir, "GIT_WORK_TREE="+at.root),
	}
	if at.prefix != "" {
		if r.prefix, err = change.ParsePath(strings.TrimSuffix(at.prefix, "/")); err != nil {
			return nil, fmt.Errorf("open repository %q: %w", at.root, err)
		}
	}
	if o.IndexFile != "" {
		r.index = o.IndexFile
		if !filepath.IsAbs(r.index) {
			r.index = filepath.Join(o.Dir, r.index)
		}
	}
	return r, nil
}

// newRunner returns a runner whose git and PATH lie outside the trees.
func newRunner(env environment, dir string, trees []string) (runner, error) {
	program, err := findProgram(env["PATH"], outsideOf(trees...))
	if err != nil {
		return runner{}, err
	}
	return runner{program: program, dir: dir, env: gitEnviron(env, program.path)}, nil
}

// treesAbove returns dir and the folders above it that hold a .git.
func treesAbove(dir string) []string {
	var trees []string
	for at := resolve(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			trees = append(trees, at)
		}
		if filepath.Dir(at) == at {
			return trees
		}
	}
}

// discover asks git where the repository is.
func discover(ctx context.Context, git runner) (place, error) {
	values := []string{"--show-object-format", "--absolute-git-dir", "--git-common-dir", "--show-toplevel", "--show-prefix"}
	args := append([]string{"rev-parse", "--path-format=absolute"}, values...)
	out, err := git.text(ctx, args...)
	if err != nil {
		return place{}, err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != len(values) {
		// A folder's name holds a line end: ask for one value at a time.
		lines = lines[:0]
		for _, value := range values {
			line, err := git.text(ctx, "rev-parse", "--path-format=absolute", value)
			if err != nil {
				return place{}, err
			}
			lines = append(lines, line)
		}
	}
	at := place{
		format: lines[0], gitDir: filepath.FromSlash(lines[1]), commonDir: filepath.FromSlash(lines[2]),
		root: filepath.FromSlash(lines[3]), prefix: lines[4],
	}
	for _, dir := range []string{at.gitDir, at.commonDir, at.root} {
		if !filepath.IsAbs(dir) {
			return place{}, &OutputError{Command: "rev-parse", Problem: fmt.Sprintf("%q is not an absolute name", dir)}
		}
	}
	if at.format != formatSHA1 && at.format != formatSHA256 {
		return place{}, &OutputError{Command: "rev-parse", Problem: fmt.Sprintf("unknown object format %q", at.format)}
	}
	return at, nil
}

// Root returns the top folder of the working tree, absolute and without links.
func (r *Repo) Root() string { return r.root }

// GitDir returns the worktree's own git directory, absolute.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir returns the git directory all worktrees of the repository share, absolute.
func (r *Repo) CommonDir() string { return r.commonDir }

// ObjectFormat returns "sha1" or "sha256".
func (r *Repo) ObjectFormat() string { return r.format }

// Prefix returns the folder Options.Dir is in the tree; "" at the root, and after OpenFast.
func (r *Repo) Prefix() change.Path { return r.prefix }

// WorktreeID returns a name of the working tree that stays the same when the repository is moved: "main", or "w-" and
// the name of the linked worktree's git directory. It is a single component of a path.
func (r *Repo) WorktreeID() string {
	if r.gitDir == r.commonDir {
		return "main"
	}
	return "w-" + filepath.Base(r.gitDir)
}

// Confined reports whether the kernel keeps git from starting other programs, and if not, why.
func (r *Repo) Confined() (confined bool, why string) {
	return r.git.program.executable != nil, r.git.program.unconfined
}

// real returns the file name of a path in the tree.
func (r *Repo) real(p change.Path) string {
	return filepath.Join(r.root, filepath.FromSlash(string(p)))
}

// inTree returns path as a path in the tree, where it is one by its name or once links are followed.
func (r *Repo) inTree(path string) (change.Path, bool) {
	for _, name := range []string{filepath.Clean(path), resolve(path)} {
		rel, ok := below(r.root, name)
		if !ok || rel == "" {
			continue
		}
		if _, ok := below(r.gitDir, name); ok {
			continue
		}
		if _, ok := below(r.commonDir, name); ok {
			continue
		}
		if p, err := change.ParsePath(rel); err == nil {
			return p, true
		}
	}
	return "", false
}
