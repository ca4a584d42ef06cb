package apply

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/faultfs"
)

// TestJournalRemovedAfterACrash stops a landing at every step and removes its journal: the working names are noticed, and
// tell enough to put everything back.
func TestJournalRemovedAfterACrash(t *testing.T) {
	eachScenario(t, func(t *testing.T, s scenario, slow bool) {
		everyStep(t, func(at int) *faults { return &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}, slow: slow} }, func(t *testing.T, f *faults) {
			r := newTrial(t, s, f)
			if _, died, err := r.land(t); died != f.Struck() || !died && err != nil {
				t.Fatalf("died %v, %v", died, err)
			}
			expectNoticed(t, r)
		})
	})
}

func expectNoticed(t *testing.T, r *trial) {
	t.Helper()
	e := newEngine(t, r.root, r.store, &faults{slow: r.f.slow})
	_, err := os.Lstat(filepath.Join(r.state, journalName))
	interrupted := err == nil
	if is, err := e.Unrecorded(r.l); err != nil || interrupted && is {
		t.Fatalf("with a journal: unrecorded %v, %v", is, err)
	}
	if err := os.RemoveAll(filepath.Join(r.state, journalName)); err != nil {
		t.Fatal(err)
	}
	names, err := e.Workings()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range names {
		if !w.BelongsTo(r.l.ID) || w.BelongsTo(r.l.ID+"x") {
			t.Errorf("%q belongs to %q", w.Path, r.l.ID)
		}
	}
	is, err := e.Unrecorded(r.l)
	if err != nil || is != (len(names) > 0) {
		t.Fatalf("unrecorded %v, %v, but the working names are %v", is, err, names)
	}
	got, _ := read(t, r.root)
	switch {
	case r.committed:
		// The record is right already; what stays is what the landing replaced.
		for _, w := range names {
			delete(got, w.Path)
			for p := range got {
				if p.Under(w.Path) {
					delete(got, p)
				}
			}
		}
		expectSame(t, got, r.s.landed(t))
		return
	case !is && maps.Equal(got, r.s.landed(t)):
		return // files created whole, and nothing that says by whom
	case is:
		err = e.RecoverUnrecorded(context.Background(), r.l, func(_ Landing, left []change.Path) error {
			r.reverted = append(r.reverted, left)
			return nil
		})
		if err != nil || len(r.reverted) != 1 {
			t.Fatalf("%v, reverted %q", err, r.reverted)
		}
	}
	got, _ = read(t, r.root)
	// What was half staged is nobody's for certain, and named.
	for _, left := range r.reverted {
		for _, p := range left {
			if !strings.Contains(string(p), ".correx-kept-") {
				t.Errorf("%q is named as changed", p)
			}
			maps.DeleteFunc(got, func(q change.Path, _ node) bool { return q.Under(p) })
		}
	}
	expectSame(t, got, r.s.before)
}

func expectSame(t *testing.T, got, want layout) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("the tree holds %+v, want %+v", got, want)
	}
}
