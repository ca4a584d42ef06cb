package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/undo"
)

// Finding is one thing that does not verify.
type Finding struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

// FsckReport is what a full verification found.
type FsckReport struct {
	Events uint64 `json:"events"`
	Head   string `json:"head"`
	// Torn is how many bytes of an event that was never acknowledged follow the last whole one. The next command that writes
	// sets them aside.
	Torn     int64     `json:"torn_bytes,omitempty"`
	Images   int       `json:"images"`
	Needed   int       `json:"needed"`
	Journal  string    `json:"journal"`
	Findings []Finding `json:"findings"`
}

func (r *FsckReport) found(where, what string) {
	r.Findings = append(r.Findings, Finding{Where: where, What: what})
}

// Fsck verifies the repository's ledger from the start, that each event can follow those before it, that the cause of each
// is there, that every image a change set needs is stored and is what its name says, that chosen hunks come to what was
// recorded of them, and the journal. It reads only, and goes on after a finding as far as it can.
func Fsck(ctx context.Context, r *repo.Repo, o ledger.Options) (FsckReport, error) {
	dir := StateDir(r.CommonDir())
	report := FsckReport{Journal: "empty", Findings: []Finding{}}
	state := projection.New()
	if err := durable.CheckPrivate(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		report.found("state", err.Error())
		return report, nil
	}
	verified, err := ledger.Verify(filepath.Join(dir, "ledger"))
	if err != nil && !errors.Is(err, ledger.ErrCorrupt) {
		return report, err
	}
	report.Events, report.Head = verified.Events, verified.Head
	report.Torn = verified.TornTail
	if err != nil {
		report.found("ledger", err.Error())
	} else if err := foldAll(dir, o, state, &report); err != nil {
		return report, err
	}
	store := undo.OpenStore(filepath.Join(dir, "store"))
	err = store.Each(func(sha256 string, _ int64) error {
		report.Images++
		if err := store.Check(sha256); err != nil {
			report.found("store", err.Error())
		}
		return ctx.Err()
	})
	if err != nil {
		return report, err
	}
	needed := neededImages(state)
	report.Needed = len(needed)
	for sha256, where := range needed {
		if !store.Has(sha256) {
			report.found("store", fmt.Sprintf("image %.12s of %s is missing", sha256, where))
		}
	}
	for _, e := range state.Ordered("") {
		var hunks *HunksError
		if _, err := recordedHunks(store, e); errors.As(err, &hunks) {
			report.found("ledger", err.Error())
		}
	}
	return report, checkTree(r, store, state, &report)
}

// foldAll replays the events and checks that each names a cause that came before it.
func foldAll(dir string, o ledger.Options, state *projection.State, report *FsckReport) error {
	log, err := ledger.Open(filepath.Join(dir, "ledger"), o)
	if err != nil {
		return err
	}
	events, err := log.Refresh()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, e := range events {
		if e.Cause != "" && !known[e.Cause] {
			report.found("ledger", fmt.Sprintf("event %d (%s) names cause %q, which is not before it", e.Seq, e.Type, e.Cause))
		}
		known[e.ID] = true
	}
	if err := state.Fold(events); err != nil {
		report.found("ledger", err.Error())
	}
	return nil
}

// neededImages are the images that a set which waits, has landed or was undone may still need.
func neededImages(s *projection.State) map[string]string {
	needed := map[string]string{}
	for _, e := range s.Ordered("") {
		switch e.State {
		case change.StatePending, change.StateApproved, change.StateApplied, change.StatePartiallyAccepted, change.StateUndone:
		default:
			continue
		}
		for _, f := range append(e.Chosen(), e.Files...) {
			for _, p := range []change.Pin{f.Base, f.Proposed} {
				if p.HasImage() {
					needed[p.SHA256] = fmt.Sprintf("#%d %q", e.ID, f.Path)
				}
			}
		}
	}
	return needed
}

// checkTree says whether an interrupted landing is there to be put right, and which working names no landing has.
func checkTree(r *repo.Repo, store *undo.Store, state *projection.State, report *FsckReport) error {
	engine, err := apply.Open(r.Root(), filepath.Join(StateDir(r.CommonDir()), "worktrees", filepath.FromSlash(r.WorktreeID())), store)
	if err != nil {
		return err
	}
	defer engine.Close()
	pending, err := engine.Pending()
	switch {
	case err != nil:
		report.Journal = "damaged"
		report.found("journal", err.Error())
	case pending != nil:
		report.Journal = fmt.Sprintf("landing of #%d was interrupted; the next command puts it right", pending.Set)
	}
	left, err := leftovers(engine, store, state)
	for _, l := range left {
		if pending == nil || l.set != pending.Set {
			report.found(string(l.path), l.what)
		}
	}
	return err
}

// leftover is a working name of landings that stands in the tree.
type leftover struct {
	path change.Path
	// set is the change set whose landing made it, 0 when none in the ledger did.
	set int
	// what says whose it is, whether its bytes are kept elsewhere, and what becomes of it, or what a person can do.
	what string
}

// leftovers lists the working names in the tree. Those of a landing in progress are among them.
func leftovers(engine *apply.Engine, store *undo.Store, state *projection.State) ([]leftover, error) {
	names, err := engine.Workings()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var list []leftover
	for _, w := range names {
		l := leftover{path: w.Path, what: "a working name that no landing in the ledger has"}
		todo := "look at it, then move it or remove it"
		if w.Pin.HasImage() && store.Has(w.Pin.SHA256) {
			todo = "its bytes are in the store, so it can be removed"
		}
		for _, e := range state.Ordered("") {
			if e.Grant == "" || !w.BelongsTo(e.Grant) {
				continue
			}
			l.set, l.what = e.ID, fmt.Sprintf("a working name of the landing of #%d, which has no journal%s", e.ID, roleOf(e, w.Pin))
			if _, done := state.Committed(e.Grant); (e.State == change.StateApproved || e.State == change.StateStale) && !done {
				todo = "correx status puts back what stands beside its path; else " + todo
			}
		}
		l.what += "; " + todo
		list = append(list, l)
	}
	return list, nil
}

// roleOf says for which path of a set a pin is the base, or the proposal.
func roleOf(e *projection.Entry, pin change.Pin) string {
	for _, s := range stepsOf(e.Chosen()) {
		switch {
		case pin.Exists() && pin.SHA256 == s.Base.SHA256:
			return fmt.Sprintf("; it holds what %q was before", s.Path)
		case pin.Exists() && pin.SHA256 == s.Result.SHA256:
			return fmt.Sprintf("; it holds what was to land at %q", s.Path)
		}
	}
	return ""
}

// Leftovers names the working names of landings that stand in the tree though no landing is in progress, and what to do
// about each.
func (g *Gate) Leftovers() ([]Finding, error) {
	if pending, err := g.engine.Pending(); err != nil || pending != nil {
		return nil, err
	}
	list, err := leftovers(g.engine, g.store, g.state)
	out := make([]Finding, 0, len(list))
	for _, l := range list {
		out = append(out, Finding{Where: string(l.path), What: l.what})
	}
	return out, err
}
