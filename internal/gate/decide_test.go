package gate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/undo"
)

// waiting makes a world in which set 1 waits: a.txt is deleted in the shadow, whose session and tree come back too.
func waiting(t *testing.T) (w *world, session, tree string) {
	t.Helper()
	w = newWorld(t, t.TempDir(), map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	g := w.open()
	defer g.Close()
	ses, _, err := g.OpenShadow(context.Background(), gate.ShadowOptions{Backend: "copy"})
	if err != nil {
		t.Fatal(err)
	}
	w.write(ses.Tree, "a.txt", "")
	done, err := g.Submit(context.Background(), gate.SubmitOptions{Session: ses.Session})
	if err != nil || len(done.Sets) != 1 || done.Sets[0].State != change.StatePending {
		t.Fatalf("got %+v, %v", done, err)
	}
	return w, ses.Session, ses.Tree
}

// seq is the number of the newest event.
func (w *world) seq() uint64 {
	w.t.Helper()
	g := w.open()
	defer g.Close()
	return g.State().Seq
}

// TestDecisionNamesWhatWasShown: a decision on other content than the set's is refused and leaves no trace.
func TestDecisionNamesWhatWasShown(t *testing.T) {
	w, _, _ := waiting(t)
	before := w.seq()
	g := w.open()
	defer g.Close()
	other := gate.DecideOptions{Person: person(), Digest: change.Digest(nil), Reason: "no"}
	for name, decide := range map[string]func(context.Context, int, gate.DecideOptions) (gate.Result, error){
		"approve": g.Approve, "reject": g.Reject, "skip": g.Skip,
	} {
		var state *gate.StateError
		if _, err := decide(context.Background(), 1, other); !errors.As(err, &state) || !strings.Contains(err.Error(), "is not what was shown") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now := w.seq(); now != before {
		t.Errorf("%d events were written", now-before)
	}
	if _, err := os.Stat(filepath.Join(w.root(), "a.txt")); err != nil {
		t.Error(err)
	}
	shown := gate.DecideOptions{Person: person(), Digest: g.State().Sets[1].Digest}
	if _, err := g.Approve(context.Background(), 1, shown); err != nil {
		t.Error(err)
	}
}

// TestWaitMissesNoAnswer: the answer comes at any moment of the waiter's first look.
func TestWaitMissesNoAnswer(t *testing.T) {
	w, session, tree := waiting(t)
	for round := range 25 {
		g := w.open()
		id := g.State().Last
		answered := make(chan error, 1)
		go func() {
			other := w.open()
			defer other.Close()
			_, err := other.Skip(context.Background(), id, gate.DecideOptions{Person: person()})
			answered <- err
		}()
		got, err := g.Wait(t.Context(), []int{id})
		if err != nil || got[0].State != change.StateSkipped {
			t.Fatalf("round %d: %+v, %v", round, got, err)
		}
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
		g.Close()
		w.write(tree, "b.txt", strings.Repeat("more\n", round+1))
		w.submit(session)
	}
}

func (w *world) submit(session string) []gate.Result {
	w.t.Helper()
	g := w.open()
	defer g.Close()
	done, err := g.Submit(context.Background(), gate.SubmitOptions{Session: session})
	if err != nil {
		w.t.Fatal(err)
	}
	return done.Sets
}

// TestWaitEndsWithItsContext: the sets come back as they are, with the context's error.
func TestWaitEndsWithItsContext(t *testing.T) {
	w, _, _ := waiting(t)
	g := w.open()
	defer g.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	got, err := g.Wait(ctx, []int{1})
	if !errors.Is(err, context.DeadlineExceeded) || len(got) != 1 || got[0].State != change.StatePending {
		t.Errorf("got %+v, %v", got, err)
	}
	var unknown *gate.UnknownSetError
	if _, err := g.Wait(context.Background(), []int{1, 9}); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}

// TestPolicyOutranksAYes: what policy denies by now neither lands by an approval nor goes back by an undo.
func TestPolicyOutranksAYes(t *testing.T) {
	w, session, tree := waiting(t)
	w.write(tree, "a.txt", "a\n")
	w.write(tree, "b.txt", "B\n")
	landed := w.submit(session)
	w.write(tree, "a.txt", "")
	w.submit(session)
	w.config.Policy.Mode = change.ModeDeny
	g := w.open()
	defer g.Close()
	id := g.State().Last
	var denied *gate.DeniedError
	if _, err := g.Approve(context.Background(), id, gate.DecideOptions{Person: person()}); !errors.As(err, &denied) {
		t.Errorf("approve: %v", err)
	}
	credential := landed[len(landed)-1].Credential
	if !undo.IsCredential(credential) {
		t.Fatalf("landed %+v", landed)
	}
	if _, err := g.UndoCredential(context.Background(), credential, nil); !errors.As(err, &denied) {
		t.Errorf("undo: %v", err)
	}
	for name, want := range map[string]string{"a.txt": "a\n", "b.txt": "B\n"} {
		if b, err := os.ReadFile(filepath.Join(w.root(), name)); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v", name, b, err)
		}
	}
}

// TestAnImageThatIsGoneStopsALanding: nothing is written when what takes it back is not there.
func TestAnImageThatIsGoneStopsALanding(t *testing.T) {
	w, _, _ := waiting(t)
	g := w.open()
	defer g.Close()
	sum := g.State().Sets[1].Files[0].Base.SHA256
	p := filepath.Join(w.root(), ".git", "correx", "store", sum[:2], sum)
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	before := w.seq()
	var image *gate.ImageError
	if _, err := g.Approve(context.Background(), 1, gate.DecideOptions{Person: person()}); !errors.As(err, &image) || image.Path != "a.txt" {
		t.Errorf("got %v", err)
	}
	if now := w.seq(); now != before {
		t.Errorf("%d events were written", now-before)
	}
}
