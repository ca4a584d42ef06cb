package hooks

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// Options say where.
type Options struct {
	// Dir is the folder git looks for hooks in, as an absolute name.
	Dir string
	// State is correx's state folder of the repository; what stood in a hook's place is kept in "hooks" in it.
	State string
	// Binary is the correx that hooks call, as an absolute name. Uninstall does not look at it.
	Binary string
	// Hooks are the hooks meant; empty for all of Names.
	Hooks []string
}

// Action is what was done about one hook.
type Action string

// The actions. Install does the first five, Uninstall the others and Unchanged.
const (
	// Installed: there was no hook, and now there is one of our own.
	Installed Action = "installed"
	// Joined: our lines were put into an existing shell script.
	Joined Action = "joined"
	// Chained: an existing hook was moved to correx-chained and is run by one of our own.
	Chained Action = "chained"
	// Updated: our lines were there, and were brought up to date or made executable again.
	Updated Action = "updated"
	// Unchanged: everything was as it should be, or there was nothing to take out.
	Unchanged Action = "unchanged"
	// Removed: our own hook is gone, and nothing stands in its place.
	Removed Action = "removed"
	// Restored: the hook that stood there before stands there again, every byte and the mode.
	Restored Action = "restored"
	// Stripped: our lines are out of a hook that was edited since.
	Stripped Action = "stripped"
)

// Result is what was done about one hook.
type Result struct {
	Hook, Path string
	Action     Action
	// Notes say what a person should know besides.
	Notes []string
}

// Report is what was done about all hooks asked for, in order.
type Report struct{ Results []Result }

// chosen returns the hooks asked for.
func (o Options) chosen() ([]string, error) {
	for _, name := range o.Hooks {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("%w: hook %q, expected one of %q", ErrUsage, name, Names())
		}
	}
	if len(o.Hooks) == 0 {
		return Names(), nil
	}
	return o.Hooks, nil
}

// Install makes every hook call correx. Each hook is done for itself: after an error those before it are done, and the
// one at fault is as it was or can be finished by another Install. After success git runs correx in each hook, a hook
// that git ran before still runs after it, and Install again changes nothing.
//
// Steps for a hook: 1. what stands there is kept in the state folder; 2. a hook to be chained gets its second name in
// correx-chained; 3. the hook's path is replaced, which is the point from which correx is asked.
func Install(o Options) (Report, error) { return writer{}.install(o) }

func (w writer) install(o Options) (Report, error) {
	var report Report
	names, err := o.chosen()
	if err == nil {
		err = checkBinary(o.Binary)
	}
	if err == nil {
		err = runs(o.Binary)
	}
	if err == nil {
		err = checkDir(o.Dir)
	}
	if err == nil {
		err = w.sweep(o)
	}
	if err == nil {
		err = w.mkdirAll(o.Dir, 0o755)
	}
	if err != nil {
		return report, fmt.Errorf("install hooks: %w", err)
	}
	for _, name := range names {
		result, err := w.installOne(o, name)
		if err != nil {
			return report, fmt.Errorf("install hooks: %w", err)
		}
		report.Results = append(report.Results, result)
	}
	return report, nil
}

// runs checks that a hook can execute a file and that it is a program at all.
func runs(binary string) error {
	if problem := broken(binary); problem != "" {
		return fmt.Errorf("%w: correx binary %q %s", ErrUsage, binary, problem)
	}
	return nil
}

// broken says why a file cannot be the correx of a hook: a whole program made from Go, as correx is, or a script that
// stands for it. It returns "" where it can.
func broken(binary string) string {
	info, err := os.Stat(binary)
	switch {
	case absent(err):
		return "is missing"
	case err != nil:
		return "cannot be looked at: " + err.Error()
	case !info.Mode().IsRegular() || !executable(info.Mode()):
		return "is not an executable file"
	case info.Size() == 0:
		return "is empty"
	}
	if _, err := buildinfo.ReadFile(binary); err != nil && !isScript(binary) {
		return "is no correx, or only a part of one"
	}
	return ""
}

