package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
)

// pin is what a path holds: "" for nothing.
func pin(content string) change.Pin {
	if content == "" {
		return change.Absent()
	}
	return change.Pin{Kind: change.KindFile, Perm: 0o644, Size: int64(len(content)), SHA256: content}
}

// files reads changes: "a:1>2" edits a from 1 to 2, "a:>2" creates it, "a:1>" deletes it, "a=b:1>2" moves a to b.
func files(text string) []change.FileChange {
	var list []change.FileChange
	for _, word := range strings.Fields(text) {
		name, ends, _ := strings.Cut(word, ":")
		from, to, _ := strings.Cut(ends, ">")
		f := change.FileChange{Path: change.Path(name), Op: change.OpEdit, Base: pin(from), Proposed: pin(to)}
		switch old, moved, ok := strings.Cut(name, "="); {
		case ok:
			f.Path, f.OldPath, f.Op = change.Path(moved), change.Path(old), change.OpRename
		case from == "":
			f.Op = change.OpCreate
		case to == "":
			f.Op = change.OpDelete
		}
		list = append(list, f)
	}
	return list
}

// unit reads a set: its number, state and changes.
func unit(id int, state change.State, text string) *projection.Entry {
	e := &projection.Entry{Set: change.Set{ID: id, Files: files(text)}, State: state}
	if state == change.StateApproved {
		e.Decision = &change.Decision{Kind: change.Approved, By: "person:dev"}
	}
	return e
}

// tell describes a plan in one line: what is reported again, resumed and gone, and each fresh set with what it replaces.
func tell(p plan) string {
	var out []string
	numbers := func(word string, list []*projection.Entry) {
		for _, e := range list {
			out = append(out, fmt.Sprintf("%s #%d", word, e.ID))
		}
	}
	numbers("again", p.again)
	numbers("resume", p.resume)
	for _, id := range p.gone {
		out = append(out, fmt.Sprintf("gone #%d", id))
	}
	for _, f := range p.fresh {
		var paths []string
		for _, c := range f.files {
			paths = append(paths, string(c.Path))
		}
		word := "new"
		if f.rest {
			word = fmt.Sprintf("rest of #%d", f.parent)
		}
		if len(f.supersedes) > 0 {
			word += fmt.Sprintf(" for %v", f.supersedes)
		}
		out = append(out, word+": "+strings.Join(paths, " "))
	}
	return strings.Join(out, ", ")
}

// mustName is what a plan says that was refused because a group would have been cut.
const mustName = "exit 2"

