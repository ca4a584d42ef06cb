//go:build unix

package escalate

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// ownOnly makes sure that nobody but this user and root can put something else at name: it and every folder above belong
// to one of them, and nobody else may write there, but for folders whose entries only their owners can replace.
func ownOnly(name string) error {
	for at := name; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return fmt.Errorf("cannot be looked at: %w", err)
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || st.Uid != 0 && int(st.Uid) != os.Geteuid() {
			return fmt.Errorf("%q belongs to another user", at)
		}
		link, sticky := info.Mode()&fs.ModeSymlink != 0, info.IsDir() && info.Mode()&fs.ModeSticky != 0
		if !link && !sticky && info.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("others may write to %q (mode %04o)", at, info.Mode().Perm())
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// inGroup puts the process into a group of its own, which is killed as a whole.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
}

func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		return err
	}
	return nil
}
