//go:build unix

package shadow

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// copying stands in for a file system that clones: it copies, and says that it cloned.
func copying(tree *durable.Root) cloneFunc {
	return func(p change.Path, src *os.File, perm uint32, mtimeNS int64) (bool, error) {
		err := tree.WriteFile(p, src, perm, mtimeNS)
		return err == nil, err
	}
}

// openClone opens a shadow of the clone backend, after the file system's clock has passed the files of dir.
func (b *box) openClone(dir string, clone func(*durable.Root) cloneFunc) *Shadow {
	b.t.Helper()
	b.passFiles(dir)
	s, report, err := opening{src: b.source(dir), o: b.options("s-1"), clone: clone}.run(b.t.(*testing.T).Context())
	must(b.t, err)
	b.t.Cleanup(func() { _ = s.Release() })
	if report.Backend != BackendClone {
		b.t.Fatalf("backend %q", report.Backend)
	}
	return s
}

// passFiles waits until the clock of dir's file system has ticked past what was written before.
func (b *box) passFiles(dir string) {
	b.t.Helper()
	waitPast(b.t, &Shadow{folder: filepath.Dir(dir)})
}

func TestCloneLateBases(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "edit", "1\n", "both", "1\n", "same", "1\n", "touch", "1\n", "gone", "1\n", "d/real-gone", "1\n", "perm", "1\n")
	s := b.openClone(dir, copying)
	late := 0
	for _, e := range s.manifest().entries {
		if e.flags&lazy != 0 {
			late++
		}
	}
	if late != 7 {
		t.Fatalf("%d of 7 bases are late", late)
	}
	blind, err := Load(LoadOptions{State: b.path("state", "s-1")})
	must(t, err)
	if _, err := blind.Base("same"); !errors.Is(err, ErrUnknownBase) {
		t.Errorf("without the real tree: %v", err)
	}
	must(t, blind.Release())
	b.agent(s, "edit", "2\n", "both", "2\n", "touch", "1\n", "d/real-gone", "2\n")
	must(t, os.Remove(filepath.Join(s.Tree(), "gone")))
	b.write(dir, "both", "3\n")
	must(t, os.Remove(filepath.Join(dir, "d/real-gone")))
	must(t, os.Chmod(filepath.Join(dir, "perm"), 0o600))
	b.agent(s, "perm", "2\n")
	want := []string{
		"both file unknown-base", "d/real-gone file unknown-base", "edit file known", "gone absent known", "perm file unknown-base",
	}
	wantWords(t, "changed", b.scan(s, dir).Changed, want...)
	for _, p := range []change.Path{"both", "d/real-gone", "perm"} {
		if _, err := s.Base(p); !errors.Is(err, ErrUnknownBase) {
			t.Errorf("%q: %v", p, err)
		}
	}
	for p, text := range map[change.Path]string{"edit": "1\n", "same": "1\n", "gone": "1\n"} {
		if base, err := s.Base(p); err != nil || base != filePin(text, 0o644) {
			t.Errorf("%q: %+v, %v", p, base, err)
		}
	}
	// What was told once stays known when the developer changes the file later, for other processes too.
	b.write(dir, "edit", "developer\n")
	again, err := Load(LoadOptions{State: b.path("state", "s-1"), Root: dir})
	must(t, err)
	defer again.Release()
	if base, err := again.Base("edit"); err != nil || base != filePin("1\n", 0o644) {
		t.Errorf("edit: %+v, %v", base, err)
	}
	wantWords(t, "changed, loaded", b.scan(again, dir).Changed, want...)
	b.reset(s, dir)
	b.wantShown(s, dir)
}

