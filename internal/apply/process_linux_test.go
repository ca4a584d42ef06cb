package apply

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/faultfs"
)

// childEnv says what a re-executed test binary is to do instead of testing.
const childEnv = "LANDING_TEST_CHILD"

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		child(what, os.Args[1:])
	}
	os.Exit(m.Run())
}

// child does what the parent asked for; it only returns by exiting.
func child(what string, args []string) {
	var err error
	switch what {
	case "land for ever":
		err = landForEver(args[0], args[1], args[2])
	case "land big":
		err = landBig(args[0], args[1])
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

var killed = scenarios[len(scenarios)-1]

// landForEver lands the scenario and its undo in turn. The ledger is a file with a line for each landing that counts.
func landForEver(root, state, ledger string) error {
	l, store := killed.landing()
	e, err := Open(root, state, store)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(ledger, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		l.ID = fmt.Sprintf("e-%d", n)
		out, err := e.Land(context.Background(), l, func(Landed) error {
			_, err := log.WriteString(l.ID + "\n")
			return errors.Join(err, log.Sync())
		})
		if err != nil {
			return err
		}
		fmt.Println("landing")
		back := Landing{RestorePerm: true, RemoveFolders: append(out.Folders, emptied(killed.after, killed.before)...)}
		if n%2 == 1 {
			back.RemoveFolders = emptied(killed.before, killed.after)
		}
		for _, s := range out.Landed {
			back.Steps = append(back.Steps, change.Step{Path: s.Path, Base: s.Result, Result: s.Base})
		}
		l = back
	}
}

// TestKilled kills a process in the middle of its landings, again and again.
func TestKilled(t *testing.T) {
	interrupted := 0
	for round := range 12 {
		root, state := build(t, killed.before)
		ledger := filepath.Join(filepath.Dir(state), "ledger")
		cmd := exec.Command(os.Args[0], root, state, ledger)
		cmd.Env = append(os.Environ(), childEnv+"=land for ever")
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range round + 1 {
			if !lines.Scan() || lines.Text() != "landing" {
				t.Fatalf("%q, %v", lines.Text(), lines.Err())
			}
		}
		// What it is doing in this moment is the scheduler's choice.
		must(t, cmd.Process.Kill())
		if err := cmd.Wait(); err == nil {
			t.Fatal("it was not killed")
		}
		raw, err := os.ReadFile(ledger)
		must(t, err)
		ids := strings.Fields(string(raw))
		_, store := killed.landing()
		e := newEngine(t, root, store, nil)
		if unlock, err := e.TryLock(); err != nil {
			t.Fatal(err)
		} else {
			must(t, unlock())
		}
		recovered, err := e.Recover(context.Background(), func(l Landing) (bool, error) { return slices.Contains(ids, l.ID), nil },
			func(_ Landing, left []change.Path) error {
				if len(left) > 0 {
					t.Errorf("left %q", left)
				}
				return nil
			})
		must(t, err)
		if recovered {
			interrupted++
		}
		want := killed.before
		if len(ids)%2 == 1 {
			want = killed.landed(t)
		}
		expectTree(t, root, want)
		expectNoJournal(t, state)
	}
	t.Logf("%d of 12 landings were interrupted", interrupted)
}

const big = 1 << 20

func bigScenario() scenario {
	return scenario{"big", layout{"f": file("small"), "g": file("g")}, layout{"f": file(strings.Repeat("x", big)), "g": file("G")}}
}

func landBig(root, state string) error {
	s := bigScenario()
	l, store := s.landing()
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: big / 4, Max: big / 4}); err != nil {
		return err
	}
	e, err := Open(root, state, store)
	if err != nil {
		return err
	}
	_, err = e.Land(context.Background(), l, func(Landed) error { return errors.New("landed") })
	if !errors.Is(err, syscall.EFBIG) || errors.Is(err, ErrUnfinished) {
		return fmt.Errorf("expected a file size limit, found %w", err)
	}
	return nil
}

// TestFileSizeLimit lands a file that is larger than the process may write.
func TestFileSizeLimit(t *testing.T) {
	s := bigScenario()
	root, state := build(t, s.before)
	cmd := exec.Command(os.Args[0], root, state)
	cmd.Env = append(os.Environ(), childEnv+"=land big")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	expectTree(t, root, s.before)
	expectNoJournal(t, state)
}

// TestRealFullDisk lands on a small file system of its own, where one can be made.
func TestRealFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		t.Skip("no mounts here:", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	s := bigScenario()
	root, state := filepath.Join(dir, "root"), filepath.Join(dir, "state")
	must(t, errors.Join(os.Mkdir(root, 0o755), os.Mkdir(state, 0o700)))
	for p, n := range s.before {
		write(t, root, p, n)
	}
	l, store := s.landing()
	e := newEngine(t, root, store, nil)
	var c counter
	_, err := e.Land(context.Background(), l, c.commit)
	if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrUnfinished) {
		t.Fatal(err)
	}
	expectTree(t, root, s.before)
	expectNoJournal(t, state)
	must(t, e.Close())
}

