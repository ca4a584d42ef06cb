package apply

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/faultfs"
)

// interrupted returns a trial that stopped at its commit, with everything switched.
func interrupted(t *testing.T, s scenario) *trial {
	t.Helper()
	f := &faults{Fault: faultfs.Fault{At: 1, Mode: faultfs.Crash, Only: func(op string) bool { return op == "commit" }}}
	r := newTrial(t, s, f)
	if _, died, err := r.land(t); !died {
		t.Fatal(err)
	}
	return r
}

func (r *trial) journal() string { return filepath.Join(r.state, journalName) }

// seal writes a journal with a right checksum.
func seal(t *testing.T, path string, rec any) {
	t.Helper()
	line, err := json.Marshal(rec)
	must(t, err)
	must(t, os.WriteFile(path, fmt.Appendf(nil, "%s\n%x\n", line, sha256.Sum256(line)), 0o600))
}

func TestJournalIsPrivate(t *testing.T) {
	r := interrupted(t, scenarios[2])
	info, err := os.Lstat(r.journal())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	e := newEngine(t, r.root, r.store, nil)
	p, err := e.Pending()
	if err != nil || p == nil || p.ID != r.l.ID || p.Set != r.l.Set || !slices.Equal(p.Steps, r.l.Steps) {
		t.Errorf("%+v, %v", p, err)
	}
	var c counter
	if _, err := e.Land(context.Background(), r.l, c.commit); !errors.Is(err, ErrPending) || c.n > 0 {
		t.Errorf("landing over a journal: %v", err)
	}
}

