package textdiff

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"pgregory.net/rapid"
)

// node is a file or symlink of a small tree.
type node struct{ mode, data string }

type tree map[string]node

func file(data string) node { return node{ModeFile, data} }

func exec755(data string) node { return node{ModeExecutable, data} }

func link(target string) node { return node{ModeSymlink, target} }

func numbered(n int, changed ...int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if slices.Contains(changed, i) {
			fmt.Fprintf(&b, "changed %d\n", i)
		} else {
			fmt.Fprintf(&b, "line %d\n", i)
		}
	}
	return b.String()
}

// patchCase is one kind of change. renames maps new to old paths. exact says that git writes the very same patch.
type patchCase struct {
	name     string
	old, new tree
	renames  map[string]string
	exact    bool
}

func patchCases() []patchCase {
	long := strings.Repeat("w1;", 300000)
	return []patchCase{
		{name: "edit", old: tree{"f": file(numbered(40))}, new: tree{"f": file(numbered(40, 3, 20, 39))}, exact: true},
		{name: "create", old: tree{}, new: tree{"d/e/f": file("a\nb\n")}, exact: true},
		{name: "delete", old: tree{"d/e/f": file("a\nb\n")}, new: tree{}, exact: true},
		{name: "create empty", old: tree{}, new: tree{"b/__init__.py": file("")}, exact: true},
		{name: "create empty executable", old: tree{}, new: tree{"x": exec755("")}, exact: true},
		{name: "delete empty", old: tree{"a/__init__.py": file("")}, new: tree{}, exact: true},
		{name: "fill empty", old: tree{"f": file("")}, new: tree{"f": file("a\n")}, exact: true},
		{name: "empty it", old: tree{"f": file("a\n")}, new: tree{"f": file("")}, exact: true},
		{name: "newline goes", old: tree{"f": file("a\nb\n")}, new: tree{"f": file("a\nb")}, exact: true},
		{name: "newline comes", old: tree{"f": file("a\nb")}, new: tree{"f": file("a\nb\n")}, exact: true},
		{name: "no newline kept", old: tree{"f": file("a\nb")}, new: tree{"f": file("c\nb")}, exact: true},
		{name: "no newline changed", old: tree{"f": file("a\nb")}, new: tree{"f": file("a\nc")}, exact: true},
		{name: "created without newline", old: tree{}, new: tree{"f": file("a")}, exact: true},
		{name: "only a newline", old: tree{"f": file("")}, new: tree{"f": file("\n")}, exact: true},
		{name: "CRLF", old: tree{"f": file("a\r\nb\r\n")}, new: tree{"f": file("a\r\nc\r\n")}, exact: true},
		{name: "CRLF to LF", old: tree{"f": file("a\r\nb\r\n")}, new: tree{"f": file("a\nb\n")}, exact: true},
		{name: "lone CR", old: tree{"f": file("a\rb\nc\n")}, new: tree{"f": file("a\rB\nc\n")}, exact: true},
		{name: "trailing CR without newline", old: tree{"f": file("a\r")}, new: tree{"f": file("b\r")}, exact: true},
		{name: "form feed and U+2028", old: tree{"f": file("a\fb\vc\nd\u2028e\u0085f\ng\n")}, new: tree{"f": file("a\fb\vc\nd\u2028e\u0085f\nG\n")}, exact: true},
		{name: "byte order mark lost", old: tree{"f": file("\ufeffsku;qty\r\n7;2\r\n")}, new: tree{"f": file("sku;qty\r\n7;3\r\n")}, exact: true},
		{name: "invalid UTF-8", old: tree{"f": file("caf\xe9\n")}, new: tree{"f": file("caf\xe8\n")}, exact: true},
		{name: "enormous line", old: tree{"f": file(long + "\n")}, new: tree{"f": file(long[:450000] + "W" + long[450000:] + "\n")}, exact: true},
		{name: "looks like a patch", old: tree{"f": file("-- a\n++ b\n@@ -1 +1 @@\n")}, new: tree{"f": file("-- b\n++ b\ndiff --git a/x b/x\n")}, exact: true},
		{name: "executable", old: tree{"f": file("a\n")}, new: tree{"f": exec755("a\n")}, exact: true},
		{name: "no longer executable, edited", old: tree{"f": exec755("a\n")}, new: tree{"f": file("b\n")}, exact: true},
		{name: "symlink created", old: tree{}, new: tree{"l": link("no/where")}, exact: true},
		{name: "symlink retargeted", old: tree{"l": link("a")}, new: tree{"l": link("b c\td")}, exact: true},
		{name: "symlink deleted", old: tree{"l": link("a")}, new: tree{}, exact: true},
		{name: "file to symlink", old: tree{"x": file("a\nb\n")}, new: tree{"x": link("y")}, exact: true},
		{name: "symlink to file", old: tree{"x": link("y")}, new: tree{"x": exec755("a\nb\n")}, exact: true},
		{name: "symlink to empty file", old: tree{"x": link("y")}, new: tree{"x": file("")}, exact: true},
		{name: "symlink to binary", old: tree{"x": link("y")}, new: tree{"x": file("\x00")}},
		{name: "file to folder", old: tree{"x": file("a\n")}, new: tree{"x/y": file("a\nb\nc\nd\n"), "x/z/w": file("e\n")}, exact: true},
		{name: "folder to file", old: tree{"x/y": file("a\nb\nc\nd\n"), "x/z/w": file("e\n")}, new: tree{"x": file("a\n")}, exact: true},
		{name: "folder to symlink", old: tree{"x/y": file("a\n")}, new: tree{"x": link("elsewhere")}, exact: true},
		{name: "rename", old: tree{"a": file(numbered(9))}, new: tree{"b/c": file(numbered(9))}, renames: map[string]string{"b/c": "a"}, exact: true},
		{name: "rename and edit", old: tree{"a": file(numbered(40))}, new: tree{"c d": file(numbered(40, 7))}, renames: map[string]string{"c d": "a"}},
		{name: "rename, edit and mode", old: tree{"a": file(numbered(40))}, new: tree{"c": exec755(numbered(40, 7))}, renames: map[string]string{"c": "a"}},
		{name: "rename by case", old: tree{"Readme.md": file("hello\n")}, new: tree{"README.md": file("hello\n")}, renames: map[string]string{"README.md": "Readme.md"}, exact: true},
		{name: "rename into the place of a folder", old: tree{"x/y": file(numbered(9))}, new: tree{"x": file(numbered(9))}, renames: map[string]string{"x": "x/y"}, exact: true},
		{name: "swap", old: tree{"a": file("1\n"), "b": file("2\n")}, new: tree{"a": file("2\n"), "b": file("1\n")}, exact: true},
		{name: "move onto another", old: tree{"a.md": file("draft\n"), "b.md": file(numbered(80))}, new: tree{"b.md": file("draft\n")}},
		{name: "rename of an odd name", old: tree{"t\tb": file(numbered(9))}, new: tree{"new\nline": file(numbered(9))}, renames: map[string]string{"new\nline": "t\tb"}, exact: true},
		{name: "binary created", old: tree{}, new: tree{"b": file("\x00\x01\x02")}},
		{name: "binary edited", old: tree{"b": file("\x00a\n" + numbered(300))}, new: tree{"b": exec755("\x00b\n" + numbered(300, 9))}},
		{name: "binary deleted", old: tree{"b": file("\x00a\n")}, new: tree{}},
		{name: "binary emptied", old: tree{"b": file("\x00a\n")}, new: tree{"b": file("")}},
		{name: "binary becomes text", old: tree{"b": file("\xff\xfeh\x00i\x00\r\x00\n\x00")}, new: tree{"b": file("hi\r\n")}},
		{name: "NUL far in", old: tree{"b": file(numbered(4000) + "tail\x00end\n")}, new: tree{"b": file(numbered(4000, 1) + "tail\x00END\n")}},
		{name: "binary renamed and edited", old: tree{"b": file("\x00" + numbered(300))}, new: tree{"c": file("\x00" + numbered(300, 9))}, renames: map[string]string{"c": "b"}},
		{name: "distinct lines", old: tree{"f": file(numbered(70000))}, new: tree{"f": file(numbered(70000, 11, 60011))}, exact: true},
	}
}

