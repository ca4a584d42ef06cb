package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/faultfs"
)

// trial is one landing over a disk that fails or stops, and what follows.
type trial struct {
	s           scenario
	f           *faults
	root, state string
	store       memory
	l           Landing
	// committed is what the ledger would say.
	committed bool
	reverted  [][]change.Path
}

func newTrial(t *testing.T, s scenario, f *faults) *trial {
	t.Helper()
	root, state := build(t, s.before)
	l, store := s.landing()
	return &trial{s: s, f: f, root: root, state: state, store: store, l: l}
}

func (r *trial) commit(Landed) error {
	if err := r.f.Step("commit"); err != nil {
		return err
	}
	r.committed = true
	if r.f.Mode == faultfs.Crash {
		return r.f.Step("commit returns")
	}
	return nil
}

// land runs the landing; died says that it was stopped.
func (r *trial) land(t *testing.T) (out Outcome, died bool, err error) {
	t.Helper()
	e := newEngine(t, r.root, r.store, r.f)
	defer e.Close()
	died = faultfs.UntilStopped(func() { out, err = e.Land(context.Background(), r.l, r.commit) })
	return out, died, err
}

// recover runs a recovery, over f when there is one, by a process that knows nothing of the landing.
func (r *trial) recover(t *testing.T, f *faults) (recovered, died bool, err error) {
	t.Helper()
	e := newEngine(t, r.root, r.store, f)
	defer e.Close()
	died = faultfs.UntilStopped(func() {
		recovered, err = e.Recover(context.Background(), func(l Landing) (bool, error) {
			if l.ID != r.l.ID || l.Set != r.l.Set || l.Digest != r.l.Digest || !slices.Equal(l.Steps, r.l.Steps) {
				return false, fmt.Errorf("the journal is of %+v", l)
			}
			return r.committed, nil
		}, func(_ Landing, left []change.Path) error {
			r.reverted = append(r.reverted, left)
			return nil
		})
	})
	return recovered, died, err
}

// expectWhole is the invariant after any fault: the set is in the tree whole, or not at all, and nothing else is.
func (r *trial) expectWhole(t *testing.T) {
	t.Helper()
	want := r.s.before
	if r.committed {
		want = r.s.landed(t)
	}
	expectTree(t, r.root, want)
	expectNoJournal(t, r.state)
	for _, left := range r.reverted {
		if len(left) > 0 {
			t.Errorf("paths %q left to a person who was not there", left)
		}
	}
}

// everyStep calls try with faults striking at step 1, 2, 3, …, until a run ends without any.
func everyStep(t *testing.T, make func(at int) *faults, try func(t *testing.T, f *faults)) {
	t.Helper()
	faultfs.Each(t, func(t *testing.T, at int) bool {
		f := make(at)
		defer func() {
			if t.Failed() {
				t.Logf("step %d is %q", at, f.Trace()[min(len(f.Trace()), at)-1])
			}
		}()
		try(t, f)
		return f.Struck()
	})
}

// eachScenario runs do for every scenario on a disk with an exchange and on one without.
func eachScenario(t *testing.T, do func(t *testing.T, s scenario, slow bool)) {
	for _, s := range scenarios {
		for _, slow := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/slow %v", s.name, slow), func(t *testing.T) { do(t, s, slow) })
		}
	}
}

func TestFailAtEveryStep(t *testing.T) {
	for _, mode := range []faultfs.Mode{faultfs.FailOnce, faultfs.FailFrom} {
		eachScenario(t, func(t *testing.T, s scenario, slow bool) {
			everyStep(t, func(at int) *faults { return &faults{Fault: faultfs.Fault{At: at, Mode: mode}, slow: slow} }, func(t *testing.T, f *faults) {
				failOne(t, newTrial(t, s, f))
			})
		})
	}
}

