package gate

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/preflight"
	"github.com/correx/correx/tiers"
)

// OwnFile is a file that correx wrote for a person, with what stood there before: nil for nothing.
type OwnFile struct {
	Path   change.Path
	Before []byte
	// Content is what is about to be written; nil for a file that stands there as it was written.
	Content []byte
	// Executable says whether what stood there could be executed.
	Executable bool
}

// ApproveOwn records that a person let in the files that a command has written or will write for them, so that the commit hook
// lets exactly those bytes through. Files as they are in the index or in HEAD already need nothing. Paths outside the
// tree are left out.
func (g *Gate) ApproveOwn(ctx context.Context, files []OwnFile, by Person, message string) error {
	var ends []preflight.Ends
	unshare, err := g.store.Share(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = unshare() }()
	for _, f := range files {
		end := preflight.Ends{Path: f.Path, Base: change.Absent()}
		if f.Content != nil {
			end.Proposed, err = g.pinBytes(f.Content, false)
		} else {
			end.Proposed, err = preflight.Take(g.tree, g.store, f.Path)
		}
		if err == nil && f.Before != nil {
			end.Base, err = g.pinBytes(f.Before, f.Executable)
		}
		if err != nil {
			return err
		}
		ends = append(ends, end)
	}
	_, err = g.approveEnds(ctx, ends, by, message)
	return err
}

// approveEnds records that a person let in the changes between both ends of some paths, and returns the number of their set, 0
// where nothing changes. The caller shares the store.
func (g *Gate) approveEnds(ctx context.Context, ends []preflight.Ends, by Person, message string) (id int, err error) {
	changes, err := preflight.Compare(g.store, ends, preflight.Options{})
	if err != nil || len(changes) == 0 {
		return 0, err
	}
	if err := g.nameBlobs(ctx, changes); err != nil {
		return 0, err
	}
	err = g.update(ctx, func() ([]ledger.Draft, error) {
		b := &batch{gate: g, actor: by.actor(), origin: change.OriginCommit, message: message, next: g.state.Last}
		var staged string
		id, staged = b.stage(proposal{files: changes})
		v := &stagedView{after: afterLanding(changes)}
		facts := make([]tiers.FileFacts, len(changes))
		for i, c := range changes {
			facts[i] = g.stagedFacts(c, v)
		}
		r := g.judgeCommitted(facts)
		r.Outcome = change.Ask
		pre := b.add(ledger.PreflightCompleted, staged, projection.PreflightCompleted{Set: id, Verdict: r.Verdict, Facts: &projection.Facts{Own: true}})
		req := b.add(ledger.ApprovalRequired, pre, projection.SetEvent{Set: id})
		pend := b.add(ledger.ApprovalPending, req, projection.Pending{Set: id})
		d := change.Decision{Kind: change.Approved, By: by.actor(), At: g.clock().UTC(), Scope: "all", How: by.How, Digest: change.Digest(changes)}
		b.add(ledger.ApprovalGranted, pend, projection.Decided{Set: id, Request: pend, Decision: d})
		return b.drafts, nil
	})
	return id, err
}

// pinBytes stores the content of a file of correx's own and pins it.
func (g *Gate) pinBytes(content []byte, executable bool) (change.Pin, error) {
	pin := change.Pin{Kind: change.KindFile, Perm: 0o644}
	if executable {
		pin.Perm = 0o755
	}
	var err error
	pin.SHA256, pin.Size, err = g.store.Put(bytes.NewReader(content))
	return pin, err
}

// InTree returns p as a path of the repository if it lies in the working tree.
func (g *Gate) InTree(p string) (change.Path, bool) {
	if !filepath.IsAbs(p) {
		return "", false
	}
	rel, err := filepath.Rel(g.repo.Root(), p)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	parsed, err := change.ParsePath(filepath.ToSlash(rel))
	if err != nil || parsed == ".git" || parsed.Under(".git") {
		return "", false
	}
	return parsed, true
}
