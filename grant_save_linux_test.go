//go:build linux && amd64

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/faultfs"
)

// saves are the ways in which a person's program saves .correx.toml, or takes it away.
func saves() map[string]func(at string) error {
	return map[string]func(at string) error{
		"renamed over": func(at string) error {
			err := os.WriteFile(at+".new", []byte(savedText), 0o640)
			return errors.Join(err, os.Rename(at+".new", at))
		},
		"written in place": func(at string) error { return os.WriteFile(at, []byte(savedText), 0o644) },
		"removed":          os.Remove,
	}
}

const savedText = "# saved by somebody\nauto.max_files = 2\n"

// TestSaveWhileAGrantIsWritten has a person save .correx.toml before each step of the commands that edit it: what they saved is
// there, whole, whatever the command makes of it; one that says 6 has changed and recorded nothing; and repeated it does its work.
func TestSaveWhileAGrantIsWritten(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	for _, r := range routines() {
		if !strings.HasPrefix(r.name, "grant ") && r.name != "revoke" {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t, r, seed)
			for how, save := range saves() {
				t.Run(how, func(t *testing.T) {
					stale := 0
					first, stride := st.stride(fault{})
					faultfs.Every(t, first, stride, func(t *testing.T, at int) bool { return st.meetSave(t, saving{save, how == "removed"}, at, &stale) })
					// A file that is new is not there to be removed before it counts.
					inTime := how != "removed" || r.name != "grant in a new file"
					if os.Getenv("FAULT_STEPS") == "all" && inTime && stale == 0 {
						t.Error("no save was in time to be noticed")
					}
				})
			}
		})
	}
}

// saving is one way to save, or to remove.
type saving struct {
	do      func(at string) error
	removed bool
}

// meetSave runs the routine with one save before a step, and checks what is left and that the routine then does its work.
func (st *stage) meetSave(t *testing.T, save saving, at int, stale *int) (struck bool) {
	t.Helper()
	st.t = t
	st.restore(t)
	file := filepath.Join(st.repo, ".correx.toml")
	was := st.edits(t)
	code, said, struck := st.runSaving(t, at, func() error { return save.do(file) })
	if !struck {
		return false
	}
	defer func() {
		if t.Failed() {
			t.Logf("exit %d; it said: %s", code, said)
		}
	}()
	st.clean(t)
	text, err := os.ReadFile(file)
	switch {
	case code != 0 && code != 6 && !(code == 1 && st.name == "revoke"):
		t.Errorf("exit %d", code)
	case code == 6 && (!strings.Contains(said, `".correx.toml" was changed meanwhile`) || !strings.Contains(said, "correx grant ")):
		t.Errorf("it does not say what was changed, and what to do")
	case code == 6 && st.edits(t) != was:
		t.Error("what was refused is on record")
	case code == 0 && st.edits(t) == was:
		t.Error("what was done is not on record")
	case save.removed && code == 6 && !errors.Is(err, fs.ErrNotExist):
		t.Errorf("what was removed is back: %q, %v", text, err)
	case !save.removed && code == 6 && string(text) != savedText:
		t.Errorf("what was saved is gone: %q, %v", text, err)
	case !save.removed && !strings.HasPrefix(string(text), savedText):
		t.Errorf("what was saved is gone: %q, %v", text, err)
	}
	if code == 6 {
		*stale++
	}
	st.repeat(t, file, save.removed)
	return struck
}

// runSaving runs the routine, stops it before a step, and saves then.
func (st *stage) runSaving(t *testing.T, at int, save func() error) (code int, said string, struck bool) {
	t.Helper()
	cmd := st.start(st.where, st.args...)
	out, err := os.Create(st.saved + ".out")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	n := 0
	var failed error
	outcome, err := faultfs.Run{Cmd: cmd, Dir: st.dir, Only: func(faultfs.Step) bool {
		if n++; n == at {
			failed, struck = save(), true
		}
		return true
	}}.Do()
	if errors.Is(failed, fs.ErrNotExist) {
		// It is away for an instant only where the disk has no exchange.
		failed = nil
	}
	if err := errors.Join(err, failed, out.Close()); err != nil {
		t.Fatal(err)
	}
	return outcome.Exit, st.output(t), struck
}

