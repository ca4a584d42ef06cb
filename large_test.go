package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goSource is the source of the Go installation that runs the tests: a large tree that every machine with Go has.
func goSource(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("go env GOROOT: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// TestLargeTree works in the source of the Go installation: edits, creates, deletes and renames in a shadow, submission,
// approval and undo, with every tree compared byte for byte through git.
func TestLargeTree(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(repo string) error { return os.CopyFS(repo, os.DirFS(goSource(t))) })
	base := s.treeID(s.repo)
	shadow := s.shadow()
	if got := s.treeID(shadow); got != base {
		t.Fatalf("a new shadow holds %s, the real tree %s", got, base)
	}
	edit := func(name string, f func([]byte) []byte) {
		p := filepath.Join(shadow, filepath.FromSlash(name))
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f(b), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit("fmt/doc.go", func(b []byte) []byte { return bytes.Replace(b, []byte("Package fmt"), []byte("Package  fmt"), 1) })
	sets := decodeSets(t, s.correx(0, shadow, "submit", "--json"))
	if len(sets) != 1 || sets[0].State != "applied" || s.treeID(s.repo) != s.treeID(shadow) {
		t.Fatalf("a small edit: %+v", sets)
	}
	small := sets[0]
	edit("net/http/server.go", func(b []byte) []byte { return append(b, "\n// The end.\n"...) })
	for _, err := range []error{
		os.WriteFile(filepath.Join(shadow, "brand_new.go"), []byte("package src\n"), 0o644),
		os.Remove(filepath.Join(shadow, "errors", "join.go")),
		os.RemoveAll(filepath.Join(shadow, "container")),
		os.Rename(filepath.Join(shadow, "sort"), filepath.Join(shadow, "sorted")),
		os.Chmod(filepath.Join(shadow, "strings", "strings.go"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before, proposed := s.treeID(s.repo), s.treeID(shadow)
	sets = decodeSets(t, s.correx(3, shadow, "submit", "--json"))
	if len(sets) != 1 || sets[0].State != "pending" || s.treeID(s.repo) != before {
		t.Fatalf("a large change: %+v", sets)
	}
	ops := map[string]int{}
	for _, f := range sets[0].Files {
		ops[f.Op]++
	}
	for _, op := range []string{"create", "edit", "delete", "rename", "chmod"} {
		if ops[op] == 0 {
			t.Errorf("no %s among %v", op, ops)
		}
	}
	s.correx(0, s.repo, "approve", "2")
	if got := s.treeID(s.repo); got != proposed {
		t.Fatalf("landed %s, proposed %s", got, proposed)
	}
	s.correx(0, s.repo, "undo", "2")
	if got := s.treeID(s.repo); got != before {
		t.Fatalf("undone to %s, it was %s", got, before)
	}
	s.correx(0, s.repo, "undo", small.Undo)
	if got := s.treeID(s.repo); got != base {
		t.Fatalf("undone to %s, it began as %s", got, base)
	}
	if _, err := os.Stat(filepath.Join(s.repo, "sorted")); !os.IsNotExist(err) {
		t.Errorf("the folder that a rename made is still there: %v", err)
	}
	s.correx(0, s.repo, "fsck")
	if got := s.git("status", "--porcelain"); got != "" {
		t.Errorf("git sees changes: %s", got)
	}
}
