package gate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
)

// hasty makes a world in which set 1 waits for an hour, and returns when that is over.
func hasty(t *testing.T) (*world, time.Time) {
	t.Helper()
	w := newWorld(t, t.TempDir(), map[string]string{"a.txt": "a\n"})
	w.config.Timeouts = config.Timeouts{After: time.Hour, Tiers: map[change.Tier]config.Expiry{change.T4: config.ExpiryReject}}
	g := w.open()
	defer g.Close()
	ses, _, err := g.OpenShadow(context.Background(), gate.ShadowOptions{Backend: "copy"})
	if err != nil {
		t.Fatal(err)
	}
	w.write(ses.Tree, "a.txt", "")
	if _, err := g.Submit(context.Background(), gate.SubmitOptions{Session: ses.Session}); err != nil {
		t.Fatal(err)
	}
	at, ok := g.State().Sets[1].Expires()
	if !ok {
		t.Fatalf("set 1 waits for ever: %+v", g.State().Sets[1])
	}
	return w, at
}

// openAt opens a gate whose clock stands still.
func (w *world) openAt(at time.Time) *gate.Gate {
	w.t.Helper()
	g, err := gate.Open(context.Background(), gate.Options{
		Repo: w.repo, Config: w.config, ShadowHome: filepath.Join(w.dir, "shadows"), Clock: func() time.Time { return at }, Rand: w.random, Holder: "test",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

// answers counts the events that end the request for set 1.
func answers(t *testing.T, g *gate.Gate) (decided, timedOut int) {
	t.Helper()
	events, err := g.Events(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		switch e.Type {
		case ledger.ApprovalGranted, ledger.ApprovalRejected, ledger.ApprovalSkipped:
			decided++
		case ledger.ApprovalTimedOut:
			timedOut++
		}
	}
	return decided, timedOut
}

// TestTimeoutAndDecision: of a timeout and a decision the first in the ledger stands, in both orders, and only that one is
// there.
func TestTimeoutAndDecision(t *testing.T) {
	decisions := map[string]func(*gate.Gate) (gate.Result, error){
		"approve": func(g *gate.Gate) (gate.Result, error) {
			return g.Approve(context.Background(), 1, gate.DecideOptions{Person: person()})
		},
		"reject": func(g *gate.Gate) (gate.Result, error) {
			return g.Reject(context.Background(), 1, gate.DecideOptions{Person: person(), Reason: "no"})
		},
		"skip": func(g *gate.Gate) (gate.Result, error) {
			return g.Skip(context.Background(), 1, gate.DecideOptions{Person: person()})
		},
	}
	for name, decide := range decisions {
		t.Run(name+", then the timeout", func(t *testing.T) {
			w, end := hasty(t)
			early := w.openAt(end.Add(-time.Nanosecond))
			defer early.Close()
			if _, err := decide(early); err != nil {
				t.Fatal(err)
			}
			late := w.openAt(end)
			defer late.Close()
			if d, n := answers(t, late); d != 1 || n != 0 || late.State().Sets[1].State == change.StateTimedOut {
				t.Errorf("%d decisions, %d timeouts, %s", d, n, late.State().Sets[1].State)
			}
			w.fsck()
		})
		t.Run("the timeout, then "+name, func(t *testing.T) {
			w, end := hasty(t)
			early := w.openAt(end.Add(-time.Nanosecond))
			defer early.Close()
			w.openAt(end).Close()
			refusedLate(t, w, early, decide)
		})
		t.Run(name+" is first to see that it is over", func(t *testing.T) {
			w, end := hasty(t)
			now := end.Add(-time.Nanosecond)
			g, err := gate.Open(context.Background(), gate.Options{
				Repo: w.repo, Config: w.config, ShadowHome: filepath.Join(w.dir, "shadows"), Clock: func() time.Time { return now }, Rand: w.random, Holder: "test",
			})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			now = end
			refusedLate(t, w, g, decide)
		})
	}
}

// refusedLate checks that a decision comes too late, and that nothing but the timeout is there afterwards.
func refusedLate(t *testing.T, w *world, g *gate.Gate, decide func(*gate.Gate) (gate.Result, error)) {
	t.Helper()
	var state *gate.StateError
	if _, err := decide(g); !errors.As(err, &state) || state.State != change.StateTimedOut {
		t.Errorf("got %v", err)
	}
	e := g.State().Sets[1]
	if d, n := answers(t, g); d != 0 || n != 1 || e.State != change.StateTimedOut || e.Decision.By != "correx" || e.Decision.Kind != change.TimedOut {
		t.Errorf("%d decisions, %d timeouts, %s, %+v", d, n, e.State, e.Decision)
	}
	if _, err := os.Stat(filepath.Join(w.root(), "a.txt")); err != nil {
		t.Error(err)
	}
	w.fsck()
}

// TestTimeoutBesideDecision: a yes and a timeout at the same instant, by clocks that disagree, end in one of the two.
func TestTimeoutBesideDecision(t *testing.T) {
	for range 6 {
		w, end := hasty(t)
		g := w.openAt(end.Add(-time.Second))
		closed := make(chan error, 1)
		go func() {
			other, err := gate.Open(context.Background(), gate.Options{
				Repo: w.repo, Config: w.config, ShadowHome: filepath.Join(w.dir, "shadows"), Clock: func() time.Time { return end }, Rand: &zeros{}, Holder: "other",
			})
			if err == nil {
				err = other.Close()
			}
			closed <- err
		}()
		_, err := g.Approve(context.Background(), 1, gate.DecideOptions{Person: person()})
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
		after := w.openAt(end)
		d, n := answers(t, after)
		_, gone := os.Stat(filepath.Join(w.root(), "a.txt"))
		var state *gate.StateError
		switch after.State().Sets[1].State {
		case change.StateApplied:
			if err != nil || d != 1 || n != 0 || gone == nil {
				t.Errorf("landed: %v, %d decisions, %d timeouts, %v", err, d, n, gone)
			}
		case change.StateTimedOut:
			if !errors.As(err, &state) || d != 0 || n != 1 || gone != nil {
				t.Errorf("timed out: %v, %d decisions, %d timeouts, %v", err, d, n, gone)
			}
		default:
			t.Errorf("set 1 is %s", after.State().Sets[1].State)
		}
		g.Close()
		after.Close()
		w.fsck()
	}
}

// zeros is a random source of its own for a second process. Its ids differ from those of the world's.
type zeros struct{ n byte }

func (z *zeros) Read(p []byte) (int, error) {
	for i := range p {
		z.n++
		p[i] = z.n
	}
	return len(p), nil
}

// TestWaitSeesTheEnd: whoever waits for a set is told when its time is over, and ends the request itself.
func TestWaitSeesTheEnd(t *testing.T) {
	w, end := hasty(t)
	began := time.Now()
	g, err := gate.Open(context.Background(), gate.Options{
		Repo: w.repo, Config: w.config, ShadowHome: filepath.Join(w.dir, "shadows"), Rand: w.random, Holder: "test",
		Clock: func() time.Time { return end.Add(-20 * time.Millisecond).Add(time.Since(began)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	done, err := g.Wait(t.Context(), []int{1})
	if err != nil || done[0].State != change.StateTimedOut {
		t.Errorf("got %+v, %v", done, err)
	}
	w.fsck()
}

// TestTimeoutLeavesTheBudget: a timeout is no person's decision, so what landed by itself before still counts.
func TestTimeoutLeavesTheBudget(t *testing.T) {
	w, end := hasty(t)
	g := w.openAt(end.Add(-time.Minute))
	var session, tree string
	for _, ses := range g.State().Sessions {
		session, tree = ses.Session, ses.Tree
	}
	w.write(tree, "new.txt", "new\n")
	p, err := change.ParsePath("new.txt")
	if err != nil {
		t.Fatal(err)
	}
	done, err := g.Submit(context.Background(), gate.SubmitOptions{Session: session, Paths: []change.Path{p}})
	if err != nil || done.Sets[0].State != change.StateApplied {
		t.Fatalf("got %+v, %v", done, err)
	}
	g.Close()
	late := w.openAt(end)
	defer late.Close()
	if files, _ := late.State().Used("main", ""); files != 1 || late.State().Sets[1].State != change.StateTimedOut {
		t.Errorf("%d files count, set 1 is %s", files, late.State().Sets[1].State)
	}
}
