package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestAppendHelperProcess is not a test: run again by the tests below, it appends events to the ledger it is told, and
// prints the number of each one that was acknowledged.
func TestAppendHelperProcess(t *testing.T) {
	dir := os.Getenv("CORREX_TEST_LEDGER")
	if dir == "" {
		t.Skip("runs only as a child")
	}
	first, count := 0, 0
	if _, err := fmt.Sscan(os.Getenv("CORREX_TEST_RANGE"), &first, &count); err != nil {
		t.Fatal(err)
	}
	limitFiles(t, os.Getenv("CORREX_TEST_LIMIT"))
	l := openTest(t, dir)
	for n := first; n < first+count; n++ {
		if _, err := add(l, n); err != nil {
			fmt.Printf("refused %v\n", err)
			os.Exit(3)
		}
		fmt.Println("appended", n)
	}
}

// child starts a process that appends the numbers first to first+count-1.
func child(t *testing.T, dir string, first, count int, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAppendHelperProcess$", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), "CORREX_TEST_LEDGER="+dir, fmt.Sprintf("CORREX_TEST_RANGE=%d %d", first, count))
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// acknowledged returns the numbers the child says were appended, calling each for every one.
func acknowledged(t *testing.T, out *bufio.Scanner, each func(n int)) (all []int, refusal string) {
	t.Helper()
	for out.Scan() {
		if r, ok := strings.CutPrefix(out.Text(), "refused "); ok {
			refusal = r
		}
		text, ok := strings.CutPrefix(out.Text(), "appended ")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Error(err)
		}
		all = append(all, n)
		each(n)
	}
	return all, refusal
}

func mustHold(t *testing.T, dir string, want []int) {
	t.Helper()
	events, err := openTest(t, dir).Refresh()
	if err != nil {
		t.Fatal(err)
	}
	count := map[int]int{}
	for _, n := range numbers(t, events) {
		count[n]++
	}
	for _, n := range want {
		if count[n] != 1 {
			t.Fatalf("event %d stands %d times in the ledger", n, count[n])
		}
	}
	if report, err := Verify(dir); err != nil || report.Events != uint64(len(events)) {
		t.Fatalf("%+v, %v", report, err)
	}
}

// Goroutines that share a Log, goroutines with one of their own and other processes append at once, while readers look:
// the chain verifies, everything acknowledged is in it once, and no reader ever sees a ledger that does not verify.
func TestManyWritersAndReaders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	shared := openTest(t, dir)
	var all []int
	var mu sync.Mutex
	note := func(n int) { mu.Lock(); all = append(all, n); mu.Unlock() }
	var writers, readers sync.WaitGroup
	for p := range 3 {
		_, out := child(t, dir, 10000*(p+1), 15)
		writers.Go(func() {
			if got, refusal := acknowledged(t, out, note); len(got) != 15 {
				t.Errorf("child %d: %v, refused %q", p, got, refusal)
			}
		})
	}
	for g := range 20 {
		l := shared
		if g%2 == 0 {
			l = openTest(t, dir)
		}
		writers.Go(func() {
			for i := range 6 {
				if _, err := add(l, 100*g+i); err != nil {
					t.Error(err)
					return
				}
				note(100*g + i)
			}
		})
	}
	var done atomic.Bool
	for range 2 {
		readers.Go(func() {
			steady := openTest(t, dir)
			var last uint64
			for !done.Load() {
				events, err := steady.Refresh()
				if err != nil {
					t.Errorf("reader: %v", err)
					return
				}
				for _, e := range events {
					if last++; e.Seq != last {
						t.Errorf("reader: event %d after %d", e.Seq, last-1)
						return
					}
				}
				if report, err := Verify(dir); err != nil || report.Events < last {
					t.Errorf("fresh reader after event %d: %+v, %v", last, report, err)
					return
				}
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
	if len(all) != 3*15+20*6 {
		t.Fatalf("%d acknowledged", len(all))
	}
	mustHold(t, dir, all)
}

// A writer killed at any moment loses nothing that it acknowledged, and is in nobody's way.
func TestKilledWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	var all []int
	for round := range 12 {
		cmd, out := child(t, dir, 1000*round, 1000)
		got, refusal := acknowledged(t, out, func(n int) {
			if n%1000 == 2*round {
				cmd.Process.Kill()
			}
		})
		if len(got) <= 2*round || refusal != "" {
			t.Fatalf("round %d: %v, refused %q", round, got, refusal)
		}
		all = append(all, got...)
		mustHold(t, dir, all)
		mustAdd1(t, dir, 100000+round)
		all = append(all, 100000+round)
	}
	mustHold(t, dir, all)
}

func mustAdd1(t *testing.T, dir string, n int) {
	t.Helper()
	if _, err := add(openTest(t, dir), n); err != nil {
		t.Fatal(err)
	}
}

// A real short write: the process may not make files longer than a limit that falls inside an event.
func TestNoRoomLeft(t *testing.T) {
	if !canLimitFiles {
		t.Skip("no limit on the size of files here")
	}
	dir := filepath.Join(t.TempDir(), "ledger")
	mustAdd1(t, dir, 1)
	for limit := slotApart + slotSize; limit < slotApart+slotSize+400; limit += 57 {
		_, out := child(t, dir, limit*1000, 1000, fmt.Sprintf("CORREX_TEST_LIMIT=%d", limit))
		got, refusal := acknowledged(t, out, func(int) {})
		if refusal == "" {
			t.Fatalf("limit %d: never refused, %d appended", limit, len(got))
		}
		mustHold(t, dir, got)
		if report, err := Verify(dir); err != nil || report.TornTail != 0 {
			t.Fatalf("limit %d: %+v, %v", limit, report, err)
		}
	}
	events, err := openTest(t, dir).Update(context.Background(), func(fresh []Event) ([]Draft, error) { return drafts(7), nil })
	if err != nil || len(events) != 1 {
		t.Fatalf("nothing was to repair: %v, %v", events, err)
	}
}

// Updates decide on what is there when they hold the lock: a counter that each raises by one never skips.
func TestCompareAndSet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	var wg sync.WaitGroup
	const each, writers = 5, 8
	for range writers {
		wg.Go(func() {
			l := openTest(t, dir)
			top := 0
			raise := func(fresh []Event) ([]Draft, error) {
				for _, e := range fresh {
					var d number
					if err := json.Unmarshal(e.Data, &d); err != nil {
						return nil, err
					}
					if d.N != top+1 {
						return nil, errors.New("a number was given twice")
					}
					top = d.N
				}
				top++
				return drafts(top), nil
			}
			for range each {
				if _, err := l.Update(context.Background(), raise); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if report, err := Verify(dir); err != nil || report.Events != each*writers {
		t.Fatalf("%+v, %v", report, err)
	}
}

// ignored keeps a signal from ending the process, so that the system call behind it fails instead.
func ignored(s os.Signal) { signal.Ignore(s) }
