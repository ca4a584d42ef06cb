package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// place makes one of the things a name may be.
func place(t *testing.T, path, kind string) {
	t.Helper()
	var err error
	switch kind {
	case "file":
		err = os.WriteFile(path, []byte("old"), 0o640)
	case "link":
		if err = os.WriteFile(path+".target", []byte("target"), 0o600); err == nil {
			err = os.Symlink(filepath.Base(path)+".target", path)
		}
	case "dangling":
		err = os.Symlink("nowhere", path)
	case "folder":
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// whatStands describes a name without following it.
func whatStands(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		t.Fatal(err)
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := os.Readlink(path)
		if err != nil {
			t.Fatal(err)
		}
		return "link to " + target
	case info.IsDir():
		return "folder"
	}
	return content(t, path)
}

func TestReplaceIsWholeOrNothing(t *testing.T) {
	for _, kind := range []string{"", "file", "link", "dangling"} {
		everyStep(t, func(t *testing.T, s files, dead bool) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			place(t, path, kind)
			before := whatStands(t, path)
			err := s.replace(path, []byte("new"), 0o755)
			if got := whatStands(t, path); err == nil && got != "new" || got != "new" && got != before {
				t.Fatalf("error %v, %q stands", err, got)
			}
			if left := leftovers(t, dir); len(left) > 0 && !dead {
				t.Fatalf("left %q", left)
			}
			if kind == "link" && content(t, path+".target") != "target" {
				t.Fatal("written through the link")
			}
			if err := Replace(path, []byte("next"), 0o755); err != nil || content(t, path) != "next" {
				t.Fatalf("again: %v", err)
			}
			if info, err := os.Lstat(path); err != nil || info.Mode() != 0o755 {
				t.Fatalf("mode %v, %v", info.Mode(), err)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "f")
	place(t, path, "folder")
	var wrong *NotRegularError
	if err := Replace(path, nil, 0o755); !errors.As(err, &wrong) {
		t.Errorf("a folder was replaced: %v", err)
	}
}

func TestReplaceLinkIsWholeOrNothing(t *testing.T) {
	for _, kind := range []string{"", "file", "link"} {
		everyStep(t, func(t *testing.T, s files, dead bool) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			place(t, path, kind)
			before := whatStands(t, path)
			err := s.replaceLink(path, "../x")
			if got := whatStands(t, path); err == nil && got != "link to ../x" || got != "link to ../x" && got != before {
				t.Fatalf("error %v, %q stands", err, got)
			}
			if left := leftovers(t, dir); len(left) > 0 && !dead {
				t.Fatalf("left %q", left)
			}
			if err := ReplaceLink(path, "../y"); err != nil || whatStands(t, path) != "link to ../y" {
				t.Fatalf("again: %v", err)
			}
		})
	}
}

func TestKeepAsAndMove(t *testing.T) {
	for _, kind := range []string{"file", "link", "dangling"} {
		everyStep(t, func(t *testing.T, s files, _ bool) {
			dir := t.TempDir()
			path, kept := filepath.Join(dir, "f"), filepath.Join(dir, "kept")
			place(t, path, kind)
			before := whatStands(t, path)
			want := before
			if kind != "file" {
				want = "link to ../elsewhere"
			}
			err := s.keepAs(path, kept, "../elsewhere")
			if got := whatStands(t, kept); err == nil && got != want || got != want && got != "" || whatStands(t, path) != before {
				t.Fatalf("error %v, %q is kept of %q", err, got, before)
			}
			if whatStands(t, kept) == "" {
				return
			}
			if err := KeepAs(path, kept, "x"); !errors.Is(err, fs.ErrExist) {
				t.Fatalf("a name that is taken: %v", err)
			}
			if err := Replace(path, []byte("new"), 0o755); err != nil || whatStands(t, kept) != want {
				t.Fatalf("replacing changed what is kept: %v", err)
			}
			err = s.move(kept, path)
			if got := whatStands(t, path); err == nil && got != want || got != want && got != "new" {
				t.Fatalf("move: %v, %q stands", err, got)
			}
		})
	}
	dir := t.TempDir()
	place(t, filepath.Join(dir, "d"), "folder")
	place(t, filepath.Join(dir, "f"), "file")
	if err := Move(filepath.Join(dir, "d"), filepath.Join(dir, "x")); err == nil {
		t.Error("a folder was moved")
	}
	if err := Move(filepath.Join(dir, "f"), filepath.Join(dir, "d")); err == nil {
		t.Error("a folder was replaced")
	}
	if err := KeepAs(filepath.Join(dir, "d"), filepath.Join(dir, "x"), ""); err == nil {
		t.Error("a folder was kept")
	}
	if err := (files{}).copyNew(filepath.Join(dir, "f"), filepath.Join(dir, "copy"), 0o750); err != nil || content(t, filepath.Join(dir, "copy")) != "old" {
		t.Errorf("copy: %v", err)
	}
}
