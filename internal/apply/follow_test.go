package apply

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/faultfs"
)

// relocation is what a person does to a folder of the tree between a crash and the recovery.
type relocation struct {
	name string
	// to is where the folder of that name is afterwards.
	to func(folder string) string
	// copied: the files there are copies; the folder itself was removed. restored: the folder was made anew with its bases.
	copied, restored bool
}

var relocations = []relocation{
	{name: "renamed", to: func(f string) string { return f + "-moved" }},
	{name: "renamed into another", to: func(f string) string { return "far/away/" + f }},
	{name: "copied and removed", to: func(f string) string { return f + "-copy" }, copied: true},
	{name: "copied and removed and renamed back", to: func(f string) string { return f }, copied: true},
	{name: "renamed and checked out again", to: func(f string) string { return f + "-moved" }, restored: true},
}

// do moves every folder at the top of root that is no end of a move, and returns their names.
func (r relocation) do(t *testing.T, root string, s scenario) []string {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var moved []string
	for _, e := range entries {
		_, was := s.before[change.Path(e.Name())]
		_, is := s.after[change.Path(e.Name())]
		if !e.IsDir() || was || is || strings.HasPrefix(e.Name(), reservedPrefix) {
			continue
		}
		moved = append(moved, e.Name())
		from, to := filepath.Join(root, e.Name()), filepath.Join(root, r.to(e.Name()))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if r.copied {
			copyFolder(t, from, to+"~")
			err = os.RemoveAll(from)
			if err == nil {
				err = os.Rename(to+"~", to)
			}
		} else {
			err = os.Rename(from, to)
		}
		if err != nil {
			t.Fatal(err)
		}
		for p, n := range s.before {
			if r.restored && p.Under(change.Path(e.Name())) {
				write(t, root, p, n)
			}
		}
	}
	return moved
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	l, dirs := read(t, from)
	for _, dir := range append([]string{"."}, dirs...) {
		if err := os.MkdirAll(filepath.Join(to, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for p, n := range l {
		write(t, to, p, n)
	}
}

// expect returns what root has to hold: want, with the folders where they are by now.
func (r relocation) expect(want, before layout, moved []string) layout {
	out := layout{}
	for p, n := range want {
		top, rest, inside := strings.Cut(string(p), "/")
		if inside && slices.Contains(moved, top) {
			p = change.Path(r.to(top) + "/" + rest)
		}
		out[p] = n
	}
	for p, n := range before {
		if top, _, inside := strings.Cut(string(p), "/"); r.restored && inside && slices.Contains(moved, top) {
			out[p] = n
		}
	}
	return out
}

// TestFoldersRenamedAfterACrash stops a landing at every step, lets a person rename its folders, and expects the recovery
// to put back, or to finish, what stands in them where they are by then: no working name and no half of a set stays.
func TestFoldersRenamedAfterACrash(t *testing.T) {
	for _, r := range relocations {
		t.Run(r.name, func(t *testing.T) {
			eachScenario(t, func(t *testing.T, s scenario, slow bool) {
				creates := slices.ContainsFunc(slices.Collect(maps.Keys(s.after)), func(p change.Path) bool {
					_, was := s.before[p]
					return !was
				})
				if r.copied && creates && r.to("f") != "f" {
					return // a copy of a new file is a file like any other: nothing tells where it came from
				}
				everyStep(t, func(at int) *faults { return &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}, slow: slow} }, func(t *testing.T, f *faults) {
					renameAfterCrash(t, newTrial(t, s, f), r)
				})
			})
		})
	}
}

func renameAfterCrash(t *testing.T, r *trial, how relocation) {
	t.Helper()
	if _, died, err := r.land(t); died != r.f.Struck() || !died && err != nil {
		t.Fatalf("died %v, %v", died, err)
	}
	moved := how.do(t, r.root, r.s)
	journal, err := os.ReadFile(filepath.Join(r.state, journalName))
	ready := err == nil && strings.Contains(string(journal), `"state":"ready"`)
	if _, _, err := r.recover(t, &faults{slow: r.f.slow}); err != nil {
		t.Fatalf("recover: %v", err)
	}
	want := r.s.before
	if r.committed {
		want = r.s.landed(t)
	}
	want = how.expect(want, r.s.before, moved)
	got, _ := read(t, r.root)
	if !maps.Equal(got, want) {
		t.Errorf("the tree holds %+v, want %+v", got, want)
	}
	expectNoJournal(t, r.state)
	if !ready || r.committed || how.restored || how.to("f") == "f" {
		return
	}
	for _, step := range r.l.Steps {
		top, _, inside := strings.Cut(string(step.Path), "/")
		if inside && slices.Contains(moved, top) && step.Base.Exists() && !slices.Contains(r.reverted[0], step.Path) {
			t.Errorf("%q is not where it was and is not named: %q", step.Path, r.reverted)
		}
	}
}

// TestFoldersThatCannotBeRead are passed over when a renamed folder is looked for.
func TestFoldersThatCannotBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("everything can be read by the superuser")
	}
	s := scenario{"edit", layout{"a/f": file("old"), "x/y": file("x")}, layout{"a/f": file("new"), "x/y": file("x")}}
	probe := newTrial(t, s, &faults{})
	if _, _, err := probe.land(t); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(probe.f.Trace(), func(op string) bool { return strings.HasPrefix(op, "exchange ") }) + 2
	r := newTrial(t, s, &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}})
	if _, died, err := r.land(t); !died {
		t.Fatal(err)
	}
	closed := filepath.Join(r.root, "x")
	for _, err := range []error{os.Rename(filepath.Join(r.root, "a"), filepath.Join(r.root, "b")), os.Chmod(closed, 0)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(closed, fs.FileMode(0o755)) })
	if _, _, err := r.recover(t, nil); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(r.root, "b", "f")); err != nil || string(text) != "old" {
		t.Errorf("b/f holds %q, %v", text, err)
	}
}

