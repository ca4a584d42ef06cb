package preflight

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/google/go-cmp/cmp"
)

func numbered(n int, changed ...int) string {
	isChanged := map[int]bool{}
	for _, i := range changed {
		isChanged[i] = true
	}
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if isChanged[i] {
			fmt.Fprintf(&b, "other %02d\n", i)
		} else {
			fmt.Fprintf(&b, "line %03d\n", i)
		}
	}
	return b.String()
}

func upTo(n int) []int {
	var list []int
	for i := 1; i <= n; i++ {
		list = append(list, i)
	}
	return list
}

// short is a file change without its pins, as a line.
func short(f change.FileChange) string {
	out := fmt.Sprintf("%s %s", f.Op, f.Path)
	if f.OldPath != "" {
		out += " from " + string(f.OldPath)
	}
	out += fmt.Sprintf(" +%d -%d %dB", f.Added, f.Removed, f.Bytes)
	if f.Kept != 0 {
		out += fmt.Sprintf(" kept %d", f.Kept)
	}
	if f.Hidden != 0 {
		out += fmt.Sprintf(" hidden %d", f.Hidden)
	}
	if f.Binary {
		out += " binary"
	}
	if f.TooLarge {
		out += " large"
	}
	return out
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name     string
		old, new things
		want     []string
	}{
		{"nothing", things{"f": file("a\n")}, things{"f": file("a\n")}, nil},
		{"mode that git does not keep", things{"f": file("a\n")}, things{"f": {change.KindFile, 0o600, "a\n"}}, nil},
		{"create", nil, things{"f": file("a\nb")}, []string{"create f +2 -0 3B"}},
		{"create empty", nil, things{"f": file("")}, []string{"create f +0 -0 0B"}},
		{"delete", things{"f": file("a\nb\n")}, nil, []string{"delete f +0 -2 4B"}},
		{"edit", things{"f": file("a\nb\nc\n")}, things{"f": file("a\nB\nc\n")}, []string{"edit f +1 -1 4B kept 666"}},
		{"edit and mode", things{"f": file("a\n")}, things{"f": program("b\n")}, []string{"edit f +1 -1 4B"}},
		{"chmod", things{"f": file("a\n")}, things{"f": program("a\n")}, []string{"chmod f +0 -0 0B kept 1000"}},
		{"chmod of an empty file", things{"f": program("")}, things{"f": file("")}, []string{"chmod f +0 -0 0B kept 1000"}},
		{"fill an empty file", things{"f": file("")}, things{"f": file("a\n")}, []string{"edit f +1 -0 2B kept 1000"}},
		{"newline goes", things{"f": file("a\nb\n")}, things{"f": file("a\nb")}, []string{"edit f +1 -1 3B kept 500"}},
		{"byte order mark goes", things{"f": file("\ufeffa\r\n")}, things{"f": file("a\r\n")}, []string{"edit f +1 -1 9B"}},
		{"invalid bytes differ", things{"f": file("caf\xe9\n")}, things{"f": file("caf\xe8\n")}, []string{"edit f +1 -1 10B"}},
		{"binary", things{"f": file("a\x00\n")}, things{"f": file("b\x00\n")}, []string{"edit f +0 -0 6B binary"}},
		{"binary becomes text", things{"f": file("\xff\xfeh\x00\n\x00")}, things{"f": file("h\n")}, []string{"edit f +0 -0 8B binary"}},
		{"binary created", nil, things{"f": file("\x00")}, []string{"create f +0 -0 1B binary"}},
		{"symlink created", nil, things{"l": link("a/b")}, []string{"symlink l +1 -0 3B"}},
		{"symlink retargeted", things{"l": link("a")}, things{"l": link("bc")}, []string{"symlink l +1 -1 3B"}},
		{"symlink deleted", things{"l": link("a")}, nil, []string{"delete l +0 -1 1B"}},
		{"symlink moved", things{"l": link("abc")}, things{"m": link("abc")}, []string{"delete l +0 -1 3B", "symlink m +1 -0 3B"}},
		{"file to symlink", things{"x": file("a\nb\n")}, things{"x": link("y")}, []string{"retype x +1 -2 5B"}},
		{"symlink to file of the same bytes", things{"x": link("y")}, things{"x": file("y")}, []string{"retype x +1 -1 2B"}},
		{"file to folder", things{"x": file("a\n")}, things{"x/y": file("b\n")}, []string{"delete x +0 -1 2B", "create x/y +1 -0 2B"}},
		{"hidden", things{"f": file("a\u200bb\nc\n")}, things{"f": file("a\u200bb\nc\u202ed\x1b[0m\n")}, []string{"edit f +1 -1 12B kept 750 hidden 2"}},
		{"names are bytes", things{"m\xe9": file("1\n"), "m\xe8": file("1\n")}, things{"m\xe9": file("2\n")},
			[]string{"delete m\xe8 +0 -1 2B", "edit m\xe9 +1 -1 4B"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkCompare(t, tt.old, tt.new, tt.want) })
	}
}

