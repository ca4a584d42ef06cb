//go:build linux && amd64

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/correx/correx/internal/faultfs"
)

// routine is one use of the program that writes, from a prepared site. Every routine of this page goes through every
// fault of the page, and one checker says what must hold.
type routine struct {
	name string
	fill func(repo string) error
	// prepare brings a new site to the moment before the routine.
	prepare func(s *site)
	// lead is what comes before each single try; it is for what does not survive being copied, such as a journal.
	lead func(s *site)
	// command says in which folder the routine runs, and with which arguments.
	command func(s *site) (dir string, args []string)
	// exit is what it exits with when nothing goes wrong.
	exit int
	// recovers is for a routine that ends somebody else's landing, which the next command does as well.
	recovers bool
	// piecewise routines land several sets, one after the other; what lands whole is each path.
	piecewise bool
}

// stage is a routine's site, kept as it was prepared, with what the routine does to it when nothing goes wrong.
type stage struct {
	routine
	*site
	saved, kept   string
	where         string
	args          []string
	before, after moment
	disk          *faultfs.Disk
	steps         []faultfs.Step
	seed          uint64
}

// moment is what there is to compare: the real tree with git's hooks, and how much of it the ledger calls landed.
type moment struct {
	tree   snapshot
	landed int
}

// faultKinds are the ways in which each step of each routine fails.
func faultKinds() []fault {
	return []fault{
		{name: "fails", mode: faultfs.FailOnce},
		{name: "disk full", mode: faultfs.FailFrom, err: syscall.ENOSPC, only: needsRoom},
		{name: "killed", mode: faultfs.Crash, keep: faultfs.KeepAll},
		{name: "power cut, nothing kept", mode: faultfs.Crash, keep: faultfs.KeepNone},
		{name: "power cut, any part kept", mode: faultfs.Crash, keep: faultfs.KeepAny},
	}
}

type fault struct {
	name string
	mode faultfs.Mode
	err  syscall.Errno
	only func(faultfs.Step) bool
	keep faultfs.Keep
}

// needsRoom says of which steps a full disk is the end.
func needsRoom(s faultfs.Step) bool {
	switch s.Op {
	case faultfs.OpCreate, faultfs.OpWrite, faultfs.OpReserve, faultfs.OpMkdir, faultfs.OpSymlink, faultfs.OpLink:
		return true
	}
	return false
}

// TestFaults lets every routine meet every fault at every step.
func TestFaults(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	for _, r := range routines() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t, r, seed)
			for _, f := range faultKinds() {
				t.Run(f.name, func(t *testing.T) {
					if first, stride := st.stride(f); first > 0 {
						faultfs.Every(t, first, stride, func(t *testing.T, at int) bool { return st.meet(t, f, at) })
					}
				})
			}
		})
	}
}

func newStage(t *testing.T, r routine, seed uint64) *stage {
	t.Helper()
	top, err := filepath.EvalSymlinks(faultfs.QuickDir(t))
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{routine: r, seed: seed, saved: filepath.Join(top, "saved"), kept: filepath.Join(top, "kept")}
	dir := filepath.Join(top, "site")
	for _, d := range []string{dir, st.kept} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	st.site = newSiteIn(t, dir, r.fill)
	if r.prepare != nil {
		r.prepare(st.site)
	}
	st.where, st.args = r.command(st.site)
	st.copyTo(t, dir, st.saved)
	st.restore(t)
	st.before = st.now(t)
	out, err := st.run(fault{}, 0)
	if errors.Is(err, faultfs.ErrNoTrace) {
		t.Skipf("programs cannot be traced here: %v", err)
	}
	if err != nil || out.Exit != r.exit || len(out.Steps) == 0 {
		t.Fatalf("exit %d after %d steps, %v: %s", out.Exit, len(out.Steps), err, st.output(t))
	}
	st.after = st.now(t)
	if st.recovers {
		st.before = st.after
	}
	st.steps = out.Steps
	return st
}

