package review

import (
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
)

func TestSetLine(t *testing.T) {
	file := func(op change.Op, path, old change.Path, added, removed int) change.FileChange {
		f := change.FileChange{Path: path, OldPath: old, Op: op, Added: added, Removed: removed, Base: change.Pin{Kind: change.KindFile}, Proposed: change.Pin{Kind: change.KindFile}}
		switch op {
		case change.OpDelete:
			f.Proposed = change.Absent()
		case change.OpCreate, change.OpCopy:
			f.Base = change.Absent()
		}
		return f
	}
	for _, tt := range []struct {
		in   SetSummary
		want string
	}{
		{SetSummary{ID: 1, State: "applied", Files: []change.FileChange{file(change.OpEdit, "src/a.go", "", 6, 2)}}, "#1 applied, 1 file +6 -2: M src/a.go"},
		{SetSummary{ID: 12, State: "waiting", Agent: "claude", Files: []change.FileChange{
			file(change.OpCreate, "a.md", "", 5, 0), file(change.OpEdit, "b.go", "", 52, 2), file(change.OpDelete, "old_test.go", "", 0, 9),
		}}, "#12 waiting, 3 files +57 -11: D old_test.go and 2 more (agent claude)"},
		{SetSummary{ID: 3, State: "superseded by #4", Origin: change.OriginCommit, Files: []change.FileChange{file(change.OpRename, "b\n", "a\u202e", 0, 0)}},
			"#3 superseded by #4, 1 file +0 -0: R a<U+202E> -> b<U+000A> (staged for a commit)"},
		{SetSummary{ID: 5, State: "applied", Origin: change.OriginUndo, Agent: "\x1b[2J"}, "#5 applied, 0 files +0 -0 (agent <U+001B>[2J)"},
	} {
		if got := SetLine(tt.in); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestFileLine(t *testing.T) {
	base := change.Pin{Kind: change.KindFile, Perm: 0o644, Size: 3}
	program := change.Pin{Kind: change.KindFile, Perm: 0o755, Size: 5}
	link := change.Pin{Kind: change.KindSymlink, Size: 1}
	for _, tt := range []struct {
		in   change.FileChange
		want string
	}{
		{change.FileChange{Op: change.OpEdit, Path: "a", Base: base, Proposed: base, Added: 1}, "M a  +1"},
		{change.FileChange{Op: change.OpEdit, Path: "a", Base: base, Proposed: program, Binary: true}, "M a  3 -> 5 bytes  made executable, binary"},
		{change.FileChange{Op: change.OpChmod, Path: "a", Base: program, Proposed: base}, "M a  no lines  no longer executable"},
		{change.FileChange{Op: change.OpOverwrite, Path: "a", Base: base, Proposed: base, Added: 1, Removed: 20, Hidden: 2}, "M a  +1 -20  overwrite, hidden characters"},
		{change.FileChange{Op: change.OpSymlink, Path: "l", Base: change.Absent(), Proposed: link, Added: 1}, "A l  +1  symlink"},
		{change.FileChange{Op: change.OpSymlink, Path: "l", Base: link, Proposed: link, Added: 1, Removed: 1}, "M l  +1 -1  symlink"},
		{change.FileChange{Op: change.OpRetype, Path: "l", Base: base, Proposed: link, Added: 1, Removed: 1}, "T l  +1 -1  symlink, change of kind"},
		{change.FileChange{Op: change.OpCopy, Path: "b", OldPath: "a", Base: change.Absent(), Proposed: base, Added: 4}, "C a -> b  +4  copy"},
		{change.FileChange{Op: change.OpDelete, Path: "d", Base: base, Proposed: change.Absent(), TooLarge: true}, "D d  3 -> 0 bytes  delete, too large to compare"},
	} {
		if got := FileLine(tt.in); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "just now", 0: "just now", 1500 * time.Millisecond: "1 s ago", 59 * time.Second: "59 s ago",
		61 * time.Second: "1 min ago", 90 * time.Minute: "1 h ago", 47 * time.Hour: "47 h ago", 49 * time.Hour: "2 days ago",
	} {
		if got := Age(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
