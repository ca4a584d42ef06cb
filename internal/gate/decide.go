package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/tiers"
)

// Person is who decides, and how the decision was given.
type Person struct {
	// Name is the account's name.
	Name string
	// How is "terminal", or "no-terminal" where the user's own configuration allows that.
	How string
}

func (p Person) actor() string { return "person:" + p.Name }

// DecideOptions says what a person decided about one change set.
type DecideOptions struct {
	Person
	// Digest is the digest of what was on screen; the decision is refused if the set has another.
	Digest string
	// Only limits an approval to these files, and Hunks to some hunks of the one there is then.
	Only             []change.Path
	Hunks            *Hunks
	Reason, Steering string
}

func (o DecideOptions) decision(kind change.DecisionKind) change.Decision {
	scope := "all"
	if len(o.Only) > 0 || o.Hunks != nil {
		scope = "only"
	}
	return change.Decision{
		Kind: kind, By: o.actor(), Scope: scope, Reason: o.Reason, Steering: o.Steering, How: o.How, Digest: o.Digest,
	}
}

// yes is an approval about to be recorded: of all of a set, of some files, or of some hunks of one file.
type yes struct {
	event    ledger.Type
	decision change.Decision
	only     []change.Path
	hunks    *Hunks
	// byItself are the facts of a set that lands without a person; nil for a person's yes.
	byItself []tiers.FileFacts
}

// files returns what lands of e.
func (y yes) files(e *projection.Entry) []change.FileChange { return y.on(e).Chosen() }

// on returns e as if the decision stood.
func (y yes) on(e *projection.Entry) *projection.Entry {
	part := &projection.Entry{Set: e.Set, Only: y.only}
	if y.hunks != nil {
		part.Only, part.Hunks = []change.Path{y.hunks.choice.File.Path}, &y.hunks.choice
	}
	return part
}

// Landing returns the files that would land of e by a person's yes with these options: what was chosen, or for a set that
// was approved before what was chosen then.
func (o DecideOptions) Landing(e *projection.Entry) []change.FileChange {
	if e.State == change.StateApproved {
		return e.Chosen()
	}
	return yes{only: o.Only, hunks: o.Hunks}.files(e)
}

// Approve records a person's yes and lands the set, or the files or hunks chosen from it; what is left waits under the next
// number. A set made by a commit ends at approved: its bytes are in the tree. After an error nothing has landed; a stale set
// is recorded as such.
func (g *Gate) Approve(ctx context.Context, id int, o DecideOptions) (Result, error) {
	e, err := g.Set(id)
	if err != nil {
		return Result{}, err
	}
	if !e.State.Waits() || e.State == change.StateApproved && e.Origin == change.OriginCommit {
		return Result{}, &StateError{ID: id, State: e.State, By: e.SupersededBy, Want: "no longer waits"}
	}
	if len(o.Only) > 0 && len(o.Only) == len(e.Files) {
		o.Only = nil
	}
	y := yes{event: ledger.ApprovalGranted, decision: o.decision(change.Approved), only: o.Only, hunks: o.Hunks}
	if e.State == change.StateApproved && y.other(e) {
		return Result{}, &UsageError{Problem: fmt.Sprintf("change set #%d was approved before and lands as it was approved: leave --only and --hunks out", id)}
	}
	if o.Hunks != nil && o.Hunks.digest != e.Digest {
		return Result{}, &StateError{ID: id, State: e.State, Want: "is not what the hunks were chosen of"}
	}
	if err := g.CheckImages(e); err != nil {
		return Result{}, err
	}
	if _, err := g.RecordedHunks(e); err != nil {
		return Result{}, err
	}
	if err := g.stillAllowed(e, o.Landing(e)); err != nil {
		return Result{}, err
	}
	if e.Origin == change.OriginCommit {
		err := g.grant(ctx, id, y)
		return Result{Entry: g.state.Sets[id]}, err
	}
	credential, err := g.decideAndLand(ctx, id, y)
	if err == nil {
		g.foldSession(ctx, e.Session)
	}
	r := g.result(g.state.Sets[id])
	r.Credential = credential
	return r, err
}

// other reports whether a choice of a set differs from the one that it was approved with.
func (y yes) other(e *projection.Entry) bool {
	if y.hunks != nil {
		return e.Hunks == nil || e.Hunks.File.Path != y.hunks.choice.File.Path || e.Hunks.File.Proposed != y.hunks.choice.File.Proposed
	}
	return len(y.only) > 0 && (e.Hunks != nil || !slices.Equal(y.only, e.Only))
}

// CheckImages makes sure that what is about to be shown or to land, and what takes it back, is in the store and is what it
// was. An *ImageError names the first that is not.
func (g *Gate) CheckImages(e *projection.Entry) error {
	files := e.Files
	if e.Hunks != nil {
		files = append(slices.Clip(files), e.Hunks.File)
	}
	for _, f := range files {
		for _, p := range []change.Pin{f.Base, f.Proposed} {
			if !p.HasImage() {
				continue
			}
			if err := g.store.Check(p.SHA256); err != nil {
				return &ImageError{ID: e.ID, Path: f.Path, Cause: err}
			}
		}
	}
	return nil
}

