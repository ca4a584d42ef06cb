package ledger

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

type number struct {
	N int `json:"n"`
}

func testOptions() Options {
	at := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	return Options{Clock: func() time.Time { at = at.Add(time.Second); return at }, Rand: rand.Reader, Holder: "test"}
}

func openTest(t testing.TB, dir string) *Log {
	t.Helper()
	l, err := Open(dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func drafts(ns ...int) []Draft {
	var list []Draft
	for _, n := range ns {
		list = append(list, Draft{Type: ChangeStaged, Actor: "test", Data: number{n}})
	}
	return list
}

func add(l *Log, ns ...int) ([]Event, error) {
	return l.Update(context.Background(), func([]Event) ([]Draft, error) { return drafts(ns...), nil })
}

func mustAdd(t testing.TB, l *Log, ns ...int) {
	t.Helper()
	if events, err := add(l, ns...); err != nil || len(events) != len(ns) {
		t.Fatalf("%d events, %v", len(events), err)
	}
}

// numbers returns the numbers in events, LedgerRepaired as -1.
func numbers(t testing.TB, events []Event) []int {
	t.Helper()
	ns := []int{}
	for _, e := range events {
		if e.Type == LedgerRepaired {
			ns = append(ns, -1)
			continue
		}
		var d number
		if err := json.Unmarshal(e.Data, &d); err != nil {
			t.Fatal(err)
		}
		ns = append(ns, d.N)
	}
	return ns
}

func readNumbers(t testing.TB, dir string) string {
	t.Helper()
	events, err := openTest(t, dir).Refresh()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(numbers(t, events))
}

// snapshot holds the files of a ledger so that a test can set them up again and again.
type snapshot map[string][]byte

func take(t testing.TB, dir string) snapshot {
	t.Helper()
	s := snapshot{}
	for _, name := range []string{logName, headName} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		s[name] = b
	}
	return s
}

func (s snapshot) put(t testing.TB, dir string) {
	t.Helper()
	for name, b := range s {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// three returns the states of a ledger after one, two and three events.
func three(t testing.TB) [3]snapshot {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ledger")
	l := openTest(t, dir)
	var states [3]snapshot
	for i := range states {
		mustAdd(t, l, i)
		states[i] = take(t, dir)
	}
	return states
}

func TestLedgerGrows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "ledger")
	l := openTest(t, dir)
	if events, err := l.Refresh(); err != nil || len(events) != 0 {
		t.Fatalf("missing ledger: %v, %v", events, err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("reading made the folder: %v", err)
	}
	mustAdd(t, l, 1, 2)
	other := openTest(t, dir)
	mustAdd(t, other, 3)
	if events, err := l.Refresh(); err != nil || fmt.Sprint(numbers(t, events)) != "[3]" {
		t.Fatalf("only the new one: %v, %v", events, err)
	}
	if events, err := l.Refresh(); err != nil || len(events) != 0 {
		t.Fatalf("twice: %v, %v", events, err)
	}
	mustAdd(t, l, 4)
	events, err := other.Update(context.Background(), func(fresh []Event) ([]Draft, error) {
		if got := fmt.Sprint(numbers(t, fresh)); got != "[4]" {
			t.Errorf("fresh %s", got)
		}
		return []Draft{{ID: "e-0000000000000001", Type: "Later", Cause: fresh[0].ID, Actor: "bad \xff utf8", Data: nil}}, nil
	})
	if err != nil || len(events) != 1 {
		t.Fatal(err)
	}
	e := events[0]
	if e.Seq != 5 || e.ID != "e-0000000000000001" || e.Actor != "bad \ufffd utf8" || string(e.Data) != "{}" || e.At.IsZero() {
		t.Fatalf("%+v", e)
	}
	report, err := Verify(dir)
	if err != nil || report != (Report{Events: 5, Head: e.Hash}) {
		t.Fatalf("%+v, %v", report, err)
	}
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{"": 0o700, logName: 0o600, headName: 0o600, lockName: 0o600} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v %v", name, info.Mode(), err)
			}
		}
	}
}

