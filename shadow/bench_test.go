//go:build unix

package shadow

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
)

// goSource makes a repository of the Go installation's src: about ten thousand files.
func goSource(tb testing.TB, b *box) string {
	tb.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(tb, err)
	from := filepath.Join(strings.TrimSpace(string(root)), "src")
	if _, err := os.Stat(from); err != nil {
		tb.Skipf("no sources in the Go installation: %v", err)
	}
	dir := b.path("gosrc")
	must(tb, os.CopyFS(dir, os.DirFS(from)))
	b.git(dir, "init", "-q")
	b.git(dir, "add", "-A")
	b.git(dir, "commit", "-qm", "base")
	return dir
}

// BenchmarkOpen is to be compared with BenchmarkWorktreeAdd.
func BenchmarkOpen(bb *testing.B) {
	b := newBox(bb)
	src := b.source(goSource(bb, b))
	i := 0
	for bb.Loop() {
		i++
		s, _ := b.openWith(src, b.options(fmt.Sprintf("s-%d", i)))
		bb.StopTimer()
		must(bb, s.Close(context.Background()))
		bb.StartTimer()
	}
}

// BenchmarkWorktreeAdd is what Open is compared with.
func BenchmarkWorktreeAdd(bb *testing.B) {
	b := newBox(bb)
	dir := goSource(bb, b)
	for bb.Loop() {
		b.git(dir, "worktree", "add", "-q", "--detach", b.path("wt"))
		bb.StopTimer()
		must(bb, os.RemoveAll(b.path("wt")))
		b.git(dir, "worktree", "prune")
		bb.StartTimer()
	}
}

// BenchmarkScan is a scan of an unchanged tree, by a process that has to load the manifest first. It is to be compared
// with BenchmarkStatus.
func BenchmarkScan(bb *testing.B) {
	b := newBox(bb)
	dir := goSource(bb, b)
	s, _ := b.open(dir, "s-1")
	b.scan(s, dir)
	for bb.Loop() {
		s, err := Load(LoadOptions{State: b.path("state", "s-1")})
		must(bb, err)
		r, err := s.Scan(context.Background(), ScanOptions{})
		must(bb, err)
		if len(r.Changed) != 0 {
			bb.Fatalf("changed: %v", words(r.Changed))
		}
		must(bb, s.Release())
	}
}

// BenchmarkStatus is what a scan is compared with.
func BenchmarkStatus(bb *testing.B) {
	b := newBox(bb)
	dir := goSource(bb, b)
	b.git(dir, "status", "--porcelain")
	for bb.Loop() {
		if out := b.git(dir, "status", "--porcelain"); out != "" {
			bb.Fatal(out)
		}
	}
}

// BenchmarkDecode loads a manifest of 80,000 entries.
func BenchmarkDecode(bb *testing.B) {
	m := &manifest{head: header{Version: manifestVersion, Session: "s-1"}}
	for i := range 80000 {
		p := change.Path(fmt.Sprintf("some/folder/of/the/tree/%03d/file-%06d.go", i/100, i))
		m.entries = append(m.entries, entry{path: p, kind: entryFile, perm: 0o644, size: 1, flags: hasStat})
	}
	data, err := m.encode()
	must(bb, err)
	for bb.Loop() {
		if _, err := decode(data); err != nil {
			bb.Fatal(err)
		}
	}
}
