package faultfs

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// ErrNoTrace is in the chain of Run.Do's error where programs cannot be traced.
var ErrNoTrace = errors.New("programs cannot be traced here")

// Op is what a step does.
type Op string

// The steps there are.
const (
	OpCreate   Op = "create"   // a new file; Ino is its inode, Mode its permission bits
	OpWrite    Op = "write"    // Data at Offset of the file Ino
	OpTruncate Op = "truncate" // the file Ino is cut, or grown, to Offset bytes
	OpReserve  Op = "reserve"  // room is set aside in the file Ino; its bytes stay
	OpMode     Op = "mode"     // the permission bits of the file Ino become Mode
	OpMeta     Op = "meta"     // owner, attributes or times of the file Ino, which Disk does not follow
	OpMkdir    Op = "mkdir"    // a new folder Ino
	OpSymlink  Op = "symlink"  // a new symlink Ino to Target
	OpLink     Op = "link"     // To is a second name for what Path names
	OpRename   Op = "rename"   // Path becomes To, in the place of what may stand there
	OpExchange Op = "exchange" // Path and To change places
	OpUnlink   Op = "unlink"   // the name Path goes
	OpRmdir    Op = "rmdir"    // the empty folder Path goes
	OpFlush    Op = "flush"    // the file or folder Ino is put on the disk
)

// Step is one change, or one flush, that a program asked for. Paths are relative to Run.Dir.
type Step struct {
	Op       Op
	Path, To string
	Ino      uint64
	Offset   int64
	Data     []byte
	Mode     uint32
	Target   string
}

func (s Step) String() string {
	text := fmt.Sprintf("%s %q", s.Op, s.Path)
	if s.To != "" {
		text += fmt.Sprintf(" to %q", s.To)
	}
	if s.Op == OpWrite {
		text += fmt.Sprintf(" (%d bytes at %d)", len(s.Data), s.Offset)
	}
	return text
}

// Run is one run of a program with a fault. Every change that any of its threads makes beneath Dir is a step; what its
// child processes do is not.
type Run struct {
	// Cmd is the program, not yet started. Its streams must be files or nil.
	Cmd *exec.Cmd
	// Dir is an absolute path without symlinks.
	Dir string
	// At is the step, from 1, at which the fault strikes; 0 for never.
	At   int
	Mode Mode
	// Err is what a failing step returns; 0 stands for ErrInjected.
	Err syscall.Errno
	// Only, when set, says which steps count.
	Only func(Step) bool
	// Kept, when set, is an empty folder of the same file system, not beneath Dir. It gets a link, named by its inode, to
	// each file that is about to lose a name, and each folder that is about to be removed, so that Disk can bring them back.
	Kept string
}

// Outcome is how a Run ended.
type Outcome struct {
	// Exit is the program's exit code, -1 when it was killed.
	Exit int
	// Struck says whether the fault struck, and On at which step.
	Struck bool
	On     Step
	// Steps are the steps that were carried out.
	Steps []Step
}