func checkCompare(t *testing.T, old, new things, want []string) {
	t.Helper()
	images := memory{}
	ends := images.ends(t, old, new)
	files, err := Compare(images, ends, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, short(f))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	rand.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
	again, err := Compare(images, ends, Options{})
	if err != nil || cmp.Diff(files, again) != "" {
		t.Errorf("in another order: %v\n%s", err, cmp.Diff(files, again))
	}
}

// TestOverwrite pins the rule of DESIGN.md 15 at its edges.
func TestOverwrite(t *testing.T) {
	tests := []struct {
		name     string
		old, new string
		want     change.Op
	}{
		{"ten lines replaced", numbered(10), "new\n", change.OpEdit},
		{"eleven lines replaced", numbered(11), "new\n", change.OpOverwrite},
		{"eleven lines emptied", numbered(11), "", change.OpOverwrite},
		{"ten lines and one without newline", numbered(10) + "x", "new\n", change.OpOverwrite},
		{"half kept", numbered(20), numbered(20, upTo(10)...), change.OpEdit},
		{"one less than half kept", numbered(20), numbered(20, upTo(11)...), change.OpOverwrite},
		{"half by bytes, not by lines", numbered(4) + strings.Repeat("x", 500) + "\n" + numbered(20)[9*4:], strings.Repeat("x", 500) + "\n", change.OpEdit},
		{"moved lines are still there", numbered(20), numbered(20)[9*10:] + numbered(20)[:9*10], change.OpEdit},
		{"part of a line is not kept", numbered(20), strings.ReplaceAll(numbered(20), "line", "lines"), change.OpOverwrite},
		{"only newlines change", numbered(20), strings.ReplaceAll(numbered(20), "\n", "\r\n"), change.OpOverwrite},
		{"a line kept once does not count twice", strings.Repeat("same line\n", 20), "same line\n", change.OpOverwrite},
		{"much added", numbered(20), numbered(500), change.OpEdit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			images := memory{}
			ends := images.ends(t, things{"f": file(tt.old)}, things{"f": file(tt.new)})
			files, err := Compare(images, ends, Options{})
			if err != nil || len(files) != 1 || files[0].Op != tt.want {
				t.Errorf("got %+v, %v, want %s", files, err, tt.want)
			}
			over, err := Overwrites(images, ends[0].Base, ends[0].Proposed)
			if err != nil || over != (tt.want == change.OpOverwrite) {
				t.Errorf("Overwrites: %v, %v", over, err)
			}
		})
	}
}