func oddNames() []string {
	return []string{
		"two words", `it"s`, "it's", `back\slash`, "-rf", "--staged", " lead", "trail ", "star*", "$(id)", "new\nline",
		"\u00fcber", "m\xe9.txt", "m\xe8.txt", "tab\there", "b/x y", "bell\a\b\v\f\r\x1b\x7f", "\u202egnp", "a/b \"q\" c", "emoji \U0001F600",
	}
}

func TestPatchKinds(t *testing.T) {
	cases := patchCases()
	for _, name := range oddNames() {
		cases = append(cases,
			patchCase{name: fmt.Sprintf("edit %q", name), old: tree{name: file("1\n")}, new: tree{name: file("2\n")}, exact: true},
			patchCase{name: fmt.Sprintf("create %q", name), old: tree{}, new: tree{name: file("1\n")}, exact: true},
			patchCase{name: fmt.Sprintf("binary %q", name), old: tree{name: file("\x00")}, new: tree{name: file("\x00\x01")}},
		)
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			patch := patchOf(t, tt, PatchOptions{})
			checkApplies(t, tt, patch, "sha1")
			if tt.exact {
				if want := gitDiff(t, tt); string(patch) != want {
					t.Errorf("got\n%s\ngit writes\n%s", patch, want)
				}
			}
		})
	}
}

