package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// together starts runs of the program, all before any is waited for, and returns what each said.
func (s *site) together(runs []*exec.Cmd) (codes []int, out, errs []string) {
	s.t.Helper()
	streams := make([][2]bytes.Buffer, len(runs))
	for i, cmd := range runs {
		cmd.Stdout, cmd.Stderr = &streams[i][0], &streams[i][1]
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
	}
	for i, cmd := range runs {
		_ = cmd.Wait() // the exit code is what is asked for
		codes = append(codes, cmd.ProcessState.ExitCode())
		out, errs = append(out, streams[i][0].String()), append(errs, streams[i][1].String())
	}
	return codes, out, errs
}

// count returns how often each exit code occurs: "0:1 6:5".
func count(codes []int) string {
	n := map[int]int{}
	for _, c := range codes {
		n[c]++
	}
	var list []string
	for c, k := range n {
		list = append(list, fmt.Sprintf("%d:%d", c, k))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func files(n int) func(string) error {
	return func(repo string) error {
		for i := range n {
			if err := os.WriteFile(filepath.Join(repo, fmt.Sprintf("f%d.txt", i)), []byte("base\n"), 0o644); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(repo, "shared.txt"), []byte("base\n"), 0o644)
	}
}

func (s *site) put(p, text string) {
	s.t.Helper()
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) holds(p, want string) {
	s.t.Helper()
	if b, err := os.ReadFile(p); err != nil || string(b) != want {
		s.t.Errorf("%s holds %q, %v; want %q", p, b, err, want)
	}
}

// TestSessionsAtOnce: twelve sessions open, submit and take back at the same time. Everything lands or waits, no number is
// given twice, and of twelve changes to one file one lands and the others are stale.
func TestSessionsAtOnce(t *testing.T) {
	t.Parallel()
	const n = 12
	s := newSite(t, files(n))
	var runs []*exec.Cmd
	for range n {
		runs = append(runs, s.start(s.repo, "shadow", "open"))
	}
	codes, shadows, errs := s.together(runs)
	if got := count(codes); got != "0:12" {
		t.Fatalf("open: %s %v", got, errs)
	}
	runs = nil
	for range 4 {
		runs = append(runs, s.start(s.repo, "shadow", "open", "--name", "one"))
	}
	if codes, same, errs := s.together(runs); count(codes) != "0:4" || same[0] != same[1] || same[0] != same[2] || same[0] != same[3] {
		t.Errorf("one name: %s %q %v", count(codes), same, errs)
	}
	for i := range shadows {
		shadows[i] = strings.TrimSpace(shadows[i])
		s.put(filepath.Join(shadows[i], fmt.Sprintf("f%d.txt", i)), fmt.Sprintf("session %d\n", i))
		s.put(filepath.Join(shadows[i], "new.txt"), "the same new file\n")
		if i%2 == 0 {
			if err := os.Remove(filepath.Join(shadows[i], fmt.Sprintf("f%d.txt", (i+1)%n))); err != nil {
				t.Fatal(err)
			}
		}
	}
	submit := func(words ...string) []*exec.Cmd {
		var runs []*exec.Cmd
		for _, dir := range shadows {
			runs = append(runs, s.start(dir, append([]string{"submit", "--json"}, words...)...))
		}
		return runs
	}
	_, out, errs := s.together(submit("--each"))
	numbers := map[int]bool{}
	undo := make([]string, n)
	for i, text := range out {
		for _, set := range decodeSets(t, text) {
			if numbers[set.ID] {
				t.Errorf("#%d was given twice", set.ID)
			}
			numbers[set.ID] = true
			switch own := set.Files[0].Path == fmt.Sprintf("f%d.txt", i); {
			case own && set.State == "applied" && set.Undo != "":
				undo[i] = set.Undo
			case set.Files[0].Path == "new.txt" && (set.State == "applied" || set.State == "stale"):
			case set.Files[0].Op == "delete" && (set.State == "pending" || set.State == "stale"):
			default:
				t.Errorf("session %d: %+v %s", i, set, errs[i])
			}
		}
		s.holds(filepath.Join(s.repo, fmt.Sprintf("f%d.txt", i)), fmt.Sprintf("session %d\n", i))
	}
	s.holds(filepath.Join(s.repo, "new.txt"), "the same new file\n")
	for id := 1; id <= len(numbers); id++ {
		if !numbers[id] {
			t.Errorf("%d sets, but no #%d", len(numbers), id)
		}
	}
	for i, dir := range shadows {
		s.put(filepath.Join(dir, "shared.txt"), fmt.Sprintf("session %d\n", i))
	}
	codes, _, errs = s.together(submit("shared.txt"))
	if got := count(codes); got != "0:1 6:11" {
		t.Errorf("one file: %s %v", got, errs)
	}
	s.holds(filepath.Join(s.repo, "shared.txt"), fmt.Sprintf("session %d\n", slices.Index(codes, 0)))
	runs = nil
	for i, dir := range shadows {
		runs = append(runs, s.start(dir, "undo", undo[i]))
	}
	if codes, _, errs = s.together(runs); count(codes) != "0:12" {
		t.Errorf("undo: %s %v", count(codes), errs)
	}
	for i := range n {
		s.holds(filepath.Join(s.repo, fmt.Sprintf("f%d.txt", i)), "base\n")
	}
	s.correx(0, s.repo, "fsck")
}

// TestDecisionsAtOnce: of several decisions on one set one counts, and the others say what it came to.
func TestDecisionsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, files(4))
	shadow := s.shadow()
	for i := range 4 {
		if err := os.Remove(filepath.Join(shadow, fmt.Sprintf("f%d.txt", i))); err != nil {
			t.Fatal(err)
		}
	}
	s.correx(3, shadow, "submit", "--each")
	var runs []*exec.Cmd
	for range 6 {
		runs = append(runs, s.start(s.repo, "approve", "1"))
	}
	codes, _, errs := s.together(runs)
	if got := count(codes); got != "0:1 6:5" {
		t.Errorf("six approvals: %s %v", got, errs)
	}
	for i, c := range codes {
		if c == 6 && !strings.Contains(errs[i], "#1 no longer waits: it is applied") {
			t.Errorf("a loser says %q", errs[i])
		}
	}
	for round, id := range []string{"2", "3", "4"} {
		runs = []*exec.Cmd{
			s.start(s.repo, "approve", id), s.start(s.repo, "reject", id, "--reason", "no"), s.start(s.repo, "skip", id), s.start(s.repo, "approve", id),
		}
		slices.Reverse(runs[:1+round])
		codes, _, errs := s.together(runs)
		if got := count(codes); got != "0:1 6:3" {
			t.Errorf("four answers to #%s: %s %v", id, got, errs)
		}
		_, err := os.Lstat(filepath.Join(s.repo, "f"+strconv.Itoa(round+1)+".txt"))
		if state := s.state(id); os.IsNotExist(err) != (state == "applied") {
			t.Errorf("#%s is %s, its file: %v", id, state, err)
		}
	}
	runs = nil
	for range 6 {
		runs = append(runs, s.start(s.repo, "undo", "1"))
	}
	if codes, _, errs := s.together(runs); count(codes) != "0:1 6:5" {
		t.Errorf("six undos: %s %v", count(codes), errs)
	}
	s.holds(filepath.Join(s.repo, "f0.txt"), "base\n")
	log := s.correx(0, s.repo, "log", "1", "--json")
	if n := strings.Count(log, `"type":"ChangeApplied"`); n != 1 {
		t.Errorf("#1 landed %d times", n)
	}
	s.correx(0, s.repo, "fsck")
}

