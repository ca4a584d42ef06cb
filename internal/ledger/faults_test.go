package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/faultfs"
)

var errInjected = errors.New("injected")

// faultyDisk asks fault before each operation. An error takes the operation's place; for a write, part of it happens
// first, and the cutting back that package durable does then happens too, unless the process is meant to be dead.
type faultyDisk struct {
	realDisk
	fault func(op string) error
	dead  bool
}

func (d *faultyDisk) MkdirAll(path string) error {
	if err := d.fault("mkdir"); err != nil {
		return err
	}
	return d.realDisk.MkdirAll(path)
}

func (d *faultyDisk) WriteNew(path string, data []byte) error {
	if err := d.fault("new"); err != nil {
		return err
	}
	return d.realDisk.WriteNew(path, data)
}

func (d *faultyDisk) WriteAt(path string, off int64, data []byte) error {
	if err := d.fault("head"); err != nil {
		return errors.Join(err, d.realDisk.WriteAt(path, off, data[:len(data)/2]))
	}
	return d.realDisk.WriteAt(path, off, data)
}

func (d *faultyDisk) Flush(path string) error {
	if err := d.fault("flush"); err != nil {
		return fmt.Errorf("%w: %w", durable.ErrFlush, err)
	}
	return d.realDisk.Flush(path)
}

func (d *faultyDisk) NewIncoming(dir string) (incoming, error) {
	if err := d.fault("incoming"); err != nil {
		return nil, err
	}
	in, err := d.realDisk.NewIncoming(dir)
	return &faultyIncoming{in, d}, err
}

type faultyIncoming struct {
	incoming
	d *faultyDisk
}

func (in *faultyIncoming) Write(p []byte) (int, error) {
	if err := in.d.fault("incoming write"); err != nil {
		return 0, err
	}
	return in.incoming.Write(p)
}

func (in *faultyIncoming) Commit(final string) (bool, error) {
	if err := in.d.fault("incoming commit"); err != nil {
		return false, err
	}
	return in.incoming.Commit(final)
}

func (d *faultyDisk) OpenAppend(path string) (appendFile, error) {
	if err := d.fault("open"); err != nil {
		return nil, err
	}
	f, err := d.realDisk.OpenAppend(path)
	return &faultyAppend{f, d}, err
}

type faultyAppend struct {
	appendFile
	d *faultyDisk
}

func (f *faultyAppend) Append(p []byte) (int64, error) {
	err := f.d.fault("append")
	if err == nil {
		return f.appendFile.Append(p)
	}
	// Stop inside the last line, so that whole events of the same Update stand before it.
	off, aerr := f.appendFile.Append(p[:len(p)-7])
	if aerr == nil && !f.d.dead {
		aerr = f.appendFile.Truncate(off)
	}
	return 0, errors.Join(err, aerr)
}

func (f *faultyAppend) Truncate(n int64) error {
	if err := f.d.fault("cut"); err != nil {
		return err
	}
	return f.appendFile.Truncate(n)
}

func (f *faultyAppend) Sync() error {
	if err := f.d.fault("sync"); err != nil {
		return fmt.Errorf("%w: %w", durable.ErrFlush, err)
	}
	return f.appendFile.Sync()
}

// checkAfterFault is what must hold whatever happened: the ledger verifies, everything acknowledged is in it, what was not
// is in it whole (after a failure that left that open) or not at all, and the next writer goes on.
func checkAfterFault(t *testing.T, dir string, acknowledged []int, tried []int, err error, dead bool) {
	t.Helper()
	events, rerr := openTest(t, dir).Refresh()
	if rerr != nil {
		t.Fatalf("after %v: %v", err, rerr)
	}
	var got []int
	for _, n := range numbers(t, events) {
		if n >= 0 {
			got = append(got, n)
		}
	}
	want := fmt.Sprint(acknowledged)
	all := fmt.Sprint(append(append([]int{}, acknowledged...), tried...))
	open := dead || errors.Is(err, durable.ErrFlush)
	switch found := fmt.Sprint(got); {
	case err == nil && found == all:
	case err != nil && found == want:
	case err != nil && open && strings.HasPrefix(all, strings.TrimSuffix(found, "]")) && len(got) >= len(acknowledged):
	default:
		t.Fatalf("after %v: found %s, acknowledged %s, tried %v", err, found, want, tried)
	}
	mustAppend(t, dir, 99)
	if report, verr := Verify(dir); verr != nil || report.TornTail != 0 {
		t.Fatalf("after the next append: %+v, %v", report, verr)
	}
}

func mustAppend(t *testing.T, dir string, n int) {
	t.Helper()
	events, err := add(openTest(t, dir), n)
	if err != nil || fmt.Sprint(numbers(t, events[len(events)-1:])) != fmt.Sprint([]int{n}) {
		t.Fatalf("%v, %v", events, err)
	}
}

// start is what a ledger holds before the faulty Update.
type start struct {
	name         string
	acknowledged []int
	put          func(t *testing.T, dir string)
}

