package hooks

import (
	"fmt"
	"os"
)

// Status is how one hook stands.
type Status struct {
	Hook, Path string
	// Present says that a hook stands there, Executable that git runs it.
	Present, Executable bool
	// Installed says that correx's lines are in it.
	Installed bool
	// Chained is where an earlier hook is that ours runs; "" where there is none.
	Chained string
	// Binary is the correx the hook calls, and BinaryRuns whether that can be executed.
	Binary     string
	BinaryRuns bool
	// Problems say in words what keeps correx, or a chained hook, from running. None means that it runs.
	Problems []string
}

// Inspect looks at every hook and changes nothing. Options.Binary, where it is given, is the correx that hooks should
// call. The error is about what cannot be looked at; what is wrong with a hook is among its problems.
func Inspect(o Options) ([]Status, error) {
	names, err := o.chosen()
	if err == nil {
		err = checkDir(o.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("inspect hooks: %w", err)
	}
	var all []Status
	for _, name := range names {
		all = append(all, inspectOne(o, name))
	}
	return all, nil
}

func inspectOne(o Options, name string) Status {
	h, err := look(o.Dir, name)
	s := Status{Hook: name, Path: h.path, Present: h.exists, Installed: h.ours}
	problem := func(format string, args ...any) {
		s.Problems = append(s.Problems, fmt.Sprintf(format, args...))
	}
	if err != nil {
		problem("%v", err)
		return s
	}
	s.Executable = h.exists && runnableHook(h)
	switch {
	case !h.exists:
		problem("hook %q is not installed", h.path)
	case !h.ours:
		problem("hook %q does not call correx: something replaced it, or it was never installed", h.path)
	case !s.Executable:
		problem("hook %q is not executable, so git does not run it", h.path)
	}
	if !h.ours {
		return s
	}
	s.Binary = h.parts.binary()
	why := broken(s.Binary)
	switch {
	case s.Binary == "":
		problem("hook %q: correx's lines were edited", h.path)
	case why != "":
		problem("hook %q calls %q, which %s, so every commit is stopped", h.path, s.Binary, why)
	case o.Binary != "" && s.Binary != o.Binary:
		s.BinaryRuns = true
		problem("hook %q calls %q, but this correx is %q", h.path, s.Binary, o.Binary)
	default:
		s.BinaryRuns = true
	}
	if chain := h.parts.chains(); s.Binary != "" && string(h.parts.block) != block(name, s.Binary, chain) {
		problem("hook %q: correx's lines are not what this version writes", h.path)
	}
	switch {
	case h.parts.chains() && !h.hasChained:
		problem("the hook that was in %q is gone", h.chained)
	case h.hasChained && !h.parts.chains():
		problem("the hook in %q is not run any more", h.chained)
	case h.hasChained:
		s.Chained = h.chained
	}
	return s
}

// runnableHook follows a link, as git does.
func runnableHook(h hook) bool {
	info, err := os.Stat(h.path)
	return err == nil && info.Mode().IsRegular() && executable(info.Mode())
}
