package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/correx/correx/internal/change"
)

// Ignored returns which of the paths git's ignore rules cover, in the real tree and from every place git reads them.
// The index plays no part: a tracked path may be covered too. dirs marks the paths that are folders, where they need
// not exist in the real tree; rules for folders only apply to those, and to what really is one. A path beyond a symlink
// of the real tree, about which git says nothing, is covered when the symlink is. A folder that does not exist and that
// only a rule for everything ("*") covers is left out, because git cannot be asked whether another rule lets folders in;
// what lies in it is judged exactly.
func (r *Repo) Ignored(ctx context.Context, paths []change.Path, dirs map[change.Path]bool) (map[change.Path]bool, error) {
	covered := make(map[change.Path]bool)
	if len(paths) == 0 {
		return covered, nil
	}
	git, err := r.reader(ctx)
	if err != nil {
		return nil, fmt.Errorf("ignore rules: %w", err)
	}
	q := ignoreQuery{repo: r, git: git, kinds: map[change.Path]fs.FileMode{}, rules: map[string]ignoreRule{}}
	about := make(map[change.Path]change.Path, len(paths))
	var batch []string
	for _, p := range paths {
		about[p] = q.linkAbove(p)
		batch = append(batch, askFile(about[p]))
		if about[p] == p && dirs[p] && q.imagined(p) {
			batch = append(batch, askFolder(p))
		}
	}
	if err := q.ask(ctx, batch); err != nil {
		return nil, fmt.Errorf("ignore rules: %w", err)
	}
	for p, asked := range about {
		folder := asked == p && dirs[p] && q.imagined(p)
		if folder && q.coversFolder(p) || !folder && q.rules[askFile(asked)].covers() {
			covered[p] = true
		}
	}
	return covered, nil
}

// askFile is how git is asked about a path: "./" keeps a leading ":" from meaning something.
func askFile(p change.Path) string { return "./" + string(p) }

// askFolder asks about what is named "" in a folder. Git then takes the path for a folder, whatever the tree holds.
func askFolder(p change.Path) string { return "./" + string(p) + "/" }

// ignoreRule is the last rule that matches a path, and so decides.
type ignoreRule struct{ source, line, pattern string }

func (i ignoreRule) covers() bool { return i.pattern != "" && !strings.HasPrefix(i.pattern, "!") }

// ignoreQuery collects git's answers.
type ignoreQuery struct {
	repo *Repo
	git  runner
	// kinds remembers what stands at paths of the real tree; ModeIrregular for nothing.
	kinds map[change.Path]fs.FileMode
	rules map[string]ignoreRule
}

func (q *ignoreQuery) kind(p change.Path) fs.FileMode {
	kind, known := q.kinds[p]
	if !known {
		kind = fs.ModeIrregular
		if info, err := os.Lstat(q.repo.real(p)); err == nil {
			kind = info.Mode().Type()
		}
		q.kinds[p] = kind
	}
	return kind
}

// linkAbove returns the topmost folder above p that is a symlink in the real tree, or p.
func (q *ignoreQuery) linkAbove(p change.Path) change.Path {
	for _, dir := range p.Ancestors() {
		if q.kind(dir) == fs.ModeSymlink {
			return dir
		}
	}
	return p
}

// imagined reports whether the real tree holds neither a folder at p, about which git can simply be asked, nor a
// symlink, in place of which nothing can be imagined.
func (q *ignoreQuery) imagined(p change.Path) bool {
	return q.kind(p) != fs.ModeDir && q.kind(p) != fs.ModeSymlink
}

// coversFolder judges a folder that does not exist. The rule git found for "folder/" may be about the folder, or about
// what is in it. A rule for folders only is about the folder, or one above. Any other is about it if it also decides
// for the path as a file, and could not mean everything in a folder that another rule lets in.
func (q *ignoreQuery) coversFolder(p change.Path) bool {
	rule := q.rules[askFolder(p)]
	if !rule.covers() {
		return false
	}
	last := rule.pattern[strings.LastIndex(rule.pattern, "/")+1:]
	return last == "" || rule == q.rules[askFile(p)] && strings.Trim(last, "*") != ""
}

// ask puts a batch to git. Git gives up on a whole batch because of one path (a symlink that came into being after it
// was looked for), so a batch it refuses is halved until that path stands alone.
func (q *ignoreQuery) ask(ctx context.Context, batch []string) error {
	if len(batch) == 0 {
		return nil
	}
	stdin := strings.NewReader(strings.Join(batch, "\x00") + "\x00")
	out, err := q.git.run(ctx, call{
		args: []string{"check-ignore", "--no-index", "--verbose", "-z", "--stdin"}, stdin: stdin, answers: []int{1},
	})
	var refused *GitError
	if errors.As(err, &refused) {
		if len(batch) > 1 {
			half := len(batch) / 2
			return errors.Join(q.ask(ctx, batch[:half]), q.ask(ctx, batch[half:]))
		}
		if strings.Contains(refused.Stderr, "beyond a symbolic link") {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return q.take(out)
}

// take reads "SOURCE, LINE, PATTERN, PATH" for each path that a rule matches.
func (q *ignoreQuery) take(out result) error {
	fields, err := records("check-ignore", out.out)
	if err != nil {
		return err
	}
	if len(fields)%4 != 0 || (out.status == 0) != (len(fields) > 0) {
		return &OutputError{Command: "check-ignore", Problem: "exit status " + strconv.Itoa(out.status) + " with " +
			strconv.Itoa(len(fields)) + " fields"}
	}
	for ; len(fields) > 0; fields = fields[4:] {
		q.rules[fields[3]] = ignoreRule{source: fields[0], line: fields[1], pattern: fields[2]}
	}
	return nil
}
