package repo

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func requireConfined(t *testing.T, r *Repo) {
	t.Helper()
	if ok, why := r.Confined(); !ok {
		t.Skipf("git cannot be confined here: %s", why)
	}
}

// A confined git cannot execute anything else, not even what it is told to on its command line.
func TestConfinedGitStartsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	r := f.open("r")
	requireConfined(t, r)
	mark := f.script("mark", "#!/bin/sh\necho ran >>'"+f.path("ran")+"'\n")
	attempts := [][]string{{"-c", "alias.x=!" + mark, "x"}, {"-c", "core.fsmonitor=" + mark, "status"},
		{"-c", "alias.y=!touch '" + f.path("ran") + "'", "y"}}
	for _, args := range attempts {
		if _, err := r.git.run(context.Background(), call{args: args}); f.ran() {
			t.Fatalf("%q ran a program (%v)", args, err)
		}
	}
	free := r.git
	free.program.executable = nil
	if _, err := free.run(context.Background(), call{args: attempts[0]}); err != nil || !f.ran() {
		t.Errorf("positive control: %v", err)
	}
}

// Confinement stays with the threads that started git: afterwards none of them is left, and this process can execute
// what it likes.
func TestConfinementDoesNotLeak(t *testing.T) {
	f := newFixture(t)
	f.repo("r")
	r := f.open("r")
	requireConfined(t, r)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if _, err := r.headByGit(context.Background()); err != nil {
					t.Error(err)
				}
				if err := exec.Command("true").Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for restrictedThreads(t) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d threads are still restricted", restrictedThreads(t))
		}
		_ = exec.Command("true").Run()
	}
}

func restrictedThreads(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d threads, %v", len(files), err)
	}
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(data), "NoNewPrivs:\t1") {
			n++
		}
	}
	return n
}

// Without a rule for git itself nothing starts: the domain is really entered.
func TestConfinementCoversGitItself(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	r := f.open("r")
	requireConfined(t, r)
	g := r.git
	g.program.executable = []string{"/dev/null"}
	if out, err := g.text(context.Background(), "version"); err == nil {
		t.Errorf("git started: %q", out)
	}
}