// TestCloneYoung checks that a file saved in the same instant as the shadow is opened has its base at once.
func TestCloneYoung(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "b", "1\n")
	b.passFiles(dir)
	src := b.source(dir)
	clone := func(tree *durable.Root) cloneFunc {
		return func(p change.Path, from *os.File, perm uint32, mtimeNS int64) (bool, error) {
			if p == "b" {
				// The developer saves while the file is cloned.
				if err := os.WriteFile(filepath.Join(dir, "b"), []byte("2\n"), 0o644); err != nil {
					return false, err
				}
			}
			return copying(tree)(p, from, perm, mtimeNS)
		}
	}
	s, _, err := opening{src: src, o: b.options("s-1"), clone: clone}.run(t.Context())
	must(t, err)
	defer s.Release()
	e := s.manifest().get("b")
	if e.flags&lazy != 0 || e.pin() != filePin("2\n", 0o644) {
		t.Errorf("%+v, base %+v", e, e.pin())
	}
	if s.manifest().get("a").flags&lazy == 0 {
		t.Error("the base of an old file was computed")
	}
}

// TestCloneFallsBack has a file system that stops cloning half-way, and one that never does.
func TestCloneFallsBack(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n", "b", "1\n", "empty", "")
	some := func(tree *durable.Root) cloneFunc {
		return func(p change.Path, from *os.File, perm uint32, mtimeNS int64) (bool, error) {
			if p == "b" {
				return false, durable.ErrNoClone
			}
			return copying(tree)(p, from, perm, mtimeNS)
		}
	}
	s := b.openClone(dir, some)
	if e := s.manifest().get("b"); e.flags&lazy != 0 || e.pin() != filePin("1\n", 0o644) {
		t.Errorf("%+v", e)
	}
	b.wantShown(s, dir)
	none := func(*durable.Root) cloneFunc {
		return func(change.Path, *os.File, uint32, int64) (bool, error) { return false, durable.ErrNoClone }
	}
	o := b.options("s-2")
	auto, report, err := opening{src: b.source(dir), o: o, clone: none}.run(t.Context())
	must(t, err)
	defer auto.Release()
	if report.Backend != BackendCopy {
		t.Errorf("backend %q", report.Backend)
	}
	o = b.options("s-3")
	o.Backend = BackendClone
	if _, _, err := (opening{src: b.source(dir), o: o, clone: none}).run(t.Context()); !errors.Is(err, ErrNoClone) {
		t.Errorf("asked for by name: %v", err)
	}
	fail := errors.New("the disk is full")
	broken := func(*durable.Root) cloneFunc {
		return func(change.Path, *os.File, uint32, int64) (bool, error) { return false, fail }
	}
	o.Backend = ""
	if _, _, err := (opening{src: b.source(dir), o: o, clone: broken}).run(t.Context()); !errors.Is(err, fail) {
		t.Errorf("a failing clone: %v", err)
	}
	if _, err := os.Lstat(b.path("shadows", "s-3")); !os.IsNotExist(err) {
		t.Errorf("left: %v", err)
	}
}

// TestCloneForReal uses a file system that clones, mounted for the test where that is possible.
func TestCloneForReal(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("mounting takes root on Linux")
	}
	b := newBox(t)
	image, at := b.path("image"), b.path("mnt")
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, 256<<20))
	must(t, os.Mkdir(at, 0o755))
	if out, err := exec.Command("mkfs.btrfs", "-q", image).CombinedOutput(); err != nil {
		t.Skipf("mkfs.btrfs: %v: %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, at).CombinedOutput(); err != nil {
		t.Skipf("mount: %v: %s", err, out)
	}
	defer func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	}()
	in := &box{t: t, dir: at, home: b.home}
	big := strings.Repeat("0123456789abcdef", 1<<16)
	dir := in.repo("r", "big", big, "a", "1\n", "empty", "", "x/y", "2\n")
	before := fingerprint(t, dir)
	s := in.openClone(dir, nil)
	if got := in.status(s.Tree()); len(got) != 0 {
		t.Errorf("status: %q", got)
	}
	wantSameTree(t, "real tree", before, fingerprint(t, dir))
	in.agent(s, "big", "small\n", "a", "2\n")
	wantWords(t, "changed", in.scan(s, dir).Changed, "a file known", "big file known")
	if base, err := s.Base("big"); err != nil || base != filePin(big, 0o644) {
		t.Errorf("base %+v, %v", base, err)
	}
	if in.read(dir, "big") != big {
		t.Error("the real file was changed")
	}
	in.reset(s, dir)
	in.wantShown(s, dir)
	must(t, s.Close(t.Context()))
}