// TestWorkingNamesRemoved stops a landing at every step and removes every working name, as git clean does. What the order of
// the switching proves to have been taken comes back from the store; what nothing proves is named.
func TestWorkingNamesRemoved(t *testing.T) {
	restored := 0
	eachScenario(t, func(t *testing.T, s scenario, slow bool) {
		everyStep(t, func(at int) *faults { return &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}, slow: slow} }, func(t *testing.T, f *faults) {
			r := newTrial(t, s, f)
			if _, died, err := r.land(t); died != r.f.Struck() || !died && err != nil {
				t.Fatalf("died %v, %v", died, err)
			}
			for _, path := range workingNames(t, r.root) {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
			before, _ := read(t, r.root)
			if _, _, err := r.recover(t, &faults{slow: slow}); err != nil {
				t.Fatalf("recover: %v", err)
			}
			want := maps.Clone(s.before)
			if r.committed {
				want = s.landed(t)
			}
			got, _ := read(t, r.root)
			for p, n := range want {
				if _, was := before[p]; !was && got[p] == n {
					restored++
				}
			}
			for _, p := range slices.Concat(r.reverted...) {
				if n, there := got[p]; there && n != want[p] && n != s.after[p] {
					t.Errorf("%q holds %+v", p, n)
				}
				for _, l := range []layout{got, want} {
					for q := range l {
						if q.Under(p) || p.Under(q) {
							delete(l, q)
						}
					}
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("the tree holds %+v, want %+v", got, want)
			}
		})
	})
	if restored == 0 {
		t.Error("nothing was brought back from the store, so nothing was tried")
	}
}

// TestCrashWhileBringingBack removes the working names of landings that were stopped when all was switched, and stops the
// recovery that brings things back from the store at every step: the next one ends it.
func TestCrashWhileBringingBack(t *testing.T) {
	eachScenario(t, func(t *testing.T, s scenario, slow bool) {
		if !slices.Contains([]string{"edit", "rename", "all at once"}, s.name) {
			return
		}
		probe := newTrial(t, s, &faults{slow: slow})
		if _, _, err := probe.land(t); err != nil {
			t.Fatal(err)
		}
		at := slices.Index(probe.f.Trace(), "commit") + 1
		everyStep(t, func(second int) *faults {
			return &faults{Fault: faultfs.Fault{At: second, Mode: faultfs.Crash}, slow: slow}
		}, func(t *testing.T, f *faults) {
			r := newTrial(t, s, &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}, slow: slow})
			if _, died, err := r.land(t); !died {
				t.Fatalf("step %d never came: %v", at, err)
			}
			for _, path := range workingNames(t, r.root) {
				must(t, os.RemoveAll(path))
			}
			if _, died, err := r.recover(t, f); died != f.Struck() || !died && err != nil {
				t.Fatalf("recover: died %v, %v", died, err)
			}
			if _, _, err := r.recover(t, &faults{slow: slow}); err != nil {
				t.Fatalf("second recovery: %v", err)
			}
			got, _ := read(t, r.root)
			want := maps.Clone(s.before)
			for _, p := range []change.Path{"pkg/a", "pkg"} { // a folder that became a file is not brought back: its path is named
				delete(got, p)
				delete(want, p)
			}
			if !maps.Equal(got, want) {
				t.Errorf("the tree holds %+v, want %+v", got, want)
			}
		})
	})
}

// TestWorkingNamesWrittenTo stops a landing at every step and lets somebody write to every working name: no byte of theirs
// is lost.
func TestWorkingNamesWrittenTo(t *testing.T) {
	eachScenario(t, func(t *testing.T, s scenario, slow bool) {
		everyStep(t, func(at int) *faults { return &faults{Fault: faultfs.Fault{At: at, Mode: faultfs.Crash}, slow: slow} }, func(t *testing.T, f *faults) {
			r := newTrial(t, s, f)
			if _, died, err := r.land(t); died != r.f.Struck() || !died && err != nil {
				t.Fatalf("died %v, %v", died, err)
			}
			wrote := 0
			for _, path := range workingNames(t, r.root) {
				if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
					text, err := os.ReadFile(path)
					must(t, err)
					must(t, os.WriteFile(path, append(text, theirs...), 0o644))
					wrote++
				}
			}
			if _, _, err := r.recover(t, &faults{slow: slow}); err != nil {
				t.Fatalf("recover: %v", err)
			}
			got, _ := read(t, r.root)
			kept := 0
			for _, n := range got {
				if strings.HasSuffix(n.text, theirs) {
					kept++
				}
			}
			if left := workingNames(t, r.root); len(left) > 0 || kept != wrote {
				t.Errorf("%d files were written to, %d are there: %+v", wrote, kept, got)
			}
		})
	})
}

func workingNames(t *testing.T, root string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), reservedPrefix) {
			list = append(list, path)
			if d.IsDir() {
				return filepath.SkipDir
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
