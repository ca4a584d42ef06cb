package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/shadow"
	"github.com/correx/correx/tiers"
)

// byEnvelope is who decides when a change lands by itself.
const byEnvelope = "correx"

// SubmitOptions says what to propose.
type SubmitOptions struct {
	Session string
	// Paths limits the submission to these files and folders; empty means the whole shadow.
	Paths   []change.Path
	Message string
	// Each makes one set of every group of files that do not depend on each other.
	Each bool
}

// Result is one change set of a submission or decision, as it stands afterwards.
type Result struct {
	*projection.Entry
	// Rest is the number under which the files wait that a partial approval left out, or 0.
	Rest int
	// Credential undoes the set; it is filled only here, by the process that landed it.
	Credential string
	// Err is why the set did not land although it was allowed to.
	Err error
	// Before says that a submission reports the set and proposed nothing by it: it is there since before, or is what named
	// paths left of one that is.
	Before bool
}

// Submission is what a submission came to: first what is reported again, then what it made.
type Submission struct {
	Session string
	Sets    []Result
	Notices []string
}

// Submit proposes what differs between the shadow and the real tree since the shadow last saw it. In order: look (pins and
// images, stored and flushed), plan and judge under the ledger's lock, record, then land what may land by itself.
// Nothing in the real tree changes before the event that allows it is on disk. A set that could not land is reported in
// its Result; an error means that nothing was staged.
func (g *Gate) Submit(ctx context.Context, o SubmitOptions) (*Submission, error) {
	sh, release, err := g.useShadow(ctx, o.Session)
	if err != nil {
		return nil, err
	}
	defer release()
	seen, made, err := g.propose(ctx, sh, o)
	if err != nil {
		return nil, err
	}
	out := &Submission{Session: o.Session, Notices: seen.notices}
	for _, id := range made.report {
		e := g.state.Sets[id]
		if slices.Contains(made.refused, id) && e.State == change.StateSuperseded {
			// Its bytes had given way to others in the meantime; the no to them stands.
			no := *e
			no.State = change.StateRejected
			e = &no
		}
		out.Sets = append(out.Sets, Result{Entry: e, Before: true})
	}
	for _, id := range made.land {
		out.Sets = append(out.Sets, g.landByItself(ctx, id, seen.factsOf(g.state.Sets[id].Files)))
	}
	for _, id := range made.wait {
		out.Sets = append(out.Sets, Result{Entry: g.state.Sets[id], Before: slices.Contains(made.rest, id)})
	}
	if err := g.foldInto(ctx, sh); err != nil {
		out.Notices = append(out.Notices, fmt.Sprintf("the shadow does not reflect what landed yet: %v", err))
	}
	return out, nil
}