func failOne(t *testing.T, r *trial) {
	t.Helper()
	_, _, err := r.land(t)
	switch {
	case !r.f.Struck() && err != nil:
		t.Fatal(err)
	case errors.Is(err, ErrUnfinished):
		if _, _, err := r.recover(t, nil); err != nil {
			t.Fatalf("recover: %v", err)
		}
	case err != nil && r.committed:
		t.Errorf("an ordinary error past the commit point: %v", err)
	}
	r.expectWhole(t)
}

func TestCrashAtEveryStep(t *testing.T) {
	eachScenario(t, func(t *testing.T, s scenario, slow bool) {
		everyStep(t, func(at int) *faults { return &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}, slow: slow} }, func(t *testing.T, f *faults) {
			r := newTrial(t, s, f)
			if _, died, err := r.land(t); died != f.Struck() || !died && err != nil {
				t.Fatalf("died %v, %v", died, err)
			}
			if _, _, err := r.recover(t, &faults{slow: slow}); err != nil {
				t.Fatalf("recover: %v", err)
			}
			r.expectWhole(t)
			if recovered, _, err := r.recover(t, nil); err != nil || recovered {
				t.Errorf("second recovery: %v, %v", recovered, err)
			}
		})
	})
}

// TestCrashWhileRecovering stops a landing at some steps and its recovery at every step.
func TestCrashWhileRecovering(t *testing.T) {
	eachScenario(t, func(t *testing.T, s scenario, slow bool) {
		// One of each kind is enough here.
		if !slices.Contains([]string{"edit", "delete", "create deep", "folder to file", "file to folder", "all at once"}, s.name) {
			return
		}
		probe := newTrial(t, s, &faults{slow: slow})
		if _, _, err := probe.land(t); err != nil {
			t.Fatal(err)
		}
		for _, share := range []int{55, 65, 75, 85, 95} {
			at := probe.f.Count() * share / 100
			everyStep(t, func(second int) *faults {
				return &faults{Fault: faultfs.Fault{At: second, Mode: faultfs.Crash}, slow: slow}
			}, func(t *testing.T, f *faults) {
				r := newTrial(t, s, &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}, slow: slow})
				if _, died, err := r.land(t); !died {
					t.Fatalf("step %d never came: %v", at, err)
				}
				if _, died, err := r.recover(t, f); died != f.Struck() || !died && err != nil {
					t.Fatalf("recover: died %v, %v", died, err)
				}
				if _, _, err := r.recover(t, &faults{slow: slow}); err != nil {
					t.Fatalf("second recovery: %v", err)
				}
				r.expectWhole(t)
			})
		}
	})
}

// TestFullDisk lets everything that needs room fail, once and from then on.
func TestFullDisk(t *testing.T) {
	needsRoom := func(op string) bool {
		for _, word := range []string{"create ", "write ", "mkdir ", "symlink ", "journal write", "flush ", "resemble "} {
			if strings.HasPrefix(op, word) {
				return true
			}
		}
		return false
	}
	try := func(t *testing.T, f *faults, s scenario) {
		r := newTrial(t, s, f)
		out, _, err := r.land(t)
		if f.Struck() && (!errors.Is(err, f.Err) || errors.Is(err, ErrUnfinished) || errors.Is(err, durable.ErrFlush) || r.committed) {
			t.Fatalf("%s, step %d: %v", s.name, f.At, err)
		}
		if f.Struck() && (len(out.Left) > 0 || len(out.Kept) > 0 || out.Landed != nil) {
			t.Errorf("%s, step %d: %+v", s.name, f.At, out)
		}
		r.expectWhole(t)
	}
	for _, reason := range []error{syscall.ENOSPC, syscall.EFBIG, syscall.EDQUOT} {
		for _, mode := range []faultfs.Mode{faultfs.FailOnce, faultfs.FailFrom} {
			for _, s := range scenarios {
				for at, f := 1, (*faults)(nil); f == nil || f.Struck(); at++ {
					f = &faults{Fault: faultfs.Fault{At: at, Mode: mode, Err: reason, Only: needsRoom}}
					try(t, f, s)
				}
			}
		}
	}
}

