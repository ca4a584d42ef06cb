package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/tiers"
)

// errAsksNow is returned by a landing that was let in by itself and is not any more: the set waits, or is denied.
var errAsksNow = errors.New("is no longer let in by itself")

// stamp writes a moment as grants know it.
func stamp(t time.Time) string { return t.UTC().Format(projection.MomentFormat) }

// policyFor returns the policy for what a session proposes, with the grants in the order in which they are looked at. With
// ses nil, or closed, only the project's are.
func (g *Gate) policyFor(ses *projection.Session) tiers.Policy {
	p := g.policy()
	now := stamp(g.clock())
	own := heldFor(g.state, ses, now)
	p.Grants = append(slices.Clone(own), projectGrants(g.config, false, now)...)
	if p.Untrusted != nil {
		p.Untrusted.Grants = append(slices.Clone(own), projectGrants(g.config, true, now)...)
	}
	return p
}

// heldFor returns the grants of a session and of the stage it is in.
func heldFor(s *projection.State, ses *projection.Session, now string) []tiers.Grant {
	if ses == nil || ses.Closed {
		return nil
	}
	var list []tiers.Grant
	for _, h := range s.Grants.Standing() {
		if h.Session == ses.Session {
			list = append(list, forPolicy(h.Grant, h.Event, now))
		}
	}
	return list
}

// forPolicy returns a grant as policy looks at it. One whose patterns cannot be read covers nothing.
func forPolicy(h grants.Grant, source, now string) tiers.Grant {
	t := tiers.Grant{ID: h.ID, Scope: string(h.Scope), Ops: h.Ops, Exact: h.Exact, Source: source}
	for _, text := range h.Paths {
		p, err := tiers.ParsePattern(text)
		if err != nil {
			t.Void = "not readable"
			continue
		}
		t.Paths = append(t.Paths, p)
	}
	if h.Expired(now) {
		t.Void = "expired"
	}
	return t
}

// projectGrants returns the grants of the repository's files; with trusting also those of files that are not trusted.
func projectGrants(conf config.Config, trusting bool, now string) []tiers.Grant {
	var list []tiers.Grant
	for _, c := range conf.Grants {
		t := c.Grant
		if trusting {
			t.Void = ""
		}
		if t.Void == "" && (grants.Grant{Expires: c.Expires}).Expired(now) {
			t.Void = "expired"
		}
		list = append(list, t)
	}
	return list
}

// storedGrant returns a project's grant as events know it.
func (g *Gate) storedGrant(id string) (grants.Grant, string, bool) {
	for _, c := range g.config.Grants {
		if c.ID == id {
			return grants.Grant{ID: c.ID, Scope: grants.Project, Ops: c.Ops, Paths: c.Texts, Exact: c.Exact, Expires: c.Expires}, c.File, true
		}
	}
	return grants.Grant{}, "", false
}

// letIn records that a set lands by itself: by the envelope, a rule or the mode, or by grants. A project's grant is noted
// when it is used for the first time.
func (b *batch) letIn(e *projection.Entry, d change.Decision, hits []string) {
	if len(hits) == 0 {
		b.add(ledger.ApprovalGrantedAuto, e.Cause, projection.Decided{Set: e.ID, Decision: d})
		return
	}
	cause := e.Cause
	for _, id := range hits {
		stored, file, ok := b.gate.storedGrant(id)
		if _, known := b.gate.state.Grants.Get(id); ok && !known {
			cause = b.add(ledger.GrantLoadedFromProject, cause, projection.GrantLoaded{Grant: stored, File: file})
		}
	}
	d.How = "grant"
	data := projection.Decided{Set: e.ID, Decision: d, GrantHit: hits[0]}
	if len(hits) > 1 {
		data.GrantHits = hits
	}
	b.add(ledger.ApprovalReused, cause, data)
}

// recordLetIn judges a staged set once more, with the settings, grants and mode of now, and records that it lands by itself
// or what else becomes of it: between the verdict and the landing a person may have revoked, or edited, something. It
// returns errAsksNow for the latter.
func (g *Gate) recordLetIn(ctx context.Context, id int, facts []tiers.FileFacts) error {
	asks := false
	err := g.update(ctx, func() ([]ledger.Draft, error) {
		e := g.state.Sets[id]
		switch e.State {
		case change.StateApproved:
			return nil, nil
		case change.StateStaged:
		default:
			return nil, &StateError{ID: id, State: e.State, By: e.SupersededBy, Want: "no longer waits"}
		}
		same, err := g.unchanged()
		if err != nil {
			return nil, err
		}
		b := &batch{gate: g, actor: byEnvelope}
		r := g.judge(facts, g.state.Sessions[e.Session])
		if !same && r.Outcome == change.Auto {
			r.Outcome, r.SettledBy = change.Ask, "settings"
			r.Why = append(slices.Clone(r.Why), "the settings were changed while it was submitted")
		}
		if asks = r.Outcome != change.Auto; asks {
			b.verdict(id, e.Cause, r)
			return b.drafts, nil
		}
		d := change.Decision{Kind: change.Approved, By: byEnvelope, At: g.clock().UTC(), Scope: "all", How: "envelope", Digest: e.Digest}
		b.letIn(e, d, r.Grants)
		return b.drafts, nil
	})
	if err == nil && asks {
		return errAsksNow
	}
	return err
}

