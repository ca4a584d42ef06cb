package repo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// OpenFast is Open for a hook that git has started: no git process, as long as nothing about the repository is out of
// the ordinary. Dir is the folder git started the hook in, which is the top of the working tree. GIT_DIR and
// GIT_WORK_TREE of the environment count here, and only here, because they are how git tells a hook where it works.
// Folders of another user, an unusual layout, a setting this package does not know: whatever is not plainly fine goes
// through Open, and git decides.
func OpenFast(ctx context.Context, o Options) (*Repo, error) {
	env := parseEnviron(o.Environ)
	if at, ok := discoverFast(o.Dir, env); ok {
		r, err := newRepo(o, env, at)
		if err == nil {
			r.fast = true
		}
		return r, err
	}
	return Open(ctx, o)
}

// discoverFast finds the place without git. It answers only where git would surely say the same.
func discoverFast(dir string, env environment) (place, bool) {
	root, gitDir := dir, filepath.Join(dir, ".git")
	given := env["GIT_DIR"] != ""
	if given {
		gitDir = absolute(dir, env["GIT_DIR"])
	}
	tree := given && env["GIT_WORK_TREE"] != ""
	if tree {
		root = absolute(dir, env["GIT_WORK_TREE"])
	}
	gitFile := gitDir
	gitDir, ok := followGitFile(gitDir)
	if !ok || !filepath.IsAbs(root) {
		return place{}, false
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return place{}, false
	}
	commonDir, linked, ok := commonDirOf(gitDir)
	if !ok || !looksLikeGitDir(gitDir, commonDir) || !ownedByUser(gitFile, gitDir, root) {
		return place{}, false
	}
	format, ok := plainFormat(gitDir, commonDir, linked || tree)
	if !ok {
		return place{}, false
	}
	return place{format: format, gitDir: gitDir, commonDir: commonDir, root: root}, true
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// followGitFile returns the git directory that name is, or that the file name points to, with links followed.
func followGitFile(name string) (string, bool) {
	info, err := os.Stat(name)
	if err != nil {
		return "", false
	}
	if !info.IsDir() {
		target, ok := readPointer(name, "gitdir: ")
		if !ok {
			return "", false
		}
		name = absolute(filepath.Dir(name), target)
	}
	real, err := filepath.EvalSymlinks(name)
	return real, err == nil
}

// commonDirOf returns the common directory of a git directory, and whether that is another one.
func commonDirOf(gitDir string) (dir string, linked, ok bool) {
	name := filepath.Join(gitDir, "commondir")
	if _, err := os.Lstat(name); os.IsNotExist(err) {
		return gitDir, false, true
	}
	target, ok := readPointer(name, "")
	if !ok {
		return "", false, false
	}
	dir, err := filepath.EvalSymlinks(absolute(gitDir, target))
	return dir, true, err == nil
}

// readPointer reads a small file that holds the prefix, a name and an end of line.
func readPointer(name, prefix string) (string, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<16 {
		return "", false
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", false
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	return target, ok && target != "" && !strings.Contains(target, "\n")
}

func looksLikeGitDir(gitDir, commonDir string) bool {
	if _, err := os.Lstat(filepath.Join(gitDir, "HEAD")); err != nil {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		info, err := os.Stat(filepath.Join(commonDir, name))
		if err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// plainFormat reads the repository's own configuration for what git checks before it works with a repository, and
// returns the object format if nothing there is out of the ordinary. Where another worktree or GIT_WORK_TREE says
// which tree it is, core.bare and core.worktree mean nothing, as with git.
func plainFormat(gitDir, commonDir string, treeGiven bool) (format string, ok bool) {
	parsed, ok := readPlainConfig(filepath.Join(commonDir, "config"))
	if !ok || !treeGiven && !usualTree(parsed) {
		return "", false
	}
	version := parsed.Section("core").Option("repositoryformatversion")
	if version != "" && version != "0" && version != "1" {
		return "", false
	}
	format = formatSHA1
	extensions := parsed.Section("extensions")
	if len(extensions.Subsections) > 0 {
		return "", false
	}
	for _, option := range extensions.Options {
		switch key := strings.ToLower(option.Key); {
		case key == "partialclone" || key == "preciousobjects" || key == "noop":
		case key == "worktreeconfig":
			own, ok := readPlainConfig(filepath.Join(gitDir, "config.worktree"))
			if !ok || !treeGiven && !usualTree(own) {
				return "", false
			}
		case key == "objectformat" && (option.Value == formatSHA1 || option.Value == formatSHA256):
			format = option.Value
		default:
			return "", false
		}
	}
	if format == formatSHA256 && version != "1" {
		return "", false
	}
	return format, true
}

// readPlainConfig parses one configuration file; a missing one is empty. Its includes are not followed: git does not
// follow them either for the settings looked at here.
func readPlainConfig(name string) (*config.Config, bool) {
	parsed := config.New()
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return parsed, true
	}
	if err != nil {
		return nil, false
	}
	return parsed, config.NewDecoder(bytes.NewReader(data)).Decode(parsed) == nil
}

// usualTree reports whether nothing says that the working tree is elsewhere, or that there is none.
func usualTree(parsed *config.Config) bool {
	for _, option := range parsed.Section("core").Options {
		if strings.EqualFold(option.Key, "worktree") {
			return false
		}
		if !strings.EqualFold(option.Key, "bare") {
			continue
		}
		if bare, err := strconv.ParseBool(strings.ToLower(option.Value)); err != nil || bare {
			return false
		}
	}
	return true
}