// TestPatchTogether applies all kinds that can stand side by side as one patch.
func TestPatchTogether(t *testing.T) {
	all := patchCase{old: tree{}, new: tree{}, renames: map[string]string{}}
	for i, tt := range patchCases() {
		at := func(name string) string { return fmt.Sprintf("%03d/%s", i, name) }
		for name, n := range tt.old {
			all.old[at(name)] = n
		}
		for name, n := range tt.new {
			all.new[at(name)] = n
		}
		for to, from := range tt.renames {
			all.renames[at(to)] = at(from)
		}
	}
	checkApplies(t, all, patchOf(t, all, PatchOptions{}), "sha1")
}

func TestPatchSHA256(t *testing.T) {
	for _, tt := range []patchCase{
		{old: tree{"f": file("a\n")}, new: tree{"f": file("b\n")}},
		{old: tree{"f": file("\x00a\n")}, new: tree{"f": file("\x00b\n")}},
		{old: tree{}, new: tree{"f": file("\x00b\n")}},
	} {
		checkApplies(t, tt, patchOf(t, tt, PatchOptions{Objects: SHA256}), "sha256")
	}
}

// TestPatchStreamed writes contents that are only opened, never held: they apply like the ones in memory.
func TestPatchStreamed(t *testing.T) {
	old, new := strings.Repeat("old text\n", 9000), strings.Repeat("new text\n", 9500)
	stream := func(s string) Content {
		return Content{Size: int64(len(s)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }}
	}
	var patch bytes.Buffer
	f := File{Path: "big", OldMode: ModeFile, NewMode: ModeFile, Old: stream(old), New: stream(new)}
	if err := Patch(&patch, f, PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	checkApplies(t, patchCase{old: tree{"big": file(old)}, new: tree{"big": file(new)}}, patch.Bytes(), "sha1")
	f.New.Size++
	if err := Patch(io.Discard, f, PatchOptions{}); err == nil {
		t.Error("a stream shorter than it was said to be was taken")
	}
}

// TestPatchSubmodule moves a pointer: what git writes for it.
func TestPatchSubmodule(t *testing.T) {
	from, to := strings.Repeat("1", 40), strings.Repeat("2", 40)
	var patch bytes.Buffer
	f := File{Path: "dep", OldMode: ModeSubmodule, NewMode: ModeSubmodule, Old: Submodule(from), New: Submodule(to)}
	if err := Patch(&patch, f, PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "diff --git a/dep b/dep\nindex " + from + ".." + to + " 160000\n--- a/dep\n+++ b/dep\n@@ -1 +1 @@\n" +
		"-Subproject commit " + from + "\n+Subproject commit " + to + "\n"
	if patch.String() != want {
		t.Errorf("got\n%s\nwant\n%s", patch.String(), want)
	}
}

func TestPatchRefuses(t *testing.T) {
	same := Content{Bytes: []byte("a\n")}
	for _, f := range []File{
		{Path: "f", OldMode: ModeFile, NewMode: ModeFile, Old: same, New: same},
		{Path: "f"},
		{Path: "f", OldMode: "100600", NewMode: ModeFile, New: same},
		{Path: "f", OldMode: ModeSubmodule, NewMode: ModeSubmodule, Old: same, New: same},
		{Path: "f", OldMode: "", NewMode: "40000", New: same},
	} {
		if err := Patch(io.Discard, f, PatchOptions{}); err == nil {
			t.Errorf("%+v: no error", f)
		}
	}
}

// TestPatchProperty applies patches of random edits: whatever the bytes, git gets from one side to the other. All pairs
// go into one patch, since a process for each would be slow; the seed of a pair is in its name.
func TestPatchProperty(t *testing.T) {
	pair := rapid.Custom(func(rt *rapid.T) [2]node {
		old, new := drawPair(rt)
		if rapid.IntRange(0, 9).Draw(rt, "binary") == 0 {
			new = append(new, 0)
		}
		mode := rapid.SampledFrom([]string{ModeFile, ModeExecutable})
		return [2]node{{mode.Draw(rt, "old mode"), string(old)}, {mode.Draw(rt, "new mode"), string(new)}}
	})
	tt := patchCase{old: tree{}, new: tree{}}
	for seed := range 600 {
		name, p := fmt.Sprintf("seed%03d", seed), pair.Example(seed)
		tt.old[name], tt.new[name] = p[0], p[1]
	}
	checkApplies(t, tt, patchOf(t, tt, PatchOptions{}), "sha1")
}

func TestQuoteIsGits(t *testing.T) {
	for name, want := range map[string]string{
		"plain name": "plain name", "it's": "it's", `q"`: `"q\""`, `b\`: `"b\\"`, "t\tn\n": `"t\tn\n"`,
		"\u00fc": `"\303\274"`, "\x01\x7f\a\b\v\f\r\x1b": `"\001\177\a\b\v\f\r\033"`, "": "",
	} {
		if got := Quote(name); got != want {
			t.Errorf("Quote(%q) = %s, want %s", name, got, want)
		}
	}
}

// patchOf writes the patch of a case, in the order of paths.
func patchOf(t rapid.TB, tt patchCase, o PatchOptions) []byte {
	t.Helper()
	moved := map[string]bool{}
	for _, from := range tt.renames {
		moved[from] = true
	}
	names := map[string]bool{}
	for name := range tt.old {
		names[name] = !moved[name]
	}
	for name := range tt.new {
		names[name] = true
	}
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !names[name] {
			continue
		}
		f := File{Path: change.Path(name), OldPath: change.Path(tt.renames[name])}
		from := name
		if f.OldPath != "" {
			from = tt.renames[name]
			f.Similarity = Similarity([]byte(tt.old[from].data), []byte(tt.new[name].data))
		}
		f.OldMode, f.Old.Bytes = tt.old[from].mode, []byte(tt.old[from].data)
		f.NewMode, f.New.Bytes = tt.new[name].mode, []byte(tt.new[name].data)
		if f.OldMode == f.NewMode && tt.old[from].data == tt.new[name].data && from == name {
			continue
		}
		if err := Patch(&out, f, o); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// checkApplies runs git apply in a new repository that holds only the old side and compares bytes and modes, then takes
// the patch back the same way.
func checkApplies(t rapid.TB, tt patchCase, patch []byte, format string) {
	t.Helper()
	dir := newRepository(t, format)
	defer os.RemoveAll(dir)
	write(t, dir, tt.old)
	for _, round := range []struct {
		args []string
		want tree
	}{
		{[]string{"apply", "--whitespace=nowarn", "-"}, tt.new},
		{[]string{"apply", "-R", "--whitespace=nowarn", "-"}, tt.old},
	} {
		cmd := exec.Command("git", round.args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, gitEnv(), bytes.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s\n%.4000s", round.args, err, out, patch)
		}
		got := readTree(t, dir)
		for name, want := range round.want {
			if got[name] != want {
				t.Fatalf("git %q: %q: got %.200q, want %.200q\n%.4000s", round.args, name, got[name], want, patch)
			}
		}
		if len(got) != len(round.want) {
			t.Fatalf("git %q: got %d files, want %d", round.args, len(got), len(round.want))
		}
	}
}

// gitDiff returns what git itself writes for a case.
func gitDiff(t *testing.T, tt patchCase) string {
	t.Helper()
	dir := newRepository(t, "sha1")
	defer os.RemoveAll(dir)
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, gitEnv()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	write(t, dir, tt.old)
	git("add", "-A")
	base := strings.TrimSpace(git("write-tree"))
	for name := range tt.old {
		top, _, _ := strings.Cut(name, "/")
		if err := os.RemoveAll(filepath.Join(dir, top)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, tt.new)
	git("add", "-A")
	return git("diff", "--cached", base, "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "-M")
}

func gitEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C"}
}

func newRepository(t rapid.TB, format string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "textdiff")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "init", "-q", "--template=", "--object-format="+format, dir)
	cmd.Env = gitEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	return dir
}

func write(t rapid.TB, dir string, files tree) {
	t.Helper()
	for name, n := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch n.mode {
		case ModeSymlink:
			err = os.Symlink(n.data, path)
		case ModeExecutable:
			err = os.WriteFile(path, []byte(n.data), 0o755)
		default:
			err = os.WriteFile(path, []byte(n.data), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func readTree(t rapid.TB, dir string) tree {
	t.Helper()
	files := tree{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if entry.IsDir() {
			if name == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		if entry.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			files[name] = link(target)
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		files[name] = file(string(data))
		if info.Mode()&0o100 != 0 {
			files[name] = exec755(string(data))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