// asUser runs the calling test again as an ordinary user when it runs as root, and reports whether it did.
func asUser(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	const nobody = 65534
	dir := faultfs.QuickDir(t)
	must(t, os.Chmod(dir, 0o755))
	binary, err := os.ReadFile(os.Args[0])
	must(t, err)
	copied := filepath.Join(dir, "test")
	must(t, os.WriteFile(copied, binary, 0o755))
	must(t, os.Chmod(copied, 0o755))
	tmp := filepath.Join(dir, "tmp")
	must(t, errors.Join(os.Mkdir(tmp, 0o700), os.Chown(tmp, nobody, nobody)))
	cmd := exec.Command(copied, "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, []string{"TMPDIR=" + tmp}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as an ordinary user: %v\n%s", err, out)
	}
	return true
}

func TestReadOnlyFolders(t *testing.T) {
	if asUser(t) {
		return
	}
	for _, c := range []struct {
		s    scenario
		lock string
	}{
		{scenario{"edit", layout{"d/f": file("old"), "a": file("a")}, layout{"d/f": file("new"), "a": file("A")}}, "d"},
		{scenario{"create", layout{"d/f": file("f"), "a": file("a")}, layout{"d/f": file("f"), "a": file("A"), "d/n/m": file("m")}}, "d"},
		{scenario{"delete", layout{"d/f": file("f"), "d/g": file("g")}, layout{"d/g": file("g")}}, "d"},
		{scenario{"folder to file", layout{"d/f": file("f"), "d/sub/g": file("g")}, layout{"d": file("d")}}, "d/sub"},
	} {
		err := refuse(t, c.s, func(root string) {
			path := filepath.Join(root, c.lock)
			must(t, os.Chmod(path, 0o555))
			if probe, err := os.Create(filepath.Join(path, "probe")); err == nil {
				_ = probe.Close()
				t.Fatal("the folder is not read-only")
			}
			t.Cleanup(func() { must(t, os.Chmod(path, 0o755)) })
		})
		if !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: %v", c.s.name, err)
		}
	}
}

// TestOwnerThatCannotBePreserved edits a file that belongs to somebody else.
func TestOwnerThatCannotBePreserved(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make a file of somebody else's, and a capability to drop")
	}
	s := scenario{"edit", layout{"f": file("old"), "a": file("a")}, layout{"f": file("new"), "a": file("A")}}
	r := newTrial(t, s, &faults{})
	must(t, os.Lchown(filepath.Join(r.root, "f"), 1234, 2345))
	e := newEngine(t, r.root, r.store, r.f)
	e.tree = chownless{e.tree}
	var c counter
	_, err := e.Land(context.Background(), r.l, c.commit)
	var lost *durable.PreserveError
	if !errors.As(err, &lost) || c.n > 0 || errors.Is(err, ErrUnfinished) {
		t.Fatal(err)
	}
	expectTree(t, r.root, s.before)
	expectNoJournal(t, r.state)

	e = newEngine(t, r.root, r.store, nil)
	_, err = e.Land(context.Background(), r.l, c.commit)
	must(t, err)
	info, err := e.root.Lstat("f")
	if err != nil || info.UID != 1234 || info.GID != 2345 {
		t.Errorf("%+v, %v", info, err)
	}
}

// chownless is a tree in which nothing changes hands.
type chownless struct{ tree }

func (c chownless) Folder(p change.Path) (folder, error) {
	f, err := c.tree.Folder(p)
	return chownlessFolder{f}, err
}

type chownlessFolder struct{ folder }

func (c chownlessFolder) Create(name string, perm uint32) (newFile, error) {
	n, err := c.folder.Create(name, perm)
	return chownlessFile{n}, err
}

func (c chownlessFolder) MoveNew(name string, to folder, toName string) error {
	return c.folder.MoveNew(name, to.(chownlessFolder).folder, toName)
}

type chownlessFile struct{ newFile }

func (chownlessFile) Resemble(*os.File, uint32) error {
	return &durable.PreserveError{What: "owner", Err: syscall.EPERM}
}

// TestAttributesAreKept edits a file with extended attributes, an ACL and unusual permission bits.
func TestAttributesAreKept(t *testing.T) {
	s := scenario{"edit", layout{"f": {text: "old", perm: 0o640}, "x": {text: "x", perm: 0o750}}, layout{"f": {text: "new", perm: 0o640}, "x": {text: "y", perm: 0o750}}}
	root, _ := build(t, s.before)
	path := filepath.Join(root, "f")
	if err := unix.Setxattr(path, "user.note", []byte("mine"), 0); err != nil {
		t.Skip("no extended attributes here:", err)
	}
	// Owner rw, user 1 r, group r, mask r, others nothing.
	none := "\xff\xff\xff\xff"
	acl := "\x02\x00\x00\x00" + "\x01\x00\x06\x00" + none + "\x02\x00\x04\x00\x01\x00\x00\x00" + "\x04\x00\x04\x00" + none + "\x10\x00\x04\x00" + none + "\x20\x00\x00\x00" + none
	aclErr := unix.Setxattr(path, "system.posix_acl_access", []byte(acl), 0)
	l, store := s.landing()
	e := newEngine(t, root, store, nil)
	var c counter
	if _, err := e.Land(context.Background(), l, c.commit); err != nil {
		t.Fatal(err)
	}
	expectTree(t, root, s.after)
	for name, want := range map[string]string{"user.note": "mine", "system.posix_acl_access": acl} {
		if name != "user.note" && aclErr != nil {
			continue
		}
		buf := make([]byte, 256)
		n, err := unix.Getxattr(path, name, buf)
		if err != nil || string(buf[:n]) != want {
			t.Errorf("%s = %q, %v", name, buf[:max(n, 0)], err)
		}
	}
}
