package gate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
)

const (
	threeOld = "a\nb\nc\nd\ne\n"
	threeNew = "A\nb\nC\nd\nE\n"
)

// threeHunks makes a world in which #1 waits: an edit of "f" with three hunks, and a deleted file.
func threeHunks(t *testing.T) (*world, *gate.Gate) {
	t.Helper()
	w := newWorld(t, t.TempDir(), map[string]string{"f": threeOld, "gone": "gone\n"})
	g := w.open()
	t.Cleanup(func() { _ = g.Close() })
	ses, _, err := g.OpenShadow(context.Background(), gate.ShadowOptions{Backend: "copy"})
	if err != nil {
		t.Fatal(err)
	}
	w.write(ses.Tree, "f", threeNew)
	w.write(ses.Tree, "gone", "")
	done, err := g.Submit(context.Background(), gate.SubmitOptions{Session: ses.Session})
	if err != nil || len(done.Sets) != 1 || done.Sets[0].State != change.StatePending {
		t.Fatalf("%+v, %v", done, err)
	}
	return w, g
}

func (w *world) holds(t *testing.T, want string) {
	t.Helper()
	if b, err := os.ReadFile(filepath.Join(w.root(), "f")); err != nil || string(b) != want {
		t.Errorf("f holds %q, %v; want %q", b, err, want)
	}
}

// TestHunksAreStoredFirst: without the bytes that hunks come to in the store there is no decision.
func TestHunksAreStoredFirst(t *testing.T) {
	w, g := threeHunks(t)
	hunks, err := g.ChooseHunks(context.Background(), g.State().Sets[1], []change.Path{"f"}, "2")
	if err != nil {
		t.Fatal(err)
	}
	sum := hunks.Chosen().File.Proposed.SHA256
	if sum != digest("a\nb\nC\nd\ne\n") || g.Images().Has(sum) {
		t.Fatalf("%+v", hunks.Chosen())
	}
	shelf := filepath.Join(gate.StateDir(filepath.Join(w.root(), ".git")), "store", sum[:2])
	if err := os.WriteFile(shelf, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	seq, o := g.State().Seq, gate.DecideOptions{Person: person(), Only: []change.Path{"f"}, Hunks: hunks}
	if _, err := g.Approve(context.Background(), 1, o); err == nil || g.State().Seq != seq || g.State().Sets[1].State != change.StatePending {
		t.Errorf("%v, %s", err, g.State().Sets[1].State)
	}
	w.holds(t, threeOld)
	if err := os.Remove(shelf); err != nil {
		t.Fatal(err)
	}
	r, err := g.Approve(context.Background(), 1, o)
	if err != nil || r.State != change.StatePartiallyAccepted || r.Rest != 2 || !g.Images().Has(sum) {
		t.Fatalf("%+v, %v", r, err)
	}
	w.holds(t, "a\nb\nC\nd\ne\n")
	w.fsck()
}

// TestHunksOfOtherContent: a choice made of one set is not taken for a decision on another.
func TestHunksOfOtherContent(t *testing.T) {
	w, g := threeHunks(t)
	hunks, err := g.ChooseHunks(context.Background(), g.State().Sets[1], []change.Path{"f"}, "1")
	if err != nil {
		t.Fatal(err)
	}
	other, err := g.ChooseHunks(context.Background(), g.State().Sets[1], []change.Path{"f"}, "2,3")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := g.Approve(ctx, 1, gate.DecideOptions{Person: person(), Hunks: hunks}); err != nil {
		t.Fatal(err)
	}
	var state *gate.StateError
	if _, err := g.Approve(ctx, 2, gate.DecideOptions{Person: person(), Only: []change.Path{"f"}, Hunks: other}); !errors.As(err, &state) {
		t.Errorf("a choice of #1 on #2: %v", err)
	}
	w.holds(t, "A\nb\nc\nd\ne\n")
	w.fsck()
}

// TestHunksForged: a decision in the ledger whose hunks do not come to what it says is not landed, and is a finding.
func TestHunksForged(t *testing.T) {
	for name, tc := range map[string]struct {
		forge func(*projection.ChosenHunks)
		want  string
	}{
		"other lines":      {func(h *projection.ChosenHunks) { h.Chosen[0].NewStart = 5 }, "they come to"},
		"no such lines":    {func(h *projection.ChosenHunks) { h.Chosen[0].OldStart = 50 }, "does not fit"},
		"no such new line": {func(h *projection.ChosenHunks) { h.Chosen[0].NewStart = 50 }, "does not fit"},
		"another result":   {func(h *projection.ChosenHunks) { h.File.Proposed.SHA256 = digest("evil\n") }, "they come to"},
	} {
		t.Run(name, func(t *testing.T) {
			w, g := threeHunks(t)
			if _, _, err := g.Images().Put(strings.NewReader("evil\n")); err != nil {
				t.Fatal(err)
			}
			hunks, err := g.ChooseHunks(context.Background(), g.State().Sets[1], []change.Path{"f"}, "2")
			if err != nil {
				t.Fatal(err)
			}
			chosen := *hunks.Chosen()
			if _, _, err := g.Images().Put(strings.NewReader("a\nb\nC\nd\ne\n")); err != nil {
				t.Fatal(err)
			}
			tc.forge(&chosen)
			e := g.State().Sets[1]
			d := change.Decision{Kind: change.Approved, By: "person:dev", Scope: "only", How: "terminal", Digest: e.Digest}
			forged := projection.Decided{Set: 1, Request: e.Request, Decision: d, Only: []change.Path{"f"}, Hunks: &chosen}
			w.appendEvent(t, ledger.Draft{ID: "e-0123456789abcdef", Type: ledger.ApprovalGranted, Cause: e.Cause, Actor: "person:dev", Data: forged})
			again := w.open()
			defer again.Close()
			var bad *gate.HunksError
			_, err = again.Approve(context.Background(), 1, gate.DecideOptions{Person: person()})
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("landed: %v", err)
			}
			w.holds(t, threeOld)
			report, err := gate.Fsck(context.Background(), w.repo, ledger.Options{Clock: w.clock, Rand: w.random, Holder: "fsck"})
			if err != nil || len(report.Findings) != 1 || !strings.Contains(report.Findings[0].What, tc.want) {
				t.Errorf("fsck: %+v, %v", report.Findings, err)
			}
		})
	}
}

