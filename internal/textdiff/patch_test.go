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
	"github.com/correx/correx/internal/textdiff/textdifftest"
	"pgregory.net/rapid"
)

type (
	node = textdifftest.Node
	tree = textdifftest.Tree
	// patchCase is one kind of change.
	patchCase = textdifftest.Case
)

func file(data string) node { return textdifftest.File(data) }

func exec755(data string) node { return textdifftest.Executable(data) }

func link(target string) node { return textdifftest.Link(target) }

func TestPatchKinds(t *testing.T) {
	cases := textdifftest.Cases()
	for _, name := range textdifftest.OddNames() {
		cases = append(cases,
			patchCase{Name: fmt.Sprintf("edit %q", name), Old: tree{name: file("1\n")}, New: tree{name: file("2\n")}, Exact: true},
			patchCase{Name: fmt.Sprintf("create %q", name), Old: tree{}, New: tree{name: file("1\n")}, Exact: true},
			patchCase{Name: fmt.Sprintf("binary %q", name), Old: tree{name: file("\x00")}, New: tree{name: file("\x00\x01")}},
		)
	}
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			patch := patchOf(t, tt, PatchOptions{})
			checkApplies(t, tt, patch, "sha1")
			if tt.Exact {
				if want := gitDiff(t, tt); string(patch) != want {
					t.Errorf("got\n%s\ngit writes\n%s", patch, want)
				}
			}
		})
	}
}

// TestPatchTogether applies all kinds that can stand side by side as one patch.
func TestPatchTogether(t *testing.T) {
	all := patchCase{Old: tree{}, New: tree{}, Renames: map[string]string{}}
	for i, tt := range textdifftest.Cases() {
		at := func(name string) string { return fmt.Sprintf("%03d/%s", i, name) }
		for name, n := range tt.Old {
			all.Old[at(name)] = n
		}
		for name, n := range tt.New {
			all.New[at(name)] = n
		}
		for to, from := range tt.Renames {
			all.Renames[at(to)] = at(from)
		}
	}
	checkApplies(t, all, patchOf(t, all, PatchOptions{}), "sha1")
}

func TestPatchSHA256(t *testing.T) {
	for _, tt := range []patchCase{
		{Old: tree{"f": file("a\n")}, New: tree{"f": file("b\n")}},
		{Old: tree{"f": file("\x00a\n")}, New: tree{"f": file("\x00b\n")}},
		{Old: tree{}, New: tree{"f": file("\x00b\n")}},
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
	checkApplies(t, patchCase{Old: tree{"big": file(old)}, New: tree{"big": file(new)}}, patch.Bytes(), "sha1")
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
		return [2]node{{Mode: mode.Draw(rt, "old mode"), Data: string(old)}, {Mode: mode.Draw(rt, "new mode"), Data: string(new)}}
	})
	tt := patchCase{Old: tree{}, New: tree{}}
	for seed := range 600 {
		name, p := fmt.Sprintf("seed%03d", seed), pair.Example(seed)
		tt.Old[name], tt.New[name] = p[0], p[1]
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
	for _, from := range tt.Renames {
		moved[from] = true
	}
	names := map[string]bool{}
	for name := range tt.Old {
		names[name] = !moved[name]
	}
	for name := range tt.New {
		names[name] = true
	}
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !names[name] {
			continue
		}
		f := File{Path: change.Path(name), OldPath: change.Path(tt.Renames[name])}
		from := name
		if f.OldPath != "" {
			from = tt.Renames[name]
			f.Similarity = Similarity([]byte(tt.Old[from].Data), []byte(tt.New[name].Data))
		}
		f.OldMode, f.Old.Bytes = tt.Old[from].Mode, []byte(tt.Old[from].Data)
		f.NewMode, f.New.Bytes = tt.New[name].Mode, []byte(tt.New[name].Data)
		if f.OldMode == f.NewMode && tt.Old[from].Data == tt.New[name].Data && from == name {
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
	write(t, dir, tt.Old)
	for _, round := range []struct {
		args []string
		want tree
	}{
		{[]string{"apply", "--whitespace=nowarn", "-"}, tt.New},
		{[]string{"apply", "-R", "--whitespace=nowarn", "-"}, tt.Old},
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
	write(t, dir, tt.Old)
	git("add", "-A")
	base := strings.TrimSpace(git("write-tree"))
	for name := range tt.Old {
		top, _, _ := strings.Cut(name, "/")
		if err := os.RemoveAll(filepath.Join(dir, top)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, tt.New)
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
		switch n.Mode {
		case ModeSymlink:
			err = os.Symlink(n.Data, path)
		case ModeExecutable:
			err = os.WriteFile(path, []byte(n.Data), 0o755)
		default:
			err = os.WriteFile(path, []byte(n.Data), 0o644)
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
