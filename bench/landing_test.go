package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const thousand = 1000

// eachOfThousand calls do for the paths of 1,000 files in 50 folders.
func eachOfThousand(dir string, do func(path string, i int) error) error {
	for i := range thousand {
		if err := do(filepath.Join(dir, fmt.Sprintf("d%02d", i%50), fmt.Sprintf("f%04d", i)), i); err != nil {
			return err
		}
	}
	return nil
}

func fillThousand(repo string) error {
	return eachOfThousand(repo, func(path string, i int) error {
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, bytes.Repeat(fmt.Appendf(nil, "line of file %d\n", i), 250), 0o644))
	})
}

// exits is run for a program that ends with a code of its own.
func (w *world) exits(code int, dir, name string, args ...string) time.Duration {
	w.b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, w.env
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begun)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		w.b.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return took
}

// BenchmarkLandThousand: the approval of 1,000 edits, flushed and recorded, against git apply of the same patch and a sync.
// Goal: 5x. Submission of the 1,000, with both ends stored and flushed, is reported besides.
func BenchmarkLandThousand(b *testing.B) {
	w := newWorldOf(b, fillThousand)
	peer := filepath.Join(w.dir, "peer")
	w.run(w.dir, "cp", "-a", w.repo, peer)
	_, shadow := w.run(w.repo, w.correx, "shadow", "open", "--backend", "copy")
	id := 0
	var submits []float64
	w.against(func() time.Duration {
		id++
		if err := eachOfThousand(shadow, func(path string, _ int) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(f, "round %d\n", id)
			return errors.Join(err, f.Close())
		}); err != nil {
			b.Fatal(err)
		}
		w.run(w.dir, "sync")
		submits = append(submits, w.exits(3, shadow, w.correx, "submit").Seconds()*1000)
		w.run(w.dir, "sync")
		return w.exits(0, w.repo, w.correx, "approve", fmt.Sprint(id))
	}, func() time.Duration {
		patch := filepath.Join(w.dir, "patch")
		_, text := w.run(w.repo, w.correx, "diff", fmt.Sprint(id), "--patch")
		if err := os.WriteFile(patch, []byte(text+"\n"), 0o600); err != nil {
			b.Fatal(err)
		}
		w.run(w.dir, "sync")
		begun := time.Now()
		w.run(peer, "git", "apply", patch)
		w.run(peer, "sync", "-f", peer)
		return time.Since(begun)
	}, nil)
	b.ReportMetric(median(submits), "submit-ms")
}
