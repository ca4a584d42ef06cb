package gate

import (
	"context"
	"errors"
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/tiers"
)

// holdTogether judges what an agent's commit would let pass path by path once more as one change set: a person composes a
// commit, an agent could make a large change of many small ones. If the whole does not pass, none of it does.
func (g *Gate) holdTogether(check *StagedCheck) {
	if len(check.passing) == 0 {
		return
	}
	f := tiers.Facts{Files: check.passing, Origin: change.OriginShadow, Enforced: "none"}
	f.Used.Files, f.Used.Bytes = g.state.Used(g.worktree(), "")
	r := g.judgeFacts(f, g.policy())
	if r.Outcome == change.Auto {
		return
	}
	check.together = &r
	for _, file := range check.passing {
		check.Blocked = append(check.Blocked, Blocked{File: file.File, Verdict: r.Verdict})
	}
	check.passing = nil
}

// heldBy adds to a verdict on paths, each by itself, what holds them up together.
func (j *judgement) heldBy(whole change.Verdict) {
	for i, reason := range whole.Reasons {
		if !slices.Contains(j.Reasons, reason) {
			j.Reasons = append(j.Reasons, reason)
			j.Why = slices.Insert(j.Why, len(j.Reasons)-1, whole.Why[i])
		}
	}
	j.wait(whole.SettledBy)
}

// recordPassing records what an agent commits by itself, so that it counts in the budget.
func (g *Gate) recordPassing(ctx context.Context, facts []tiers.FileFacts, v *stagedView) error {
	files := make([]change.FileChange, len(facts))
	for i, f := range facts {
		files[i] = f.File
	}
	soon, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	unshare, err := g.store.Share(soon)
	if err != nil {
		return err
	}
	if err := v.images.keep(files); err != nil {
		return errors.Join(err, unshare())
	}
	err = g.update(soon, func() ([]ledger.Draft, error) {
		b := &batch{gate: g, actor: byEnvelope, origin: change.OriginCommit, next: g.state.Last}
		id, staged := b.stage(proposal{files: files})
		b.verdict(id, staged, g.judgeCommitted(facts))
		d := change.Decision{Kind: change.Approved, By: byEnvelope, At: g.clock().UTC(), Scope: "all", How: "envelope", Digest: change.Digest(files)}
		b.add(ledger.ApprovalGrantedAuto, staged, projection.Decided{Set: id, Decision: d})
		return b.drafts, nil
	})
	return errors.Join(err, unshare())
}
