package commands

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/undo"
)

func TestHunkWords(t *testing.T) {
	for want, numbers := range map[string][]int{
		"hunk 2 of the 9 in a<U+001B>b":          {2},
		"hunks 1-2 of the 9 in a<U+001B>b":       {1, 2},
		"hunks 1,3-5,8-9 of the 9 in a<U+001B>b": {1, 3, 4, 5, 8, 9},
	} {
		h := &projection.ChosenHunks{File: change.FileChange{Path: "a\x1bb"}, Of: 9}
		for _, n := range numbers {
			h.Chosen = append(h.Chosen, change.Hunk{Number: n})
		}
		if got := hunkWords(h); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}

// openSite opens the site of a world's repository.
func (w *world) openSite() (*site, call) {
	w.t.Helper()
	c := call{
		Context: cli.NewContext(cli.NewApp(), nil, nil), dir: w.repo,
		env: Env{Environ: w.environ, Dir: w.repo, Stdout: w.file(), Stderr: w.file(), Clock: time.Now, Rand: rand.Reader, User: "dev", Pid: os.Getpid()},
	}
	s, err := open(context.Background(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	return s, c
}

// TestLandingOfApprovedHunks: what is shown before an approved set is landed after all is what was approved of it, by the
// numbers it had then, and no more.
func TestLandingOfApprovedHunks(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\nb\nc\n", "g": "g\n"})
	shadow := strings.TrimSpace(w.run(w.repo, "shadow", "open").stdout)
	w.put(filepath.Join(shadow, "f"), "A\nb\nC\n")
	w.put(filepath.Join(shadow, "g"), "G\n")
	if a := w.run(shadow, "submit"); a.code != codeWaiting {
		t.Fatalf("%+v", a)
	}
	s, _ := w.openSite()
	e := s.State().Sets[1]
	hunks, err := s.ChooseHunks(context.Background(), e, []change.Path{"f"}, "2")
	if err != nil {
		t.Fatal(err)
	}
	dir := gate.StateDir(filepath.Join(w.repo, ".git"))
	if _, _, err := undo.OpenStore(filepath.Join(dir, "store")).Put(strings.NewReader("a\nb\nC\n")); err != nil {
		t.Fatal(err)
	}
	log, err := ledger.Open(filepath.Join(dir, "ledger"), ledger.Options{Clock: time.Now, Rand: rand.Reader, Holder: "test"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.Update(context.Background(), func([]ledger.Event) ([]ledger.Draft, error) {
		d := change.Decision{Kind: change.Approved, By: "person:dev", Scope: "only", How: "terminal", Digest: e.Digest}
		data := projection.Decided{Set: 1, Request: e.Request, Decision: d, Only: []change.Path{"f"}, Hunks: hunks.Chosen()}
		return []ledger.Draft{{ID: ledger.NewID(rand.Reader), Type: ledger.ApprovalGranted, Cause: e.Cause, Actor: d.By, Data: data}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s, c := w.openSite()
	v, err := landing(s, s.State().Sets[1], gate.DecideOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v.to = c.env.Stderr
	card, err := renderCard(context.Background(), c, s, v)
	if err != nil || !card.whole {
		t.Fatalf("%+v, %v", card, err)
	}
	for word, want := range map[string]bool{"[hunk 2 of 2]\n-c\n+C\n": true, "hunk 1": false, "+A": false, "+G": false, "hunk 2 of the 2 in f": true} {
		if strings.Contains(card.text, word) != want {
			t.Errorf("%q on the card is %t:\n%s", word, !want, card.text)
		}
	}
	if a := w.run(w.repo, "approve", "1", "--only", "f", "--hunks", "1"); a.code != codeUsage {
		t.Errorf("choosing another: %+v", a)
	}
	if a := w.run(w.repo, "approve", "1"); a.code != codeDone || !strings.Contains(a.stdout, "hunk 2 of the 2 in f landed; the rest is #2") {
		t.Errorf("%+v", a)
	}
	if b, err := os.ReadFile(filepath.Join(w.repo, "f")); err != nil || !bytes.Equal(b, []byte("a\nb\nC\n")) {
		t.Errorf("f holds %q, %v", b, err)
	}
}