// clean is what holds after any run: the ledger and the tree verify, nothing of a landing is left.
func (st *stage) clean(t *testing.T) {
	t.Helper()
	var report struct {
		Journal  string
		Findings []any
	}
	if err := json.Unmarshal([]byte(st.correx(0, st.repo, "fsck", "--json")), &report); err != nil || report.Journal != "empty" || len(report.Findings) > 0 {
		t.Fatalf("fsck: %+v, %v", report, err)
	}
	for _, pattern := range []string{".correx-*", "*.correx-kept-*"} {
		if left, err := filepath.Glob(filepath.Join(st.repo, pattern)); err != nil || len(left) > 0 {
			t.Errorf("left over: %q, %v", left, err)
		}
	}
}

// edits counts the events of grants in the ledger.
func (st *stage) edits(t *testing.T) int {
	t.Helper()
	log := st.correx(0, st.repo, "log", "--json")
	return strings.Count(log, `"type":"GrantLoadedFromProject"`) + strings.Count(log, `"type":"GrantRevoked"`)
}

// repeat gives the command again: one table is there, or none, and all that was saved.
func (st *stage) repeat(t *testing.T, file string, removed bool) {
	t.Helper()
	cmd := st.start(st.where, st.args...)
	said, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 0 && !(code == 1 && st.name == "revoke") {
		t.Errorf("again: exit %d, %v: %s", code, err, said)
	}
	want := 1
	if st.name == "revoke" {
		want = 0
	}
	text, err := os.ReadFile(file)
	if err != nil && !(removed && want == 0) {
		t.Error(err)
	}
	if n := strings.Count(string(text), "[[grant]]"); n != want || !removed && !strings.HasPrefix(string(text), savedText) {
		t.Errorf("again: %d grants in %q", n, text)
	}
	st.clean(t)
}

// TestTrustComesLast: what a grant's command wrote is trusted only when its event is on the disk, which is after the file was
// switched: killed in between, the file holds a grant that counts for nothing.
func TestTrustComesLast(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	for _, r := range routines() {
		if r.name != "grant in a new file" {
			continue
		}
		st := newStage(t, r, seed)
		var order []string
		for _, s := range st.steps {
			switch {
			case s.To == "repo/.correx.toml":
				order = append(order, "switched")
			case s.Op == faultfs.OpFlush && strings.HasSuffix(s.Path, "/events.jsonl"):
				order = append(order, "recorded")
			case s.Op == faultfs.OpRename && strings.Contains(s.To, "/trust/"):
				order = append(order, "trusted")
			}
		}
		// The decision, the file, the event of the grant, that of the trust, the trust.
		if got := strings.Join(order, " "); got != "recorded switched recorded recorded trusted" {
			t.Errorf("%s", got)
		}
	}
}

// TestGrantsAtOnce: of several people who give and take back grants in one file at the same time each one is heard.
func TestGrantsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, kinds)
	ownConfig(s)
	s.correx(0, s.repo, "grant", "add", "--scope", "project", "--ops", "edit", "--paths", "/taken/back")
	runs := []*exec.Cmd{s.start(s.repo, "grant", "revoke", s.onlyGrant())}
	const n = 5
	for i := range n {
		runs = append(runs, s.start(s.repo, "grant", "add", "--scope", "project", "--ops", "edit", "--paths", fmt.Sprintf("/%d", i)))
	}
	codes, _, errs := s.together(runs)
	if count(codes) != "0:6" {
		t.Errorf("%s %q", count(codes), errs)
	}
	text, err := os.ReadFile(filepath.Join(s.repo, ".correx.toml"))
	if err != nil || !strings.HasPrefix(string(text), "# mine\r\nauto.max_files = 1") || strings.Count(string(text), "[[grant]]") != n {
		t.Errorf("%q, %v", text, err)
	}
	for i := range n {
		if !strings.Contains(string(text), fmt.Sprintf("paths = [\"/%d\"]", i)) {
			t.Errorf("grant %d is not in %q", i, text)
		}
	}
	s.correx(0, s.repo, "fsck")
}
