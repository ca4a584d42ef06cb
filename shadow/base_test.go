//go:build unix

package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/correx/correx/internal/change"
)

func filePin(text string, perm uint32) change.Pin {
	return change.Pin{Kind: change.KindFile, Perm: perm, Size: int64(len(text)), SHA256: sha(text)}
}

func linkPin(target string) change.Pin {
	return change.Pin{Kind: change.KindSymlink, Size: int64(len(target)), SHA256: sha(target)}
}

func TestSetBase(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "part", "1\n2\n", "gone", "1\n", "back", "1\n", "kind", "1\n")
	s, _ := b.open(dir, "s-1")
	b.agent(s, "a", "2\n", "part", "one\ntwo\n", "new/n", "n\n", "x", "x\n")
	must(t, os.Remove(filepath.Join(s.Tree(), "gone")))
	must(t, os.Remove(filepath.Join(s.Tree(), "back")))
	must(t, os.Remove(filepath.Join(s.Tree(), "kind")))
	must(t, os.Symlink("a", filepath.Join(s.Tree(), "kind")))
	must(t, os.Chmod(filepath.Join(s.Tree(), "x"), 0o755))
	pins := map[change.Path]change.Pin{
		"a": filePin("2\n", 0o640), "part": filePin("one\n2\n", 0o644), "gone": change.Absent(), "new/n": filePin("n\n", 0o644),
		"kind": linkPin("a"), "x": filePin("x\n", 0o644),
	}
	must(t, s.SetBase(t.Context(), pins, 9))
	want := []string{"back absent known", "part file known", "x file known"}
	wantWords(t, "changed", b.scan(s, dir).Changed, want...)
	again, err := Load(LoadOptions{State: b.path("state", "s-1")})
	must(t, err)
	defer again.Release()
	wantWords(t, "changed, loaded", b.scan(again, dir).Changed, want...)
	if again.Seq() != 9 || s.Seq() != 9 {
		t.Errorf("seq %d, %d", again.Seq(), s.Seq())
	}
	for p, pin := range pins {
		if got, err := again.Base(p); err != nil || !got.Equal(pin) {
			t.Errorf("%q: base %+v, %v, want %+v", p, got, err, pin)
		}
	}
	// An older event does not take the number back; what is no end of a change is refused and changes nothing.
	must(t, again.SetBase(t.Context(), nil, 3))
	for _, bad := range []change.Pin{{Kind: change.KindDir}, {Kind: change.KindOther}, {Kind: change.KindFile, SHA256: "x"}, {Kind: change.KindFile}} {
		if err := again.SetBase(t.Context(), map[change.Path]change.Pin{"a": bad, "z": filePin("", 0)}, 50); err == nil {
			t.Errorf("base %+v was taken", bad)
		}
	}
	if base, err := again.Base("z"); err != nil || base.Exists() || again.Seq() != 9 {
		t.Errorf("base %+v, %v, seq %d", base, err, again.Seq())
	}
}