// TestSubmitWhileItLands: an agent that submits while a person's approval of the same set lands comes before it or after
// it, and is told so; the record of the landing never contradicts what the submission made of the set.
func TestSubmitWhileItLands(t *testing.T) {
	t.Parallel()
	const n = 60
	s := newSite(t, files(n))
	shadow := s.shadow()
	for round := range 6 {
		for i := range n {
			s.put(filepath.Join(shadow, fmt.Sprintf("f%d.txt", i)), fmt.Sprintf("round %d\n", round))
		}
		set := decodeSets(t, s.correx(3, shadow, "submit", "--json"))[0]
		runs := []*exec.Cmd{
			s.start(shadow, "submit", "--json"), s.start(s.repo, "approve", strconv.Itoa(set.ID)), s.start(shadow, "submit", "f0.txt", "--json"),
			s.start(shadow, "shadow", "reset", "f1.txt"), s.start(shadow, "submit", "--json"),
		}
		codes, out, errs := s.together(runs)
		for i, c := range codes {
			if c != 0 && c != 3 && c != 6 {
				t.Fatalf("round %d: %q: exit %d: %s%s", round, runs[i].Args[1:], c, out[i], errs[i])
			}
		}
		s.correx(0, s.repo, "fsck")
		for _, line := range strings.Split(s.correx(0, s.repo, "status", "--json"), "\n")[:1] {
			var v struct{ Pending []setAnswer }
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			for _, p := range v.Pending {
				s.correx(0, s.repo, "approve", strconv.Itoa(p.ID))
			}
		}
		s.correx(0, shadow, "shadow", "reset")
		s.correx(0, shadow, "submit")
		if got, want := s.treeID(s.repo), s.treeID(shadow); got != want {
			t.Fatalf("round %d: the tree is %s, the shadow %s", round, got, want)
		}
	}
}

// TestHunksAtOnce: of several people who choose other hunks of one set at the same time one is heard. The others are told
// that it was approved (2, while it lands) or has landed (6).
func TestHunksAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(repo string) error {
		return os.WriteFile(filepath.Join(repo, ".env"), []byte("0\n-\n0\n-\n0\n"), 0o644)
	})
	s.put(filepath.Join(s.shadow(), ".env"), "1\n-\n1\n-\n1\n")
	s.correx(3, s.repo, "submit")
	var runs []*exec.Cmd
	for i := range 6 {
		runs = append(runs, s.start(s.repo, "approve", "1", "--hunks", []string{"1", "2", "3", "1-2", "2-3", "1-3"}[i]))
	}
	codes, out, errs := s.together(runs)
	heard := slices.Index(codes, 0)
	for i, code := range codes {
		if heard < 0 || i != heard && code != 2 && code != 6 {
			t.Fatalf("%s %q %q", count(codes), out, errs)
		}
	}
	want := []string{"1\n-\n0\n-\n0\n", "0\n-\n1\n-\n0\n", "0\n-\n0\n-\n1\n", "1\n-\n1\n-\n0\n", "0\n-\n1\n-\n1\n", "1\n-\n1\n-\n1\n"}
	s.holds(filepath.Join(s.repo, ".env"), want[heard])
	if heard < 5 {
		s.correx(0, s.repo, "approve", "2")
	}
	s.holds(filepath.Join(s.repo, ".env"), want[5])
	s.correx(0, s.repo, "fsck")
}