func TestRenames(t *testing.T) {
	big, other := numbered(40), strings.ToUpper(numbered(40))
	tests := []struct {
		name     string
		old, new things
		want     []string
	}{
		{"exact", things{"a": file(big)}, things{"d/b": file(big)}, []string{"rename d/b from a +0 -0 0B kept 1000"}},
		{"with a mode", things{"a": file(big)}, things{"b": program(big)}, []string{"rename b from a +0 -0 0B kept 1000"}},
		{"short", things{"Readme.md": file("hello\n")}, things{"README.md": file("hello\n")}, []string{"rename README.md from Readme.md +0 -0 0B kept 1000"}},
		{"edited", things{"a": file(big)}, things{"b": file(numbered(40, 7))}, []string{"rename b from a +1 -1 18B kept 975"}},
		{"half", things{"a": file(big)}, things{"b": file(numbered(40, upTo(20)...))}, []string{"rename b from a +20 -20 360B kept 500"}},
		{"less than half", things{"a": file(big)}, things{"b": file(numbered(40, upTo(21)...))}, []string{"delete a +0 -40 360B", "create b +40 -0 360B"}},
		{"empty", things{"a": file("")}, things{"b": file("")}, []string{"delete a +0 -0 0B", "create b +0 -0 0B"}},
		{"onto an existing file", things{"a": file("draft\n"), "b": file(numbered(80))}, things{"b": file("draft\n")},
			[]string{"delete a +0 -1 6B", "overwrite b +1 -80 726B"}},
		{"same name first", things{"x/f": file(big), "y/g": file(big)}, things{"z/g": file(big), "w/h": file(big)},
			[]string{"rename w/h from x/f +0 -0 0B kept 1000", "rename z/g from y/g +0 -0 0B kept 1000"}},
		{"the more similar first", things{"a": file(big), "b": file(numbered(40, 1, 2, 3))}, things{"c": file(numbered(40, 1, 2))},
			[]string{"delete a +0 -40 360B", "rename c from b +1 -1 18B kept 975"}},
		{"each once", things{"a": file(big)}, things{"b": file(big), "c": file(big)},
			[]string{"rename b from a +0 -0 0B kept 1000", "copy c from a +40 -0 360B"}},
		{"binary", things{"a": file("\x00" + big)}, things{"b": file("\x00" + big + "x\n")}, []string{"rename b from a +0 -0 724B kept 1000 binary"}},
		{"folder into file", things{"x/y": file(big)}, things{"x": file(big)}, []string{"rename x from x/y +0 -0 0B kept 1000"}},
		{"swap", things{"a": file(big), "b": file(other)}, things{"a": file(other), "b": file(big)},
			[]string{"overwrite a +40 -40 720B", "overwrite b +40 -40 720B"}},
		{"copy of a file in the set", things{"a": file(big)}, things{"a": file(numbered(40, 1)), "b": file(big)},
			[]string{"edit a +1 -1 18B kept 975", "copy b from a +40 -0 360B"}},
		{"too short for a copy", things{"a": file("short\n")}, things{"a": file("x\n"), "b": file("short\n")},
			[]string{"edit a +1 -1 8B", "create b +1 -0 6B"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkCompare(t, tt.old, tt.new, tt.want) })
	}
}

// TestManyRenames has more pairs than are compared: what kept its name is still found, and so is what is the same.
func TestManyRenames(t *testing.T) {
	old, new := things{}, things{}
	for i := range 300 {
		text := fmt.Sprintf("file %d\n", i) + strings.Repeat(fmt.Sprintf("body %d of it\n", i), 5)
		name := change.Path(fmt.Sprintf("f%03d", i))
		old["src/"+name], new["lib/"+name] = file(text), file(text+"more\n")
		old["same/"+name], new["moved/"+name+"x"] = file(text+text), file(text+text)
	}
	images := memory{}
	files, err := Compare(images, images.ends(t, old, new), Options{})
	if err != nil || len(files) != 600 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if f.Op != change.OpRename || f.Path.Base()[:4] != f.OldPath.Base() {
			t.Fatalf("%s", short(f))
		}
	}
}

