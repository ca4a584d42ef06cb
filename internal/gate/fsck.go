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

// Fsck verifies the repository's ledger from the start, that each event can follow those before it, that the cause of each
// is there, that every image a change set needs is stored and is what its name says, that chosen hunks come to what was
// recorded of them, and the journal. It reads only, and goes on after a finding as far as it can.
func Fsck(ctx context.Context, r *repo.Repo, o ledger.Options) (FsckReport, error) {
	dir := StateDir(r.CommonDir())
	report := FsckReport{Journal: "empty", Findings: []Finding{}}
	state := projection.New()
	found := func(where, what string) {
		report.Findings = append(report.Findings, Finding{Where: where, What: what})
	}
	if err := durable.CheckPrivate(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		found("state", err.Error())
		return report, nil
	}
	verified, err := ledger.Verify(filepath.Join(dir, "ledger"))
	if err != nil && !errors.Is(err, ledger.ErrCorrupt) {
		return report, err
	}
	report.Events, report.Head = verified.Events, verified.Head
	report.Torn = verified.TornTail
	if err != nil {
		found("ledger", err.Error())
	} else if err := foldAll(dir, o, state, found); err != nil {
		return report, err
	}
	store := undo.OpenStore(filepath.Join(dir, "store"))
	err = store.Each(func(sha256 string, _ int64) error {
		report.Images++
		if err := store.Check(sha256); err != nil {
			found("store", err.Error())
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
			found("store", fmt.Sprintf("image %.12s of %s is missing", sha256, where))
		}
	}
	for _, e := range state.Ordered("") {
		var hunks *HunksError
		if _, err := recordedHunks(store, e); errors.As(err, &hunks) {
			found("ledger", err.Error())
		}
	}
	return report, checkJournal(r, store, &report, found)
}

// foldAll replays the events and checks that each names a cause that came before it.
func foldAll(dir string, o ledger.Options, state *projection.State, found func(where, what string)) error {
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
			found("ledger", fmt.Sprintf("event %d (%s) names cause %q, which is not before it", e.Seq, e.Type, e.Cause))
		}
		known[e.ID] = true
	}
	if err := state.Fold(events); err != nil {
		found("ledger", err.Error())
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

// checkJournal says whether an interrupted landing is there to be put right.
func checkJournal(r *repo.Repo, store *undo.Store, report *FsckReport, found func(where, what string)) error {
	engine, err := apply.Open(r.Root(), filepath.Join(StateDir(r.CommonDir()), "worktrees", filepath.FromSlash(r.WorktreeID())), store)
	if err != nil {
		return err
	}
	defer engine.Close()
	pending, err := engine.Pending()
	switch {
	case err != nil:
		found("journal", err.Error())
	case pending != nil:
		report.Journal = fmt.Sprintf("landing of #%d was interrupted; the next command puts it right", pending.Set)
	}
	return nil
}
