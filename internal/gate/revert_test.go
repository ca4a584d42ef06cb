package gate_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
)

// stopping is a source of random bytes that interrupts the work at its n-th use: at every event, and between the decision
// and the landing, where the credential is drawn.
type stopping struct {
	from interface{ Read([]byte) (int, error) }
	left int
	stop context.CancelFunc
}

func (s *stopping) Read(b []byte) (int, error) {
	if s.left--; s.left == 0 {
		s.stop()
	}
	return s.from.Read(b)
}

// TestUndoStoppedAndRepeated: an undo, and a redo, that stopped anywhere leaves nothing that waits once it was repeated.
func TestUndoStoppedAndRepeated(t *testing.T) {
	t.Parallel()
	ctx, by := context.Background(), gate.Person{Name: "ann", How: "terminal"}
	w := newWorld(t, t.TempDir(), map[string]string{"a.txt": "a\n"})
	g := w.open()
	defer func() { _ = g.Close() }()
	ses, _, err := g.OpenShadow(ctx, gate.ShadowOptions{Backend: "copy"})
	if err != nil {
		t.Fatal(err)
	}
	w.write(ses.Tree, "a.txt", "b\n")
	if done, err := g.Submit(ctx, gate.SubmitOptions{Session: ses.Session}); err != nil || done.Sets[0].State != change.StateApplied {
		t.Fatalf("submit: %+v, %v", done, err)
	}
	// again takes the newest of the sets that undo one another back, stopped at the n-th random number; 0 for not at all.
	target, text := 1, "b\n"
	again := func(n int) error {
		_ = g.Close()
		stopped, cancel := context.WithCancel(ctx)
		defer cancel()
		var openErr error
		g, openErr = gate.Open(ctx, gate.Options{
			Repo: w.repo, Config: w.config, ShadowHome: filepath.Join(w.dir, "shadows"), Clock: w.clock, Holder: "test",
			Rand: &stopping{from: w.random, left: n, stop: cancel},
		})
		if openErr != nil {
			t.Fatal(openErr)
		}
		r, err := g.Undo(stopped, target, by)
		if err == nil {
			target, text = r.ID, map[string]string{"a\n": "b\n", "b\n": "a\n"}[text]
		}
		return err
	}
	left := 0
	for range 2 {
		for n := 1; again(n) != nil; n++ {
			_ = again(n)
			left += len(g.State().Waiting(g.Worktree()))
			if n > 60 {
				t.Fatal("the loop does not end")
			}
		}
		if err := again(0); err != nil {
			t.Fatal(err)
		}
		if waiting := g.State().Waiting(g.Worktree()); len(waiting) > 0 {
			t.Errorf("#%d reverts #%d and waits, %s", waiting[0].ID, waiting[0].Reverts, waiting[0].State)
		}
		if got, err := os.ReadFile(filepath.Join(w.root(), "a.txt")); err != nil || string(got) != text {
			t.Errorf("a.txt holds %q, %v, want %q", got, err, text)
		}
	}
	if left == 0 {
		t.Error("no undo was left approved and not landed: nothing was tried")
	}
	w.fsck()
}
