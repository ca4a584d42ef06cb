package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// killedPaths is the number of paths of the set that is killed while it lands.
const killedPaths = 200

func manyFiles(repo string) error {
	for i := range killedPaths {
		p := filepath.Join(repo, fmt.Sprintf("d%d", i%10), fmt.Sprintf("f%d.txt", i))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(fmt.Sprintf("file %d\nwith a line\nand another\n", i)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// rework edits, deletes, moves and makes files in a shadow, and returns the paths it touched.
func rework(t *testing.T, shadow string) []string {
	t.Helper()
	var touched []string
	for i := range killedPaths {
		name := filepath.Join(fmt.Sprintf("d%d", i%10), fmt.Sprintf("f%d.txt", i))
		p := filepath.Join(shadow, name)
		var err error
		switch {
		case i%10 == 9:
			moved := filepath.Join("moved", fmt.Sprintf("m%d", i), "f.txt")
			if err = os.MkdirAll(filepath.Dir(filepath.Join(shadow, moved)), 0o755); err == nil {
				err = os.Rename(p, filepath.Join(shadow, moved))
			}
			touched = append(touched, moved)
		case i%4 == 0:
			err = os.Remove(p)
		case i%4 == 1:
			err = os.WriteFile(p+".new", []byte(name), 0o644)
			touched = append(touched, name+".new")
		default:
			err = os.WriteFile(p, []byte("edited "+name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		touched = append(touched, name)
	}
	return touched
}

// reworkedSite returns a site where all that rework does waits as #1, the paths of it, and the trees without it and with it.
func reworkedSite(t *testing.T) (s *site, touched []string, before, after snapshot) {
	t.Helper()
	s = newSite(t, manyFiles)
	shadow := s.shadow()
	touched = rework(t, shadow)
	before, err := readTree(s.repo)
	if err == nil {
		after, err = readTree(shadow)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.correx(3, shadow, "submit")
	return s, touched, before, after
}

// instant is a moment in a landing: it reports whether that has come.
type instant func() bool

// instants are the moments at which a landing is killed: before it began, when its journal is there, when some path was
// switched, when the ledger grew, and when the journal is gone again.
func instants(s *site, round int, watched string) (string, instant) {
	ledger := filepath.Join(s.repo, ".git", "correx", "ledger", "events.jsonl")
	there := s.journalThere
	size := func() int64 {
		info, err := os.Stat(ledger)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	begun, seen := size(), false
	watched = filepath.Join(s.repo, watched)
	was, _ := describe(watched)
	switch round % 6 {
	case 0:
		return "at once", func() bool { return true }
	case 1:
		return "at the journal", there
	case 2:
		return "at the decision", func() bool { return size() > begun }
	case 3:
		return "at the closing event", func() bool {
			if there() && !seen {
				seen, begun = true, size()
			}
			return seen && size() > begun
		}
	}
	return "when " + watched + " was switched", func() bool { now, _ := describe(watched); return now != was }
}

func (s *site) journalThere() bool {
	_, err := os.Lstat(s.journal())
	return err == nil
}

// killed runs a command and kills it at the instant, unless it ends before. It reports whether a landing was interrupted.
func (s *site) killed(at instant, args ...string) bool {
	s.t.Helper()
	cmd := s.start(s.repo, args...)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed or not: the tree tells
		close(ended)
	}()
	for !at() {
		select {
		case <-ended:
			return s.journalThere()
		default:
		}
	}
	_ = cmd.Process.Kill() // it may have ended by itself just now
	<-ended
	return s.journalThere()
}

// whole checks after a kill: the next command puts things right, nothing is left over, everything verifies, and the tree is
// one of two.
func (s *site) whole(when string, trees ...snapshot) snapshot {
	s.t.Helper()
	s.correx(0, s.repo, "status")
	now, err := readTree(s.repo)
	if err != nil {
		s.t.Fatal(err)
	}
	var report struct {
		Journal  string
		Findings []any
	}
	if err := json.Unmarshal([]byte(s.correx(0, s.repo, "fsck", "--json")), &report); err != nil {
		s.t.Fatal(err)
	}
	if report.Journal != "empty" || len(report.Findings) > 0 {
		s.t.Fatalf("killed %s: %+v", when, report)
	}
	for _, tree := range trees {
		if len(tree.differs(now)) == 0 {
			return tree
		}
	}
	s.t.Fatalf("killed %s: neither; %d paths are not what they were, %d not what they should be: %.300q",
		when, len(trees[0].differs(now)), len(trees[1].differs(now)), trees[1].differs(now))
	return nil
}

// newSeed is the seed of a test that chooses by chance: a new one each time, or that of CRASH_SEED to see a failure again.
func newSeed(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if given, err := strconv.ParseUint(os.Getenv("CRASH_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("CRASH_SEED=%d", seed)
	return seed
}

// rounds is how often the tests that kill do so: as often as CRASH_ROUNDS says, as make crash does, or few times.
func rounds(few int) int {
	if n, err := strconv.Atoi(os.Getenv("CRASH_ROUNDS")); err == nil {
		return n
	}
	return few
}

// TestKilledLanding kills an approval of many paths, its undo and its redo at one instant after another. After the next
// command each path holds what it held before, or what was proposed, and never some of both.
func TestKilledLanding(t *testing.T) {
	t.Parallel()
	s, touched, before, after := reworkedSite(t)
	random := rand.New(rand.NewPCG(newSeed(t), 0))
	next, interrupted := []string{"approve", "1"}, 0
	for round := range rounds(24) {
		when, at := instants(s, round, touched[random.IntN(len(touched))])
		if s.killed(at, next...) {
			interrupted++
		}
		tree := s.whole(fmt.Sprintf("%s of %v", when, next), before, after)
		state := s.state("1")
		if landed := len(tree.differs(after)) == 0; landed != (state == "applied") {
			t.Fatalf("killed %s of %v: landed %t, and #1 is %s", when, next, landed, state)
		}
		switch state {
		case "applied":
			next = []string{"undo", "1"}
		case "undone":
			next = []string{"redo"}
		case "pending", "approved":
		default:
			t.Fatalf("killed %s of %v: #1 is %s", when, next, state)
		}
	}
	if state := s.state("1"); state != "applied" {
		s.correx(0, s.repo, next...)
	}
	if tree := s.whole("no more", before, after); len(tree.differs(after)) > 0 {
		t.Fatalf("%v did not land it", next)
	}
	if left := s.workingNames(); left != "" {
		t.Errorf("left over: %s", left)
	}
	if interrupted == 0 {
		t.Error("no landing was interrupted, so nothing was tried")
	}
	t.Logf("interrupted %d landings", interrupted)
}

// TestKilledHunks kills an approval of some hunks of a file, its undo and its redo. The file holds its base or exactly what
// the hunks come to, and what waits afterwards goes on from there to what was proposed.
func TestKilledHunks(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(repo string) error {
		return os.WriteFile(filepath.Join(repo, "f.txt"), []byte("1\n2\n3\n4\n5"), 0o644)
	})
	shadow, file := s.shadow(), filepath.Join(s.repo, "f.txt")
	s.put(filepath.Join(shadow, "f.txt"), "one\n2\nthree\n4\nfive\n")
	s.put(filepath.Join(shadow, ".env"), "A=1\n")
	s.correx(3, shadow, "submit")
	first := []string{"approve", "1", "--only", "f.txt", "--hunks", "1,3"}
	next, interrupted := first, 0
	for round := range rounds(18) {
		when, at := instants(s, round, "f.txt")
		if s.killed(at, next...) {
			interrupted++
		}
		s.correx(0, s.repo, "status")
		s.correx(0, s.repo, "fsck")
		state, want := s.state("1"), "1\n2\n3\n4\n5"
		if state == "partially_accepted" {
			want = "one\n2\n3\n4\nfive\n"
		}
		s.holds(file, want)
		if t.Failed() {
			t.Fatalf("killed %s of %v: #1 is %s", when, next, state)
		}
		switch state {
		case "partially_accepted":
			next = []string{"undo", "1"}
		case "undone":
			next = []string{"redo"}
		case "approved":
			next = []string{"approve", "1"}
		case "pending":
			next = first
		default:
			t.Fatalf("killed %s of %v: #1 is %s", when, next, state)
		}
	}
	if s.state("1") != "partially_accepted" {
		s.correx(0, s.repo, next...)
	}
	s.correx(0, s.repo, "approve", "2")
	s.holds(file, "one\n2\nthree\n4\nfive\n")
	s.correx(0, s.repo, "fsck")
	if interrupted == 0 {
		t.Error("no landing was interrupted, so nothing was tried")
	}
	t.Logf("interrupted %d landings", interrupted)
}

// TestKilledSubmission kills submissions that land one file after another. Every file is wholly old or new afterwards, and
// the next submission lands what is left.
func TestKilledSubmission(t *testing.T) {
	t.Parallel()
	const n = 12
	s := newSite(t, files(n))
	s.put(filepath.Join(s.dir, "home", ".config", "correx", "config.toml"), "[approve]\nrequire_tty = false\n[auto]\nsession_files = 1000000\nsession_bytes = 1000000000\n")
	shadow := s.shadow()
	interrupted := 0
	for round := range rounds(8) {
		old, text := fmt.Sprintf("round %d\n", round), fmt.Sprintf("round %d\n", round+1)
		if round == 0 {
			old = "base\n"
		}
		for i := range n {
			s.put(filepath.Join(shadow, fmt.Sprintf("f%d.txt", i)), text)
		}
		when, at := instants(s, round, fmt.Sprintf("f%d.txt", (round*5)%n))
		if s.killed(at, "submit", "--each") {
			interrupted++
		}
		s.correx(0, s.repo, "status")
		s.correx(0, s.repo, "fsck")
		for i := range n {
			p := filepath.Join(s.repo, fmt.Sprintf("f%d.txt", i))
			if b, err := os.ReadFile(p); err != nil || string(b) != old && string(b) != text {
				t.Fatalf("killed %s: %s holds %q, %v", when, p, b, err)
			}
		}
		s.correx(0, s.repo, "submit", "--each")
		if got, want := s.treeID(s.repo), s.treeID(shadow); got != want {
			t.Fatalf("killed %s: the next submission leaves the tree at %s, the shadow is %s", when, got, want)
		}
		s.correx(0, s.repo, "fsck")
	}
	t.Logf("interrupted %d landings", interrupted)
}

// TestKilledThenDisturbed kills landings of many paths and, before the next command, renames one of their folders, removes
// the journal, or both. What was interrupted goes back, or is finished, where its folder is by then; what cannot be put
// right by itself is named.
func TestKilledThenDisturbed(t *testing.T) {
	t.Parallel()
	s, touched, before, after := reworkedSite(t)
	random := rand.New(rand.NewPCG(newSeed(t), 0))
	next, tried := []string{"approve", "1"}, 0
	for round := range rounds(16) {
		when, at := instants(s, round, touched[random.IntN(len(touched))])
		if s.killed(at, next...) {
			tried++
		}
		folder, away := fmt.Sprintf("d%d", random.IntN(10)), filepath.Join(s.repo, "elsewhere", "d")
		how := []string{"renamed", "journal removed", "both"}[random.IntN(3)]
		when += ", then " + how
		if how != "journal removed" {
			s.rename(filepath.Join(s.repo, folder), away)
		}
		if how != "renamed" {
			if err := os.RemoveAll(s.journal()); err != nil {
				t.Fatal(err)
			}
		}
		s.correx(0, s.repo, "status")
		s.takeKept(when, how != "renamed")
		left := s.workingNames()
		if how == "renamed" && left != "" {
			t.Fatalf("killed %s: left over: %s", when, left)
		}
		if left != "" {
			s.named(when, strings.Split(left, "\n"))
		}
		if how != "journal removed" {
			s.rename(away, filepath.Join(s.repo, folder))
			if err := os.Remove(filepath.Dir(away)); err != nil {
				t.Fatal(err)
			}
			s.correx(0, s.repo, "status")
			s.takeKept(when, how != "renamed")
		}
		next = s.afterDisturbance(when, next, before, after)
	}
	if tried == 0 {
		t.Error("no landing was interrupted, so nothing was tried")
	}
	t.Logf("interrupted %d landings", tried)
}

// takeKept removes what a landing was staging when its journal went: it has a visible name, and the ledger says so.
func (s *site) takeKept(when string, allowed bool) {
	s.t.Helper()
	kept, err := exec.Command("find", s.repo, "-name", "*.correx-kept-*").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, path := range strings.Fields(string(kept)) {
		if events := s.correx(0, s.repo, "log", "--json"); !allowed || !strings.Contains(events, strings.TrimPrefix(path, s.repo+"/")) {
			s.t.Fatalf("killed %s: %s was kept:\n%s", when, path, events)
		}
		if err := os.Remove(path); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) journal() string {
	return filepath.Join(s.repo, ".git", "correx", "worktrees", "main", "journal")
}

func (s *site) rename(from, to string) {
	s.t.Helper()
	err := os.MkdirAll(filepath.Dir(to), 0o755)
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) workingNames() string {
	s.t.Helper()
	left, err := exec.Command("find", s.repo, "-name", ".git", "-prune", "-o", "-name", ".correx-*", "-print").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(left))
}

// named checks that fsck names every working name that is left, and doctor says how many there are.
func (s *site) named(when string, left []string) {
	s.t.Helper()
	report := s.correx(7, s.repo, "fsck")
	for _, path := range left {
		if !strings.Contains(report, strings.TrimPrefix(path, s.repo+"/")) {
			s.t.Fatalf("killed %s: %s is left and not named:\n%s", when, path, report)
		}
	}
	if report := s.correx(1, s.repo, "doctor"); !strings.Contains(report, fmt.Sprintf("tree: %d working name", len(left))) {
		s.t.Fatalf("killed %s: %d names are left:\n%s", when, len(left), report)
	}
}

// afterDisturbance checks that the tree is one of two but for working names that were named, does with those what fsck says,
// and returns the next command. Without a journal nothing tells who made a new file whose folder was renamed, or an empty
// folder: those that stay are exactly what was proposed.
func (s *site) afterDisturbance(when string, next []string, before, after snapshot) []string {
	s.t.Helper()
	if left := s.workingNames(); left != "" {
		s.named(when, strings.Split(left, "\n"))
		for _, path := range strings.Split(left, "\n") {
			if err := os.RemoveAll(path); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if !strings.HasSuffix(when, "renamed") {
		want, other := before, after
		if s.state("1") == "applied" {
			want, other = after, before
		}
		now, err := readTree(s.repo)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, path := range slices.Backward(want.differs(now)) {
			if _, is := want[path]; !is && now[path] == other[path] {
				if err := os.Remove(filepath.Join(s.repo, path)); err != nil {
					s.t.Fatalf("killed %s of %v: %v", when, next, err)
				}
			}
		}
	}
	tree := s.whole(when, before, after)
	state := s.state("1")
	if landed := len(tree.differs(after)) == 0; landed != (state == "applied") {
		s.t.Fatalf("killed %s of %v: landed %t, and #1 is %s", when, next, landed, state)
	}
	switch state {
	case "applied":
		return []string{"undo", "1"}
	case "undone":
		return []string{"redo"}
	case "pending", "approved":
		return next
	}
	s.t.Fatalf("killed %s of %v: #1 is %s", when, next, state)
	return nil
}