// propose looks at the shadow and records what that comes to. It holds the landing lock meanwhile: what is seen of the real
// tree is never half of a landing, and a set that is landing just now is not taken for one that somebody gave up.
func (g *Gate) propose(ctx context.Context, sh *shadow.Shadow, o SubmitOptions) (seen *observed, made staging, err error) {
	unlock, err := g.lockLanding(ctx)
	if err != nil {
		return nil, made, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	unshare, err := g.store.Share(ctx)
	if err != nil {
		return nil, made, err
	}
	defer func() { err = errors.Join(err, unshare()) }()
	if err := g.catchUp(ctx, sh); err != nil {
		return nil, made, err
	}
	if seen, err = g.look(ctx, sh, o.Paths); err != nil {
		return nil, made, err
	}
	made, err = g.stage(ctx, o, seen)
	return seen, made, err
}

// catchUp brings the state, and the manifest of a shadow, up to the ledger.
func (g *Gate) catchUp(ctx context.Context, sh *shadow.Shadow) error {
	if err := g.refresh(); err != nil {
		return err
	}
	return g.foldInto(ctx, sh)
}

// staging is what recording a plan made: sets reported again, to land now, and at rest (waiting, denied, stale). Of those
// reported again, refused are the answer to bytes that a person said no to; of those at rest, rest are what named paths
// left of a waiting set.
type staging struct {
	report, land, wait []int
	refused, rest      []int
}

// again notes a set to be reported as it stands.
func (s *staging) again(id int) {
	if !slices.Contains(s.report, id) {
		s.report = append(s.report, id)
	}
}

// stage makes the plan and records it, both under the ledger's lock, so that no other process can come between what was
// read and what is written.
func (g *Gate) stage(ctx context.Context, o SubmitOptions, seen *observed) (staging, error) {
	var made staging
	said, err := g.consult(ctx, o, seen)
	if err != nil {
		return made, err
	}
	err = g.update(ctx, func() ([]ledger.Draft, error) {
		made = staging{}
		b := g.newBatch(o)
		b.raises = said
		p, err := makePlan(g.planInput(o, seen, func(e *projection.Entry) tiers.Result {
			r := g.judge(seen.factsOf(e.Files), b.session)
			said.raise(&r.Result, e.Files)
			return r.Result
		}))
		if err != nil {
			return nil, err
		}
		g.draft(b, p, seen, &made)
		return b.drafts, nil
	})
	return made, err
}

// planInput is what a submission is planned from, with judged for what policy says now of an earlier set.
func (g *Gate) planInput(o SubmitOptions, seen *observed, judged func(*projection.Entry) tiers.Result) planInput {
	return planInput{
		changes: seen.changes, units: g.units(o.Session), scope: o.Paths, each: o.Each, moved: seen.moved,
		outcome: func(e *projection.Entry) change.Outcome { return judged(e).Outcome },
		granted: func(e *projection.Entry) bool {
			// The rest of a set waits for its own answer. What no grant covers is judged no further: nobody is asked about it.
			ses := g.state.Sessions[o.Session]
			return e.Parent == 0 && len(g.judge(seen.factsOf(e.Files), ses).Grants) > 0 && judged(e).Outcome == change.Auto
		},
	}
}

// newBatch begins the events of a submission.
func (g *Gate) newBatch(o SubmitOptions) *batch {
	ses := g.state.Sessions[o.Session]
	return &batch{gate: g, session: ses, actor: actorOf(ses), message: o.Message, origin: change.OriginShadow, next: g.state.Last}
}

// draft turns a plan into events, in causal order, and notes which set goes where.
func (g *Gate) draft(b *batch, p plan, seen *observed, made *staging) {
	for _, u := range p.again {
		if found := seen.staleIn(u.Files); len(found) > 0 && u.State.Waits() {
			b.add(ledger.ChangeStale, u.Cause, projection.Stale{Set: u.ID, Paths: found})
		}
		made.again(u.ID)
	}
	for _, u := range p.resume {
		b.spend(u.Files)
		made.land = append(made.land, u.ID)
	}
	for _, id := range p.gone {
		b.add(ledger.ChangeSuperseded, g.state.Sets[id].Cause, projection.Superseded{Set: id})
	}
	replaced := map[int]bool{}
	supersede := func(prop proposal, cause string, by int) {
		for _, old := range append(prop.supersedes, prop.parent) {
			if old != 0 && !replaced[old] {
				replaced[old] = true
				b.add(ledger.ChangeSuperseded, cmp.Or(cause, g.state.Sets[old].Cause), projection.Superseded{Set: old, By: by})
			}
		}
	}
	for _, prop := range p.fresh {
		if first, refused := g.state.AllRefused(g.worktree(), prop.files); refused && !prop.rest {
			// The answer is there already; what stood in its place until now stands no more.
			made.again(first.ID)
			made.refused = append(made.refused, first.ID)
			prop.supersedes = slices.DeleteFunc(slices.Clone(prop.supersedes), func(id int) bool { return id == first.ID })
			supersede(prop, "", 0)
			continue
		}
		id, staged := b.stage(prop)
		supersede(prop, staged, id)
		b.cause = staged
		if g.draftVerdict(b, id, prop, seen) {
			made.land = append(made.land, id)
		} else {
			made.wait = append(made.wait, id)
		}
		if prop.rest {
			made.rest = append(made.rest, id)
		}
	}
}

// draftVerdict records what becomes of a set that was staged, and reports whether it may land by itself. What this
// submission lets land counts in the verdict on the sets after it, as if it had landed.
func (g *Gate) draftVerdict(b *batch, id int, prop proposal, seen *observed) bool {
	if found := seen.staleIn(prop.files); len(found) > 0 {
		b.add(ledger.ChangeStale, b.cause, projection.Stale{Set: id, Paths: found})
		return false
	}
	r := g.judge(seen.factsOf(prop.files), b.session)
	if prop.rest {
		r.wait("rest of a waiting set")
	}
	from := r.Outcome
	if up := b.raises.raise(&r.Result, prop.files); up.to != from {
		b.escalated(id, from, up)
	}
	b.verdict(id, b.cause, r)
	if r.Outcome == change.Auto {
		b.spend(prop.files)
	}
	return r.Outcome == change.Auto
}

// spend counts files against the session's budget for the rest of the batch.
func (b *batch) spend(files []change.FileChange) {
	used := *b.session
	for _, f := range files {
		used.UsedFiles++
		used.UsedBytes += f.Bytes
	}
	b.session = &used
}

// units are the sets of a session that a new submission meets.
func (g *Gate) units(session string) []*projection.Entry {
	var list []*projection.Entry
	for _, e := range g.state.Ordered(g.worktree()) {
		if e.Session != session || e.Origin != change.OriginShadow {
			continue
		}
		switch e.State {
		case change.StateStaged, change.StatePending, change.StateApproved, change.StateRejected, change.StateSkipped,
			change.StateTimedOut, change.StateStale, change.StateDenied:
			list = append(list, e)
		}
	}
	return list
}

// judge asks policy about files, with what this worktree's sessions have used of the budget.
func (g *Gate) judge(facts []tiers.FileFacts, ses *projection.Session) judgement {
	f := tiers.Facts{Files: facts, Origin: change.OriginShadow, Enforced: "none"}
	if ses != nil {
		files, bytes := g.state.Used(g.worktree(), ses.Session)
		f.Used = tiers.Usage{Files: files + ses.UsedFiles, Bytes: bytes + ses.UsedBytes}
		f.Enforced = ses.Enforced
	}
	return g.judgeFacts(f, g.policyFor(ses))
}

// batch collects the events of one append, each naming the one that caused it.
type batch struct {
	gate    *Gate
	session *projection.Session
	actor   string
	message string
	origin  change.Origin
	next    int
	// raises is what the user's program said of the sets.
	raises raises
	// cause is the event that staged the set which is judged next.
	cause  string
	drafts []ledger.Draft
}

// add appends an event and returns its id.
func (b *batch) add(t ledger.Type, cause string, data any) string {
	id := ledger.NewID(b.gate.rand)
	b.drafts = append(b.drafts, ledger.Draft{ID: id, Type: t, Cause: cause, Actor: b.actor, Data: data})
	return id
}

// stage appends ChangeStaged for a new set and returns the set's number and the event's id.
func (b *batch) stage(p proposal) (int, string) {
	b.next++
	set := b.describe(p)
	set.ID = b.next
	cause := ""
	if b.session != nil {
		cause = b.session.Event
	}
	return set.ID, b.add(ledger.ChangeStaged, cause, projection.ChangeStaged{Set: set})
}

// describe returns the set that a proposal becomes, without its number.
func (b *batch) describe(p proposal) change.Set {
	set := change.Set{
		Worktree: b.gate.worktree(), Origin: b.origin, Message: b.message, Parent: p.parent,
		Files: p.files, Digest: change.Digest(p.files), CreatedAt: b.gate.clock().UTC(),
	}
	if b.session != nil {
		set.Session, set.Agent, set.Stage = b.session.Session, b.session.Agent, b.session.Stage
	}
	return set
}

// verdict appends the verdict on a staged set and, where it asks, the request.
func (b *batch) verdict(id int, cause string, r judgement) {
	data := projection.PreflightCompleted{Set: id, Verdict: r.Verdict, Facts: r.facts}
	for _, f := range r.Files {
		data.Files = append(data.Files, projection.FileOutcome{Outcome: f.Outcome, Reasons: f.Reasons})
	}
	e := b.add(ledger.PreflightCompleted, cause, data)
	if r.Outcome == change.Ask {
		e = b.add(ledger.ApprovalRequired, e, projection.SetEvent{Set: id})
		b.add(ledger.ApprovalPending, e, b.gate.request(id, r.Tier))
	}
}

func actorOf(ses *projection.Session) string {
	if ses == nil {
		return byEnvelope
	}
	if ses.Agent != "" {
		return "agent:" + ses.Agent
	}
	return "session:" + ses.Session
}

// useShadow opens the shadow of a session for one submission at a time and brings its manifest up to the ledger.
func (g *Gate) useShadow(ctx context.Context, session string) (*shadow.Shadow, func(), error) {
	ses, ok := g.state.Sessions[session]
	if !ok || ses.Closed || ses.Worktree != g.worktree() {
		return nil, nil, &UsageError{Problem: "session " + session + " is not open here", Hint: "correx shadow list"}
	}
	unlock, err := g.lockSession(ctx, session)
	if err != nil {
		return nil, nil, err
	}
	sh, err := g.loadShadow(session)
	if err == nil {
		err = g.foldInto(ctx, sh)
	}
	if err != nil {
		_ = unlock()
		return nil, nil, err
	}
	return sh, func() { _, _ = sh.Release(), unlock() }, nil
}
