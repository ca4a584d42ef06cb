package repo

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/correx/correx/internal/change"
)

// Staged is one path in which the index differs from HEAD.
type Staged struct {
	Path change.Path
	// OldMode and OldOID are what HEAD holds; both are "" where it holds nothing.
	OldMode, OldOID string
	// NewMode and NewOID are what would be committed; both are "" for a deletion, and for a path in conflict.
	NewMode, NewOID string
	// Unmerged marks a path in conflict. Git does not commit while there is one.
	Unmerged bool
}

// Deleted reports whether a commit would remove the path.
func (s Staged) Deleted() bool { return !s.Unmerged && s.NewMode == "" }

// StagedChanges returns what a commit of the index would change in HEAD, sorted by path: without renames, against the
// empty tree while HEAD is unborn, submodules by their commit whatever their settings say, and without paths that are
// only announced (git add -N). Options.IndexFile is read where it was given; it must exist.
func (r *Repo) StagedChanges(ctx context.Context) ([]Staged, error) {
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	tree := head.OID
	if head.Unborn {
		tree = emptyTree(r.format)
	}
	if r.index != "" {
		// Git would take a missing index for one in which everything is deleted.
		if _, err := os.Stat(r.index); err != nil {
			return nil, fmt.Errorf("staged changes: index of the hook: %w", err)
		}
	}
	staged, err := r.diffIndex(ctx, tree, r.index, nil)
	if err != nil {
		return nil, fmt.Errorf("staged changes: %w", err)
	}
	return staged, nil
}

// diffIndex compares a tree with an index and never looks at the working tree.
func (r *Repo) diffIndex(ctx context.Context, tree, index string, paths []change.Path) ([]Staged, error) {
	args := append([]string{"--literal-pathspecs", "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev",
		"--no-relative", "--ita-invisible-in-index", "--ignore-submodules=dirty", "--no-ext-diff", "--no-textconv",
		tree, "--"}, pathspecs(paths)...)
	out, err := r.git.run(ctx, call{args: args, index: index})
	if err != nil {
		return nil, err
	}
	fields, err := records("diff-index", out.out)
	if err != nil {
		return nil, err
	}
	if len(fields)%2 != 0 {
		return nil, &OutputError{Command: "diff-index", Problem: strconv.Itoa(len(fields)) + " fields are not whole entries"}
	}
	staged := make([]Staged, 0, len(fields)/2)
	for ; len(fields) > 0; fields = fields[2:] {
		s, err := parseStaged(fields[0], fields[1])
		if err != nil {
			return nil, err
		}
		// A path in conflict may come a second time, compared with one of its stages.
		if n := len(staged); n > 0 && staged[n-1].Path == s.Path {
			staged[n-1] = mergeStaged(staged[n-1], s)
			continue
		}
		staged = append(staged, s)
	}
	slices.SortFunc(staged, func(a, b Staged) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return staged, nil
}

// mergeStaged joins what is said twice about one path.
func mergeStaged(a, b Staged) Staged {
	if !a.Unmerged {
		a, b = b, a
	}
	if a.OldMode == "" {
		a.OldMode, a.OldOID = b.OldMode, b.OldOID
	}
	return a
}

// parseStaged reads ":OLDMODE NEWMODE OLDOID NEWOID STATUS" and a path.
func parseStaged(head, name string) (Staged, error) {
	bad := func(problem string) (Staged, error) {
		return Staged{}, &OutputError{Command: "diff-index", Problem: problem + " in " + strconv.Quote(head)}
	}
	p, err := change.ParsePath(name)
	if err != nil {
		return Staged{}, err
	}
	rest, ok := strings.CutPrefix(head, ":")
	fields := strings.Split(rest, " ")
	if !ok || len(fields) != 5 || len(fields[0]) != 6 || len(fields[1]) != 6 || !isOID(fields[2]) || !isOID(fields[3]) {
		return bad("not modes, object ids and a status")
	}
	s := Staged{Path: p, OldMode: fields[0], NewMode: fields[1], OldOID: fields[2], NewOID: fields[3]}
	if s.OldMode == "000000" {
		s.OldMode, s.OldOID = "", ""
	}
	switch fields[4] {
	case "U":
		s.Unmerged, s.NewMode, s.NewOID = true, "", ""
	case "D":
		s.NewMode, s.NewOID = "", ""
	case "A", "M", "T":
		if s.NewMode == "000000" {
			return bad("no new mode")
		}
	default:
		return bad("unknown status")
	}
	return s, nil
}