// appendEvent writes an event past the gate.
func (w *world) appendEvent(t *testing.T, d ledger.Draft) {
	t.Helper()
	dir := filepath.Join(gate.StateDir(filepath.Join(w.root(), ".git")), "ledger")
	log, err := ledger.Open(dir, ledger.Options{Clock: w.clock, Rand: w.random, Holder: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Update(context.Background(), func([]ledger.Event) ([]ledger.Draft, error) { return []ledger.Draft{d}, nil }); err != nil {
		t.Fatal(err)
	}
}

// TestHunksApprovedNotLanded: a decision on hunks that was not carried out lands under the same decision, exactly what it
// chose, and cannot be widened or narrowed.
func TestHunksApprovedNotLanded(t *testing.T) {
	w, g := threeHunks(t)
	hunks, err := g.ChooseHunks(context.Background(), g.State().Sets[1], []change.Path{"f"}, "1,3")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Images().Put(strings.NewReader("A\nb\nc\nd\nE\n")); err != nil {
		t.Fatal(err)
	}
	e := g.State().Sets[1]
	d := change.Decision{Kind: change.Approved, By: "person:dev", Scope: "only", How: "terminal", Digest: e.Digest}
	w.appendEvent(t, ledger.Draft{
		ID: "e-0123456789abcdef", Type: ledger.ApprovalGranted, Cause: e.Cause, Actor: "person:dev",
		Data: projection.Decided{Set: 1, Request: e.Request, Decision: d, Only: []change.Path{"f"}, Hunks: hunks.Chosen()},
	})
	again := w.open()
	defer again.Close()
	e = again.State().Sets[1]
	var usage *gate.UsageError
	for _, word := range []string{"1", "2", "1-3"} {
		if _, err := again.ChooseHunks(context.Background(), e, []change.Path{"f"}, word); !errors.As(err, &usage) {
			t.Errorf("choosing %s now: %v", word, err)
		}
	}
	if same, err := again.ChooseHunks(context.Background(), e, []change.Path{"f"}, "3,1"); err != nil || same.Chosen().File.Proposed != hunks.Chosen().File.Proposed {
		t.Errorf("choosing the same again: %+v, %v", same, err)
	}
	// Whoever read the set while it waited comes too late to choose.
	var state *gate.StateError
	if _, err := g.Approve(context.Background(), 1, gate.DecideOptions{Person: person(), Only: []change.Path{"f"}}); !errors.As(err, &state) {
		t.Errorf("choosing beside a decision: %v", err)
	}
	w.holds(t, threeOld)
	if landing := (gate.DecideOptions{}).Landing(e); len(landing) != 1 || landing[0].Proposed.SHA256 != digest("A\nb\nc\nd\nE\n") {
		t.Errorf("would land %+v", landing)
	}
	r, err := again.Approve(context.Background(), 1, gate.DecideOptions{Person: person()})
	if err != nil || r.State != change.StatePartiallyAccepted || r.Grant != "e-0123456789abcdef" || r.Rest != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	w.holds(t, "A\nb\nc\nd\nE\n")
	w.fsck()
}