func TestUpdateThatWritesNothing(t *testing.T) {
	states := three(t)
	dir := t.TempDir()
	states[2].put(t, dir)
	l := openTest(t, dir)
	refused := errors.New("refused")
	bad := map[string]Draft{
		"type":       {Type: "no type"},
		"empty type": {},
		"id":         {Type: "A", ID: "e-1"},
		"cause":      {Type: "A", Cause: "because"},
		"array":      {Type: "A", Data: []int{1}},
		"null":       {Type: "A", Data: (*number)(nil)},
		"function":   {Type: "A", Data: func() {}},
		"too long":   {Type: "A", Data: map[string]string{"x": strings.Repeat("x", maxLine)}},
	}
	for name, d := range bad {
		_, err := l.Update(context.Background(), func([]Event) ([]Draft, error) { return append(drafts(9), d), nil })
		var de *DraftError
		if !errors.As(err, &de) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.Update(context.Background(), func([]Event) ([]Draft, error) { return drafts(9), refused }); err != refused {
		t.Errorf("decide's error: %v", err)
	}
	if events, err := l.Update(context.Background(), func([]Event) ([]Draft, error) { return nil, nil }); err != nil || events != nil {
		t.Errorf("no drafts: %v, %v", events, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Update(ended, func([]Event) ([]Draft, error) { return drafts(9), nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
	if now := take(t, dir); string(now[logName]) != string(states[2][logName]) || string(now[headName]) != string(states[2][headName]) {
		t.Error("something was written")
	}
	mustAdd(t, l, 3)
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("opened without clock and random source")
	}
}

// A writer that is stopped after any byte of its event leaves a torn tail: readers pass over it, the next writer sets it
// aside.
func TestTornTailAfterEveryByte(t *testing.T) {
	states := three(t)
	whole := len(states[2][logName])
	for cut := len(states[1][logName]); cut <= whole; cut++ {
		dir := filepath.Join(t.TempDir(), "ledger")
		os.Mkdir(dir, 0o700)
		snapshot{logName: states[2][logName][:cut], headName: states[1][headName]}.put(t, dir)
		torn := cut - len(states[1][logName])
		read, after := "[0 1]", "[0 1 -1 9]"
		switch torn {
		case 0:
			after = "[0 1 9]"
		case whole - len(states[1][logName]):
			read, after, torn = "[0 1 2]", "[0 1 2 9]", 0
		}
		if got := readNumbers(t, dir); got != read {
			t.Fatalf("cut at %d: read %s", cut, got)
		}
		if report, err := Verify(dir); err != nil || report.TornTail != int64(torn) {
			t.Fatalf("cut at %d: %+v, %v", cut, report, err)
		}
		events, err := add(openTest(t, dir), 9)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if got := readNumbers(t, dir); got != after {
			t.Fatalf("cut at %d: read %s afterwards", cut, got)
		}
		if torn == 0 {
			continue
		}
		var repaired Repaired
		if err := json.Unmarshal(events[0].Data, &repaired); err != nil || events[0].Actor != "correx" || repaired.Bytes != int64(torn) {
			t.Fatalf("cut at %d: %+v, %v", cut, events[0], err)
		}
		aside, err := os.ReadFile(filepath.Join(dir, repaired.SetAside))
		if err != nil || string(aside) != string(states[2][logName][cut-torn:cut]) {
			t.Fatalf("cut at %d: %q set aside, %v", cut, aside, err)
		}
		if report, err := Verify(dir); err != nil || report.TornTail != 0 || report.Events != 4 {
			t.Fatalf("cut at %d: %+v, %v", cut, report, err)
		}
	}
}

func TestTornTailsOfAllKinds(t *testing.T) {
	states := three(t)
	next := string(states[2][logName][len(states[1][logName]):])
	first := string(states[0][logName])
	for name, tail := range map[string]string{
		"words":             `{"t":"2031-01-0`,
		"newline":           "\n",
		"zeros":             string(make([]byte, 5000)),
		"wrong predecessor": first,
		"two in one line":   strings.TrimSuffix(next, "\n") + next,
		"good then bad":     next + "x\n",
		"gap":               strings.Repeat(" ", 1<<17) + "\n" + next,
	} {
		dir := t.TempDir()
		snapshot{logName: []byte(string(states[1][logName]) + tail), headName: states[1][headName]}.put(t, dir)
		l := openTest(t, dir)
		if _, err := l.Refresh(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := add(l, 9); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := "[0 1 -1 9]"
		if name == "good then bad" {
			want = "[0 1 2 -1 9]"
		}
		if got := readNumbers(t, dir); got != want {
			t.Errorf("%s: %s", name, got)
		}
		// A second tear at the same place finds the name of the first taken.
		if err := os.WriteFile(filepath.Join(dir, logName), append(take(t, dir)[logName], "torn"...), 0o600); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, fmt.Sprintf("torn-%06d-1", strings.Count(want, " ")+2)), []byte("taken"), 0o600)
		if _, err := add(openTest(t, dir), 10); err != nil {
			t.Errorf("%s, again: %v", name, err)
		}
	}
}

// The head may lag by any number of events, and never lead.
func TestHeadAndLogApart(t *testing.T) {
	states := three(t)
	for log := range states {
		for h := range states {
			dir := t.TempDir()
			snapshot{logName: states[log][logName], headName: states[h][headName]}.put(t, dir)
			events, err := openTest(t, dir).Refresh()
			if h > log {
				var corrupt *CorruptError
				if !errors.As(err, &corrupt) || !errors.Is(err, ErrCorrupt) || corrupt.Line != log+2 {
					t.Errorf("log %d head %d: %v", log, h, err)
				}
				if _, err := add(openTest(t, dir), 9); !errors.Is(err, ErrCorrupt) {
					t.Errorf("log %d head %d: appended, %v", log, h, err)
				}
				continue
			}
			if err != nil || len(events) != log+1 {
				t.Errorf("log %d head %d: %d events, %v", log, h, len(events), err)
			}
			mustAdd(t, openTest(t, dir), 9)
			if report, err := Verify(dir); err != nil || report.Events != uint64(log)+2 {
				t.Errorf("log %d head %d: %+v, %v", log, h, report, err)
			}
		}
	}
}

func TestMissingFiles(t *testing.T) {
	states := three(t)
	for name, files := range map[string]snapshot{
		"no head":       {logName: states[2][logName]},
		"no log":        {headName: states[2][headName]},
		"empty head":    {logName: states[2][logName], headName: nil},
		"empty log":     {logName: nil, headName: states[2][headName]},
		"only the log":  {logName: nil},
		"spoilt head":   {logName: states[2][logName], headName: []byte(strings.Repeat("x", slotApart+slotSize))},
		"cut in a line": {logName: states[2][logName][:len(states[2][logName])-5], headName: states[2][headName]},
	} {
		dir := t.TempDir()
		files.put(t, dir)
		if _, err := openTest(t, dir).Refresh(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := add(openTest(t, dir), 9); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s, append: %v", name, err)
		}
		if _, err := Verify(dir); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s, verify: %v", name, err)
		}
	}
	// A writer that was stopped before its first event leaves a head without a log, and a log without a byte.
	dir := t.TempDir()
	snapshot{headName: newHeadFile()}.put(t, dir)
	if got := readNumbers(t, dir); got != "[]" {
		t.Errorf("new head: %s", got)
	}
	snapshot{logName: nil}.put(t, dir)
	if got := readNumbers(t, dir); got != "[]" {
		t.Errorf("new head and log: %s", got)
	}
	mustAdd(t, openTest(t, dir), 1)
}

// Every flipped bit of the log is noticed. One in the head is, or does no harm: the other slot stands.
func TestEveryFlippedBitIsNoticed(t *testing.T) {
	states := three(t)
	log := states[2][logName]
	// In the second folder the head lags, so that a flip behind it is a torn tail.
	level, behind := t.TempDir(), t.TempDir()
	states[2].put(t, level)
	snapshot{logName: log, headName: states[1][headName]}.put(t, behind)
	for i := range log {
		line := strings.Count(string(log[:i]), "\n") + 1
		for bit := range 8 {
			restore := flip(t, filepath.Join(level, logName), i, bit)
			var corrupt *CorruptError
			if _, err := Verify(level); !errors.As(err, &corrupt) || corrupt.Line != line {
				t.Fatalf("byte %d bit %d: %v, expected line %d", i, bit, err, line)
			}
			restore()
		}
		if i < len(states[1][logName]) {
			continue
		}
		restore := flip(t, filepath.Join(behind, logName), i, i%8)
		if report, err := Verify(behind); err != nil || report.Events != 2 || report.TornTail == 0 {
			t.Fatalf("byte %d, head behind: %+v, %v", i, report, err)
		}
		restore()
	}
	for _, slot := range []int{0, slotApart} {
		for i := slot; i < slot+slotSize; i++ {
			restore := flip(t, filepath.Join(level, headName), i, i%8)
			if got := readNumbers(t, level); got != "[0 1 2]" {
				t.Fatalf("head byte %d: %s", i, got)
			}
			restore()
		}
	}
}

// flip turns one bit of a file over; restore turns it back.
func flip(t *testing.T, path string, at, bit int) (restore func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	turn := func() {
		b := make([]byte, 1)
		if _, err := f.ReadAt(b, int64(at)); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 1 << bit
		if _, err := f.WriteAt(b, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	turn()
	return func() { turn(); f.Close() }
}

func TestPosition(t *testing.T) {
	states := three(t)
	dir := t.TempDir()
	states[1].put(t, dir)
	l := openTest(t, dir)
	if _, err := l.Refresh(); err != nil {
		t.Fatal(err)
	}
	at := l.Position()
	states[2].put(t, dir)
	o := testOptions()
	o.From = at
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if events, err := l.Refresh(); err != nil || fmt.Sprint(numbers(t, events)) != "[2]" {
		t.Fatalf("%v, %v", events, err)
	}
	for name, from := range map[string]Position{
		"hash":       {Seq: at.Seq, Offset: at.Offset, Hash: strings.Repeat("a", hexDigest)},
		"offset":     {Seq: at.Seq, Offset: at.Offset - 1, Hash: at.Hash},
		"beyond":     {Seq: at.Seq, Offset: 1 << 40, Hash: at.Hash},
		"negative":   {Seq: at.Seq, Offset: -1, Hash: at.Hash},
		"not zero":   {Offset: at.Offset},
		"wrong head": {Seq: 0, Hash: at.Hash},
	} {
		o.From = from
		l, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Refresh(); !errors.Is(err, ErrPosition) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.From = Position{Seq: at.Seq + 1, Offset: at.Offset, Hash: at.Hash}
	if l, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Refresh(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("wrong number: %v", err)
	}
	// What was read and then vanished or changed is corruption.
	l = openTest(t, dir)
	if _, err := l.Refresh(); err != nil {
		t.Fatal(err)
	}
	states[0].put(t, dir)
	if _, err := l.Refresh(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("rolled back: %v", err)
	}
	if _, err := add(l, 9); !errors.Is(err, ErrCorrupt) {
		t.Errorf("rolled back, append: %v", err)
	}
}

func TestEach(t *testing.T) {
	dir := t.TempDir()
	three(t)[2].put(t, dir)
	l := openTest(t, dir)
	stop := errors.New("stop")
	var seen []uint64
	err := l.Each(func(e Event) error {
		if e.Seq == 2 {
			return stop
		}
		seen = append(seen, e.Seq)
		return nil
	})
	if err != stop || l.Position().Seq != 1 {
		t.Fatalf("%v at %+v", err, l.Position())
	}
	if err := l.Each(func(e Event) error { seen = append(seen, e.Seq); return nil }); err != nil || fmt.Sprint(seen) != "[1 2 3]" {
		t.Fatalf("%v, %v", seen, err)
	}
}

func TestReserve(t *testing.T) {
	dir := t.TempDir()
	l := openTest(t, dir)
	if err := l.Reserve(10); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no log: %v", err)
	}
	mustAdd(t, l, 1)
	if err := l.Reserve(1 << 16); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, l, 2)
	if report, err := Verify(dir); err != nil || report.Events != 2 || report.TornTail != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// An event that was replaced by another one with a fitting hash does not fit the next; a whole chain forged anew does not
// fit the head.
func TestForgedEvents(t *testing.T) {
	states := three(t)
	lines := strings.SplitAfter(string(states[2][logName]), "\n")
	for i := range 3 {
		forged := append([]string{}, lines...)
		forged[i] = rehash(strings.Replace(lines[i], fmt.Sprintf(`{"n":%d}`, i), `{"n":7}`, 1)) + "\n"
		if forged[i] == lines[i] {
			t.Fatal("nothing was forged")
		}
		dir := t.TempDir()
		snapshot{logName: []byte(strings.Join(forged, "")), headName: states[2][headName]}.put(t, dir)
		var corrupt *CorruptError
		if _, err := Verify(dir); !errors.As(err, &corrupt) || corrupt.Line != min(i+2, 3) {
			t.Errorf("event %d replaced: %v", i+1, err)
		}
		for j := i + 1; j < 3; j++ {
			e, err := parseLine([]byte(strings.TrimSuffix(forged[j-1], "\n")))
			if err != nil {
				t.Fatal(err)
			}
			at := strings.Index(lines[j], prevMember) + len(prevMember)
			forged[j] = rehash(lines[j][:at]+e.Hash+lines[j][at+hexDigest:]) + "\n"
		}
		snapshot{logName: []byte(strings.Join(forged, ""))}.put(t, dir)
		if _, err := Verify(dir); !errors.As(err, &corrupt) || corrupt.Line != 3 || !strings.Contains(corrupt.Problem, "head") {
			t.Errorf("chain forged from event %d on: %v", i+1, err)
		}
	}
	// The order counts too.
	dir := t.TempDir()
	snapshot{logName: []byte(lines[0] + lines[2] + lines[1]), headName: states[2][headName]}.put(t, dir)
	var corrupt *CorruptError
	if _, err := Verify(dir); !errors.As(err, &corrupt) || corrupt.Line != 2 {
		t.Errorf("swapped: %v", err)
	}
}
