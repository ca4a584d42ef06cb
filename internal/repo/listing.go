package repo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/correx/correx/internal/change"
)

// The modes git records, as this package returns them.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeSymlink    = "120000"
	ModeSubmodule  = "160000"
	ModeTree       = "040000"
)

// Entry is one line of the index.
type Entry struct {
	Path change.Path
	// Mode is one of the Mode constants.
	Mode string
	OID  string
	// Stage is 0, or 1 (common ancestor), 2 (ours) or 3 (theirs) while the path is in conflict.
	Stage int
	// SkipWorktree marks a path that is meant to be absent from the working tree (sparse checkout).
	SkipWorktree bool
	// IntentToAdd marks a path that was announced (git add -N) and whose content is not staged.
	IntentToAdd bool
}

// Submodule reports whether the entry is another repository's commit.
func (e Entry) Submodule() bool { return e.Mode == ModeSubmodule }

// Listing is what git knows of the working tree.
type Listing struct {
	// Tracked holds the index in its order: by path bytes, then by stage.
	Tracked []Entry
	// Untracked holds files and symlinks that are not tracked and not ignored, sorted.
	Untracked []change.Path
	// Nested holds folders that are repositories of their own and no submodules, sorted. What lies in them is not
	// listed.
	Nested []change.Path
	// Warnings is what git could not look into (a folder it may not read), in its words.
	Warnings []string
}

// Files lists the working tree. The index and the untracked files are read at the same time, by two git processes.
func (r *Repo) Files(ctx context.Context) (Listing, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type others struct {
		result
		err error
	}
	untracked := make(chan others, 1)
	go func() {
		out, err := r.listOthers(ctx)
		untracked <- others{out, err}
	}()
	var l Listing
	var err error
	if l.Tracked, err = r.indexEntries(ctx); err != nil {
		cancel()
		<-untracked
		return Listing{}, fmt.Errorf("list files: %w", err)
	}
	rest := <-untracked
	if rest.err != nil {
		return Listing{}, fmt.Errorf("list files: %w", rest.err)
	}
	l.Warnings = rest.warnings
	if err := l.addOthers(rest.out); err != nil {
		return Listing{}, fmt.Errorf("list files: %w", err)
	}
	return l, nil
}

func (r *Repo) listOthers(ctx context.Context) (result, error) {
	git, err := r.reader(ctx)
	if err != nil {
		return result{}, err
	}
	return git.run(ctx, call{args: []string{"ls-files", "-z", "--others", "--exclude-standard"}})
}

// Recorded returns the object ids that git holds for each path, in the index and in HEAD; nothing for a path it has in
// neither.
func (r *Repo) Recorded(ctx context.Context, paths []change.Path) (map[change.Path][]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	entries, err := r.indexEntries(ctx, paths...)
	if err != nil {
		return nil, fmt.Errorf("look up what is staged: %w", err)
	}
	recorded := map[change.Path][]string{}
	for _, e := range entries {
		recorded[e.Path] = append(recorded[e.Path], e.OID)
	}
	for _, p := range paths {
		_, oid, err := r.HeadEntry(ctx, p)
		if err != nil {
			return nil, err
		}
		if oid != "" {
			recorded[p] = append(recorded[p], oid)
		}
	}
	return recorded, nil
}

// IgnoredFiles lists the files and symlinks in the tree that are not tracked and that git ignores, one by one, sorted.
func (r *Repo) IgnoredFiles(ctx context.Context) ([]change.Path, error) {
	git, err := r.reader(ctx)
	if err != nil {
		return nil, err
	}
	out, err := git.run(ctx, call{args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard"}})
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	var l Listing
	if err := l.addOthers(out.out); err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	return l.Untracked, nil
}

func (l *Listing) addOthers(out []byte) error {
	names, err := records("ls-files", out)
	if err != nil {
		return err
	}
	for _, name := range names {
		folder, isFolder := strings.CutSuffix(name, "/")
		p, err := change.ParsePath(folder)
		if err != nil {
			return err
		}
		if isFolder {
			l.Nested = append(l.Nested, p)
		} else {
			l.Untracked = append(l.Untracked, p)
		}
	}
	slices.Sort(l.Untracked)
	slices.Sort(l.Nested)
	return nil
}

// indexEntries reads the worktree's own index.
func (r *Repo) indexEntries(ctx context.Context, paths ...change.Path) ([]Entry, error) {
	args := append([]string{"--literal-pathspecs", "ls-files", "-z", "--stage", "-t", "--"}, pathspecs(paths)...)
	out, err := r.git.run(ctx, call{args: args})
	if err != nil {
		return nil, err
	}
	lines, err := records("ls-files", out.out)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(lines))
	for _, line := range lines {
		e, err := parseEntry(line)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, r.markIntents(ctx, entries)
}

// parseEntry reads "TAG MODE OID STAGE<tab>PATH".
func parseEntry(line string) (Entry, error) {
	bad := func(problem string) (Entry, error) {
		return Entry{}, &OutputError{Command: "ls-files", Problem: problem + " in " + strconv.Quote(line)}
	}
	head, name, ok := strings.Cut(line, "\t")
	fields := strings.Split(head, " ")
	if !ok || len(fields) != 4 {
		return bad("not four fields and a path")
	}
	p, err := change.ParsePath(name)
	if err != nil {
		return Entry{}, err
	}
	stage, err := strconv.Atoi(fields[3])
	if err != nil || stage < 0 || stage > 3 {
		return bad("no stage")
	}
	if len(fields[1]) != 6 || !isOID(fields[2]) {
		return bad("no mode and object id")
	}
	return Entry{Path: p, Mode: fields[1], OID: fields[2], Stage: stage, SkipWorktree: fields[0] == "S"}, nil
}

// markIntents finds the entries that are only announced. Git stores them with the id of empty content, so only such
// entries are asked about, by comparing the index with nothing: an announced path is not in it.
func (r *Repo) markIntents(ctx context.Context, entries []Entry) error {
	const manyPaths = 500
	var candidates []change.Path
	for _, e := range entries {
		if e.Stage == 0 && e.OID == emptyBlob(r.format) {
			candidates = append(candidates, e.Path)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	if len(candidates) > manyPaths {
		candidates = nil
	}
	staged, err := r.diffIndex(ctx, emptyTree(r.format), "", candidates)
	if err != nil {
		return err
	}
	present := make(map[change.Path]bool, len(staged))
	for _, s := range staged {
		present[s.Path] = true
	}
	for i, e := range entries {
		if e.Stage == 0 && e.OID == emptyBlob(r.format) {
			entries[i].IntentToAdd = !present[e.Path]
		}
	}
	return nil
}

func pathspecs(paths []change.Path) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = append(out, string(p))
	}
	return out
}