// GrantOptions says what a person grants.
type GrantOptions struct {
	Person
	Scope grants.Scope
	Ops   []change.Op
	// Paths are patterns as they are written.
	Paths []string
	// Exact is the digest of the one set of file changes meant, or "".
	Exact string
	// Expires is when it ends, or "".
	Expires string
	// Session is whose it is, for the scopes session and stage. Began is the event that began the stage meant, or "" for
	// the one that the session is in.
	Session, Began string
	// Set is the change set it is given with, or 0.
	Set int
}

// check returns the patterns of o. A *GrantError says that such a grant would never count.
func (o GrantOptions) check() ([]tiers.Pattern, error) {
	if len(o.Ops) == 0 || len(o.Paths) == 0 {
		return nil, &UsageError{Problem: "a grant names ops and paths", Hint: "correx grant add --help"}
	}
	var list []tiers.Pattern
	for _, text := range o.Paths {
		p, err := tiers.ParsePattern(text)
		if err != nil {
			return nil, &UsageError{Problem: err.Error(), Hint: "correx grant add --help"}
		}
		if by, hard := p.HardNamed(); hard {
			return nil, &GrantError{Why: fmt.Sprintf("%q names only what no grant covers: it %s", text, by.Why)}
		}
		list = append(list, p)
	}
	return list, nil
}

// AddGrant records a grant for a session or for the stage it is in. After a failure there is none.
func (g *Gate) AddGrant(ctx context.Context, o GrantOptions) (grants.Held, error) {
	if _, err := o.check(); err != nil {
		return grants.Held{}, err
	}
	var id string
	err := g.update(ctx, func() ([]ledger.Draft, error) {
		ses, err := g.openSession(o.Session)
		if err != nil {
			return nil, err
		}
		data := projection.GrantAdded{Session: ses.Session, Set: o.Set, How: o.How}
		t := ledger.ApprovalSessionGrantAdded
		if o.Scope == grants.Stage {
			if ses.Stage == "" || (o.Began != "" && o.Began != ses.StageEvent) {
				return nil, &UsageError{Problem: "session " + ses.Session + " is in no stage that a grant could be for", Hint: "correx stage begin NAME, in its shadow"}
			}
			t, data.Stage, data.Began = ledger.ApprovalStageGrantAdded, ses.Stage, ses.StageEvent
		}
		b := &batch{gate: g, actor: o.actor()}
		event := ledger.NewID(g.rand)
		id = "g-" + event[2:12]
		data.Grant = grants.Grant{ID: id, Scope: o.Scope, Ops: o.Ops, Paths: o.Paths, Exact: o.Exact, Expires: o.Expires}
		b.drafts = append(b.drafts, ledger.Draft{ID: event, Type: t, Cause: ses.Event, Actor: b.actor, Data: data})
		return b.drafts, nil
	})
	h, _ := g.state.Grants.Get(id)
	return h, err
}

// openSession returns an open session of this worktree.
func (g *Gate) openSession(id string) (*projection.Session, error) {
	ses, ok := g.state.Sessions[id]
	if !ok || ses.Closed || ses.Worktree != g.worktree() {
		return nil, &UsageError{Problem: fmt.Sprintf("session %q is not open here", id), Hint: "correx shadow list"}
	}
	return ses, nil
}