// TestSetBaseAtOnce has processes that know nothing of each other record landings: none is lost.
func TestSetBaseAtOnce(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n")
	b.open(dir, "s-1")
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			s, err := Load(LoadOptions{State: b.path("state", "s-1"), Holder: "test"})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Release()
			for j := range 10 {
				p := change.Path(fmt.Sprintf("f%d-%d", i, j))
				err := s.SetBase(context.Background(), map[change.Path]change.Pin{p: filePin(string(p), 0o644)}, uint64(10*i+j))
				if _, serr := s.Scan(context.Background(), ScanOptions{}); err != nil || serr != nil {
					t.Error(err, serr)
				}
			}
		})
	}
	wait.Wait()
	info, err := ReadInfo(b.path("state", "s-1"))
	if err != nil || info.Files != 61 || info.Seq != 59 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestWrite(t *testing.T) {
	old, next := filePin("1\n", 0o644), filePin("2\n", 0o755)
	for name, c := range map[string]struct {
		path          change.Path
		expected, pin change.Pin
		content       string
		agent         func(file string) error
		refused       bool
	}{
		"edit":                   {path: "a", expected: old, pin: next, content: "2\n"},
		"edit, moved on":         {path: "a", expected: old, pin: next, content: "2\n", agent: writes("mine"), refused: true},
		"edit, gone":             {path: "a", expected: old, pin: next, content: "2\n", agent: os.Remove, refused: true},
		"edit, made a folder":    {path: "a", expected: old, pin: next, content: "2\n", agent: makesFolder, refused: true},
		"create":                 {path: "new/deep", pin: next, content: "2\n"},
		"create, taken":          {path: "b", pin: next, content: "2\n", refused: true},
		"delete":                 {path: "a", expected: old, pin: change.Absent()},
		"delete, moved on":       {path: "a", expected: old, pin: change.Absent(), agent: writes("mine"), refused: true},
		"delete, gone already":   {path: "new", expected: change.Absent(), pin: change.Absent()},
		"to a link":              {path: "a", expected: old, pin: linkPin("b"), content: "b"},
		"from a link":            {path: "link", expected: linkPin("a"), pin: next, content: "2\n"},
		"from a link, moved on":  {path: "link", expected: linkPin("b"), pin: next, content: "2\n", refused: true},
		"content of another set": {path: "a", expected: old, pin: next, content: "3\n", refused: true},
		"git":                    {path: ".git/config", pin: next, content: "2\n", refused: true},
		"reserved":               {path: ".correx-x/y", pin: next, content: "2\n", refused: true},
		"below a file, moved on": {path: "a/x", pin: next, content: "2\n", refused: true},
		"below a link, moved on": {path: "link/x", pin: next, content: "2\n", refused: true},
		"delete from a folder":   {path: "d/e/f", expected: old, pin: change.Absent()},
		"a folder":               {path: "a", expected: old, pin: change.Pin{Kind: change.KindDir}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			dir := b.repo("r", "a", "1\n", "b", "1\n", "d/e/f", "1\n")
			must(t, os.Symlink("a", filepath.Join(dir, "link")))
			s, _ := b.open(dir, "s-1")
			file := filepath.Join(s.Tree(), string(c.path))
			if c.agent != nil {
				must(t, c.agent(file))
			}
			before := fingerprint(t, s.Tree())
			err := s.Write(t.Context(), c.path, c.expected, c.pin, strings.NewReader(c.content))
			if (err != nil) != c.refused {
				t.Fatalf("%v", err)
			}
			if ce := (*ChangedError)(nil); strings.Contains(name, "moved on") && (!errors.As(err, &ce) || ce.Path != c.path) {
				t.Errorf("not a ChangedError: %v", err)
			}
			if c.refused {
				wantSameTree(t, "the shadow", before, fingerprint(t, s.Tree()))
				return
			}
			root, err := s.Root()
			must(t, err)
			if pin, err := root.Pin(c.path, nil); err != nil || !pin.Equal(c.pin) {
				t.Errorf("found %+v, %v, want %+v", pin, err, c.pin)
			}
			if _, err := root.Lstat("d"); (name == "delete from a folder") != errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder: %v", err)
			}
			must(t, s.SetBase(t.Context(), map[change.Path]change.Pin{c.path: c.pin}, 1))
			if r := b.scan(s, dir); len(r.Changed)+len(r.Reserved) != 0 {
				t.Errorf("afterwards: %+v", r)
			}
		})
	}
}

func writes(text string) func(string) error {
	return func(file string) error { return os.WriteFile(file, []byte(text), 0o644) }
}

func makesFolder(file string) error {
	return errors.Join(os.Remove(file), os.MkdirAll(file+"/x", 0o755))
}

// TestWriteRace has the agent save while its file is brought to other bytes: its last save is never lost.
func TestWriteRace(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n")
	s, _ := b.open(dir, "s-1")
	file := filepath.Join(s.Tree(), "a")
	root, err := s.Root()
	must(t, err)
	for i := range 300 {
		mine := fmt.Sprintf("mine %d\n", i)
		must(t, os.WriteFile(file, []byte("1\n"), 0o644))
		saved := make(chan error)
		go func() {
			tmp := file + ".tmp"
			var err error
			for j := range i % 8 {
				err = errors.Join(err, os.WriteFile(tmp, fmt.Append(nil, j), 0o644), os.Rename(tmp, file))
			}
			saved <- errors.Join(err, os.WriteFile(tmp, []byte(mine), 0o644), os.Rename(tmp, file))
		}()
		err := s.Write(t.Context(), "a", filePin("1\n", 0o644), filePin("2\n", 0o644), strings.NewReader("2\n"))
		must(t, <-saved)
		if err != nil && !errors.As(err, new(*ChangedError)) {
			t.Fatal(err)
		}
		pin, perr := root.Pin("a", nil)
		must(t, perr)
		// Either the agent's save came last, or ours found nothing of it.
		if pin.SHA256 != sha(mine) {
			t.Fatalf("round %d: %v: found %.12s", i, err, pin.SHA256)
		}
	}
}