// TestFailedFlushStops fails each flush in turn: the engine must stop there, touch nothing more, and refuse to go on.
func TestFailedFlushStops(t *testing.T) {
	isFlush := func(op string) bool {
		return strings.HasPrefix(op, "flush ") || strings.HasPrefix(op, "sync ") || op == "journal written"
	}
	for _, s := range scenarios {
		for at := 1; ; at++ {
			f := &faults{Fault: faultfs.Fault{At: at, Only: isFlush}}
			r := newTrial(t, s, f)
			e := newEngine(t, r.root, r.store, f)
			_, err := e.Land(context.Background(), r.l, r.commit)
			if !f.Struck() {
				break
			}
			if !errors.Is(err, durable.ErrFlush) || !errors.Is(err, ErrUnfinished) {
				t.Fatalf("%s, flush %d: %v", s.name, at, err)
			}
			if !isFlush(f.Trace()[len(f.Trace())-1]) {
				t.Errorf("%s, flush %d: went on with %q", s.name, at, f.Trace()[len(f.Trace())-1])
			}
			before := len(f.Trace())
			if _, err := e.Land(context.Background(), r.l, r.commit); !errors.Is(err, durable.ErrFlush) {
				t.Errorf("%s, flush %d: the next landing: %v", s.name, at, err)
			}
			if _, err := e.Recover(context.Background(), nil, nil); !errors.Is(err, durable.ErrFlush) || len(f.Trace()) != before {
				t.Errorf("%s, flush %d: recovery by the same process: %v", s.name, at, err)
			}
			if pending, err := e.Pending(); err != nil || pending == nil || pending.ID != r.l.ID {
				t.Errorf("%s, flush %d: pending %+v, %v", s.name, at, pending, err)
			}
			if _, _, err := r.recover(t, nil); err != nil {
				t.Fatal(err)
			}
			r.expectWhole(t)
		}
	}
}

// TestOrderOfFlushes checks what a power cut would otherwise show: nothing is acted on before it is on the disk.
func TestOrderOfFlushes(t *testing.T) {
	for _, s := range scenarios {
		f := &faults{}
		r := newTrial(t, s, f)
		if _, _, err := r.land(t); err != nil {
			t.Fatal(err)
		}
		where := func(word string, from int) int {
			for i := from; i < len(f.Trace()); i++ {
				if strings.HasPrefix(f.Trace()[i], word) {
					return i
				}
			}
			return len(f.Trace())
		}
		last := func(word string, until int) int {
			for i := until - 1; i >= 0; i-- {
				if strings.HasPrefix(f.Trace()[i], word) {
					return i
				}
			}
			return -1
		}
		intent := where("journal written", 0)
		ready := where("journal written", intent+1)
		commit := where("commit", 0)
		clearing := where("journal clear", 0)
		for _, word := range []string{"create ", "symlink "} {
			if at := where(word, 0); at < intent {
				t.Errorf("%s: %q before the journal's intent", s.name, f.Trace()[at])
			}
		}
		for _, word := range []string{"exchange ", "move "} {
			if at := where(word, 0); at < ready {
				t.Errorf("%s: %q before the journal's ready", s.name, f.Trace()[at])
			}
			if at := last(word, commit); at > last("sync ", commit) {
				t.Errorf("%s: %q is not flushed before the commit", s.name, f.Trace()[at])
			}
		}
		if at := last("write ", ready); at >= 0 && (at > last("flush ", ready) || last("flush ", ready) > last("sync ", ready)) {
			t.Errorf("%s: staged content is not flushed before ready", s.name)
		}
		if at := where("unlink ", 0); at < commit {
			t.Errorf("%s: %q before the commit", s.name, f.Trace()[at])
		}
		if at := last("unlink ", clearing); at > last("sync ", clearing) {
			t.Errorf("%s: removals are not flushed before the journal goes", s.name)
		}
	}
}
