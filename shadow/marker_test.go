package shadow

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLocate(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "d/e/f", "1\n")
	s, _ := b.open(dir, "s-1")
	for _, at := range []string{s.Tree(), filepath.Join(s.Tree(), "d/e"), filepath.Join(s.Tree(), ".git")} {
		m, ok, err := Locate(at)
		if err != nil || !ok || m.Session != "s-1" || m.Tree != s.Tree() || m.State != b.path("state", "s-1") || m.Root != dir || m.Worktree != "w-1" {
			t.Errorf("%q: %+v, %v, %v", at, m, ok, err)
		}
	}
	for _, at := range []string{dir, b.path("shadows"), b.path("shadows", "s-1"), b.path("nowhere"), "/"} {
		if m, ok, err := Locate(at); ok || err != nil {
			t.Errorf("%q: %+v, %v, %v", at, m, ok, err)
		}
	}
	// Through a link the place is the same.
	must(t, os.Symlink(filepath.Join(s.Tree(), "d"), b.path("link")))
	if _, ok, err := Locate(b.path("link", "e")); !ok || err != nil {
		t.Errorf("through a link: %v, %v", ok, err)
	}
	// A folder beside the tree is not in it, even if it begins with the same name.
	must(t, os.Mkdir(s.Tree()+"-2", 0o755))
	if _, ok, err := Locate(s.Tree() + "-2"); ok || err != nil {
		t.Errorf("beside the tree: %v, %v", ok, err)
	}
	// What the agent plants below cannot make it another session.
	fake := filepath.Join(s.Tree(), "x", "s-2")
	must(t, os.MkdirAll(filepath.Join(fake, "tree"), 0o755))
	data, err := Marker{Session: "s-2", Tree: filepath.Join(fake, "tree"), CommonDir: "/c", State: "/s"}.encode()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(fake, MarkerName), data, 0o600))
	if m, ok, err := Locate(filepath.Join(fake, "tree")); !ok || err != nil || m.Session != "s-1" {
		t.Errorf("planted: %+v, %v, %v", m, ok, err)
	}
	// Moved with its folder, it is still found, where it is now.
	must(t, os.Rename(b.path("shadows"), b.path("moved")))
	moved := b.path("moved", "s-1", "r")
	if m, ok, err := Locate(filepath.Join(moved, "d")); !ok || err != nil || m.Tree != moved {
		t.Errorf("moved: %+v, %v, %v", m, ok, err)
	}
}

func TestLocateForeignMarkers(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON": "x", "empty": "", "another program's": `{"session":"abc","user":1}`, "a list": `[1]`,
		"bad session": `{"version":1,"session":"../x","tree":"/t/x","common_dir":"/c","state":"/s"}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			must(t, os.MkdirAll(b.path("p", "x"), 0o755))
			must(t, os.WriteFile(b.path("p", MarkerName), []byte(text), 0o600))
			if m, ok, err := Locate(b.path("p", "x")); ok || err != nil {
				t.Errorf("%+v, %v, %v", m, ok, err)
			}
		})
	}
	b := newBox(t)
	must(t, os.MkdirAll(b.path("p", MarkerName, "x"), 0o755))
	if _, ok, err := Locate(b.path("p", MarkerName, "x")); ok || err != nil {
		t.Errorf("a folder of that name: %v, %v", ok, err)
	}
}

func TestLocateUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	b := newBox(t)
	s, _ := b.open(b.repo("r", "a", "1\n"), "s-1")
	must(t, os.Chmod(b.path("shadows", "s-1", MarkerName), 0))
	if _, _, err := Locate(s.Tree()); err == nil {
		t.Error("a marker that cannot be read is taken for none")
	} else if me := (*MarkerError)(nil); !errors.As(err, &me) {
		t.Errorf("not a MarkerError: %v", err)
	}
}

func TestTreeName(t *testing.T) {
	for root, want := range map[string]string{
		"/a/repo": "repo", "/a/repo/": "repo", "/": "tree", "/a/session.json": "session.json.tree", "/a/.git": "tree",
		"/a/Session.JSON": "Session.JSON.tree", "/a/.correx-x": "tree", "/a/clock": "clock.tree", "/a/b c": "b c",
	} {
		if got := treeName(root); got != want {
			t.Errorf("%q: %q, want %q", root, got, want)
		}
	}
}

func FuzzMarker(f *testing.F) {
	data, err := Marker{Session: "s-1", Tree: "/t/\xff", Root: "/r", CommonDir: "/c", GitDir: "/g", State: "/s", Worktree: "w"}.encode()
	must(f, err)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMarker(data)
		if err != nil {
			return
		}
		out, err := m.encode()
		must(t, err)
		if again, err := parseMarker(out); err != nil || again != m {
			t.Fatalf("%+v reads back as %+v, %v", m, again, err)
		}
	})
}
