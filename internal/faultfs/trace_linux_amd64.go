package faultfs

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// Facts of ptrace(2) that package syscall does not name.
const (
	traceClone   = syscall.PTRACE_O_TRACECLONE
	markSyscalls = syscall.PTRACE_O_TRACESYSGOOD
	killWithUs   = 0x100000 // PTRACE_O_EXITKILL
	syscallInfo  = 0x420e   // PTRACE_GET_SYSCALL_INFO, since Linux 5.3
	infoEntry    = 1
	infoExit     = 2
	waitAll      = 0x40000000 // __WALL: threads too
	waitOwn      = 0x20000000 // __WNOTHREAD: only children of this thread
)

// callInfo is struct ptrace_syscall_info.
type callInfo struct {
	op   uint8
	_    [3]byte
	arch uint32
	ip   uint64
	sp   uint64
	// nr and args at an entry; nr holds the result at an exit.
	nr   uint64
	args [6]uint64
	_    uint64
}

// tracer follows one program.
type tracer struct {
	Run
	pid     int
	memory  *os.File
	pending map[int]*pending
	count   int
	out     Outcome
	// stopping is a Crash that waits for the calls of other threads to end, so that every step carried out is known.
	stopping bool
	// broken is a call that changes files in a way that no step describes.
	broken error
}

// pending is a step between the beginning of its system call and its end.
type pending struct {
	step Step
	// done completes the step with what the call returned; false when nothing was changed after all.
	done func(s *Step, result int64) bool
	// fail is the error that takes the place of the call.
	fail syscall.Errno
}

// Do runs the program to its end, or to the fault. An error means that nothing is known of the run, and is ErrNoTrace
// where this process may not trace another.
func (r Run) Do() (Outcome, error) {
	// Only the thread that started a traced process may speak to it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attr := syscall.SysProcAttr{}
	if r.Cmd.SysProcAttr != nil {
		attr = *r.Cmd.SysProcAttr
	}
	attr.Ptrace = true
	// A group of its own, so that waiting for its threads takes nobody else's children.
	attr.Setpgid, attr.Pgid = true, 0
	r.Cmd.SysProcAttr = &attr
	if err := r.Cmd.Start(); err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrNoTrace, err)
	}
	t := &tracer{Run: r, pid: r.Cmd.Process.Pid, pending: map[int]*pending{}}
	defer t.end()
	if err := t.begin(); err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrNoTrace, err)
	}
	for {
		ended, err := t.next()
		if err == nil {
			err = t.broken
		}
		if ended || err != nil {
			return t.out, err
		}
	}
}

func (t *tracer) begin() error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(t.pid, &status, waitAll, nil); err != nil {
		return err
	}
	if !status.Stopped() {
		return fmt.Errorf("did not stop at its start: %v", status)
	}
	if err := syscall.PtraceSetOptions(t.pid, traceClone|markSyscalls|killWithUs); err != nil {
		return err
	}
	var err error
	if t.memory, err = os.Open(fmt.Sprintf("/proc/%d/mem", t.pid)); err != nil {
		return err
	}
	return syscall.PtraceSyscall(t.pid, 0)
}

// end leaves nothing of the program behind.
func (t *tracer) end() {
	if t.memory != nil {
		_ = t.memory.Close() // opened for reading
	}
	_ = syscall.Kill(t.pid, syscall.SIGKILL) // it may have ended
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(-t.pid, &status, waitAll|waitOwn, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	_ = t.Cmd.Process.Release() // reaped above
}

// next waits for one thread to stop, deals with that, and lets it go on.
func (t *tracer) next() (ended bool, err error) {
	var status syscall.WaitStatus
	tid, err := syscall.Wait4(-t.pid, &status, waitAll|waitOwn, nil)
	if errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("wait: %w", err)
	}
	if status.Exited() || status.Signaled() {
		if tid != t.pid {
			return false, nil
		}
		t.out.Exit = status.ExitStatus()
		return true, nil
	}
	signal := 0
	switch s := status.StopSignal(); {
	case s == syscall.SIGTRAP|0x80:
		t.call(tid)
		if t.stopping && len(t.pending) == 0 {
			t.out.Exit = -1
			return true, nil
		}
		if t.stopping && t.pending[tid] == nil {
			return false, nil
		}
	case s != syscall.SIGTRAP && s != syscall.SIGSTOP:
		signal = int(s)
	}
	// A thread that is gone by now needs no word.
	if err := syscall.PtraceSyscall(tid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return true, fmt.Errorf("go on: %w", err)
	}
	return false, nil
}

// call looks at a thread that is about to enter, or has left, a system call.
func (t *tracer) call(tid int) {
	var info callInfo
	size := unsafe.Sizeof(info)
	if _, _, e := syscall.Syscall6(syscall.SYS_PTRACE, syscallInfo, uintptr(tid), size, uintptr(unsafe.Pointer(&info)), 0, 0); e != 0 {
		return
	}
	switch info.op {
	case infoEntry:
		p, err := t.look(info.nr, info.args)
		t.broken = errors.Join(t.broken, err)
		if p != nil && !t.stopping {
			t.enter(tid, p)
		}
	case infoExit:
		t.leave(tid, int64(info.nr))
	}
}

// enter counts a step and strikes if it is the one.
func (t *tracer) enter(tid int, p *pending) {
	t.pending[tid] = p
	strikes := false
	if t.Only == nil || t.Only(p.step) {
		t.count++
		strikes = t.At > 0 && (t.count == t.At || t.Mode == FailFrom && t.count > t.At)
	}
	if !strikes {
		t.keep(p.step)
		return
	}
	if !t.out.Struck {
		t.out.Struck, t.out.On = true, p.step
	}
	if t.Mode == Crash {
		t.stopping = true
		delete(t.pending, tid)
		return
	}
	if p.fail = t.Err; p.fail == 0 {
		p.fail = ErrInjected
	}
	t.broken = errors.Join(t.broken, setRegisters(tid, func(r *syscall.PtraceRegs) { r.Orig_rax = ^uint64(0) }))
}

func (t *tracer) leave(tid int, result int64) {
	p := t.pending[tid]
	if p == nil {
		return
	}
	delete(t.pending, tid)
	if p.fail != 0 {
		t.broken = errors.Join(t.broken, setRegisters(tid, func(r *syscall.PtraceRegs) { r.Rax = uint64(-int64(p.fail)) }))
		return
	}
	if result < 0 || !p.done(&p.step, result) {
		return
	}
	t.out.Steps = append(t.out.Steps, p.step)
}

func setRegisters(tid int, set func(*syscall.PtraceRegs)) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	set(&r)
	return syscall.PtraceSetRegs(tid, &r)
}