func TestCopies(t *testing.T) {
	text := numbered(40)
	images := memory{}
	ends := images.ends(t, nil, things{"new/f": file(text), "e": file(text), "s": link(text[:70])})
	pin := ends[0].Proposed
	source := images.pin(t, link(text[:70]), true)
	o := Options{Sources: map[change.Path]change.Pin{"b": pin, "a": pin, "old/f": pin, "l": source, "e": pin}}
	files, err := Compare(images, ends, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		if f.Base.Exists() {
			t.Errorf("%s: a copy has no base", short(f))
		}
		got = append(got, short(f))
	}
	want := []string{"copy e from a +40 -0 360B", "copy new/f from old/f +40 -0 360B", "symlink s +8 -0 70B"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTooLarge(t *testing.T) {
	old, new := numbered(200), numbered(200, 3)+"\u202e\n"
	for name, tt := range map[string]struct {
		old, new things
		want     string
	}{
		"edit":   {things{"f": file(old)}, things{"f": file(new)}, "edit f +0 -0 3604B hidden 1 large"},
		"create": {nil, things{"f": file(new)}, "create f +0 -0 1804B hidden 1 large"},
		"delete": {things{"f": file(new)}, nil, "delete f +0 -0 1804B large"},
		"binary": {things{"f": file(old + "\x00")}, things{"f": file(new)}, "edit f +0 -0 3605B binary large"},
		"chmod":  {things{"f": file(old)}, things{"f": program(old)}, "chmod f +0 -0 0B kept 1000"},
		"rename": {things{"a": file(old)}, things{"f": file(old)}, "rename f from a +0 -0 0B kept 1000"},
		"small":  {things{"f": file("a\n")}, things{"f": file("b\n")}, "edit f +1 -1 4B"},
	} {
		images := memory{}
		files, err := Compare(images, images.ends(t, tt.old, tt.new), Options{MaxDiff: 1000})
		if err != nil || len(files) != 1 || short(files[0]) != tt.want {
			t.Errorf("%s: got %v, %v, want %s", name, files, err, tt.want)
		}
	}
	images := memory{}
	lines := strings.Repeat("\n", maxLines+1)
	files, err := Compare(images, images.ends(t, nil, things{"f": file(lines)}), Options{})
	if err != nil || !files[0].TooLarge {
		t.Errorf("many lines: %v, %v", files, err)
	}
}

// TestMissingImages: a base that is not stored is not compared; a proposed content that is not stored is an error.
func TestMissingImages(t *testing.T) {
	images := memory{}
	ends := images.ends(t, things{"f": file(numbered(20))}, things{"f": file(numbered(20, 1))})
	delete(images, ends[0].Base.SHA256)
	files, err := Compare(images, ends, Options{})
	if err != nil || len(files) != 1 || !files[0].TooLarge || files[0].Bytes != ends[0].Base.Size+ends[0].Proposed.Size {
		t.Errorf("base missing: %v, %v", files, err)
	}
	delete(images, ends[0].Proposed.SHA256)
	if files, err = Compare(images, ends, Options{}); err == nil {
		t.Errorf("proposed missing: %v", files)
	}
}

// A submodule is compared as the line that stands for it, on its own or with a file in its place; its image is asked of
// nobody.
func TestCompareSubmodules(t *testing.T) {
	images := memory{}
	f := images.pin(t, file("a\nb\n"), true)
	module := func(oid string) change.Pin {
		return change.Pin{Kind: change.KindSubmodule, OID: oid, SHA256: oid}
	}
	for _, c := range []struct {
		base, proposed change.Pin
		op             change.Op
		added, removed int
	}{
		{change.Absent(), module("1"), change.OpCreate, 1, 0},
		{module("1"), module("2"), change.OpEdit, 1, 1},
		{module("1"), change.Absent(), change.OpDelete, 0, 1},
		{module("1"), f, change.OpRetype, 2, 1},
		{f, module("1"), change.OpRetype, 1, 2},
	} {
		files, err := Compare(images, []Ends{{Path: "p", Base: c.base, Proposed: c.proposed}}, Options{})
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %v, %v", c.op, files, err)
		}
		if got := files[0]; got.Op != c.op || got.Added != c.added || got.Removed != c.removed || got.TooLarge || got.Binary {
			t.Errorf("%s +%d -%d: %+v", c.op, c.added, c.removed, got)
		}
		var patch bytes.Buffer
		if err := WritePatch(&patch, images, files); err != nil || !strings.Contains(patch.String(), "Subproject commit ") {
			t.Errorf("%s: %q, %v", c.op, patch.String(), err)
		}
	}
	ends := []Ends{{Path: "p", Base: module("1"), Proposed: change.Absent()}, {Path: "q", Base: change.Absent(), Proposed: module("1")}}
	files, err := Compare(images, ends, Options{})
	if err != nil || len(files) != 2 || files[0].Op != change.OpDelete || files[1].Op != change.OpCreate {
		t.Errorf("moved: %v, %v", files, err)
	}
}

func TestCompareRefuses(t *testing.T) {
	images := memory{}
	pin := images.pin(t, file("a\n"), true)
	var kind *KindError
	if _, err := Compare(images, []Ends{{Path: "d", Base: change.Pin{Kind: change.KindDir}, Proposed: pin}}, Options{}); !errors.As(err, &kind) {
		t.Errorf("folder: %v", err)
	}
	var twice *DuplicateError
	ends := []Ends{{Path: "f", Base: change.Absent(), Proposed: pin}, {Path: "f", Base: pin, Proposed: change.Absent()}}
	if _, err := Compare(images, ends, Options{}); !errors.As(err, &twice) {
		t.Errorf("twice: %v", err)
	}
	pin.Size++
	if _, err := Compare(images, []Ends{{Path: "f", Base: change.Absent(), Proposed: pin}}, Options{}); err == nil {
		t.Error("an image shorter than its pin was taken")
	}
}