// isScript reports whether a file names its interpreter.
func isScript(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	var mark [2]byte
	_, err = io.ReadFull(f, mark[:])
	return err == nil && string(mark[:]) == "#!"
}

// executable reports whether git runs a hook of this mode.
func executable(mode fs.FileMode) bool { return runtime.GOOS == "windows" || mode.Perm()&0o100 != 0 }

func (w writer) installOne(o Options, name string) (Result, error) {
	result := Result{Hook: name, Path: filepath.Join(o.Dir, name)}
	h, err := look(o.Dir, name)
	if err != nil {
		return result, err
	}
	switch {
	case h.ours:
		result.Action, err = w.refresh(h, o.Binary)
	case !h.exists:
		result.Action = Installed
		if h.hasChained {
			result.Action = Chained
			result.Notes = append(result.Notes, "the hook in correx-chained runs again")
		}
		if err = w.keepRecord(o.State, o.Dir, h.record(kindNone)); err == nil {
			err = w.replace(h.path, ownHook(h, o.Binary), 0o755)
		}
	case !h.isLink && executable(h.mode) && joinable(h.content):
		result.Action = Joined
		if err = w.keepRecord(o.State, o.Dir, h.record(kindJoined)); err == nil {
			err = w.replace(h.path, join(h.content, block(name, o.Binary, false)), h.mode)
		}
	default:
		result.Action = Chained
		if !h.isLink && !executable(h.mode) {
			result.Notes = append(result.Notes, "the hook that was there is not executable and still does not run")
		}
		err = w.chain(o, h)
	}
	return result, err
}

func ownHook(h hook, binary string) []byte {
	return []byte(firstLine + block(h.name, binary, h.hasChained))
}

// refresh brings our lines up to date where they stand.
func (w writer) refresh(h hook, binary string) (Action, error) {
	chain := h.hasChained && (h.parts.own() || h.parts.chains())
	content := slices.Concat(h.parts.before, []byte(block(h.name, binary, chain)), h.parts.after)
	mode := h.mode
	if !executable(mode) {
		// Whoever may read a hook may run it.
		mode |= (mode & 0o444) >> 2
	}
	if bytes.Equal(content, h.content) && mode == h.mode {
		return Unchanged, nil
	}
	return Updated, w.replace(h.path, content, mode)
}

// chain moves an existing hook out of the way.
func (w writer) chain(o Options, h hook) error {
	if err := w.keepRecord(o.State, o.Dir, h.record(kindChained)); err != nil {
		return err
	}
	if err := w.mkdirAll(filepath.Dir(h.chained), 0o755); err != nil {
		return err
	}
	err := w.keepAs(h.path, h.chained, chainedTarget(h.link))
	if errors.Is(err, fs.ErrExist) {
		err = sameHook(h)
	}
	if err != nil {
		return err
	}
	h.hasChained = true
	return w.replace(h.path, ownHook(h, o.Binary), 0o755)
}

// up leads from correx-chained to the hooks folder.
const up = "../"

// chainedTarget is a symlink's target as seen from correx-chained, one folder further down.
func chainedTarget(target string) string {
	if target == "" || filepath.IsAbs(target) {
		return target
	}
	return up + target
}

// sameHook accepts what stands in correx-chained only if it is the very hook that is to go there, as after an install
// that was killed.
func sameHook(h hook) error {
	conflict := &ConflictError{Path: h.chained, Problem: "another hook is chained already; keep the one that is wanted and move the other away"}
	if h.isLink {
		if target, err := os.Readlink(h.chained); err != nil || target != chainedTarget(h.link) {
			return conflict
		}
		return nil
	}
	here, err := os.Lstat(h.path)
	if err != nil {
		return err
	}
	there, err := os.Lstat(h.chained)
	if err != nil {
		return err
	}
	if os.SameFile(here, there) {
		return nil
	}
	content, err := os.ReadFile(h.chained)
	if err != nil || !there.Mode().IsRegular() || !bytes.Equal(content, h.content) {
		return conflict
	}
	return nil
}