// stillAllowed asks policy once more about what would land, or be committed, of a set: a yes does not carry a change past
// what policy denies by now.
func (g *Gate) stillAllowed(e *projection.Entry, files []change.FileChange) error {
	facts := (&observed{}).factsOf(files)
	r := g.judge(facts, nil)
	if e.Origin == change.OriginCommit {
		r = g.judgeCommitted(facts)
	}
	if r.Outcome == change.Deny {
		return &DeniedError{ID: e.ID, Why: whyWords(r.Verdict)}
	}
	return nil
}

// stillHolds asks policy at the instant of a person's yes: what was set to deny while they looked at the card stands, and
// settings that were edited meanwhile are read first.
func (g *Gate) stillHolds(e *projection.Entry, y yes) error {
	if y.event != ledger.ApprovalGranted || e.Origin == change.OriginUndo {
		return nil
	}
	same, err := g.unchanged()
	if err != nil {
		return err
	}
	if !same {
		return &UsageError{Problem: fmt.Sprintf("the settings were changed while #%d was looked at: nothing was decided", e.ID), Hint: "the same command again"}
	}
	return g.stillAllowed(e, y.files(e))
}

// Reject records a person's no.
func (g *Gate) Reject(ctx context.Context, id int, o DecideOptions) (Result, error) {
	return g.turnDown(ctx, id, ledger.ApprovalRejected, o.decision(change.Rejected))
}

// Skip records that a person leaves a set undecided: the next explicit submission asks again.
func (g *Gate) Skip(ctx context.Context, id int, o DecideOptions) (Result, error) {
	return g.turnDown(ctx, id, ledger.ApprovalSkipped, o.decision(change.Skipped))
}

func (g *Gate) turnDown(ctx context.Context, id int, t ledger.Type, d change.Decision) (Result, error) {
	if _, err := g.Set(id); err != nil {
		return Result{}, err
	}
	err := g.decideInTime(ctx, id, func() ([]ledger.Draft, error) {
		e := g.state.Sets[id]
		if e.State != change.StatePending {
			return nil, &StateError{ID: id, State: e.State, By: e.SupersededBy, Want: "no longer waits"}
		}
		if d.Digest != "" && d.Digest != e.Digest {
			return nil, &StateError{ID: id, State: e.State, Want: "is not what was shown"}
		}
		d.At, d.Digest = g.clock().UTC(), e.Digest
		b := &batch{gate: g, actor: d.By}
		b.add(t, e.Cause, projection.Decided{Set: id, Request: e.Request, Decision: d})
		return b.drafts, nil
	})
	return Result{Entry: g.state.Sets[id]}, err
}

// SetMode records the repository's mode.
func (g *Gate) SetMode(ctx context.Context, m change.Mode, p Person) error {
	return g.update(ctx, func() ([]ledger.Draft, error) {
		b := &batch{gate: g, actor: p.actor()}
		b.add(ledger.ApprovalModeChanged, "", projection.ModeChanged{Mode: m, How: p.How})
		return b.drafts, nil
	})
}

// Choose turns the words of --only into the paths of a set's files: a literal file or folder, or "glob:" and a pattern.
// Both ends of a rename go together, as do files that depend on each other.
func Choose(files []change.FileChange, words []string, match func(pattern string, p change.Path) (bool, error)) ([]change.Path, error) {
	var named scope
	for _, w := range words {
		hit := false
		for _, f := range files {
			for _, p := range f.Paths() {
				ok, err := chosenBy(w, p, match)
				if err != nil {
					return nil, &UsageError{Problem: err.Error()}
				}
				if ok {
					hit = true
					named = append(named, p)
				}
			}
		}
		if !hit {
			return nil, &UsageError{Problem: fmt.Sprintf("%q names no file of the change set", w)}
		}
	}
	return named.closed(files, words)
}

func chosenBy(word string, p change.Path, match func(string, change.Path) (bool, error)) (bool, error) {
	const glob = "glob:"
	if len(word) > len(glob) && word[:len(glob)] == glob {
		return match(word[len(glob):], p)
	}
	dir, err := change.ParsePath(trimSlash(word))
	if err != nil {
		return false, err
	}
	return p.Under(dir), nil
}

func trimSlash(s string) string {
	for len(s) > 1 && s[len(s)-1] == '/' {
		s = s[:len(s)-1]
	}
	return s
}

// closed returns the new paths of the files chosen. A rename named by either end is taken whole; a folder that holds one
// end, and a part of a group, are refused.
func (s scope) closed(files []change.FileChange, words []string) ([]change.Path, error) {
	literal := map[string]bool{}
	for _, w := range words {
		literal[w] = true
	}
	for _, f := range files {
		if f.Op == change.OpRename && (literal[string(f.Path)] || literal[string(f.OldPath)]) {
			s = append(s, f.Path, f.OldPath)
		}
	}
	if err := wholeGroups(files, s); err != nil {
		return nil, err
	}
	var only []change.Path
	for _, f := range files {
		if s.holdsAll(f) {
			only = append(only, f.Path)
		}
	}
	return only, nil
}
