package faultfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// System calls and flags that package syscall does not name on amd64.
const (
	callRenameat2   = 316
	callCopyRange   = 326
	callOpenat2     = 437
	callFchmodat2   = 452
	renameExchange  = 2
	removeDir       = 0x200
	cloneFile       = 0x40049409 // FICLONE
	cloneFileRange  = 0x4020940d
	dirHere         = -100 // AT_FDCWD
	longestArgument = 1 << 16
)

// look turns a system call into the step it is, nil when it changes nothing beneath Dir. An error is a call that changes
// something in a way that has no step.
func (t *tracer) look(nr uint64, a [6]uint64) (*pending, error) {
	switch nr {
	case syscall.SYS_OPENAT:
		return t.lookOpen(a)
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_FTRUNCATE, syscall.SYS_FALLOCATE, syscall.SYS_FSYNC, syscall.SYS_FDATASYNC,
		syscall.SYS_FCHMOD, syscall.SYS_FCHOWN, syscall.SYS_FSETXATTR, syscall.SYS_FREMOVEXATTR:
		return t.lookFile(nr, a), nil
	case syscall.SYS_MKDIRAT, syscall.SYS_SYMLINKAT, syscall.SYS_UNLINKAT, syscall.SYS_FCHMODAT, callFchmodat2, syscall.SYS_FCHOWNAT, syscall.SYS_UTIMENSAT:
		return t.lookName(nr, a), nil
	case syscall.SYS_RENAMEAT, callRenameat2, syscall.SYS_LINKAT:
		return t.lookNames(nr, a), nil
	case callOpenat2:
		if flags, err := t.bytes(a[2], 8); err != nil || flags[0]&syscall.O_CREAT != 0 {
			return nil, fmt.Errorf("openat2 makes a file: %v", err)
		}
	case callCopyRange:
		return t.lookCopy(a[2]), nil
	case syscall.SYS_SENDFILE, syscall.SYS_WRITEV, syscall.SYS_PWRITEV:
		return t.lookCopy(a[0]), nil
	case syscall.SYS_IOCTL:
		if a[1] == cloneFile || a[1] == cloneFileRange {
			return t.lookCopy(a[0]), nil
		}
	case syscall.SYS_OPEN, syscall.SYS_CREAT, syscall.SYS_RENAME, syscall.SYS_LINK, syscall.SYS_SYMLINK, syscall.SYS_UNLINK, syscall.SYS_MKDIR,
		syscall.SYS_RMDIR, syscall.SYS_TRUNCATE, syscall.SYS_MKNODAT, syscall.SYS_CHMOD, syscall.SYS_SYNC:
		return nil, fmt.Errorf("system call %d has no step", nr)
	}
	return nil, nil
}

// lookCopy is for calls that write bytes which are not in the program's memory: the file is read when they are done.
func (t *tracer) lookCopy(fd uint64) *pending {
	path, ok := t.file(fd)
	if !ok {
		return nil
	}
	p := &pending{step: Step{Op: OpWrite, Path: path}, done: func(s *Step, _ int64) bool {
		var err error
		s.Data, err = os.ReadFile(t.proc("fd", strconv.FormatUint(fd, 10)))
		t.broken = errors.Join(t.broken, err)
		return true
	}}
	if !t.identify(&p.step, fd) {
		return nil
	}
	return p
}

func (t *tracer) lookOpen(a [6]uint64) (*pending, error) {
	const writes = syscall.O_WRONLY | syscall.O_RDWR
	flags := int(int32(a[2]))
	if flags&(syscall.O_CREAT|syscall.O_TRUNC) == 0 {
		return nil, nil
	}
	path, ok := t.name(a[0], a[1])
	if !ok {
		return nil, nil
	}
	full := filepath.Join(t.Dir, path)
	info, err := os.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flags&syscall.O_CREAT != 0:
		return &pending{step: Step{Op: OpCreate, Path: path, Mode: uint32(a[3]) & 0o7777}, done: func(s *Step, result int64) bool {
			return t.identify(s, uint64(result))
		}}, nil
	case err == nil && info.Mode().IsRegular() && flags&syscall.O_TRUNC != 0 && flags&syscall.O_EXCL == 0 && flags&writes != 0:
		return &pending{step: Step{Op: OpTruncate, Path: path}, done: func(s *Step, result int64) bool { return t.identify(s, uint64(result)) }}, nil
	}
	return nil, nil
}

