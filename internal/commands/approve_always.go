package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger/projection"
)

// approveAlways lands one set as approveOne does, and then makes the grant that covers it.
func approveAlways(ctx context.Context, c call, s *site, o gate.GrantOptions, id int) (*reply, error) {
	asked, err := chosen(ctx, c, s, o.Person, id)
	if err != nil {
		return nil, err
	}
	if o, err = s.narrowest(ctx, c, asked.entry, asked.Landing(asked.entry), o); err != nil {
		return nil, err
	}
	asked.grant = grantWords(o)
	r, err := asked.decide(ctx, c, s)
	if err != nil {
		return nil, err
	}
	made, err := s.makeGrant(ctx, o)
	if err != nil {
		return resultsReply("", []gate.Result{r}, s.words()), repeated(fmt.Errorf("#%d was approved, and no grant was made: %w", id, err), grantAgain(c, o))
	}
	out := resultsReply("", []gate.Result{r}, s.words())
	j, write := out.json.(submissionJSON), out.text
	j.Grant = &made
	out.json = j
	out.text = func(w io.Writer) {
		write(w)
		fmt.Fprint(w, "granted ")
		made.write(w, c.env.Clock())
	}
	return out, nil
}

// narrowest fills in what a grant that is given with a yes covers: the files that land, and no more.
func (s *site) narrowest(ctx context.Context, c call, e *projection.Entry, files []change.FileChange, o gate.GrantOptions) (gate.GrantOptions, error) {
	if ses := s.State().Sessions[e.Session]; o.Scope != grants.Project {
		if ses == nil || ses.Closed {
			return o, &gate.UsageError{Problem: fmt.Sprintf("#%d has no open session that a grant could be for", e.ID), Hint: fmt.Sprintf("correx approve %d", e.ID)}
		}
		if o.Scope == grants.Stage && (ses.Stage == "" || ses.Stage != e.Stage) {
			return o, &gate.UsageError{Problem: fmt.Sprintf("#%d was proposed in no stage that goes on", e.ID), Hint: fmt.Sprintf("correx approve %d --always session", e.ID)}
		}
		o.Session, o.Began = ses.Session, ses.StageEvent
	}
	if c.Bool("exact") {
		o.Exact = change.Digest(files)
	}
	return s.NarrowestGrant(ctx, e, files, o)
}

// grantWords says what is about to be granted.
func grantWords(o gate.GrantOptions) string {
	j := grantJSON{Scope: o.Scope, Ops: o.Ops, Paths: o.Paths, Exact: o.Exact, Expires: o.Expires}
	return "with a yes, a grant from now on: " + j.words()
}