// stride is how many steps are passed over from one try to the next. All are tried when FAULT_STEPS=all asks for it, as
// make crash does; otherwise some, spread evenly from a place that the seed chooses.
func (st *stage) stride(f fault) (first, stride int) {
	n := 0
	for _, s := range st.steps {
		if f.only == nil || f.only(s) {
			n++
		}
	}
	const some = 10
	if os.Getenv("FAULT_STEPS") == "all" || n <= some {
		return min(1, n), 1
	}
	stride = (n + some - 1) / some
	return 1 + rand.New(rand.NewPCG(st.seed, uint64(n))).IntN(stride), stride
}

func (st *stage) copyTo(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// restore brings the site back to the moment before the routine.
func (st *stage) restore(t *testing.T) {
	t.Helper()
	for _, d := range []string{st.dir, st.kept} {
		if err := os.RemoveAll(d); err != nil {
			t.Fatal(err)
		}
	}
	st.copyTo(t, st.saved, st.dir)
	if st.lead != nil {
		st.lead(st.site)
	}
	err := os.Mkdir(st.kept, 0o755)
	if err == nil {
		st.disk, err = faultfs.Look(st.dir)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// run runs the routine; its output goes to a file beside the site.
func (st *stage) run(f fault, at int) (faultfs.Outcome, error) {
	cmd := st.start(st.where, st.args...)
	out, err := os.Create(st.saved + ".out")
	if err != nil {
		return faultfs.Outcome{}, err
	}
	cmd.Stdout, cmd.Stderr = out, out
	outcome, err := faultfs.Run{Cmd: cmd, Dir: st.dir, At: at, Mode: f.mode, Err: f.err, Only: f.only, Kept: st.kept}.Do()
	return outcome, errors.Join(err, out.Close())
}

func (st *stage) output(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(st.saved + ".out")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (st *stage) now(t *testing.T) moment {
	t.Helper()
	tree, err := readTree(st.repo)
	if err != nil {
		t.Fatal(err)
	}
	hooks := filepath.Join(st.repo, ".git", "hooks")
	list, err := readTree(hooks)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for name, is := range list {
		tree[filepath.Join(".git/hooks", name)] = is
	}
	return moment{tree, st.landings(t)}
}

// landings counts the closing events of the ledger.
func (st *stage) landings(t *testing.T) int {
	t.Helper()
	f, err := os.Open(filepath.Join(st.repo, ".git", "correx", "ledger", "events.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct{ Type string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // a torn tail counts for nothing
		}
		if e.Type == "ChangeApplied" || e.Type == "UndoApplied" {
			n++
		}
	}
	return n
}

// meet lets the routine meet one fault at one step, and checks what is left, what recovery makes of it, and that the
// routine then does its work.
func (st *stage) meet(t *testing.T, f fault, at int) (struck bool) {
	t.Helper()
	st.t = t
	st.restore(t)
	out, err := st.run(f, at)
	if err != nil {
		t.Fatal(err)
	}
	said := st.output(t)
	if f.mode == faultfs.Crash {
		random := rand.New(rand.NewPCG(st.seed, uint64(at)))
		if err := st.disk.PowerCut(out.Steps, f.keep, random.IntN, st.kept); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if t.Failed() {
			t.Logf("struck on %v; exit %d; it said: %s", out.On, out.Exit, said)
		}
	}()
	if strings.Contains(said, "panic:") || strings.Contains(said, "goroutine ") {
		t.Error("it panicked")
	}
	done := st.holds(t)
	if out.Exit == st.exit && !done {
		t.Error("it claims success and has not done it")
	}
	if shown := credential.FindString(said); shown != "" && !done && !st.piecewise {
		t.Errorf("it showed %s and nothing landed", shown)
	}
	st.again(t)
	return out.Struck
}

var credential = regexp.MustCompile(`u-[a-z0-9]{16,}`)

// holds is the invariant after any fault: the next command recovers; the ledger verifies; no journal is left; the real
// tree is wholly what it was or wholly what it was to be, and the ledger says which.
func (st *stage) holds(t *testing.T) (done bool) {
	t.Helper()
	st.correx(0, st.repo, "status")
	var report struct {
		Journal  string
		Findings []any
	}
	if err := json.Unmarshal([]byte(st.correx(0, st.repo, "fsck", "--json")), &report); err != nil {
		t.Fatal(err)
	}
	if report.Journal != "empty" || len(report.Findings) > 0 {
		t.Fatalf("fsck: %+v", report)
	}
	now := st.now(t)
	if st.piecewise {
		return st.holdsPiecewise(t, now)
	}
	gone, missing := st.before.tree.differs(now.tree), st.after.tree.differs(now.tree)
	if len(gone) > 0 && len(missing) > 0 && !st.onlyHooks(gone) {
		t.Fatalf("neither: %q are not what they were, %q not what they were to be", gone, missing)
	}
	if st.after.landed != st.before.landed {
		if landed := now.landed == st.after.landed; landed != (len(missing) == 0) || !landed && now.landed != st.before.landed {
			t.Fatalf("the ledger counts %d landings (%d before, %d after) and %q are not what they were to be", now.landed, st.before.landed, st.after.landed, missing)
		}
	}
	return len(missing) == 0
}

// onlyHooks allows the steps of an installation in between, as long as every hook there is stays whole: it is what it was,
// or what it was to be.
func (st *stage) onlyHooks(paths []string) bool {
	for _, p := range paths {
		if !strings.HasPrefix(p, ".git/hooks") && p != ".correx.toml" && !strings.HasPrefix(p, ".correx-tmp-") {
			return false
		}
		is, err := describe(filepath.Join(st.repo, p))
		was, had := st.before.tree[p]
		will, has := st.after.tree[p]
		switch {
		case err != nil && (!had || !has):
		case err == nil && (is == was || is == will):
		case err == nil && strings.Contains(p, ".correx-tmp-"):
		case err == nil && filepath.Base(p) == "correx-chained":
		default:
			return false
		}
	}
	return true
}

// holdsPiecewise has each path wholly old or new, as many new ones as the ledger counts.
func (st *stage) holdsPiecewise(t *testing.T, now moment) (done bool) {
	t.Helper()
	for _, p := range st.before.tree.differs(now.tree) {
		if now.tree[p] != st.after.tree[p] {
			t.Fatalf("%q is neither old nor new", p)
		}
	}
	missing := len(st.after.tree.differs(now.tree))
	if st.after.landed-now.landed != missing {
		t.Fatalf("%d paths are still old, the ledger counts %d of %d landings", missing, now.landed, st.after.landed)
	}
	return missing == 0
}

// again runs the routine once more, or finds that there is nothing left to do: the end is the same as without the fault.
func (st *stage) again(t *testing.T) {
	t.Helper()
	cmd := st.start(st.where, st.args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); !slices.Contains([]int{st.exit, 1, 2, 3, 6}, code) {
		t.Fatalf("again: exit %d: %s", code, out)
	}
	if !st.holds(t) {
		t.Fatalf("again, the work is not done: exit %d: %s", cmd.ProcessState.ExitCode(), out)
	}
	left, err := exec.Command("find", st.repo, "-name", ".correx-*", "-not", "-path", "*/.git/*").Output()
	if err != nil || strings.TrimSpace(string(left)) != "" {
		t.Errorf("left over: %s %v", left, err)
	}
}

// routines is every routine that writes.
func routines() []routine {
	inRepo := func(args ...string) func(*site) (string, []string) {
		return func(s *site) (string, []string) { return s.repo, args }
	}
	inShadow := func(args ...string) func(*site) (string, []string) {
		return func(s *site) (string, []string) { return s.onlyShadow(), args }
	}
	waiting := func(s *site) { everyOp(s); s.correx(3, s.onlyShadow(), "submit") }
	then := func(steps ...func(*site)) func(*site) {
		return func(s *site) {
			for _, do := range steps {
				do(s)
			}
		}
	}
	does := func(code int, args ...string) func(*site) { return func(s *site) { s.correx(code, s.repo, args...) } }
	small := func(s *site) { s.put(filepath.Join(s.shadow(), "edited"), "one\ntwo\nthree\n") }
	return []routine{
		{name: "approve", fill: kinds, prepare: waiting, command: inRepo("approve", "1")},
		{name: "approve a part", fill: kinds, prepare: waiting, command: inRepo("approve", "1", "--only", "edited", "--only", "new")},
		{name: "approve hunks", fill: kinds, prepare: twoBlocks, command: inRepo("approve", "1", "--hunks", "2")},
		{name: "undo", fill: kinds, prepare: then(waiting, does(0, "approve", "1")), command: inRepo("undo", "1")},
		{name: "undo by credential", fill: kinds, prepare: then(small, keepCredential), command: func(s *site) (string, []string) { return s.repo, []string{"undo", s.keptCredential()} }},
		{name: "approve what is stale", fill: kinds, prepare: then(waiting, func(s *site) { s.put(filepath.Join(s.repo, "edited"), "a person\n") }), command: inRepo("approve", "1"), exit: 6},
		{name: "redo", fill: kinds, prepare: then(waiting, does(0, "approve", "1"), does(0, "undo", "1")), command: inRepo("redo")},
		{name: "submit that waits", fill: kinds, prepare: everyOp, command: inShadow("submit"), exit: 3},
		{name: "submit that lands", fill: kinds, prepare: small, command: inShadow("submit")},
		{name: "submit that a program raises", fill: kinds, prepare: then(wary, small), command: inShadow("submit"), exit: 3},
		{name: "submit each", fill: kinds, prepare: smallEdits, command: inShadow("submit", "--each"), piecewise: true},
		{name: "reject", fill: kinds, prepare: waiting, command: inRepo("reject", "1", "--reason", "no")},
		{name: "end of a request", fill: kinds, prepare: then(impatient, waiting), command: inRepo("wait", "1", "--timeout", "1s"), exit: 5},
		{name: "mode", fill: kinds, prepare: waiting, command: inRepo("mode", "prompt")},
		{name: "grant for the project", fill: kinds, prepare: then(waiting, ownConfig), command: inRepo("grant", "add", "--scope", "project", "--ops", "edit", "--paths", "edited")},
		{name: "grant in a new file", fill: kinds, prepare: waiting, command: inRepo("grant", "add", "--scope", "project", "--ops", "edit", "--paths", "edited")},
		{
			name: "revoke", fill: kinds, prepare: then(ownConfig, does(0, "grant", "add", "--scope", "project", "--ops", "edit", "--paths", "edited")),
			command: func(s *site) (string, []string) { return s.repo, []string{"grant", "revoke", s.onlyGrant()} },
		},
		{name: "trust", fill: kinds, prepare: then(waiting, ownConfig), command: inRepo("trust", "--yes")},
		{name: "submit under a grant", fill: kinds, prepare: then(small, does(0, "grant", "add", "--scope", "session", "--ops", "edit,delete", "--paths", "edited,deleted"), func(s *site) {
			if err := os.Remove(filepath.Join(s.onlyShadow(), "deleted")); err != nil {
				s.t.Fatal(err)
			}
		}), command: inShadow("submit")},
		{name: "torn tail", fill: kinds, prepare: then(waiting, tearTail), command: inRepo("mode", "prompt")},
		{name: "init", fill: kinds, prepare: ownHook("#!/bin/sh\ntrue\n"), command: inRepo("init")},
		{name: "hooks install", fill: kinds, prepare: ownHook("#!/usr/bin/env python3\n"), command: inRepo("hooks", "install")},
		{name: "hooks uninstall", fill: kinds, prepare: then(ownHook("#!/usr/bin/env python3\n"), does(0, "init")), command: inRepo("hooks", "uninstall")},
		{name: "shadow open", fill: kinds, command: inRepo("shadow", "open", "--name", "n")},
		{name: "shadow reset", fill: kinds, prepare: everyOp, command: inShadow("shadow", "reset")},
		{name: "shadow close", fill: kinds, prepare: waiting, command: func(s *site) (string, []string) {
			return s.repo, []string{"shadow", "close", "--session", s.sessionName()}
		}},
		{name: "hook that stops a commit", fill: kinds, prepare: stageMuch, command: inRepo("hook", "pre-commit"), exit: 3},
		{name: "approve staged", fill: kinds, prepare: stageMuch, command: inRepo("approve", "--staged")},
		{name: "recovery that goes back", fill: kinds, prepare: waiting, lead: interrupt(faultfs.OpExchange, 3), command: inRepo("status"), recovers: true},
		{name: "recovery that goes on", fill: kinds, prepare: waiting, lead: interrupt(faultfs.OpUnlink, 2), command: inRepo("status"), recovers: true},
		{name: "recovery in a renamed folder", fill: kinds, prepare: waiting, command: inRepo("status"), recovers: true, lead: then(
			interrupt(faultfs.OpExchange, 3), func(s *site) { s.rename(filepath.Join(s.repo, "beside"), filepath.Join(s.repo, "away", "beside")) },
		)},
		{
			name: "recovery without a journal", fill: kinds, prepare: waiting, command: inRepo("status"), recovers: true,
			lead: then(interrupt(faultfs.OpExchange, 3), loseJournal),
		},
		{name: "recovery of a grant", fill: kinds, prepare: then(waiting, ownConfig), command: inRepo("status"), recovers: true, lead: switchedGrant},
		{
			name: "recovery of a grant without a journal", fill: kinds, prepare: then(waiting, ownConfig), command: inRepo("status"), recovers: true,
			lead: then(switchedGrant, loseJournal),
		},
	}
}

// kinds makes one file of each kind that everyOp changes.
func kinds(repo string) error {
	for _, dir := range []string{filepath.Join("folder", "inner"), "beside"} {
		if err := os.MkdirAll(filepath.Join(repo, dir), 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{"beside/edited", "edited", "deleted", "renamed", "mode", "becomes-folder", "becomes-link", "folder/a", "folder/inner/b", "untouched"} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(name+"\none\ntwo\n"), 0o644); err != nil {
			return err
		}
	}
	return os.Symlink("edited", filepath.Join(repo, "link"))
}

// everyOp opens a shadow and does one of everything there.
func everyOp(s *site) {
	s.t.Helper()
	at := filepath.Join
	dir := s.shadow()
	for _, err := range []error{
		os.WriteFile(at(dir, "edited"), []byte("edited\nONE\ntwo\n"), 0o644),
		os.WriteFile(at(dir, "beside", "edited"), []byte("beside\n"), 0o644),
		os.Remove(at(dir, "deleted")),
		os.Rename(at(dir, "renamed"), at(dir, "elsewhere")),
		os.Chmod(at(dir, "mode"), 0o755),
		os.Remove(at(dir, "becomes-folder")),
		os.MkdirAll(at(dir, "becomes-folder", "deep", "down"), 0o755),
		os.WriteFile(at(dir, "becomes-folder", "deep", "down", "x"), []byte("x\n"), 0o644),
		os.Remove(at(dir, "becomes-link")),
		os.Symlink("edited", at(dir, "becomes-link")),
		os.RemoveAll(at(dir, "folder")),
		os.WriteFile(at(dir, "folder"), []byte("a file now\n"), 0o644),
		os.WriteFile(at(dir, "new"), []byte("new\n"), 0o644),
		os.Remove(at(dir, "link")),
		os.Symlink("new", at(dir, "link")),
	} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

func smallEdits(s *site) {
	dir := s.shadow()
	for _, name := range []string{"edited", "deleted", "untouched"} {
		s.put(filepath.Join(dir, name), name+"\none\ntwo\nthree\n")
	}
}

// keepCredential submits, and keeps the credential beside the repository.
func keepCredential(s *site) {
	s.t.Helper()
	sets := decodeSets(s.t, s.correx(0, s.onlyShadow(), "submit", "--json"))
	if len(sets) != 1 || sets[0].Undo == "" {
		s.t.Fatalf("%+v", sets)
	}
	s.put(filepath.Join(s.dir, "credential"), sets[0].Undo)
}

func (s *site) keptCredential() string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "credential"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// onlyShadow is the shadow of the one session there is.
func (s *site) onlyShadow() string {
	s.t.Helper()
	return strings.TrimSpace(s.correx(0, s.repo, "shadow", "path"))
}

func (s *site) sessionName() string {
	s.t.Helper()
	return filepath.Base(filepath.Dir(s.onlyShadow()))
}

// impatient lets requests end at once.
func impatient(s *site) {
	s.put(filepath.Join(s.dir, "home", ".config", "correx", "config.toml"), "[approve]\nrequire_tty = false\n[timeouts]\nafter = '1ns'\nT4 = 'reject'\n")
}

// wary has a program raise all that is submitted.
func wary(s *site) {
	s.put(filepath.Join(s.dir, "home", ".config", "correx", "config.toml"),
		`[approve]
require_tty = false
[escalate]
command = ['/bin/sh', '-c', 'echo {\"verdict\":\"ask\"}']
`)
}

// tearTail leaves half a line at the end of the ledger, as a power cut does.
func tearTail(s *site) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.repo, ".git", "correx", "ledger", "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"seq":99,"at":"20`)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func ownHook(text string) func(*site) {
	return func(s *site) {
		p := filepath.Join(s.repo, ".git", "hooks", "pre-commit")
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o755)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// ownConfig puts a file of settings there that is a person's own.
func ownConfig(s *site) { s.put(filepath.Join(s.repo, ".correx.toml"), "# mine\r\nauto.max_files = 1") }

// onlyGrant is the id of the one grant there is.
func (s *site) onlyGrant() string {
	s.t.Helper()
	var list struct {
		Grants []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(s.correx(0, s.repo, "grant", "list", "--json")), &list); err != nil || len(list.Grants) != 1 {
		s.t.Fatalf("%+v, %v", list, err)
	}
	return list.Grants[0].ID
}

func stageMuch(s *site) {
	s.put(filepath.Join(s.repo, ".env"), "TOKEN=1\n")
	s.put(filepath.Join(s.repo, "edited"), strings.Repeat("more than the envelope holds\n", 4000))
	s.git("add", "-A", "-f")
}

// interrupt leaves a landing that was killed at its nth step of a kind.
func interrupt(op faultfs.Op, nth int) func(*site) { return interrupted(op, nth, "approve", "1") }

// interrupted is interrupt for the landing of another command.
func interrupted(op faultfs.Op, nth int, args ...string) func(*site) {
	return func(s *site) {
		s.t.Helper()
		cmd := s.start(s.repo, args...)
		out, err := faultfs.Run{Cmd: cmd, Dir: s.dir, At: nth, Mode: faultfs.Crash, Only: func(step faultfs.Step) bool {
			return step.Op == op && !strings.HasPrefix(step.Path, "repo/.git/")
		}}.Do()
		if errors.Is(err, faultfs.ErrNoTrace) {
			s.t.Skipf("programs cannot be traced here: %v", err)
		}
		if err != nil || !out.Struck || !s.journalThere() {
			s.t.Fatalf("no landing was interrupted: %v, %v", out.On, err)
		}
	}
}

// switchedGrant leaves a grant's landing that was killed between the exchange and the commit point: the file holds the grant.
func switchedGrant(s *site) {
	s.t.Helper()
	interrupted(faultfs.OpFlush, 3, "grant", "add", "--scope", "project", "--ops", "edit", "--paths", "edited")(s)
	if text, err := os.ReadFile(filepath.Join(s.repo, ".correx.toml")); err != nil || !strings.Contains(string(text), "[[grant]]") {
		s.t.Fatalf("it was not switched: %q, %v", text, err)
	}
}

func loseJournal(s *site) {
	s.t.Helper()
	if err := os.Remove(s.journal()); err != nil {
		s.t.Fatal(err)
	}
}

// twoBlocks leaves a waiting set with an edit of two hunks.
func twoBlocks(s *site) {
	p := "edited"
	s.put(filepath.Join(s.shadow(), p), "EDITED\none\nTWO\n"+strings.Repeat("more\n", 20000))
	s.correx(3, s.onlyShadow(), "submit")
}
