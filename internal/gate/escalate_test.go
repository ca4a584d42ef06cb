package gate_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
)

// escalating opens a gate with a program.
func (w *world) escalating(program gate.Escalator) *gate.Gate {
	w.t.Helper()
	g, err := gate.Open(context.Background(), gate.Options{
		Repo: w.repo, Config: w.config, ShadowHome: filepath.Join(w.dir, "shadows"), Clock: w.clock, Rand: w.random, Holder: "test", Escalator: program,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

// TestEscalateBesideOthers: while the program looks, others can decide; a set that became another meanwhile asks.
func TestEscalateBesideOthers(t *testing.T) {
	w, session, tree := waiting(t)
	w.write(tree, "b.txt", "B\n")
	var seen []string
	g := w.escalating(func(_ context.Context, set change.Set, v change.Verdict, m change.Mode) (change.Outcome, string, error) {
		var paths []string
		for _, f := range set.Files {
			paths = append(paths, string(f.Path))
		}
		seen = append(seen, strings.Join(paths, " ")+" "+string(v.Outcome)+" "+string(m))
		// Somebody skips what waits, so that the submission brings it along.
		other := w.open()
		defer other.Close()
		_, err := other.Skip(context.Background(), 1, gate.DecideOptions{Person: person()})
		return "", "", err
	})
	defer g.Close()
	done, err := g.Submit(context.Background(), gate.SubmitOptions{Session: session})
	if err != nil || len(done.Sets) != 1 {
		t.Fatalf("got %+v, %v", done, err)
	}
	set := done.Sets[0]
	if set.State != change.StatePending || len(set.Files) != 2 {
		t.Errorf("got %s with %d files", set.State, len(set.Files))
	}
	if len(seen) != 1 || seen[0] != "b.txt auto auto" {
		t.Errorf("the program saw %q", seen)
	}
	w.fsck()
}

// TestEscalateIsAskedOnce: about each set, and not about what policy denies.
func TestEscalateIsAskedOnce(t *testing.T) {
	w, session, tree := waiting(t)
	w.write(tree, "b.txt", "B\n")
	w.write(tree, "c.txt", "c\n")
	count := map[string]int{}
	g := w.escalating(func(_ context.Context, set change.Set, _ change.Verdict, _ change.Mode) (change.Outcome, string, error) {
		count[string(set.Files[0].Path)]++
		return change.Deny, "no", nil
	})
	defer g.Close()
	for range 2 {
		if _, err := g.Submit(context.Background(), gate.SubmitOptions{Session: session, Each: true}); err != nil {
			t.Fatal(err)
		}
	}
	// What was denied is asked about anew each time; what waits is not.
	if len(count) != 2 || count["b.txt"] != 2 || count["c.txt"] != 2 {
		t.Errorf("asked about %v", count)
	}
	if last := g.State().Last; last != 3 || g.State().Sets[2].State != change.StateDenied || g.State().Sets[1].State != change.StatePending {
		t.Errorf("the newest set is %d", last)
	}
	w.fsck()
}
