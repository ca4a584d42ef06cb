package faultfs

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
)

// eachLimit bounds Each: a routine with more steps than this does not end.
const eachLimit = 20000

// Each calls try with a fault at step 1, 2, 3, … until it reports that none struck. Each call is a subtest, so that one
// step can be tried alone; a first run without any step fails the test, since nothing was tried.
func Each(t *testing.T, try func(t *testing.T, at int) (struck bool)) {
	t.Helper()
	Every(t, 1, 1, try)
}

// Every is Each for the steps first, first+stride, first+2·stride, …, where trying all takes too long.
func Every(t *testing.T, first, stride int, try func(t *testing.T, at int) (struck bool)) {
	t.Helper()
	for at := first; ; at += stride {
		struck := false
		t.Run(fmt.Sprint(at), func(t *testing.T) { struck = try(t, at) })
		switch {
		case t.Failed() && !struck, struck && at > eachLimit:
			t.Fatalf("stopped at step %d", at)
		case !struck && at == first:
			t.Fatal("no step was tried")
		case !struck:
			return
		}
	}
}

// Mode is what happens at the step where a fault strikes.
type Mode int

const (
	// FailOnce fails that step: nothing of it happens, and it returns the error.
	FailOnce Mode = iota
	// FailFrom fails that step and all after it.
	FailFrom
	// Crash stops everything before that step.
	Crash
)

// ErrInjected is the error of a fault that names no other.
const ErrInjected = syscall.EIO

// Fault is asked before each step of a routine. The zero value counts and never strikes. Its fields are set before the
// first step.
type Fault struct {
	// At is the step, from 1, at which the fault strikes; 0 for never.
	At   int
	Mode Mode
	// Err is what a failing step returns; nil stands for ErrInjected.
	Err error
	// Only, when set, says which steps count.
	Only func(op string) bool
	// Before, when set, is called before each step, counted or not.
	Before func(op string)

	mu     sync.Mutex
	count  int
	struck bool
	calm   bool
	trace  []string
}

// Stopped is what a Crash panics with.
type Stopped struct{ Op string }

// Step is called before a step is carried out, with words for it. An error takes the step's place.
func (f *Fault) Step(op string) error {
	if f.Before != nil {
		f.Before(op)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trace = append(f.trace, op)
	if f.calm || f.Only != nil && !f.Only(op) {
		return nil
	}
	f.count++
	if f.At == 0 || f.count < f.At || f.Mode != FailFrom && f.count > f.At {
		return nil
	}
	f.struck = true
	if f.Mode == Crash {
		// The way out of any depth of calls, as a killed process has it; UntilStopped catches it.
		panic(Stopped{op})
	}
	if f.Err != nil {
		return f.Err
	}
	return fmt.Errorf("%s: %w", op, ErrInjected)
}

// Calm ends the fault: later steps are neither counted nor failed.
func (f *Fault) Calm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calm = true
}

// Struck reports whether the fault has struck.
func (f *Fault) Struck() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.struck
}

// Count is the number of steps that counted so far.
func (f *Fault) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// Trace lists the steps so far, also those that do not count.
func (f *Fault) Trace() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trace
}

// UntilStopped calls do and reports whether a Crash ended it.
func UntilStopped(do func()) (stopped bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(Stopped); !ok {
				// Somebody else's panic goes on.
				panic(r)
			}
			stopped = true
		}
	}()
	do()
	return false
}
