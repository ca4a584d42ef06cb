package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPreserved takes files with owners, modes, extended attributes and ACLs of their own through landing, undo and redo:
// what git does not know of stays. It is tried under two umasks.
func TestPreserved(t *testing.T) {
	t.Parallel()
	for _, mask := range []string{"022", "077"} {
		t.Run(mask, func(t *testing.T) {
			t.Parallel()
			names := []string{"ro", "private", "group", "setgid/f", "setgid/gone", "prog", "attr"}
			s := newSite(t, func(repo string) error {
				err := os.Mkdir(filepath.Join(repo, "setgid"), 0o755)
				for _, name := range names {
					err = errors.Join(err, os.WriteFile(filepath.Join(repo, name), []byte("base "+name+"\n"), 0o644))
				}
				return err
			})
			at := func(name string) string { return filepath.Join(s.repo, name) }
			for name, mode := range map[string]os.FileMode{"ro": 0o444, "private": 0o600, "group": 0o640, "prog": 0o750, "setgid/gone": 0o604} {
				if err := os.Chmod(at(name), mode); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(at("setgid"), 0o2775); err != nil {
				t.Fatal(err)
			}
			owned := os.Geteuid() == 0
			if owned {
				if err := errors.Join(os.Lchown(at("group"), 1234, 2345),
					os.Lchown(at("setgid"), -1, 3456), os.Lchown(at("setgid/gone"), -1, 3456), os.Chmod(at("setgid"), os.ModeSetgid|0o775)); err != nil {
					t.Fatal(err)
				}
			}
			attributes := giveAttributes(t, at("attr"))
			masked := func(want int, dir string, args ...string) string {
				return s.masked(mask, want, dir, args...)
			}
			shadow := s.shadow()
			for _, name := range names {
				p := filepath.Join(shadow, name)
				if err := os.Chmod(p, 0o755); err != nil { // an agent's own idea of modes, of which only the executable bit counts
					t.Fatal(err)
				}
				if name != "prog" {
					_ = os.Chmod(p, 0o644)
				}
				s.put(p, "new "+name+"\n")
			}
			if err := os.Remove(filepath.Join(shadow, "setgid/gone")); err != nil {
				t.Fatal(err)
			}
			s.put(filepath.Join(shadow, "setgid/new"), "new\n")
			before := s.stats(names...)
			masked(3, shadow, "submit")
			for _, step := range [][]string{{"approve", "1"}, {"undo", "1"}, {"redo"}, {"undo", "--last"}} {
				masked(0, s.repo, step...)
				landed := step[0] == "approve" || step[0] == "redo"
				for _, name := range names {
					switch now := s.stats(name)[name]; {
					case name == "setgid/gone" && landed:
					case now != before[name]:
						t.Errorf("after %v %s is %s, it was %s", step, name, now, before[name])
					}
				}
				if got := attributesOf(at("attr"), attributes); got != attributes["all"] {
					t.Errorf("after %v the attributes are %q, want %q", step, got, attributes["all"])
				}
				if info, err := os.Lstat(at("setgid/new")); landed && (err != nil || owned && info.Sys().(*syscall.Stat_t).Gid != 3456) {
					t.Errorf("a new file in a setgid folder: %+v %v", info, err)
				} else if bits := map[string]os.FileMode{"022": 0o644, "077": 0o600}[mask]; landed && info.Mode().Perm() != bits {
					t.Errorf("umask %s: a new file is %s", mask, info.Mode())
				}
			}
			s.correx(0, s.repo, "fsck")
		})
	}
}

// masked is correx under a umask, which it proves to be in effect.
func (s *site) masked(mask string, want int, dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `umask "$0" && test "$(umask)" -eq "$0" && exec "$@"`, mask, s.program}, args...)...)
	cmd.Dir, cmd.Env = dir, s.env
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != want {
		s.t.Fatalf("correx %v: exit %d, want %d: %s %v", args, code, want, out, err)
	}
	return string(out)
}

// stats tells owner, group and mode of files.
func (s *site) stats(names ...string) map[string]string {
	s.t.Helper()
	m := map[string]string{}
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(s.repo, name)); err == nil {
			st := info.Sys().(*syscall.Stat_t)
			m[name] = fmt.Sprintf("%d:%d %s", st.Uid, st.Gid, info.Mode())
		}
	}
	return m
}

// giveAttributes gives a file an extended attribute and an ACL where the file system has them, and returns what it has.
func giveAttributes(t *testing.T, path string) map[string]string {
	t.Helper()
	none := "\xff\xff\xff\xff"
	// Owner rw, user 1 r, group r, mask r, others nothing.
	acl := "\x02\x00\x00\x00" + "\x01\x00\x06\x00" + none + "\x02\x00\x04\x00\x01\x00\x00\x00" + "\x04\x00\x04\x00" + none + "\x10\x00\x04\x00" + none + "\x20\x00\x00\x00" + none
	given := map[string]string{}
	for name, value := range map[string]string{"user.note": "mine\x00\xff", "system.posix_acl_access": acl} {
		if err := syscall.Setxattr(path, name, []byte(value), 0); err != nil {
			t.Logf("%s is not tried: the file system does not have it: %v", name, err)
			continue
		}
		given[name] = value
	}
	given["all"] = attributesOf(path, given)
	return given
}

func attributesOf(path string, names map[string]string) string {
	var list []string
	for _, name := range []string{"user.note", "system.posix_acl_access"} {
		if _, ok := names[name]; ok {
			buf := make([]byte, 1024)
			n, err := syscall.Getxattr(path, name, buf)
			list = append(list, fmt.Sprintf("%s=%q %v", name, buf[:max(n, 0)], err))
		}
	}
	return strings.Join(list, " ")
}

// TestHeldOpenElsewhere: a file that somebody has open for reading is replaced, and the reader keeps what it had; one that is
// open for writing is stale, until it is closed.
func TestHeldOpenElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t, files(2))
	shadow := s.shadow()
	name := filepath.Join(s.repo, "f0.txt")
	reader, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	s.put(filepath.Join(shadow, "f0.txt"), "new\n")
	s.correx(0, shadow, "submit")
	s.holds(name, "new\n")
	old := make([]byte, 16)
	if n, err := reader.Read(old); err != nil || string(old[:n]) != "base\n" {
		t.Errorf("the reader finds %q, %v", old[:n], err)
	}

	s.put(filepath.Join(shadow, "f0.txt"), "newer\n")
	if err := os.Remove(filepath.Join(shadow, "f1.txt")); err != nil {
		t.Fatal(err)
	}
	s.correx(3, shadow, "submit")
	writer, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	before, err := readTree(s.repo)
	if err != nil {
		t.Fatal(err)
	}
	var words strings.Builder
	cmd := s.start(s.repo, "approve", "2")
	cmd.Stderr = &words
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != 6 || !strings.Contains(words.String(), "f0.txt") {
		t.Errorf("approve while it is written: exit %d %s", cmd.ProcessState.ExitCode(), words.String())
	}
	if now, err := readTree(s.repo); err != nil || len(before.differs(now)) > 0 {
		t.Errorf("changed %q, %v", before.differs(now), err)
	}
	if _, err := writer.WriteAt([]byte("NEW"), 0); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	s.holds(name, "NEW\n")
	s.put(name, "new\n")
	id := fmt.Sprint(decodeSets(t, s.correx(3, shadow, "submit", "--json"))[0].ID)
	s.correx(0, s.repo, "approve", id)
	s.holds(name, "newer\n")
	s.correx(0, s.repo, "fsck")
}
