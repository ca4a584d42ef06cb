package textdiff

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// replaced is a plain model of Partly: both contents cut behind each LF, and for each change the lines of one side put in
// the place of those of the other, from the last to the first.
func replaced(old, new string, changes []Change) string {
	lines := strings.SplitAfter(old, "\n")
	for _, c := range slices.Backward(changes) {
		come := strings.SplitAfter(new, "\n")[c.NewStart : c.NewStart+c.NewCount]
		lines = slices.Concat(lines[:c.OldStart], come, lines[c.OldStart+c.OldCount:])
	}
	return strings.Join(lines, "")
}

// patched makes the changes that a diff shows, as a reader of the patch would, with any number of lines around them.
func patched(t rapid.TB, d Diff, context int, old string) string {
	var patch bytes.Buffer
	for _, h := range d.Hunks(context) {
		if err := d.WriteHunk(&patch, h); err != nil {
			t.Fatal(err)
		}
	}
	left, out := strings.SplitAfter(old, "\n"), ""
	at := 0
	take := func(to int) {
		for ; at < to; at++ {
			out += left[at]
		}
	}
	rows := strings.SplitAfter(strings.TrimSuffix(patch.String(), "\n"), "\n")
	for i, line := range rows {
		if i+1 == len(rows) {
			line += "\n"
		}
		if i+1 < len(rows) && strings.HasPrefix(rows[i+1], "\\") {
			line = strings.TrimSuffix(line, "\n")
		}
		switch (line + "\\")[0] {
		case '@':
			var start, count int
			if n, _ := fmt.Sscanf(line, "@@ -%d,%d", &start, &count); n < 2 {
				count = 1
			}
			if count > 0 {
				start--
			}
			take(start)
		case '-', ' ':
			if left[at] != line[1:] {
				t.Fatalf("the patch takes %q away, %q stands there", line[1:], left[at])
			}
			if line[0] == ' ' {
				out += left[at]
			}
			at++
		case '+':
			out += line[1:]
		}
	}
	take(len(left))
	return out
}

// TestPartly takes any subset of the changes between any two contents: the result is the old content with just those
// lines replaced, and the diff to it is of exactly those changes.
func TestPartly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old, new := drawPair(rt)
		var some []Change
		for _, c := range Lines(old, new).Changes() {
			if rapid.Bool().Draw(rt, "take") {
				some = append(some, c)
			}
		}
		part, err := Partly(old, new, some)
		if err != nil {
			rt.Fatalf("%q to %q by %+v: %v", old, new, some, err)
		}
		if want := replaced(string(old), string(new), some); string(part.New()) != want {
			rt.Fatalf("%q to %q by %+v: got %q, want %q", old, new, some, part.New(), want)
		}
		if len(part.Changes()) != len(some) {
			rt.Fatalf("%+v became %+v", some, part.Changes())
		}
		for i, c := range part.Changes() {
			if c.OldStart != some[i].OldStart || c.OldCount != some[i].OldCount || c.NewCount != some[i].NewCount {
				rt.Fatalf("%+v became %+v", some[i], c)
			}
		}
		for context := range 5 {
			if got := patched(rt, part, context, string(old)); got != string(part.New()) {
				rt.Fatalf("%q to %q by %+v: the patch with %d lines around gives %q, want %q", old, new, some, context, got, part.New())
			}
		}
	})
}

func TestPartlyAtTheEnds(t *testing.T) {
	for _, tc := range []struct{ old, new, first, last string }{
		{"a\nb\nc", "A\nb\nC", "A\nb\nc", "a\nb\nC"},
		{"a\nb\nc", "A\nb\nC\n", "A\nb\nc", "a\nb\nC\n"},
		{"a\nb\nc\n", "A\nb\nC", "A\nb\nc\n", "a\nb\nC"},
		{"a\nb\nc", "A\nb\nc\n", "A\nb\nc", "a\nb\nc\n"},
		{"a\nb\nc", "A\nb\nc\nd\ne", "A\nb\nc", "a\nb\nc\nd\ne"},
		{"a\nb\nc", "A\nb\n", "A\nb\nc", "a\nb\n"},
		{"a\nb\nc", "x\na\nb", "x\na\nb\nc", "a\nb"},
		{"\ufeffa\r\nb\rc\n\xff\xfe", "a\r\nb\rc\n\xfe\r", "a\r\nb\rc\n\xff\xfe", "\ufeffa\r\nb\rc\n\xfe\r"},
	} {
		changes := Lines([]byte(tc.old), []byte(tc.new)).Changes()
		if len(changes) != 2 {
			t.Fatalf("%q to %q: %+v", tc.old, tc.new, changes)
		}
		for i, want := range []string{tc.first, tc.last} {
			got, err := Partly([]byte(tc.old), []byte(tc.new), changes[i:i+1])
			if err != nil || string(got.New()) != want {
				t.Errorf("%q to %q by change %d: %q, %v; want %q", tc.old, tc.new, i, got.New(), err, want)
			}
		}
	}
}

// TestPartlyRefuses: changes from anywhere are an error where they do not fit, never a panic.
func TestPartlyRefuses(t *testing.T) {
	old, new := []byte("a\nb\nc\nd"), []byte("A\nb\nC\nD")
	huge := int(^uint(0) >> 1)
	for name, changes := range map[string][]Change{
		"nothing":                {{0, 0, 0, 0}},
		"behind the old end":     {{4, 1, 0, 1}},
		"behind the new end":     {{0, 1, 4, 1}},
		"before the start":       {{-1, 1, 0, 1}},
		"a negative count":       {{1, -1, 0, 2}},
		"an overflow":            {{1, huge, 0, 1}},
		"an overflow of new":     {{0, 1, 1, huge}},
		"twice":                  {{0, 1, 0, 1}, {0, 1, 0, 1}},
		"not apart":              {{0, 1, 0, 1}, {1, 1, 2, 1}},
		"not in order":           {{2, 1, 2, 1}, {0, 1, 0, 1}},
		"new not in order":       {{0, 1, 2, 1}, {2, 1, 0, 1}},
		"a joined line":          {{0, 1, 3, 1}},
		"an unended old line":    {{4, 0, 0, 1}},
		"an unended line before": {{0, 1, 0, 1}, {2, 0, 3, 1}},
	} {
		if _, err := Partly(old, new, changes); !errors.Is(err, ErrChange) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		old, new := drawPair(rt)
		number := rapid.IntRange(-2, 20)
		var changes []Change
		for range rapid.IntRange(0, 3).Draw(rt, "changes") {
			changes = append(changes, Change{number.Draw(rt, "old"), number.Draw(rt, "many"), number.Draw(rt, "new"), number.Draw(rt, "many")})
		}
		part, err := Partly(old, new, changes)
		if err != nil {
			if !errors.Is(err, ErrChange) {
				rt.Fatal(err)
			}
			return
		}
		if want := replaced(string(old), string(new), changes); string(part.New()) != want {
			rt.Fatalf("%q to %q by %+v: got %q, want %q", old, new, changes, part.New(), want)
		}
	})
}
