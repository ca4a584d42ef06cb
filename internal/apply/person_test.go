package apply

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/faultfs"
)

// person is somebody who does one thing to one path while the engine is at work.
type person struct {
	path change.Path
	act  string
	// did says that it had an effect.
	did bool
}

const theirs = "what the person saved"

// acts are what a person may do to a file.
var acts = []string{"save in place", "save by rename", "append", "remove", "chmod", "mkdir"}

// do does it, at whatever stands at the path now. What the path's folder does not allow has no effect.
func (p *person) do(t *testing.T, root string) {
	t.Helper()
	path := filepath.Join(root, string(p.path))
	old, err := os.Lstat(path)
	there := err == nil
	switch p.act {
	case "save in place":
		// An editor writes through a symlink; here that would only be about another path.
		if !there || old.Mode().IsRegular() {
			err = os.WriteFile(path, []byte(theirs), 0o644)
			p.did = err == nil
		}
	case "save by rename":
		if there && old.IsDir() {
			return
		}
		tmp := path + ".person"
		if err = os.WriteFile(tmp, []byte(theirs), 0o644); err == nil {
			err = os.Rename(tmp, path)
			p.did = err == nil
		}
	case "append":
		if there && old.Mode().IsRegular() {
			var f *os.File
			if f, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err == nil {
				_, err = f.WriteString(theirs)
				err = errors.Join(err, f.Close())
				p.did = err == nil
			}
		}
	case "remove":
		if there && !old.IsDir() {
			err = os.Remove(path)
			p.did = err == nil
		}
	case "chmod":
		if there && old.Mode().IsRegular() {
			err = os.Chmod(path, 0o604)
			p.did = err == nil
		}
	case "mkdir":
		if there && !old.IsDir() {
			err = os.Remove(path)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			if err = os.Mkdir(path, 0o755); err == nil {
				p.did = true
				err = os.WriteFile(filepath.Join(path, "inside"), []byte(theirs), 0o644)
			}
		}
	}
	if err != nil && p.did {
		t.Fatal(err)
	}
}

// expect checks that what the person did stands in got, and takes it out of got and want.
func (p *person) expect(t *testing.T, got, want layout) {
	t.Helper()
	n, there := got[p.path]
	switch p.act {
	case "save in place", "save by rename":
		if !there || n.text != theirs {
			t.Errorf("the save at %q is lost: %v %+v", p.path, there, n)
		}
	case "append":
		if !there || !strings.HasSuffix(n.text, theirs) {
			t.Errorf("what was appended at %q is lost: %v %+v", p.path, there, n)
		}
	case "remove":
		if there {
			t.Errorf("%q was removed by a person and holds %+v", p.path, n)
		}
	case "chmod":
		if !there || n.perm != 0o604 {
			t.Errorf("the person's mode at %q is lost: %v %+v", p.path, there, n)
		}
	case "mkdir":
		inside := p.path + "/inside"
		if got[inside].text != theirs {
			t.Errorf("the person's folder at %q is lost: %+v", p.path, got)
		}
		delete(got, inside)
	}
	delete(got, p.path)
	delete(want, p.path)
}

// group returns the paths that go with p in one move, p apart.
func (s scenario) group(t *testing.T, p change.Path) map[change.Path]bool {
	t.Helper()
	l, _ := s.landing()
	moves, err := plan(l.ID, l.Steps)
	if err != nil {
		t.Fatal(err)
	}
	set := map[change.Path]bool{}
	for _, m := range moves {
		for _, q := range m.steps {
			if m.path.Under(p) || p.Under(m.path) {
				set[q] = true
			}
		}
	}
	return set
}

