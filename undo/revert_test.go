package undo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func file(content string, perm uint32) change.Pin {
	return change.Pin{Kind: change.KindFile, Perm: perm, Size: int64(len(content)), SHA256: sum(content)}
}

func link(target string) change.Pin {
	return change.Pin{Kind: change.KindSymlink, Size: int64(len(target)), SHA256: sum(target)}
}

func TestRevertOps(t *testing.T) {
	gone := change.Absent()
	old, young := file("old", 0o640), file("new", 0o644)
	// landed is young with the bits it really got.
	landed := file("new", 0o640)
	for _, c := range []struct {
		name   string
		f      change.FileChange
		result change.Pin
		want   change.FileChange
	}{
		{"create", change.FileChange{Op: change.OpCreate, Base: gone, Proposed: young, Added: 1, Bytes: 3}, landed,
			change.FileChange{Op: change.OpDelete, Base: landed, Proposed: gone, Removed: 1, Bytes: 3}},
		{"copy", change.FileChange{Op: change.OpCopy, OldPath: "src", Base: gone, Proposed: young}, landed,
			change.FileChange{Op: change.OpDelete, Base: landed, Proposed: gone}},
		{"delete", change.FileChange{Op: change.OpDelete, Base: old, Proposed: gone, Removed: 2, Bytes: 9}, gone,
			change.FileChange{Op: change.OpCreate, Base: gone, Proposed: old, Added: 2, Bytes: 9}},
		{"edit", change.FileChange{Op: change.OpEdit, Base: old, Proposed: young, Added: 3, Removed: 1, Bytes: 4, Kept: 7, Hidden: 1}, landed,
			change.FileChange{Op: change.OpEdit, Base: landed, Proposed: old, Added: 1, Removed: 3, Bytes: 4}},
		{"part of an edit", change.FileChange{Op: change.OpEdit, Base: old, Proposed: young, Added: 3}, file("half", 0o640),
			change.FileChange{Op: change.OpEdit, Base: file("half", 0o640), Proposed: old}},
		{"overwrite", change.FileChange{Op: change.OpOverwrite, Base: old, Proposed: young, Binary: true, TooLarge: true}, landed,
			change.FileChange{Op: change.OpOverwrite, Base: landed, Proposed: old, Binary: true, TooLarge: true}},
		{"chmod", change.FileChange{Op: change.OpChmod, Base: old, Proposed: file("old", 0o755)}, file("old", 0o750),
			change.FileChange{Op: change.OpChmod, Base: file("old", 0o750), Proposed: old}},
		{"new link", change.FileChange{Op: change.OpSymlink, Base: gone, Proposed: link("a")}, link("a"),
			change.FileChange{Op: change.OpDelete, Base: link("a"), Proposed: gone}},
		{"retargeted link", change.FileChange{Op: change.OpSymlink, Base: link("a"), Proposed: link("b")}, link("b"),
			change.FileChange{Op: change.OpSymlink, Base: link("b"), Proposed: link("a")}},
		{"deleted link", change.FileChange{Op: change.OpDelete, Base: link("a"), Proposed: gone}, gone,
			change.FileChange{Op: change.OpSymlink, Base: gone, Proposed: link("a")}},
		{"retype", change.FileChange{Op: change.OpRetype, Base: old, Proposed: link("a")}, link("a"),
			change.FileChange{Op: change.OpRetype, Base: link("a"), Proposed: old}},
	} {
		c.f.Path, c.want.Path = "dir/p", "dir/p"
		set := change.Set{ID: 12, Files: []change.FileChange{c.f}}
		got, err := Revert(set, []change.Step{{Path: "dir/p", Base: c.f.Base, Result: c.result}})
		if diff := cmp.Diff([]change.FileChange{c.want}, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}

func TestRevertRename(t *testing.T) {
	old, landed := file("old", 0o600), file("new", 0o644)
	f := change.FileChange{Path: "b", OldPath: "a", Op: change.OpRename, Base: old, Proposed: landed, Added: 1}
	steps := []change.Step{{Path: "a", Base: old, Result: change.Absent()}, {Path: "b", Base: change.Absent(), Result: landed}}
	want := change.FileChange{Path: "a", OldPath: "b", Op: change.OpRename, Base: landed, Proposed: old, Removed: 1}
	got, err := Revert(change.Set{Files: []change.FileChange{f}}, steps)
	if diff := cmp.Diff([]change.FileChange{want}, got); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
}

func TestRevertPart(t *testing.T) {
	files := []change.FileChange{
		{Path: "z", Op: change.OpDelete, Base: file("z", 0o644), Proposed: change.Absent()},
		{Path: "left out", Op: change.OpDelete, Base: file("l", 0o644), Proposed: change.Absent()},
		{Path: "a", Op: change.OpCreate, Base: change.Absent(), Proposed: file("a", 0o644)},
		{Path: "same", Op: change.OpEdit, Base: file("s", 0o644), Proposed: file("t", 0o644)},
	}
	got, err := Revert(change.Set{ID: 12, Files: files}, []change.Step{
		{Path: "z", Base: file("z", 0o644), Result: change.Absent()},
		{Path: "a", Base: change.Absent(), Result: file("a", 0o600)},
		{Path: "same", Base: file("s", 0o644), Result: file("s", 0o644)},
	})
	if err != nil || len(got) != 2 || got[0].Path != "a" || got[1].Path != "z" {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestRevertRefuses(t *testing.T) {
	gone, content := change.Absent(), file("c", 0o644)
	create := change.FileChange{Path: "p", Op: change.OpCreate, Base: gone, Proposed: content}
	rename := change.FileChange{Path: "new", OldPath: "old", Op: change.OpRename, Base: content, Proposed: content}
	landed := func(p change.Path, base, result change.Pin) change.Step {
		return change.Step{Path: p, Base: base, Result: result}
	}
	for name, c := range map[string]struct {
		files []change.FileChange
		steps []change.Step
	}{
		"twice":           {[]change.FileChange{create}, []change.Step{landed("p", gone, content), landed("p", gone, content)}},
		"strange":         {[]change.FileChange{create}, []change.Step{landed("p", gone, content), landed("q", gone, content)}},
		"half a rename":   {[]change.FileChange{rename}, []change.Step{landed("new", gone, content)}},
		"other half":      {[]change.FileChange{rename}, []change.Step{landed("old", content, gone)}},
		"old end is left": {[]change.FileChange{rename}, []change.Step{landed("new", gone, content), landed("old", content, content)}},
		"new end existed": {[]change.FileChange{rename}, []change.Step{landed("new", content, content), landed("old", content, gone)}},
		"a folder":        {[]change.FileChange{create}, []change.Step{landed("p", gone, change.Pin{Kind: change.KindDir})}},
		"path twice":      {[]change.FileChange{create, create}, []change.Step{landed("p", gone, content)}},
	} {
		got, err := Revert(change.Set{ID: 12, Files: c.files}, c.steps)
		var le *LandedError
		if !errors.As(err, &le) || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := Revert(change.Set{ID: 12, Files: []change.FileChange{create}}, nil); !errors.Is(err, ErrNothingLanded) {
		t.Errorf("nothing landed: %v", err)
	}
}

// tree is what stands at each path.
type tree map[change.Path]change.Pin

func (tr tree) at(p change.Path) change.Pin {
	if pin, ok := tr[p]; ok {
		return pin
	}
	return change.Absent()
}

// land does files to the tree, giving created and edited files the bits that perm says, and returns the steps.
func (tr tree) land(t *rapid.T, files []change.FileChange, perm func(change.Step) uint32) []change.Step {
	var steps []change.Step
	for _, f := range files {
		for _, s := range f.Steps() {
			if !tr.at(s.Path).Equal(s.Base) {
				t.Fatalf("%s %q: base %+v, found %+v", f.Op, s.Path, s.Base, tr.at(s.Path))
			}
			if s.Result.Kind == change.KindFile {
				s.Result.Perm = perm(s)
			}
			if s.Result.Exists() {
				tr[s.Path] = s.Result
			} else {
				delete(tr, s.Path)
			}
			steps = append(steps, s)
		}
	}
	return steps
}

func drawPin(t *rapid.T, label string) change.Pin {
	content := rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(t, label)
	switch rapid.SampledFrom([]string{"absent", "file", "script", "link"}).Draw(t, label+" kind") {
	case "file":
		return file(content, 0o644)
	case "script":
		return file(content, 0o755)
	case "link":
		return link("to " + content)
	}
	return change.Absent()
}

// drawSet draws a tree and file changes that fit it: a rename now and then, else one path going to anything.
func drawSet(t *rapid.T) (tree, []change.FileChange) {
	tr := tree{}
	var files []change.FileChange
	for i := range rapid.IntRange(1, 6).Draw(t, "files") {
		p := change.Path(fmt.Sprintf("p%d", i))
		base, proposed := drawPin(t, "base"), drawPin(t, "proposed")
		if base.Exists() {
			tr[p] = base
		}
		switch {
		case base.Exists() && rapid.Bool().Draw(t, "rename"):
			files = append(files, change.FileChange{Path: p + "-new", OldPath: p, Op: change.OpRename, Base: base, Proposed: base})
		case !base.SameForGit(proposed):
			f := change.FileChange{Path: p, Base: base, Proposed: proposed}
			f.Op = opBack(change.OpEdit, f)
			files = append(files, f)
		}
	}
	return tr, files
}

// Landing, taking back and bringing back end where they should, pin for pin; a part of the files lands at times.
func TestRevertProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr, files := drawSet(t)
		if len(files) == 0 {
			t.Skip("no change")
		}
		before := maps.Clone(tr)
		part := files[:rapid.IntRange(1, len(files)).Draw(t, "part")]
		// A landing keeps group bits as the disk has them; an undo restores the bits it is told.
		asTold := func(s change.Step) uint32 { return s.Result.Perm }
		steps := tr.land(t, part, func(s change.Step) uint32 { return s.Result.Perm &^ 0o033 })
		after := maps.Clone(tr)

		back, err := Revert(change.Set{ID: 1, Files: files}, steps)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(back, func(a, b change.FileChange) int { return cmpPath(a.Path, b.Path) }) {
			t.Fatalf("not sorted: %+v", back)
		}
		undone := tr.land(t, back, asTold)
		if diff := cmp.Diff(before, tr); diff != "" {
			t.Fatalf("taken back:\n%s", diff)
		}
		again, err := Revert(change.Set{ID: 2, Files: back}, undone)
		if err != nil {
			t.Fatal(err)
		}
		tr.land(t, again, asTold)
		if diff := cmp.Diff(after, tr); diff != "" {
			t.Fatalf("brought back:\n%s", diff)
		}
	})
}

func cmpPath(a, b change.Path) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
