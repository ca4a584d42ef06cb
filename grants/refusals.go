package grants

import (
	"fmt"

	"github.com/correx/correx/internal/change"
)

// Refusal is one set that a person refused, or took back after it had landed.
type Refusal struct {
	// Set is its number.
	Set int
	// Reason is what the person said.
	Reason string
}

// Refusals remembers the file changes of one worktree that were refused. The zero value remembers none. It is not safe
// for use by several goroutines at once.
type Refusals struct {
	byChange map[string]refused
	count    int
}

type refused struct {
	Refusal
	order int
}

// Add remembers that files were refused. What was refused before keeps its first refusal.
func (r *Refusals) Add(refusal Refusal, files []change.FileChange) {
	if r.byChange == nil {
		r.byChange = map[string]refused{}
	}
	r.count++
	for _, f := range files {
		if k := identity(f); r.byChange[k].order == 0 {
			r.byChange[k] = refused{refusal, r.count}
		}
	}
}

// Forget takes files out of memory: a person wants them asked about again, or has approved them.
func (r *Refusals) Forget(files []change.FileChange) {
	for _, f := range files {
		delete(r.byChange, identity(f))
	}
}

// Of returns the first refusal of a file change, and whether there was one.
func (r *Refusals) Of(f change.FileChange) (Refusal, bool) {
	found, ok := r.byChange[identity(f)]
	return found.Refusal, ok
}

// All reports whether every one of files was refused, and returns the earliest of the refusals. Of no files none was.
func (r *Refusals) All(files []change.FileChange) (Refusal, bool) {
	var first refused
	for _, f := range files {
		found, ok := r.byChange[identity(f)]
		if !ok {
			return Refusal{}, false
		}
		if first.order == 0 || found.order < first.order {
			first = found
		}
	}
	return first.Refusal, len(files) > 0
}

// identity returns what two file changes share exactly when change.FileChange.Same holds of them.
func identity(f change.FileChange) string {
	old := change.Path("")
	if f.Op == change.OpRename {
		old = f.OldPath
	}
	return fmt.Sprintf("%s\x00%t\x00%s\x00%s\x00%s", f.Path, f.Op == change.OpRename, old, end(f.Base), end(f.Proposed))
}

// end returns what two pins share exactly when change.Pin.SameForGit holds of them.
func end(p change.Pin) string {
	if !p.Exists() {
		return "absent"
	}
	return fmt.Sprintf("%s\x00%s\x00%d\x00%s", p.GitMode(), p.Kind, p.Size, p.SHA256)
}
