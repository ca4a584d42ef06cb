package preflight

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/textdiff"
)

// edited is the one change from old to new.
func edited(t testing.TB, images memory, old, new thing) change.FileChange {
	t.Helper()
	files, err := Compare(images, images.ends(t, things{"f": old}, things{"f": new}), Options{})
	if err != nil || len(files) != 1 {
		t.Fatalf("%q to %q: %+v, %v", old.data, new.data, files, err)
	}
	return files[0]
}

func hunk(number, oldStart, oldLines, newStart, newLines int) change.Hunk {
	return change.Hunk{Number: number, OldStart: oldStart, OldLines: oldLines, NewStart: newStart, NewLines: newLines}
}

func TestHunks(t *testing.T) {
	for _, tc := range []struct {
		old, new string
		want     []change.Hunk
	}{
		{"a\n", "b\n", []change.Hunk{hunk(1, 1, 1, 1, 1)}},
		{"a\nb\n", "a\n", []change.Hunk{hunk(1, 2, 1, 1, 0)}},
		{"b\n", "a\nb\n", []change.Hunk{hunk(1, 0, 0, 1, 1)}},
		{"a\nx\nb\nx\nc", "A\nx\nx\nc\n", []change.Hunk{hunk(1, 1, 1, 1, 1), hunk(2, 3, 1, 2, 0), hunk(3, 5, 1, 4, 1)}},
	} {
		images := memory{}
		got, err := Hunks(images, edited(t, images, file(tc.old), file(tc.new)))
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%q to %q: %+v, %v; want %+v", tc.old, tc.new, got, err, tc.want)
		}
	}
}

// TestTakeHunks: any choice has the base's mode, and git makes exactly its content of the base by its patch. All hunks
// together are the proposal.
func TestTakeHunks(t *testing.T) {
	var old, new strings.Builder
	for i := range 40 {
		line := strings.Repeat("x", i+1) + "\r\n"
		old.WriteString(line)
		if i%4 == 1 {
			line = "\xff" + line
		}
		new.WriteString(line)
	}
	new.WriteString("no end")
	images := memory{}
	f := edited(t, images, file(old.String()), program(new.String()))
	hunks, err := Hunks(images, f)
	if err != nil || len(hunks) != 11 {
		t.Fatalf("%+v, %v", hunks, err)
	}
	for _, some := range [][]change.Hunk{hunks[:1], hunks[10:], {hunks[0], hunks[3], hunks[4]}, hunks} {
		part, err := TakeHunks(images, f, some)
		if err != nil {
			t.Fatal(err)
		}
		if part.File.Proposed.GitMode() != textdiff.ModeFile || part.File.Proposed.OID != "" || part.File.Added != len(some) || part.File.Removed > len(some) {
			t.Errorf("%+v", part.File)
		}
		again := edited(t, images, file(old.String()), file(string(part.Content)))
		if again.Proposed.SHA256 != part.File.Proposed.SHA256 || again.Bytes != part.File.Bytes || again.Kept != part.File.Kept || again.Op != part.File.Op {
			t.Errorf("compared by itself: %+v, as a part: %+v", again, part.File)
		}
		var patch bytes.Buffer
		if err := part.WritePatch(&patch, textdiff.SHA1); err != nil {
			t.Fatal(err)
		}
		apply(t, things{"f": file(old.String())}, things{"f": file(string(part.Content))}, patch.Bytes())
		if len(some) == len(hunks) && string(part.Content) != new.String() {
			t.Errorf("all hunks give %q", part.Content)
		}
	}
}

// TestTakeHunksProperty: what is left of a choice goes from its content to the proposal, whichever hunks were chosen.
func TestTakeHunksProperty(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\r\n", "\xff\n", "d\re\n", "end"}), 1, 25), func(s []string) string { return strings.Join(s, "") })
	rapid.Check(t, func(rt *rapid.T) {
		images := memory{}
		old, new := text.Draw(rt, "old"), text.Draw(rt, "new")
		if old == new {
			return
		}
		f := edited(t, images, file(old), file(new))
		hunks, err := Hunks(images, f)
		if err != nil {
			rt.Fatal(err)
		}
		var some []change.Hunk
		added, removed := 0, 0
		for _, h := range hunks {
			if rapid.Bool().Draw(rt, "take") {
				some, added, removed = append(some, h), added+h.NewLines, removed+h.OldLines
			}
		}
		part, err := TakeHunks(images, f, some)
		if err != nil {
			rt.Fatal(err)
		}
		if part.File.Added != added || part.File.Removed != removed {
			rt.Fatalf("%+v: %+v", some, part.File)
		}
		if string(part.Content) == new {
			return
		}
		rest := edited(t, images, file(string(part.Content)), file(new))
		left, err := Hunks(images, rest)
		if err != nil {
			rt.Fatal(err)
		}
		whole, err := TakeHunks(images, rest, left)
		if err != nil || string(whole.Content) != new {
			rt.Fatalf("%q to %q by %+v, then the rest: %q, %v", old, new, some, whole.Content, err)
		}
	})
}

func TestTakeHunksRefuses(t *testing.T) {
	images := memory{}
	f := edited(t, images, file("a\nb\nc\n"), file("A\nb\nC\n"))
	for _, bad := range [][]change.Hunk{
		{hunk(1, 0, 1, 1, 1)}, {hunk(1, 1, 1, 0, 1)}, {hunk(1, 9, 1, 1, 1)}, {hunk(1, 1, 1, 1, 9)}, {hunk(1, 1, 0, 1, 0)},
		{hunk(1, 3, 1, 3, 1), hunk(2, 1, 1, 1, 1)}, {hunk(1, -1, -1, 1, 1)}, {hunk(1, 1, math.MaxInt, 1, math.MaxInt)},
	} {
		if _, err := TakeHunks(images, f, bad); !errors.Is(err, textdiff.ErrChange) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	delete(images, f.Proposed.SHA256)
	if _, err := Hunks(images, f); err == nil {
		t.Error("hunks of an image that is not there")
	}
	if _, err := TakeHunks(images, f, nil); err == nil {
		t.Error("a part of an image that is not there")
	}
}
