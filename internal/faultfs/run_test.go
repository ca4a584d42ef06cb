//go:build linux && amd64

package faultfs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain lets the test binary be the program that is traced.
func TestMain(m *testing.M) {
	if dir := os.Getenv("FAULTFS_WORK"); dir != "" {
		if err := work(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work does one of everything.
func work(dir string) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	f, err := os.OpenFile(at("new"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	root, err := os.Open(dir)
	if err != nil {
		return err
	}
	write := func(text string) error { _, err := f.WriteString(text); return err }
	appendTo := func(name, text string) error {
		f, err := os.OpenFile(at(name), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		return errors.Join(err, f.Close())
	}
	for _, do := range []func() error{
		func() error { return write("one") }, f.Sync,
		func() error { return write("two") },
		func() error { _, err := f.WriteAt([]byte("ONE"), 0); return err },
		func() error { return f.Truncate(5) }, func() error { return f.Chmod(0o600) },
		func() error { return os.Mkdir(at("d"), 0o755) },
		func() error { return os.Symlink("new", at("d/link")) },
		func() error { return os.Link(at("new"), at("d/second")) }, root.Sync,
		func() error { return os.Rename(at("old"), at("d/old")) },
		func() error { return os.Rename(at("other"), at("d/second")) },
		func() error { return exchange(at("a"), at("b")) },
		func() error { return syscall.Unlink(at("gone")) }, func() error { return syscall.Rmdir(at("empty")) },
		func() error { return appendTo("a", "more") },
		func() error { return os.WriteFile(at("b"), []byte("afresh"), 0o600) },
		func() error { return os.Chmod(at("b"), 0o640) }, root.Sync,
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return f.Close()
}

func exchange(a, b string) error {
	pa, errA := syscall.BytePtrFromString(a)
	pb, errB := syscall.BytePtrFromString(b)
	if errA != nil || errB != nil {
		return errors.Join(errA, errB)
	}
	return rename2(pa, pb, renameExchange)
}

// bench is a folder for work to do its work in.
type bench struct {
	t         *testing.T
	dir, kept string
	disk      *Disk
}

func newBench(t *testing.T) *bench {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(top, "dir"), kept: filepath.Join(top, "kept")}
	for _, d := range []string{b.dir, b.kept, filepath.Join(b.dir, "empty")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"old", "other", "a", "b", "gone"} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if b.disk, err = Look(b.dir); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) run(r Run) Outcome {
	b.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	r.Cmd, r.Dir, r.Kept = exec.Command(exe), b.dir, b.kept
	r.Cmd.Env = append(os.Environ(), "FAULTFS_WORK="+b.dir)
	out, err := r.Do()
	if errors.Is(err, ErrNoTrace) {
		b.t.Skipf("nothing can be traced: %v", err)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// show lists what there is, for comparison.
func show(names map[string]entry, bytes map[uint64]content) string {
	var lines []string
	for name, e := range names {
		line := fmt.Sprintf("%s %v %s", name, e.kind, e.target)
		if e.kind == 0 {
			line += fmt.Sprintf(" %o %q", bytes[e.ino].mode, bytes[e.ino].data)
		}
		lines = append(lines, line)
	}
	return strings.Join(sorted(lines), "\n")
}

func (b *bench) real() string {
	b.t.Helper()
	d, err := Look(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return show(d.first, d.bytes)
}

func (b *bench) model(steps []Step) string {
	v := b.disk.after(steps, func(int, Step) bool { return true })
	return show(v.names, v.bytes)
}

// TestRunSeesEveryStep follows a program that does one of everything; what the steps say is what is there.
func TestRunSeesEveryStep(t *testing.T) {
	b := newBench(t)
	out := b.run(Run{})
	if out.Exit != 0 || out.Struck {
		t.Fatalf("%+v", out)
	}
	if got, want := b.model(out.Steps), b.real(); got != want {
		t.Errorf("the steps make\n%s\nthere is\n%s", got, want)
	}
	seen := map[Op]bool{}
	for _, s := range out.Steps {
		seen[s.Op] = true
	}
	for _, op := range []Op{OpCreate, OpWrite, OpTruncate, OpMode, OpMkdir, OpSymlink, OpLink, OpRename, OpExchange, OpUnlink, OpRmdir, OpFlush} {
		if !seen[op] {
			t.Errorf("no %s in %v", op, out.Steps)
		}
	}
}

// TestRunStrikes fails, and crashes at, each step in turn: the step itself is not carried out, and all before it are.
func TestRunStrikes(t *testing.T) {
	for _, mode := range []Mode{FailOnce, FailFrom, Crash} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			Each(t, func(t *testing.T, at int) bool {
				b := newBench(t)
				out := b.run(Run{At: at, Mode: mode, Err: syscall.ENOSPC})
				wanted := -1
				switch {
				case !out.Struck:
					wanted = 0
				case mode != Crash:
					wanted = 1
				}
				if out.Exit != wanted || out.Struck && len(out.Steps) != at-1 {
					t.Errorf("exit %d after %d steps, struck on %v", out.Exit, len(out.Steps), out.On)
				}
				if got, want := b.model(out.Steps), b.real(); got != want {
					t.Errorf("the steps make\n%s\nthere is\n%s", got, want)
				}
				return out.Struck
			})
		})
	}
}

// TestPowerCut makes what a power cut leaves at each step: what is put there is what was meant, files keep their inodes,
// and what was flushed is there.
func TestPowerCut(t *testing.T) {
	for _, keep := range []Keep{KeepNone, KeepAny, KeepAll} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			Each(t, func(t *testing.T, at int) bool {
				b := newBench(t)
				out := b.run(Run{At: at, Mode: Crash})
				seed := uint64(at)
				again := func() func(int) int { return rand.New(rand.NewPCG(seed, 1)).IntN }
				stays := b.disk.choose(out.Steps, keep, again())
				meant := b.disk.after(out.Steps, func(i int, _ Step) bool { return stays[i] })
				if err := b.disk.PowerCut(out.Steps, keep, again(), b.kept); err != nil {
					t.Fatal(err)
				}
				found, err := Look(b.dir)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := show(found.first, found.bytes), show(meant.names, meant.bytes); got != want {
					t.Errorf("put there\n%s\nmeant\n%s", got, want)
				}
				for name, e := range found.first {
					if meant.names[name].ino != e.ino {
						t.Errorf("%s has another inode", name)
					}
				}
				checkFlushed(t, out.Steps, stays)
				return out.Struck
			})
		})
	}
}

// checkFlushed is a second opinion on what has to stay: every write to a file before its flush, every change of the
// folder's names before the folder's.
func checkFlushed(t *testing.T, steps []Step, stays []bool) {
	t.Helper()
	for f, flush := range steps {
		for i := range f {
			s := steps[i]
			inFolder := flush.Op == OpFlush && flush.Path == "." && s.namesChange() && (filepath.Dir(s.Path) == "." || s.To != "" && filepath.Dir(s.To) == ".")
			if (inFolder || flush.Op == OpFlush && !s.namesChange() && s.Ino == flush.Ino) && !stays[i] {
				t.Errorf("%v was flushed and is lost", s)
			}
		}
	}
}

// TestLost has what may be lost: without a flush, everything.
func TestLost(t *testing.T) {
	b := newBench(t)
	out := b.run(Run{Only: func(s Step) bool { return s.Op == OpFlush }, Mode: Crash, At: 1})
	if err := b.disk.PowerCut(out.Steps, KeepNone, nil, b.kept); err != nil {
		t.Fatal(err)
	}
	if got, want := b.real(), show(b.disk.first, b.disk.bytes); got != want {
		t.Errorf("left\n%s\nwant\n%s", got, want)
	}
}