// expectOthers checks, after a landing or a recovery that a person was in, that theirs stands and that every other path
// is whole. A person inside a folder that is an end of a move decides for that move alone.
func (r *trial) expectOthers(t *testing.T, p *person) {
	t.Helper()
	got, _ := read(t, r.root)
	want := layout{}
	source := r.s.before
	if r.committed {
		source = r.s.landed(t)
	}
	for q, n := range source {
		want[q] = n
	}
	if p.did {
		p.expect(t, got, want)
		for q := range r.s.group(t, p.path) {
			delete(got, q)
			delete(want, q)
		}
	}
	for q, n := range want {
		if got[q] != n {
			t.Errorf("%q holds %+v, want %+v (committed %v)", q, got[q], n, r.committed)
		}
	}
	for q, n := range got {
		if _, ok := want[q]; !ok {
			t.Errorf("%q is there: %+v (committed %v)", q, n, r.committed)
		}
	}
	expectNoJournal(t, r.state)
	if !p.did {
		return
	}
	for _, left := range r.reverted {
		for _, q := range left {
			if q != p.path && !r.s.group(t, p.path)[q] {
				t.Errorf("%q is named as left to a person", q)
			}
		}
	}
}

// subjects are the paths a person may touch: those of the scenario, and one more inside each folder.
func (s scenario) subjects() []change.Path {
	l, _ := s.landing()
	var list []change.Path
	for _, step := range l.Steps {
		list = append(list, step.Path)
	}
	for _, step := range l.Steps {
		if dir := step.Path.Dir(); dir != "" {
			return append(list, dir.Join("mine"))
		}
	}
	return list
}

// every makes the person tests leave nothing out; that takes minutes.
var every = flag.Bool("every", false, "let every person act at every step")

// eachPerson runs try with every person at every step, or unless -every is given with a sample of them.
func eachPerson(t *testing.T, try func(t *testing.T, s scenario, slow bool, p person, at int) (more bool)) {
	eachScenario(t, func(t *testing.T, s scenario, slow bool) {
		stride := 17
		if *every {
			stride = 1
		}
		var people []person
		for _, path := range s.subjects() {
			for _, act := range acts {
				people = append(people, person{path: path, act: act})
			}
		}
		for i, p := range people {
			more := true
			for at := 1 + 3*i%stride; more; at += stride {
				ok := t.Run(fmt.Sprintf("%q %s at %d", p.path, p.act, at), func(t *testing.T) { more = try(t, s, slow, p, at) })
				more = more && ok
			}
		}
	})
}

// TestPersonAtEveryStep lets a person act at each step of a landing: theirs is never lost, and the rest stays whole.
func TestPersonAtEveryStep(t *testing.T) {
	eachPerson(t, func(t *testing.T, s scenario, slow bool, p person, at int) bool {
		n := 0
		f := &faults{slow: slow}
		r := newTrial(t, s, f)
		f.Before = func(string) {
			if n++; n == at {
				p.do(t, r.root)
			}
		}
		_, _, err := r.land(t)
		if (err == nil) != r.committed {
			t.Errorf("committed %v, %v", r.committed, err)
		}
		if errors.Is(err, ErrUnfinished) {
			t.Errorf("the landing could not be taken back: %v", err)
		}
		r.expectOthers(t, &p)
		if t.Failed() && n >= at {
			t.Logf("step %d is %q", at, f.Trace()[at-1])
		}
		return n >= at
	})
}

// wasUndone reports that the person removed a file and that recovery brought its base back. Half-way through a move without
// a rename of its own the disk looks the same whether the name was removed by a person or was not there yet; what recovery
// then does loses nothing.
func (p *person) wasUndone(t *testing.T, r *trial) bool {
	t.Helper()
	base, was := r.s.before[p.path]
	got, _ := read(t, r.root)
	return p.act == "remove" && was && !r.committed && got[p.path] == base
}

// TestPersonAfterACrash lets a person act between a crash at each step and the recovery.
func TestPersonAfterACrash(t *testing.T) {
	eachPerson(t, func(t *testing.T, s scenario, slow bool, p person, at int) bool {
		f := &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}, slow: slow}
		r := newTrial(t, s, f)
		if _, died, err := r.land(t); !died {
			if err != nil {
				t.Fatal(err)
			}
			return false
		}
		p.do(t, r.root)
		if _, _, err := r.recover(t, &faults{slow: slow}); err != nil {
			t.Fatalf("recover: %v", err)
		}
		if strings.HasPrefix(f.Trace()[at-1], "unlink after link") && p.wasUndone(t, r) {
			p.did = false
		}
		r.expectOthers(t, &p)
		if t.Failed() {
			t.Logf("step %d is %q", at, f.Trace()[at-1])
		}
		return true
	})
}
