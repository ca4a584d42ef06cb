package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/tiers"
)

// Escalator is the user's own program that may raise a verdict. It is told the set as it would be staged, without its number,
// the verdict and the mode. It returns "" to leave the verdict as it is, or what it is to be raised to and why. An error says
// why there is no answer.
type Escalator func(ctx context.Context, set change.Set, v change.Verdict, m change.Mode) (to change.Outcome, reason string, err error)

// byEscalation is what settled a verdict that was raised.
const byEscalation = "escalate.command"

// escalationPatience bounds how long the programs of one submission take together. The landing lock is held meanwhile.
const escalationPatience = 30 * time.Second

// raised is what the program said of one set.
type raised struct {
	to     change.Outcome
	reason string
	failed bool
}

// raises is what the program said of the sets of a submission, by their digests; nil where there is no program.
type raises map[string]raised

// consult asks the program about every set that the submission would come to by what the ledger says now. The plan is made
// once more under the ledger's lock, which no program may hold up; a set that nobody was asked about then asks.
func (g *Gate) consult(ctx context.Context, o SubmitOptions, seen *observed) (raises, error) {
	if g.escalator == nil {
		return nil, nil
	}
	soon, cancel := context.WithTimeoutCause(ctx, escalationPatience, fmt.Errorf("was asked too much: more than %s for one submission", escalationPatience))
	defer cancel()
	said := raises{}
	b := g.newBatch(o)
	judged := func(files []change.FileChange) tiers.Result {
		r := g.judge(seen.factsOf(files), b.session)
		if _, known := said[change.Digest(files)]; !known && r.Outcome != change.Deny {
			said[change.Digest(files)] = g.ask(soon, b.describe(proposal{files: files}), r.Verdict)
		}
		said.raise(&r.Result, files)
		return r.Result
	}
	p, err := makePlan(g.planInput(o, seen, func(e *projection.Entry) tiers.Result { return judged(e.Files) }))
	if err != nil {
		return nil, err
	}
	for _, u := range p.resume {
		b.spend(u.Files)
	}
	for _, prop := range p.fresh {
		if _, refused := g.state.AllRefused(g.worktree(), prop.files); refused || len(seen.staleIn(prop.files)) > 0 {
			continue
		}
		if judged(prop.files).Outcome == change.Auto && !prop.rest {
			b.spend(prop.files)
		}
	}
	for _, r := range said {
		if r.failed {
			seen.notices = append(seen.notices, fmt.Sprintf("the program of escalate.command was of no help: %s", r.reason))
			break
		}
	}
	return said, ctx.Err()
}

// ask asks the program about one set. No answer asks.
func (g *Gate) ask(ctx context.Context, set change.Set, v change.Verdict) raised {
	to, reason, err := g.escalator(ctx, set, v, g.Mode())
	if err != nil {
		return raised{change.Ask, fmt.Sprintf("your program gave no answer: %v", err), true}
	}
	if reason == "" {
		reason = "no reason was given"
	}
	return raised{to: to, reason: "your program: " + reason}
}

// raise applies what the program said to the verdict on files, and returns that with the outcome that came of it. It only
// raises: what is stricter already stays as it is, and to is then the outcome that was there.
func (s raises) raise(r *tiers.Result, files []change.FileChange) raised {
	unchanged := raised{to: r.Outcome}
	if s == nil || r.Outcome == change.Deny {
		return unchanged
	}
	said, known := s[change.Digest(files)]
	if !known {
		said = raised{change.Ask, "your program was not asked: the change set was another when it was", true}
	}
	if said.to != change.Deny && (said.to != change.Ask || r.Outcome != change.Auto) {
		return unchanged
	}
	r.Outcome, r.SettledBy = said.to, byEscalation
	r.Why = append(r.Why, said.reason)
	return said
}

// escalated appends that a verdict was raised, before the verdict, so that no part of the append says less than all of it.
func (b *batch) escalated(id int, from change.Outcome, up raised) {
	b.cause = b.add(ledger.ApprovalEscalated, b.cause, projection.Escalated{Set: id, From: from, To: up.to, Reason: up.reason, Failed: up.failed})
}
