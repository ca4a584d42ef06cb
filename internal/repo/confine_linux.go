package repo

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// isNative reports whether file is a program the kernel loads without an interpreter script.
func isNative(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, len(elf.ELFMAG))
	_, err = io.ReadFull(f, magic)
	return err == nil && string(magic) == elf.ELFMAG
}

// confinement returns the files a process of the program must be able to execute: itself and its ELF loader. It
// returns nil and the reason where the kernel cannot enforce that.
func confinement(file string) (executable []string, why string) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || abi < 1 {
		return nil, "the kernel does not offer Landlock: " + errno.Error()
	}
	executable = []string{file}
	f, err := elf.Open(file)
	if err != nil {
		return nil, "the git program cannot be read: " + err.Error()
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		loader, err := io.ReadAll(io.LimitReader(p.Open(), unix.PathMax))
		if err != nil {
			return nil, "the git program cannot be read: " + err.Error()
		}
		executable = append(executable, strings.TrimRight(string(loader), "\x00"))
	}
	return executable, ""
}

// startConfined starts cmd so that it and its descendants can execute only the given files.
//
// A Landlock domain belongs to a thread and cannot be left. So the process is started from a goroutine that locks its
// thread, enters the domain there, and ends without unlocking: the runtime then ends that thread, and it never makes
// other threads from a locked one. Everything else in this process stays as it was. The main thread could not end, so
// a goroutine that finds itself on it keeps it busy and leaves the work to another one.
func startConfined(cmd *exec.Cmd, executable []string) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			done <- startConfined(cmd, executable)
			runtime.UnlockOSThread()
			return
		}
		if err := restrictThread(executable); err != nil {
			done <- fmt.Errorf("confine git: %w", err)
			return
		}
		done <- cmd.Start()
	}()
	return <-done
}

// restrictThread enters a Landlock domain that handles the right to execute and nothing else.
func restrictThread(executable []string) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_EXECUTE}
	// Only the first member is passed, which is all that the first version of the interface knows.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return fmt.Errorf("landlock ruleset: %w", errno)
	}
	ruleset := int(fd)
	defer unix.Close(ruleset)
	for _, file := range executable {
		if err := allowExecute(ruleset, file); err != nil {
			return fmt.Errorf("landlock rule for %q: %w", file, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

func allowExecute(ruleset int, file string) error {
	fd, err := unix.Open(file, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: unix.LANDLOCK_ACCESS_FS_EXECUTE, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset),
		unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
