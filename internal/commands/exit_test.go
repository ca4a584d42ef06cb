package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/undo"
)

func TestExitCodeOfErrors(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("disk full"), 1},
		{fs.ErrPermission, 1},
		{repo.ErrNotRepository, 1},
		{&repo.GitError{ExitCode: 128}, 1},
		{&gate.UnknownSetError{ID: 9}, 1},
		{&gate.UsageError{}, 2},
		{&gate.WorktreeError{}, 2},
		{&config.Error{}, 2},
		{&exitError{code: 3}, 3},
		{&gate.PersonError{}, 5},
		{&gate.DeniedError{}, 5},
		{&apply.UnsafeError{}, 5},
		{&gate.StateError{}, 6},
		{&gate.StaleError{}, 6},
		{&apply.StaleError{}, 6},
		{&ledger.CorruptError{}, 7},
		{&projection.ContradictionError{}, 7},
		{&gate.ImageError{Cause: fs.ErrNotExist}, 7},
		{&undo.CorruptImageError{}, 7},
		{&gate.JournalError{}, 7},
		{&gate.HunksError{Cause: fs.ErrInvalid}, 7},
		{&apply.JournalError{}, 7},
		{context.DeadlineExceeded, 124},
		{context.Canceled, 130},
		{errors.Join(&gate.StaleError{}, &ledger.CorruptError{}), 7},
		{errors.Join(&gate.UsageError{}, &gate.StaleError{}), 6},
	} {
		for _, err := range []error{tc.err, fmt.Errorf("around it: %w", tc.err)} {
			if tc.err == nil {
				err = nil
			}
			if got := codeOf(err); got != tc.want {
				t.Errorf("%T %v: exit %d, want %d", tc.err, tc.err, got, tc.want)
			}
		}
	}
}

func TestExitCodeOfStates(t *testing.T) {
	for _, tc := range []struct {
		state  change.State
		origin change.Origin
		want   int
	}{
		{change.StateApplied, change.OriginShadow, 0},
		{change.StatePartiallyAccepted, change.OriginShadow, 0},
		{change.StateApproved, change.OriginCommit, 0},
		{change.StateApproved, change.OriginShadow, 3},
		{change.StatePending, change.OriginShadow, 3},
		{change.StateRejected, change.OriginShadow, 4},
		{change.StateSkipped, change.OriginShadow, 4},
		{change.StateUndone, change.OriginShadow, 4},
		{change.StateDenied, change.OriginShadow, 5},
		{change.StateTimedOut, change.OriginShadow, 5},
		{change.StateStale, change.OriginShadow, 6},
		{change.StateSuperseded, change.OriginShadow, 6},
	} {
		e := &projection.Entry{Set: change.Set{Origin: tc.origin}, State: tc.state}
		if got := codeOfState(e); got != tc.want {
			t.Errorf("%s of origin %s: exit %d, want %d", tc.state, tc.origin, got, tc.want)
		}
	}
}

// TestSeveralAtOnce: 7, 6, 5, 4, 3, then any other failure, then done, in any order of arrival.
func TestSeveralAtOnce(t *testing.T) {
	order := []int{7, 6, 5, 4, 3, 124, 1, 0}
	for i, strong := range order {
		for _, weak := range order[i:] {
			if worse(strong, weak) != strong || worse(weak, strong) != strong {
				t.Errorf("%d and %d: %d, %d; want %d", strong, weak, worse(strong, weak), worse(weak, strong), strong)
			}
		}
	}
}

