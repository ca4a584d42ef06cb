package textdiff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// workload is a pair of contents of which a share of the lines differs.
type workload struct {
	name     string
	old, new []byte
}

func workloads() []workload {
	const lines = 100000
	text := func(edit func(i int) bool) []byte {
		rng := rand.New(rand.NewPCG(7, 7))
		var b bytes.Buffer
		for i := range lines {
			a, c := rng.IntN(1000), rng.IntN(40)
			if edit(i) {
				fmt.Fprintf(&b, "changed line %d of %d\n", i, a)
				continue
			}
			switch {
			case c == 0:
				b.WriteString("\n")
			case c < 4:
				b.WriteString("\t}\n")
			default:
				fmt.Fprintf(&b, "\tvalue%d := compute(%d, %d)\n", i, a, c)
			}
		}
		return b.Bytes()
	}
	rng := rand.New(rand.NewPCG(8, 8))
	old := text(func(int) bool { return false })
	shuffle := bytes.SplitAfter(old, newline)
	rng.Shuffle(len(shuffle), func(i, j int) { shuffle[i], shuffle[j] = shuffle[j], shuffle[i] })
	return []workload{
		{"one line", old, text(func(i int) bool { return i == lines/2 })},
		{"1 percent", old, text(func(int) bool { return rng.IntN(100) == 0 })},
		{"10 percent", old, text(func(int) bool { return rng.IntN(10) == 0 })},
		{"half", old, text(func(int) bool { return rng.IntN(2) == 0 })},
		{"all", old, text(func(int) bool { return true })},
		{"shuffled", old, bytes.Join(shuffle, nil)},
	}
}

// BenchmarkPatch writes the patch of 100,000 lines, beside git diff --no-index on the same two files.
func BenchmarkPatch(b *testing.B) {
	for _, w := range workloads() {
		b.Run(w.name+"/correx", func(b *testing.B) {
			for b.Loop() {
				var out bytes.Buffer
				f := File{Path: "f", OldMode: ModeFile, NewMode: ModeFile, Old: Content{Bytes: w.old}, New: Content{Bytes: w.new}}
				if err := Patch(&out, f, PatchOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(w.name+"/git", func(b *testing.B) {
			dir := b.TempDir()
			for name, data := range map[string][]byte{"old": w.old, "new": w.new} {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				cmd := exec.Command("git", "diff", "--no-index", "old", "new")
				cmd.Dir = dir
				if out, err := cmd.Output(); len(out) == 0 {
					b.Fatalf("git diff: %v", err)
				}
			}
		})
	}
}
