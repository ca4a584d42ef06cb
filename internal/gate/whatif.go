package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/tiers"
)

// WhatIf is what recorded change sets would have come to by another policy.
type WhatIf struct {
	// Judged counts the sets that could be judged anew, Different are those that would have come out otherwise, by number.
	Judged    int
	Different []Difference
	// Unjudged are the sets whose verdicts were recorded without what they were made from.
	Unjudged []int
	// ModeSet counts the judged sets at whose time a mode set by a person was in force; it counts in the other policy too.
	ModeSet int
	// Asks says how many sets each limit, protection, rule or mode made ask, the most first.
	Asks []Asks
}

// Difference is one set, with the verdict that is recorded and the one that would have been.
type Difference struct {
	Set             change.Set
	Recorded, Would change.Verdict
}

// Asks is what settled some asks, as recorded and by the other policy.
type Asks struct {
	SettledBy       string
	Recorded, Would int
}

// TryPolicy judges the change sets of this worktree that were submitted since a time by another configuration, in the order of
// the ledger, from what was known when they were judged. It reads the ledger only: nobody is asked, nothing is written,
// and what is due (recovery, the end of a request) is left to others.
//
// The budget is counted as the other policy would have: what would have landed by itself counts from then on, and a
// decision of a person begins it anew only if they would have been asked. What did land counts either way, since what came
// after was built on it; so a stricter policy never lets pass what another stopped. Undos are no proposals and are left out.
func TryPolicy(r *repo.Repo, o ledger.Options, conf config.Config, since time.Time) (WhatIf, error) {
	dir := StateDir(r.CommonDir())
	if err := durable.CheckPrivate(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return WhatIf{}, err
	}
	log, err := ledger.Open(filepath.Join(dir, "ledger"), o)
	if err != nil {
		return WhatIf{}, err
	}
	events, err := log.Refresh()
	if err != nil {
		return WhatIf{}, err
	}
	return tryPolicy(events, r.WorktreeID(), conf, since)
}

// trial goes through a ledger by another policy.
type trial struct {
	worktree string
	conf     config.Config
	state    *projection.State
	// extra is how much more of the budget would have been used.
	extra tiers.Usage
	// would has the verdict on each set that was judged anew, asks what settled those that ask.
	would map[int]change.Verdict
	asks  map[string]Asks
	found WhatIf
}

func tryPolicy(events []ledger.Event, worktree string, conf config.Config, since time.Time) (WhatIf, error) {
	t := &trial{worktree: worktree, conf: conf, state: projection.New(), would: map[int]change.Verdict{}, asks: map[string]Asks{}}
	for _, e := range events {
		switch e.Type {
		case ledger.PreflightCompleted:
			if err := t.judge(e, since); err != nil {
				return WhatIf{}, err
			}
		case ledger.ApprovalGranted, ledger.ApprovalRejected, ledger.ApprovalSkipped:
			t.decided(setOf(e))
		}
		if err := t.state.Fold([]ledger.Event{e}); err != nil {
			return WhatIf{}, err
		}
	}
	for by, a := range t.asks {
		a.SettledBy = by
		t.found.Asks = append(t.found.Asks, a)
	}
	slices.SortFunc(t.found.Asks, func(a, b Asks) int {
		return cmp.Or(cmp.Compare(max(b.Recorded, b.Would), max(a.Recorded, a.Would)), cmp.Compare(a.SettledBy, b.SettledBy))
	})
	return t.found, nil
}

// judge judges the set of a recorded verdict anew.
func (t *trial) judge(e ledger.Event, since time.Time) error {
	var d projection.PreflightCompleted
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return &projection.ContradictionError{Seq: e.Seq, Type: e.Type, Problem: "data cannot be read: " + err.Error()}
	}
	set, ok := t.state.Sets[d.Set]
	switch {
	case t.judged(d.Set):
		return nil // what came between the verdict and the landing was no other policy
	case !ok, set.Worktree != t.worktree, set.Origin == change.OriginUndo, e.At.Before(since), d.Facts != nil && d.Facts.Own:
		return nil
	case d.Facts == nil:
		t.found.Unjudged = append(t.found.Unjudged, d.Set)
		return nil
	}
	v := t.verdict(set, d.Facts)
	t.would[d.Set] = v
	t.found.Judged++
	if t.state.Mode != "" {
		t.found.ModeSet++
	}
	if v.Outcome != d.Verdict.Outcome {
		t.found.Different = append(t.found.Different, Difference{Set: set.Set, Recorded: d.Verdict, Would: v})
	}
	if v.Outcome == change.Auto && d.Verdict.Outcome != change.Auto && set.Origin == change.OriginShadow {
		for _, f := range set.Files {
			t.extra.Files++
			t.extra.Bytes += f.Bytes
		}
	}
	t.count(d.Verdict, v)
	return nil
}

func (t *trial) judged(id int) bool {
	_, is := t.would[id]
	return is
}

// verdict is the verdict on a set by the other policy. The grants of its session, and of the stage it was in, count as they
// did; the project's are those of the other configuration. What made it wait whatever policy said, and what the user's program
// said of it, counts as it did.
func (t *trial) verdict(set *projection.Entry, recorded *projection.Facts) change.Verdict {
	f := recordedFacts(set.Files, set.Origin, recorded)
	if set.Origin == change.OriginShadow {
		f.Used.Files += t.extra.Files
		f.Used.Bytes += t.extra.Bytes
	}
	p := policyOf(t.conf, t.state.Mode)
	if set.Origin == change.OriginShadow {
		now := stamp(recorded.Now)
		p.Grants = append(heldFor(t.state, t.state.Sessions[set.Session], now), projectGrants(t.conf, false, now)...)
	}
	r := judgement{Result: tiers.Judge(f, p), facts: &projection.Facts{}}
	if recorded.Waits != "" {
		r.wait(recorded.Waits)
	}
	if up := set.Escalated; up != nil {
		raises{set.Digest: raised{to: up.To, reason: up.Reason}}.raise(&r.Result, set.Files)
	}
	return r.Verdict
}

// decided begins the budget anew if the person who decided would have been asked.
func (t *trial) decided(id int) {
	set, ok := t.state.Sets[id]
	if !ok || set.Origin != change.OriginShadow || set.Worktree != t.worktree {
		return
	}
	if v, judged := t.would[id]; !judged || v.Outcome == change.Ask {
		t.extra = tiers.Usage{}
		return
	}
	files, bytes := t.state.Used(t.worktree, "")
	t.extra.Files += files
	t.extra.Bytes += bytes
}

// count notes what settled an ask.
func (t *trial) count(recorded, would change.Verdict) {
	if recorded.Outcome == change.Ask {
		a := t.asks[recorded.SettledBy]
		a.Recorded++
		t.asks[recorded.SettledBy] = a
	}
	if would.Outcome == change.Ask {
		a := t.asks[would.SettledBy]
		a.Would++
		t.asks[would.SettledBy] = a
	}
}
