package apply

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
)

// thousand is a landing of 1,000 edits of 4 KiB files in 50 folders.
func thousand() scenario {
	s := scenario{"thousand", layout{}, layout{}}
	for i := range 1000 {
		p := change.Path(fmt.Sprintf("d%02d/f%04d", i%50, i))
		text := string(bytes.Repeat(fmt.Appendf(nil, "line of file %d\n", i), 250))
		s.before[p] = file(text)
		s.after[p] = file(text + "changed\n")
	}
	return s
}

// BenchmarkLandThousand reports besides which share of the time is spent in flushes.
func BenchmarkLandThousand(b *testing.B) {
	s := thousand()
	l, store := s.landing()
	var all, flushing time.Duration
	for range b.N {
		b.StopTimer()
		base := b.TempDir()
		root, state := filepath.Join(base, "root"), filepath.Join(base, "state")
		fill(b, root, s.before)
		if err := os.MkdirAll(state, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := exec.Command("sync").Run(); err != nil {
			b.Skip(err)
		}
		f := &faults{}
		e := newEngine(b, root, store, f)
		var c counter
		b.StartTimer()
		begun := time.Now()
		if _, err := e.Land(context.Background(), l, c.commit); err != nil {
			b.Fatal(err)
		}
		all, flushing = all+time.Since(begun), flushing+f.flushing
		b.StopTimer()
	}
	b.ReportMetric(float64(flushing)/float64(all), "flush-share")
}

// BenchmarkGitApplyThousand is what a person would do instead: git apply, and a sync so that it is on the disk.
func BenchmarkGitApplyThousand(b *testing.B) {
	s := thousand()
	base := b.TempDir()
	before, after := filepath.Join(base, "a"), filepath.Join(base, "b")
	fill(b, before, s.before)
	fill(b, after, s.after)
	diff := exec.Command("git", "diff", "--no-index", "--no-prefix", "a", "b")
	diff.Dir = base
	patch, err := diff.Output()
	if len(patch) == 0 {
		b.Skip("no git here:", err)
	}
	for range b.N {
		b.StopTimer()
		work := b.TempDir()
		fill(b, work, s.before)
		if err := exec.Command("sync").Run(); err != nil {
			b.Skip(err)
		}
		apply := exec.Command("git", "apply", "-p1")
		apply.Dir, apply.Stdin = work, bytes.NewReader(patch)
		b.StartTimer()
		if out, err := apply.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		if err := exec.Command("sync", "-f", work).Run(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
	}
}

func fill(b *testing.B, root string, l layout) {
	b.Helper()
	for p, n := range l {
		path := filepath.Join(root, string(p))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(n.text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}
