package textdiff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgreesWithGit edits real source files at random and compares with git diff: nearly all hunks are the same to the
// byte, and counts differ only where a block was moved or repeated and more than one shortest script exists.
func TestAgreesWithGit(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("needs the go command: %v", err)
	}
	sources, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "strings", "*.go"))
	if err != nil || len(sources) < 10 {
		t.Skipf("needs the sources of Go: %d files, %v", len(sources), err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	old, new := map[string][]byte{}, map[string][]byte{}
	for round := range 20 {
		for _, path := range sources {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%02d_%s", round, filepath.Base(path))
			old[name], new[name] = data, editAtRandom(rng, data)
			writeTree(t, filepath.Join(dir, "a"), name, old[name])
			writeTree(t, filepath.Join(dir, "b"), name, new[name])
		}
	}
	cmd := exec.Command("git", "-c", "core.attributesFile=/dev/null", "diff", "--no-index", "--no-renames", "--full-index", "a", "b")
	cmd.Dir = dir
	out, _ := cmd.Output()
	gits := map[string]string{}
	for part := range strings.SplitSeq("\n"+string(out), "\ndiff --git a/a/") {
		name, _, _ := strings.Cut(part, " ")
		if at := strings.Index(part, "\n@@ "); at >= 0 {
			gits[name] = strings.TrimSuffix(part[at+1:], "\n")
		}
	}
	files, same, counts := 0, 0, 0
	for name := range old {
		var ours bytes.Buffer
		d := sound(t, old[name], new[name])
		for _, h := range d.Hunks(Context) {
			if err := d.WriteHunk(&ours, h); err != nil {
				t.Fatal(err)
			}
		}
		files++
		theirs := gits[name]
		if strings.TrimSuffix(ours.String(), "\n") == theirs {
			same++
		}
		added, removed := signs(theirs)
		if added == d.Added() && removed == d.Removed() {
			counts++
		}
	}
	t.Logf("%d files: %d patches equal to the byte, %d counts equal", files, same, counts)
	if same*100 < files*90 || counts*100 < files*97 {
		t.Errorf("of %d patches %d are git's to the byte and %d have its counts", files, same, counts)
	}
}

func writeTree(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// signs counts the added and removed lines of hunks.
func signs(hunks string) (added, removed int) {
	for line := range strings.SplitSeq(hunks, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// editAtRandom does what people and agents do to a file: change lines, take blocks out, put blocks in, repeat a block
// right after itself, move one, indent one.
func editAtRandom(rng *rand.Rand, data []byte) []byte {
	lines := bytes.SplitAfter(data, newline)
	for range 1 + rng.IntN(6) {
		at := rng.IntN(len(lines))
		end := min(len(lines), at+1+rng.IntN(12))
		block := append([][]byte(nil), lines[at:end]...)
		var with [][]byte
		switch rng.IntN(6) {
		case 0:
			for i := range block {
				with = append(with, []byte(fmt.Sprintf("\tnewLine(%d, %d)\n", i, rng.IntN(1000))))
			}
		case 1:
		case 2:
			with = append(block, block...)
		case 3:
			with = append([][]byte{[]byte("func added() {\n"), []byte("\tfor {\n"), []byte("\t}\n"), []byte("}\n"), newline}, block...)
		case 4:
			for _, line := range block {
				with = append(with, append([]byte{'\t'}, line...))
			}
		case 5:
			to := rng.IntN(len(lines))
			with = append(block, lines[to:min(len(lines), to+10)]...)
		}
		lines = append(append(append([][]byte(nil), lines[:at]...), with...), lines[end:]...)
	}
	return bytes.Join(lines, nil)
}