// TestJournalThatIsNotBelieved spoils the journal in every way it can be: nothing may be written, and nothing asked.
func TestJournalThatIsNotBelieved(t *testing.T) {
	s := scenarios[len(scenarios)-1]
	rewrite := func(edit func(*record)) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			raw, err := os.ReadFile(path)
			must(t, err)
			rec, err := decodeJournal(raw)
			must(t, err)
			edit(rec)
			seal(t, path, rec)
		}
	}
	for name, spoil := range map[string]func(*testing.T, string){
		"mode": func(t *testing.T, path string) { must(t, os.Chmod(path, 0o640)) },
		"second name": func(t *testing.T, path string) {
			if err := os.Link(path, path+"2"); err != nil {
				t.Skip(err)
			}
		},
		"owner": func(t *testing.T, path string) {
			if err := os.Lchown(path, 1234, -1); err != nil || os.Geteuid() == 1234 {
				t.Skip("cannot give files away")
			}
		},
		"symlink": func(t *testing.T, path string) {
			must(t, os.Rename(path, path+".real"))
			must(t, os.Symlink(path+".real", path))
		},
		"a byte": func(t *testing.T, path string) {
			raw, err := os.ReadFile(path)
			must(t, err)
			raw[len(raw)/3] ^= 1
			must(t, os.WriteFile(path, raw, 0o600))
		},
		"cut":     func(t *testing.T, path string) { must(t, os.Truncate(path, 100)) },
		"empty":   func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
		"version": rewrite(func(r *record) { r.Version++ }), "state": rewrite(func(r *record) { r.State = "done" }),
		"git": rewrite(func(r *record) { r.Steps[0].Path = ".git/config" }),
		"leaves": func(t *testing.T, path string) {
			seal(t, path, map[string]any{"version": 1, "state": "ready", "steps": []any{map[string]string{"path": "../x"}}})
		},
		"home":         rewrite(func(r *record) { r.Moves[0].Home = "elsewhere" }),
		"home above":   rewrite(func(r *record) { r.Moves[0].Home = "" }),
		"fewer moves":  rewrite(func(r *record) { r.Moves = r.Moves[1:] }),
		"other moves":  rewrite(func(r *record) { slices.Reverse(r.Moves) }),
		"make .git":    rewrite(func(r *record) { r.Make = append(r.Make, ".git/x") }),
		"make other":   rewrite(func(r *record) { r.Make = append(r.Make, "unrelated") }),
		"remove .git":  rewrite(func(r *record) { r.Remove = append(r.Remove, ".git") }),
		"folder steps": rewrite(func(r *record) { r.Steps[0].Base.Kind = change.KindDir }),
		"inner":        rewrite(func(r *record) { r.Moves[2].Inner = append(r.Moves[2].Inner, innerRecord{}) }),
	} {
		t.Run(name, func(t *testing.T) {
			r := interrupted(t, s)
			spoil(t, r.journal())
			before, _ := read(t, r.root)
			f := &faults{}
			e := newEngine(t, r.root, r.store, f)
			asked := false
			_, err := e.Recover(context.Background(), func(Landing) (bool, error) { asked = true; return false, nil }, nil)
			var bad *JournalError
			if !errors.As(err, &bad) || asked {
				t.Errorf("%v, asked %v", err, asked)
			}
			if after, _ := read(t, r.root); fmt.Sprint(before) != fmt.Sprint(after) {
				t.Error("the tree was written")
			}
			if _, err := os.Lstat(r.journal()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRecoverAsksFirst(t *testing.T) {
	r := interrupted(t, scenarios[len(scenarios)-1])
	before, _ := read(t, r.root)
	e := newEngine(t, r.root, r.store, nil)
	no := errors.New("no decision allows this")
	if _, err := e.Recover(context.Background(), func(Landing) (bool, error) { return false, no }, nil); !errors.Is(err, no) {
		t.Fatal(err)
	}
	if after, _ := read(t, r.root); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Error("the tree was written")
	}
	_, err := e.Recover(context.Background(), func(Landing) (bool, error) { return false, nil },
		func(Landing, []change.Path) error { return no })
	if !errors.Is(err, no) || !errors.Is(err, ErrUnfinished) {
		t.Fatal(err)
	}
	if p, err := e.Pending(); p == nil || err != nil {
		t.Fatalf("the journal went before its event: %v", err)
	}
	if _, _, err := r.recover(t, nil); err != nil {
		t.Fatal(err)
	}
	r.expectWhole(t)
}

// TestLedgerThatClaimsTooMuch says that a landing is complete whose names were never switched.
func TestLedgerThatClaimsTooMuch(t *testing.T) {
	for _, state := range []string{"journal write", "exchange ", "move "} {
		f := &faults{Fault: faultfs.Fault{At: 1, Mode: faultfs.Crash, Only: func(op string) bool { return strings.HasPrefix(op, state) }}}
		if state == "journal write" {
			f.At = 2
		}
		r := newTrial(t, scenarios[2], f)
		if state == "move " {
			r = newTrial(t, scenarios[0], f)
		}
		if _, died, err := r.land(t); !died {
			t.Fatal(err)
		}
		r.committed = true
		_, _, err := r.recover(t, nil)
		var bad *JournalError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestSetAside(t *testing.T) {
	r := interrupted(t, scenarios[2])
	l, err := SetAside(r.state)
	if err != nil || l == nil || l.ID != r.l.ID {
		t.Fatalf("%+v, %v", l, err)
	}
	expectNoJournal(t, r.state)
	if entries, err := os.ReadDir(r.state); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if l, err := SetAside(r.state); l != nil || err != nil {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestLandingLock(t *testing.T) {
	root, state := build(t, layout{})
	e := newEngine(t, root, memory{}, nil)
	e.Holder = "correx approve, process 12"
	unlock, err := e.Lock(context.Background())
	must(t, err)
	other := newEngine(t, root, memory{}, nil)
	var held *durable.HeldError
	if _, err := other.TryLock(); !errors.As(err, &held) || held.Holder != e.Holder {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := other.Lock(ctx); err == nil {
		t.Error("two holders")
	}
	must(t, unlock())
	unlock, err = other.TryLock()
	must(t, err)
	must(t, unlock())
	if _, err := os.Lstat(filepath.Join(state, lockName)); errors.Is(err, fs.ErrNotExist) {
		t.Error("the lock file was removed")
	}
}

func FuzzJournal(f *testing.F) {
	seed := record{
		Version: 1, State: stateReady, ID: "e-x", Steps: []change.Step{{Path: "a/f", Base: file("a").pin(), Result: file("b").pin()}},
		Moves: []moveRecord{{Path: "a/f", Home: "a", Ino: 7}},
	}
	line, err := json.Marshal(seed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte(`{"version":1,"state":"intent","steps":[{"path":{"b64":"Li4="}}],"moves":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if strings.Contains(string(line), "\n") {
			return
		}
		sum := sha256.Sum256(line)
		r, err := decodeJournal(fmt.Appendf(nil, "%s\n%x\n", line, sum))
		if err != nil {
			return
		}
		e := &Engine{dir: "state"}
		w, err := e.restore(r)
		var bad *JournalError
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("%v", err)
		}
		if err != nil {
			return
		}
		for _, m := range w.moves {
			if forbidden(m.path) != "" || !m.path.Dir().Under(m.home) {
				t.Fatalf("move %q in %q", m.path, m.home)
			}
		}
		for _, p := range append(w.missing, w.l.RemoveFolders...) {
			if forbidden(p) != "" {
				t.Fatalf("folder %q", p)
			}
		}
	})
}
