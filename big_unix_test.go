//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// bigEnv asks for the sizes that take minutes and gigabytes: see "make big".
const bigEnv = "CORREX_TEST_BIG"

// measureEnv names the file that measure writes to.
const measureEnv = "CORREX_TEST_MEASURE"

// measure runs the program that its arguments name and writes down, in KiB, how much memory that took. It is a process of its
// own because the system counts for a new process what the one that starts it holds, and the tests hold a lot.
func measure() int {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	_ = cmd.Run() // the exit code is handed on
	most := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "darwin" {
		most /= 1024
	}
	if err := os.WriteFile(os.Getenv(measureEnv), []byte(strconv.FormatInt(most, 10)), 0o600); err != nil {
		return 99
	}
	return cmd.ProcessState.ExitCode()
}

// frugal runs the program and fails the test where it took more memory than limit, in KiB.
func (s *site) frugal(limit int64, want int, dir string, args ...string) []byte {
	s.t.Helper()
	file := filepath.Join(s.dir, "most")
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	var out, words bytes.Buffer
	cmd := exec.Cmd{
		Path: exe, Args: append([]string{"measure", s.program}, args...), Dir: dir, Env: append(s.env, measureEnv+"="+file), Stdout: &out, Stderr: &words,
	}
	_ = cmd.Run() // the exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != want {
		s.t.Fatalf("correx %v: exit %d, want %d: %.2000s%.2000s", args, code, want, out.String(), words.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	most, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || most < 1<<10 {
		s.t.Fatalf("%s KiB were measured: %v", text, err)
	}
	s.t.Logf("correx %v: %d MiB", args, most>>10)
	if most > limit {
		s.t.Errorf("correx %v took %d KiB, more than %d", args, most, limit)
	}
	return out.Bytes()
}

// TestManyPaths takes a set of 1,000 paths through the program, or of 10,000: edits, deletes, renames and creates. Memory grows
// with the record of that many paths, and not with their content.
func TestManyPaths(t *testing.T) {
	t.Parallel()
	n := 1000
	if os.Getenv(bigEnv) != "" {
		n = 10000
	} else if testing.Short() {
		t.Skip("thousands of files are not tried in a short run")
	}
	most := int64(32<<10 + 10*n)
	at := func(dir string, i int) string {
		return filepath.Join(dir, fmt.Sprintf("d%d", i%100), fmt.Sprintf("e%d", i%7), fmt.Sprintf("f%d", i))
	}
	write := func(p, text string) error {
		return errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644))
	}
	s := newSite(t, func(repo string) error {
		for i := range n {
			if err := write(at(repo, i), fmt.Sprintf("file %d\nof many\n", i)); err != nil {
				return err
			}
		}
		return nil
	})
	shadow := s.shadow()
	for i := range n {
		p := at(shadow, i)
		var err error
		switch i % 4 {
		case 0:
			err = write(p, fmt.Sprintf("file %d\nof many\nedited\n", i))
		case 1:
			err = os.Remove(p)
		case 2:
			to := filepath.Join(shadow, "moved", fmt.Sprint(i%50), fmt.Sprint(i))
			err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(p, to))
		case 3:
			err = write(p+".new", fmt.Sprintf("new %d\n", i))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	base, want := s.treeID(s.repo), s.treeID(shadow)
	sets := decodeSets(t, string(s.frugal(most, 3, shadow, "submit", "--json")))
	if len(sets) != 1 || len(sets[0].Files) != n {
		t.Fatalf("%d sets", len(sets))
	}
	for _, step := range []struct {
		args []string
		tree string
	}{
		{[]string{"show", "1"}, base}, {[]string{"diff", "1"}, base}, {[]string{"approve", "1"}, want}, {[]string{"undo", "1"}, base}, {[]string{"fsck"}, base},
	} {
		s.frugal(most, 0, s.repo, step.args...)
		if got := s.treeID(s.repo); got != step.tree {
			t.Fatalf("after %v the tree is %s, want %s", step.args, got, step.tree)
		}
	}
}

// TestHugeFile makes, edits and takes back a file that is larger than memory may grow: 120 MiB, or 2 GiB.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	const most = 100 << 10
	size := int64(120 << 20)
	if os.Getenv(bigEnv) != "" {
		size = 2 << 30
	} else if testing.Short() {
		t.Skip("a huge file is not tried in a short run")
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(t.TempDir(), &disk); err != nil || int64(disk.Bavail)*int64(disk.Bsize) < 5*size {
		t.Skipf("a file of %d bytes is not tried: there is no room for five of it: %v", size, err)
	}
	s := newSite(t, files(1))
	shadow := s.shadow()
	huge := filepath.Join(shadow, "huge")
	if err := errors.Join(os.WriteFile(huge, nil, 0o644), os.Truncate(huge, size)); err != nil {
		t.Fatal(err)
	}
	digest := func(dir string) string {
		f, err := os.Open(filepath.Join(dir, "huge"))
		if errors.Is(err, os.ErrNotExist) {
			return "none"
		}
		sum := sha256.New()
		if _, cerr := io.Copy(sum, f); errors.Join(err, cerr, f.Close()) != nil {
			t.Fatal(err, cerr)
		}
		return fmt.Sprintf("%x", sum.Sum(nil))
	}
	submit := func() string {
		sets := decodeSets(t, string(s.frugal(most, 3, shadow, "submit", "--json")))
		return strconv.Itoa(sets[0].ID)
	}
	made := digest(shadow)
	first := submit()
	s.frugal(most, 0, s.repo, "show", first)
	s.frugal(most, 0, s.repo, "approve", first)
	if got := digest(s.repo); got != made {
		t.Fatalf("landed %s, proposed %s", got, made)
	}
	f, err := os.OpenFile(huge, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("edited"), size/2); errors.Join(err, f.Close()) != nil {
		t.Fatal(err)
	}
	edited := digest(shadow)
	second := submit()
	s.frugal(most, 0, s.repo, "approve", second)
	if got := digest(s.repo); got != edited {
		t.Fatalf("landed %s, proposed %s", got, edited)
	}
	s.frugal(most, 0, s.repo, "undo", second)
	if got := digest(s.repo); got != made {
		t.Fatalf("taken back to %s, it was %s", got, made)
	}
	s.frugal(most, 0, s.repo, "undo", first)
	if got := digest(s.repo); got != "none" {
		t.Fatalf("the file is still there: %s", got)
	}
	s.frugal(most, 0, s.repo, "fsck")
}