// TestCodeOfASubmission: what was there before and waits or was refused counts only when nothing else was proposed.
func TestCodeOfASubmission(t *testing.T) {
	set := func(state change.State, before bool) gate.Result {
		return gate.Result{Entry: &projection.Entry{Set: change.Set{Origin: change.OriginShadow}, State: state}, Before: before}
	}
	landed, asks := set(change.StateApplied, false), set(change.StatePending, false)
	for _, tc := range []struct {
		name string
		sets []gate.Result
		want int
	}{
		{"nothing", nil, 0},
		{"landed", []gate.Result{landed}, 0},
		{"asks", []gate.Result{asks}, 3},
		{"both", []gate.Result{landed, asks}, 3},
		{"waits since before", []gate.Result{set(change.StatePending, true)}, 3},
		{"refused before", []gate.Result{set(change.StateRejected, true), set(change.StatePending, true)}, 4},
		{"denied before", []gate.Result{set(change.StateDenied, true)}, 5},
		{"waits since before, and one landed", []gate.Result{set(change.StatePending, true), landed}, 0},
		{"refused before, and one landed", []gate.Result{set(change.StateRejected, true), landed}, 0},
		{"denied before, and one asks", []gate.Result{set(change.StateDenied, true), asks}, 3},
		{"stale before, and one landed", []gate.Result{set(change.StateStale, true), landed}, 6},
	} {
		if got := codeOfSubmission(tc.sets); got != tc.want {
			t.Errorf("%s: exit %d, want %d", tc.name, got, tc.want)
		}
	}
}

// TestOnlyYesIsYes asks as a terminal would, with a pipe for the keys.
func TestOnlyYesIsYes(t *testing.T) {
	for typed, want := range map[string]bool{
		"y\n": true, "yes\n": true, "Y\n": true, "YES\n": true, "Yes\n": true, " y \n": true, "y\r\n": true,
		"n\n": false, "no\n": false, "\n": false, "": false, "y": false, "yes": false, "ye\n": false, "yep\n": false, "Y E S\n": false,
		"yes please\n": false, "y\x00\n": false, "yy\n": false, "\ny\n": false, "ｙ\n": false, "1\n": false, "ok\n": false, "да\n": false,
	} {
		r, keys, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keys.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		keys.Close()
		w := &world{t: t}
		e := Env{Stdin: r, Stderr: w.file()}
		got, err := e.confirm(context.Background(), "approve #1?")
		if got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", typed, got, err, want)
		}
		r.Close()
		e.Stderr.Close()
	}
}

// TestNoAnswerIsNoYes: a question that an interrupt ends is answered by the interrupt.
func TestNoAnswerIsNoYes(t *testing.T) {
	r, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer keys.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := &world{t: t}
	e := Env{Stdin: r, Stderr: w.file()}
	defer e.Stderr.Close()
	if yes, err := e.confirm(ctx, "approve?"); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", yes, err)
	}
	if yes, err := e.confirmWord(ctx, "sure?", "yolo"); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", yes, err)
	}
}

func TestWithin(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "repo")
	if err := os.MkdirAll(filepath.Join(root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(top, "way")); err != nil {
		t.Fatal(err)
	}
	way := filepath.Join(top, "way")
	for _, tc := range []struct{ dir, arg, want string }{
		{root, "a", "a"},
		{root, "./a/../b", "b"},
		{root, ".", ""},
		{root, "sub/", "sub"},
		{filepath.Join(root, "sub"), "a", "sub/a"},
		{filepath.Join(root, "sub"), "..", ""},
		{filepath.Join(root, "sub"), "../a", "a"},
		{root, filepath.Join(root, "x", "y"), "x/y"},
		{way, "a", "a"},
		{filepath.Join(way, "sub"), "a", "sub/a"},
		{top, filepath.Join(way, "a"), "a"},
		{root, filepath.Join(way, "sub", "a"), "sub/a"},
		{root, "..", "!"},
		{root, "../repo2/a", "!"},
		{filepath.Join(root, "sub"), "../../a", "!"},
		{root, "/etc/passwd", "!"},
		{root, "-a", "-a"},
		{root, "a\xff", "a\xff"},
	} {
		p, err := within(root, tc.dir, tc.arg)
		got := string(p)
		var usage *gate.UsageError
		if errors.As(err, &usage) {
			got = "!"
		} else if err != nil {
			t.Errorf("%q in %q: %v", tc.arg, tc.dir, err)
		}
		if got != tc.want {
			t.Errorf("%q in %q: got %q, want %q", tc.arg, tc.dir, got, tc.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, ok := range []string{"1", "#1", "12"} {
		if _, err := ids([]string{ok}); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "0", "-1", "#", "##1", "1.0", "1x", "0x1", " 1", "99999999999999999999"} {
		if got, err := ids([]string{bad}); err == nil {
			t.Errorf("%q: read as %v", bad, got)
		}
	}
	if _, err := ids(nil); err == nil {
		t.Error("no number at all was taken")
	}
}