// identify notes inode and permission bits of an open file.
func (t *tracer) identify(s *Step, fd uint64) bool {
	info, err := os.Stat(t.proc("fd", strconv.FormatUint(fd, 10)))
	if err != nil {
		t.broken = fmt.Errorf("%s: %w", s, err)
		return false
	}
	s.Ino = inode(info)
	if s.Op == OpCreate {
		s.Mode = uint32(info.Sys().(*syscall.Stat_t).Mode) & 0o7777
	}
	return true
}

// lookFile is for calls on an open file.
func (t *tracer) lookFile(nr uint64, a [6]uint64) *pending {
	path, ok := t.file(a[0])
	if !ok {
		return nil
	}
	p := &pending{step: Step{Path: path}, done: func(*Step, int64) bool { return true }}
	switch nr {
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64:
		p.step.Op, p.step.Offset = OpWrite, int64(a[3])
		if nr == syscall.SYS_WRITE {
			p.step.Offset = t.position(a[0], path)
		}
		p.done = func(s *Step, n int64) bool {
			var err error
			s.Data, err = t.bytes(a[1], int(n))
			t.broken = errors.Join(t.broken, err)
			return n > 0
		}
	case syscall.SYS_FTRUNCATE:
		p.step.Op, p.step.Offset = OpTruncate, int64(a[1])
	case syscall.SYS_FALLOCATE:
		p.step.Op = OpReserve
	case syscall.SYS_FSYNC, syscall.SYS_FDATASYNC:
		p.step.Op = OpFlush
	case syscall.SYS_FCHMOD:
		p.step.Op, p.step.Mode = OpMode, uint32(a[1])
	default:
		p.step.Op = OpMeta
	}
	if !t.identify(&p.step, a[0]) {
		return nil
	}
	return p
}

// position is where the next write to an open file goes.
func (t *tracer) position(fd uint64, path string) int64 {
	text, err := os.ReadFile(t.proc("fdinfo", strconv.FormatUint(fd, 10)))
	var pos, flags int64
	if err == nil {
		_, err = fmt.Sscanf(string(text), "pos:\t%d\nflags:\t%o", &pos, &flags)
	}
	if err == nil && flags&syscall.O_APPEND != 0 {
		var info fs.FileInfo
		if info, err = os.Stat(filepath.Join(t.Dir, path)); err == nil {
			pos = info.Size()
		}
	}
	t.broken = errors.Join(t.broken, err)
	return pos
}

// lookName is for calls on one name.
func (t *tracer) lookName(nr uint64, a [6]uint64) *pending {
	at, name := a[0], a[1]
	if nr == syscall.SYS_SYMLINKAT {
		at, name = a[1], a[2]
	}
	path, ok := t.name(at, name)
	if !ok {
		return nil
	}
	made := func(s *Step, _ int64) bool {
		info, err := os.Lstat(filepath.Join(t.Dir, path))
		if err != nil {
			t.broken = errors.Join(t.broken, err)
			return false
		}
		s.Ino, s.Mode = inode(info), uint32(info.Mode().Perm())
		if s.Op == OpSymlink {
			s.Target, err = os.Readlink(filepath.Join(t.Dir, path))
		}
		t.broken = errors.Join(t.broken, err)
		return true
	}
	p := &pending{step: Step{Path: path}, done: made}
	switch nr {
	case syscall.SYS_MKDIRAT:
		p.step.Op = OpMkdir
	case syscall.SYS_SYMLINKAT:
		p.step.Op = OpSymlink
	case syscall.SYS_UNLINKAT:
		p.step.Op, p.done = OpUnlink, func(*Step, int64) bool { return true }
		if a[2]&removeDir != 0 {
			p.step.Op = OpRmdir
		}
	case syscall.SYS_FCHMODAT, callFchmodat2:
		p.step.Op = OpMode
	default:
		p.step.Op = OpMeta
	}
	return p
}