func TestMakePlan(t *testing.T) {
	const (
		pending  = change.StatePending
		rejected = change.StateRejected
	)
	list := func(units ...*projection.Entry) []*projection.Entry { return units }
	for _, tc := range []struct {
		name    string
		changes string
		units   []*projection.Entry
		scope   scope
		each    bool
		moved   []change.Path
		want    string
	}{
		{name: "nothing", want: ""},
		{name: "one set of all", changes: "a:1>2 b:1>2", want: "new: a b"},
		{name: "each alone", changes: "a:1>2 b:1>2", each: true, want: "new: a, new: b"},
		{name: "each keeps a folder for a file", changes: "a:1>2 f:1> f/x:>1 f/y:>1", each: true, want: "new: a, new: f f/x f/y"},
		{name: "each keeps a rename", changes: "a=b:1>2 c:1>2", each: true, want: "new: b, new: c"},
		{name: "same bytes", changes: "a:1>2 b:1>2", units: list(unit(1, pending, "a:1>2 b:1>2")), want: "again #1"},
		{name: "same bytes and one more", changes: "a:1>2 b:1>2", units: list(unit(1, pending, "a:1>2")), want: "again #1, new: b"},
		{name: "one path changed", changes: "a:1>3 b:1>2", units: list(unit(1, pending, "a:1>2 b:1>2")), want: "new for [1]: a b"},
		{name: "one path back", changes: "b:1>2", units: list(unit(1, pending, "a:1>2 b:1>2")), want: "new for [1]: b"},
		{name: "all back", units: list(unit(1, pending, "a:1>2 b:1>2")), want: "gone #1"},
		{name: "another base", changes: "a:2>3", units: list(unit(1, pending, "a:1>3")), want: "new for [1]: a"},
		{name: "a delete becomes a rename", changes: "a=b:1>1", units: list(unit(1, pending, "a:1>")), want: "new for [1]: b"},
		{name: "two units in one", changes: "a=b:1>1", units: list(unit(1, pending, "a:1>"), unit(2, pending, "b:>2")), want: "new for [1 2]: b"},
		{name: "refused, unchanged", changes: "a:1>2", units: list(unit(1, rejected, "a:1>2")), want: "again #1"},
		{name: "refused, and a new file", changes: "a:1>2 b:1>2", units: list(unit(1, rejected, "a:1>2")), want: "again #1, new: b"},
		{name: "refused, changed", changes: "a:1>3 b:1>2", units: list(unit(1, rejected, "a:1>2 b:1>2")), want: "new for [1]: a b"},
		{name: "skipped asks again", changes: "a:1>2", units: list(unit(1, change.StateSkipped, "a:1>2")), want: "new for [1]: a"},
		{name: "timed out asks again", changes: "a:1>2", units: list(unit(1, change.StateTimedOut, "a:1>2")), want: "new for [1]: a"},
		{name: "stale stays", changes: "a:1>2", units: list(unit(1, change.StateStale, "a:1>2")), moved: []change.Path{"a"}, want: "again #1"},
		{name: "stale recovers", changes: "a:1>2", units: list(unit(1, change.StateStale, "a:1>2")), want: "new for [1]: a"},
		{name: "stale and given up", units: list(unit(1, change.StateStale, "a:1>2")), want: ""},
		{name: "denied stays", changes: "d:1>2", units: list(unit(1, change.StateDenied, "d:1>2")), want: "again #1"},
		{name: "denied no more", changes: "a:1>2", units: list(unit(1, change.StateDenied, "a:1>2")), want: "new for [1]: a"},
		{name: "approved, not landed", changes: "a:1>2", units: list(unit(1, change.StateApproved, "a:1>2")), want: "again #1"},
		{name: "named", changes: "a:1>2", scope: scope{"a"}, want: "new: a"},
		{name: "named cuts a unit", changes: "a:1>2", scope: scope{"a"}, units: list(unit(1, pending, "a:1>2 b:1>2")), want: "new for [1]: a, rest of #1: b"},
		{name: "named went back", scope: scope{"a"}, units: list(unit(1, pending, "a:1>2 b:1>2")), want: "rest of #1: b"},
		{name: "named is the unit", changes: "a:1>2", scope: scope{"a"}, units: list(unit(1, pending, "a:1>2")), want: "again #1"},
		{name: "named is elsewhere", changes: "c:1>2", scope: scope{"c"}, units: list(unit(1, pending, "a:1>2")), want: "new: c"},
		{name: "named cuts no refused unit", changes: "a:1>2", scope: scope{"a"}, units: list(unit(1, rejected, "a:1>2 b:1>2")), want: "new: a"},
		{name: "a folder is its content", changes: "d/x:1>2", scope: scope{"d"}, units: list(unit(1, pending, "d/x:1>2 e:1>2")), want: "new for [1]: d/x, rest of #1: e"},
		{name: "one end of a rename", changes: "a=b:1>1", scope: scope{"b"}, want: mustName},
		{name: "one end of a waiting rename", scope: scope{"a"}, units: list(unit(1, pending, "a=b:1>1 c:1>2")), want: mustName},
		{name: "both ends", changes: "a=b:1>1", scope: scope{"a", "b"}, units: list(unit(1, pending, "a=b:1>1 c:1>2")), want: "new for [1]: b, rest of #1: c"},
		{name: "part of a folder for a file", changes: "f:1> f/x:>1", scope: scope{"f/x"}, want: mustName},
		{name: "all of it", changes: "f:1> f/x:>1", scope: scope{"f"}, want: "new: f f/x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := planInput{changes: files(tc.changes), units: tc.units, scope: tc.scope, each: tc.each, moved: map[change.Path]change.Pin{}}
			in.outcome = func(e *projection.Entry) change.Outcome {
				switch e.Files[0].Path {
				case "d":
					return change.Deny
				case "k":
					return change.Ask
				}
				return change.Auto
			}
			for _, p := range tc.moved {
				in.moved[p] = pin("9")
			}
			p, err := makePlan(in)
			got := tell(p)
			var usage *UsageError
			if errors.As(err, &usage) {
				got = mustName
			} else if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestResumeOnlyWhatTheEnvelopeLetIn(t *testing.T) {
	auto := unit(1, change.StateStaged, "a:1>2")
	auto.Verdict.Outcome = change.Auto
	half := unit(2, change.StateApproved, "b:1>2")
	half.Decision = &change.Decision{By: byEnvelope}
	person := unit(3, change.StateApproved, "c:1>2")
	asked := unit(4, change.StateStaged, "d:1>2")
	asked.Verdict.Outcome = change.Ask
	in := planInput{changes: files("a:1>2 b:1>2 c:1>2 d:1>2"), units: []*projection.Entry{auto, half, person, asked}}
	for outcome, want := range map[change.Outcome]string{
		change.Auto: "again #3, resume #1, resume #2, new for [4]: d",
		change.Ask:  "again #3, new for [1 2 4]: a b d",
	} {
		in.outcome = func(*projection.Entry) change.Outcome { return outcome }
		p, err := makePlan(in)
		if got := tell(p); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", outcome, got, err, want)
		}
	}
}

func TestChoose(t *testing.T) {
	glob := func(pattern string, p change.Path) (bool, error) {
		if pattern == "[" {
			return false, errors.New("does not close")
		}
		return strings.HasSuffix(string(p), pattern), nil
	}
	set := files("a.txt:1>2 docs/b.md:1>2 docs/c.md:1>2 old=new/x:1>1 f:1> f/x:>1 glob:y:1>2 docs.md:1>2")
	set[5].Path = "f/x"
	for _, tc := range []struct {
		words string
		want  string
	}{
		{"a.txt", "a.txt"},
		{"docs", "docs/b.md docs/c.md"},
		{"docs/", "docs/b.md docs/c.md"},
		{"docs/b.md a.txt", "a.txt docs/b.md"},
		{"glob:.md", "docs.md docs/b.md docs/c.md"},
		{"old", "new/x"},
		{"new/x", "new/x"},
		{"new", mustName},
		{"f/x", mustName},
		{"f", "f f/x"},
		{"doc", mustName},
		{"./a.txt", mustName},
		{"../a.txt", mustName},
		{"/a.txt", mustName},
		{"docs/*.md", mustName},
		{"glob:[", mustName},
		{"a.txt nothing", mustName},
	} {
		chosen, err := Choose(set, strings.Fields(tc.words), glob)
		slices.Sort(chosen)
		got := strings.Trim(fmt.Sprint(chosen), "[]")
		var usage *UsageError
		if errors.As(err, &usage) {
			got = mustName
		} else if err != nil {
			t.Fatal(err)
		}
		if got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.words, got, tc.want)
		}
	}
}