func starts(t *testing.T) []start {
	states := three(t)
	lagging := snapshot{logName: states[1][logName], headName: states[0][headName]}
	torn := snapshot{logName: states[2][logName][:len(states[2][logName])-20], headName: states[1][headName]}
	return []start{
		{"new", nil, func(*testing.T, string) {}},
		{"two events", []int{0, 1}, func(t *testing.T, dir string) { states[1].put(t, dir) }},
		{"lagging head", []int{0, 1}, func(t *testing.T, dir string) { lagging.put(t, dir) }},
		{"torn tail", []int{0, 1}, func(t *testing.T, dir string) { torn.put(t, dir) }},
	}
}

func TestFaultAtEveryStep(t *testing.T) {
	for _, s := range starts(t) {
		for _, dead := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, dead %v", s.name, dead), func(t *testing.T) {
				faultfs.Each(t, func(t *testing.T, at int) bool { return faultOnce(t, s, at, dead) })
			})
		}
	}
}

// faultOnce appends over a disk on which one operation fails, and every later one too if the process is to be dead from
// there on.
func faultOnce(t *testing.T, s start, at int, dead bool) (struck bool) {
	t.Helper()
	dir := t.TempDir()
	s.put(t, dir)
	f := &faultfs.Fault{At: at, Err: errInjected}
	if dead {
		f.Mode = faultfs.FailFrom
	}
	l := openTest(t, dir)
	l.disk = &faultyDisk{dead: dead, fault: f.Step}
	events, err := add(l, 10, 11)
	f.Calm()
	if f.Struck() && !errors.Is(err, errInjected) || !f.Struck() && err != nil || err != nil && events != nil {
		t.Fatalf("%q: %v, %v", f.Trace(), events, err)
	}
	checkSameLog(t, l, err, dead)
	checkAfterFault(t, dir, s.acknowledged, []int{10, 11}, err, dead)
	return f.Struck()
}

// checkSameLog is what must hold for the Log whose Update ended with err: after a failed flush it refuses everything, after
// any other failure it goes on, as far as an Update that writes nothing can tell.
func checkSameLog(t *testing.T, l *Log, err error, dead bool) {
	t.Helper()
	if dead && err != nil {
		return
	}
	_, readErr := l.Refresh()
	_, writeErr := add(l)
	if errors.Is(err, durable.ErrFlush) {
		if !errors.Is(readErr, durable.ErrFlush) || !errors.Is(writeErr, durable.ErrFlush) {
			t.Fatalf("goes on after %v: %v, %v", err, readErr, writeErr)
		}
		return
	}
	if readErr != nil || writeErr != nil {
		t.Fatalf("unusable after %v: %v, %v", err, readErr, writeErr)
	}
}

// A reader that finds bytes beyond the head while a writer is at work waits a moment and then answers as of the head.
func TestReaderBesideAStoppedWriter(t *testing.T) {
	states := three(t)
	dir := t.TempDir()
	snapshot{logName: states[2][logName], headName: states[1][headName]}.put(t, dir)
	unlock, err := durable.TryLock(filepath.Join(dir, lockName), "writer")
	if err != nil {
		t.Fatal(err)
	}
	l := openTest(t, dir)
	if events, err := l.Refresh(); err != nil || fmt.Sprint(numbers(t, events)) != "[0 1]" {
		t.Fatalf("%v, %v", events, err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if events, err := l.Refresh(); err != nil || fmt.Sprint(numbers(t, events)) != "[2]" {
		t.Fatalf("%v, %v", events, err)
	}
}

// A reader acts on nothing beyond the head that it could not flush.
func TestReaderCannotFlush(t *testing.T) {
	states := three(t)
	dir := t.TempDir()
	snapshot{logName: states[2][logName], headName: states[1][headName]}.put(t, dir)
	l := openTest(t, dir)
	l.disk = &faultyDisk{fault: func(op string) error {
		if op == "flush" {
			return errInjected
		}
		return nil
	}}
	if events, err := l.Refresh(); events != nil || !errors.Is(err, durable.ErrFlush) {
		t.Fatalf("%v, %v", events, err)
	}
	if _, err := l.Refresh(); !errors.Is(err, durable.ErrFlush) {
		t.Fatalf("a second time: %v", err)
	}
}

// A symlink in the place of a file is neither read nor written through.
func TestLinksAreRefused(t *testing.T) {
	states := three(t)
	for _, name := range []string{logName, headName, lockName} {
		base := t.TempDir()
		dir := filepath.Join(base, "ledger")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		states[1].put(t, dir)
		outside := filepath.Join(base, "outside")
		if err := os.Rename(filepath.Join(dir, name), outside); err != nil && name != lockName {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
		before, _ := os.ReadFile(outside)
		if events, err := add(openTest(t, dir), 9); err == nil {
			t.Errorf("%s: appended %v", name, events)
		}
		if after, _ := os.ReadFile(outside); string(after) != string(before) {
			t.Errorf("%s: written through", name)
		}
	}
}