// lookNames is for calls on two names.
func (t *tracer) lookNames(nr uint64, a [6]uint64) *pending {
	from, okFrom := t.name(a[0], a[1])
	to, okTo := t.name(a[2], a[3])
	if !okFrom && !okTo {
		return nil
	}
	s := Step{Op: OpRename, Path: from, To: to}
	switch {
	case okFrom != okTo:
		t.broken = fmt.Errorf("a name crosses the edge of %q", t.Dir)
	case nr == syscall.SYS_LINKAT:
		s.Op = OpLink
	case nr == callRenameat2 && a[4]&renameExchange != 0:
		s.Op = OpExchange
	}
	return &pending{step: s, done: func(*Step, int64) bool { return true }}
}

// keep gives what is about to lose a name another one outside Dir. An empty folder has only one name: it goes there
// itself, and another one takes its place to be removed.
func (t *tracer) keep(s Step) {
	if t.Kept == "" {
		return
	}
	lost := filepath.Join(t.Dir, s.Path)
	if s.Op == OpRename {
		lost = filepath.Join(t.Dir, s.To)
	}
	info, err := os.Lstat(lost)
	if err != nil {
		return
	}
	kept := keptName(t.Kept, inode(info))
	switch {
	case (s.Op == OpUnlink || s.Op == OpRename) && !info.IsDir():
		err = os.Link(lost, kept)
	case s.Op == OpRmdir && info.IsDir():
		if list, rerr := os.ReadDir(lost); rerr != nil || len(list) > 0 {
			return
		}
		err = errors.Join(os.Rename(lost, kept), os.Mkdir(lost, info.Mode().Perm()))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		t.broken = errors.Join(t.broken, err)
	}
}

func keptName(dir string, ino uint64) string { return filepath.Join(dir, strconv.FormatUint(ino, 10)) }

func inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

// file returns the path, beneath Dir, of an open file or folder.
func (t *tracer) file(fd uint64) (string, bool) {
	full, err := os.Readlink(t.proc("fd", strconv.FormatUint(fd, 10)))
	if err != nil {
		return "", false
	}
	return t.beneath(strings.TrimSuffix(full, " (deleted)"))
}

// name returns the path, beneath Dir, that a folder's descriptor and a name in the program's memory make.
func (t *tracer) name(at, addr uint64) (string, bool) {
	name, err := t.text(addr)
	if err != nil {
		t.broken = errors.Join(t.broken, err)
		return "", false
	}
	if !filepath.IsAbs(name) {
		where := t.proc("cwd")
		if int32(at) != dirHere {
			where = t.proc("fd", strconv.FormatUint(at, 10))
		}
		base, err := os.Readlink(where)
		if err != nil {
			return "", false
		}
		name = filepath.Join(base, name)
	}
	return t.beneath(filepath.Clean(name))
}

func (t *tracer) beneath(full string) (string, bool) {
	if full == t.Dir {
		return ".", true
	}
	return strings.CutPrefix(full, t.Dir+"/")
}

func (t *tracer) proc(parts ...string) string {
	return filepath.Join(append([]string{"/proc", strconv.Itoa(t.pid)}, parts...)...)
}

// bytes reads the program's memory.
func (t *tracer) bytes(addr uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := t.memory.ReadAt(b, int64(addr)); err != nil {
		return nil, fmt.Errorf("read %d bytes of the program: %w", n, err)
	}
	return b, nil
}

// text reads a C string of the program's memory. It reads up to the end of a page at a time: what follows may not be there.
func (t *tracer) text(addr uint64) (string, error) {
	const page = 4096
	var all []byte
	for len(all) < longestArgument {
		b, err := t.bytes(addr, int(page-addr%page))
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(all, b[:i]...)), nil
		}
		all, addr = append(all, b...), addr+uint64(len(b))
	}
	return "", errors.New("an argument has no end")
}