// NarrowestGrant returns the grant that covers these files of a set and nothing else: their ops, and their paths to the
// letter. It is made only if it would let just this change pass; else a *GrantError says what no grant lifts.
func (g *Gate) NarrowestGrant(ctx context.Context, e *projection.Entry, files []change.FileChange, o GrantOptions) (GrantOptions, error) {
	facts, err := g.factsNow(ctx, files, change.OriginShadow)
	if err != nil {
		return o, err
	}
	for _, f := range facts {
		o.Ops = append(o.Ops, tiers.NeededOps(f)...)
		named := f.File.Paths()
		for _, source := range []change.Path{f.CopyOf, f.LinkTarget} {
			if _, protected := tiers.Protects(source, g.config.Policy.Protect); source != "" && protected {
				named = append(named, source)
			}
		}
		for _, at := range named {
			p, err := tiers.LiteralPattern(at)
			if err != nil {
				return o, &GrantError{Why: fmt.Sprintf("no pattern names %q: %v", at, err)}
			}
			o.Paths = append(o.Paths, p.String())
		}
	}
	slices.Sort(o.Ops)
	slices.Sort(o.Paths)
	o.Ops, o.Paths, o.Set = slices.Compact(o.Ops), slices.Compact(o.Paths), e.ID
	if _, err := o.check(); err != nil {
		return o, err
	}
	p := g.policy()
	p.Untrusted = nil
	p.Grants = []tiers.Grant{forPolicy(grants.Grant{Scope: o.Scope, Ops: o.Ops, Paths: o.Paths, Exact: o.Exact}, "", stamp(g.clock()))}
	enforced := "none"
	if ses := g.state.Sessions[e.Session]; ses != nil {
		enforced = ses.Enforced
	}
	r := tiers.Judge(tiers.Facts{Files: facts, Origin: change.OriginShadow, Enforced: enforced, Now: momentOf(g.clock())}, p)
	if r.Outcome != change.Auto {
		return o, &GrantError{Why: fmt.Sprintf("no grant would let this change pass, as %s", whyWords(r.Verdict))}
	}
	return o, nil
}

// GrantView is a grant as a person sees it.
type GrantView struct {
	grants.Held
	// Source is where it is written: the id of an event, or a file and line.
	Source string
	// Void says why it does not count now; empty for one that does.
	Void string
}

// Grants returns the grants that stand, in the order in which they are looked up: those of this worktree's open sessions and
// their stages, then those of the repository's files, also those that do not count now.
func (g *Gate) Grants() []GrantView {
	var list []GrantView
	for _, h := range g.state.Grants.Standing() {
		if ses := g.state.Sessions[h.Session]; ses != nil && ses.Worktree == g.worktree() {
			list = append(list, GrantView{Held: h, Source: h.Event, Void: forPolicy(h.Grant, "", stamp(g.clock())).Void})
		}
	}
	for _, t := range projectGrants(g.config, false, stamp(g.clock())) {
		stored, file, _ := g.storedGrant(t.ID)
		h, known := g.state.Grants.Get(t.ID)
		if !known {
			h = grants.Held{File: file}
		}
		h.Grant = stored
		list = append(list, GrantView{Held: h, Source: t.Source, Void: t.Void})
	}
	return list
}

// RevokeGrant takes back a grant of a session or stage. It counts for no landing that is recorded after it.
func (g *Gate) RevokeGrant(ctx context.Context, id string, by Person) error {
	return g.update(ctx, func() ([]ledger.Draft, error) {
		h, ok := g.state.Grants.Get(id)
		switch {
		case !ok || h.Scope == grants.Project:
			return nil, &UnknownGrantError{ID: id}
		case h.Revoked || h.Ended:
			return nil, &UsageError{Problem: fmt.Sprintf("grant %s does not count any more: it was revoked, or its session or stage is over", id), Hint: "correx grant list"}
		}
		b := &batch{gate: g, actor: by.actor()}
		b.add(ledger.GrantRevoked, h.Event, projection.GrantRevoked{Grant: id, Scope: h.Scope, How: by.How})
		return b.drafts, nil
	})
}

// TurnStage begins a stage of a session, or with name "" ends the one it is in, and returns the stage's name. The grants of
// a stage end with it, and one of the same name that begins later is another.
func (g *Gate) TurnStage(ctx context.Context, session, name, actor string) (string, error) {
	err := g.update(ctx, func() ([]ledger.Draft, error) {
		ses, err := g.openSession(session)
		if err != nil {
			return nil, err
		}
		b := &batch{gate: g, actor: actor}
		switch {
		case name != "" && ses.Stage != "":
			return nil, &UsageError{Problem: fmt.Sprintf("session %s is in stage %q", session, ses.Stage), Hint: "correx stage end"}
		case name != "":
			b.add(ledger.StageBegan, ses.Event, projection.Stage{Session: session, Stage: name})
		case ses.Stage == "":
			return nil, &UsageError{Problem: "session " + session + " is in no stage", Hint: "correx stage begin NAME"}
		default:
			name = ses.Stage
			b.add(ledger.StageEnded, ses.StageEvent, projection.Stage{Session: session, Stage: name})
		}
		return b.drafts, nil
	})
	return name, err
}
