package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Uninstall takes correx out of every hook. A hook that is as Install left it becomes what it was, every byte and the mode.
// From one that was edited since, only our lines are taken out; where that cannot be done without losing something it is
// a *ConflictError and the hook is left alone. What is no hook of ours is never touched. After an error the hooks before
// the one at fault are done.
//
// Steps for a hook: 1. its path is replaced by what it was, or removed; 2. what was kept in the state folder is removed.
func Uninstall(o Options) (Report, error) { return writer{}.uninstall(o) }

func (w writer) uninstall(o Options) (Report, error) {
	var report Report
	names, err := o.chosen()
	if err == nil {
		err = checkDir(o.Dir)
	}
	if err == nil {
		err = w.sweep(o)
	}
	if err != nil {
		return report, fmt.Errorf("uninstall hooks: %w", err)
	}
	for _, name := range names {
		result, err := w.uninstallOne(o, name)
		if err == nil {
			err = w.forget(o, name)
		}
		if err != nil {
			return report, fmt.Errorf("uninstall hooks: %w", err)
		}
		for _, copied := range copies(o.Dir, name) {
			result.Notes = append(result.Notes, fmt.Sprintf("%q holds correx's lines too: something copied the hook there", copied))
		}
		report.Results = append(report.Results, result)
	}
	return report, nil
}

// forget removes what is no longer needed.
func (w writer) forget(o Options, name string) error {
	if _, err := os.Lstat(recordPath(o.State, o.Dir, name)); err == nil {
		if err := w.remove(recordPath(o.State, o.Dir, name)); err != nil {
			return err
		}
	}
	dir := filepath.Join(o.Dir, ChainedDir)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		return nil
	}
	return w.remove(dir)
}

func (w writer) uninstallOne(o Options, name string) (Result, error) {
	result := Result{Hook: name, Path: filepath.Join(o.Dir, name), Action: Unchanged}
	h, err := look(o.Dir, name)
	if err != nil {
		return result, err
	}
	switch {
	case !h.ours && !h.exists && h.hasChained:
		result.Action = Restored
		return result, w.unchain(h)
	case !h.ours:
		if h.hasChained && sameHook(h) != nil {
			result.Notes = append(result.Notes, fmt.Sprintf("an earlier hook is kept in %q", h.chained))
		} else if h.hasChained {
			err = w.remove(h.chained)
		}
		return result, err
	case h.hasChained && !h.parts.own():
		return result, &ConflictError{Path: h.path, Problem: fmt.Sprintf(
			"it was edited since it was installed, and an earlier hook is kept in %q; make one of the two by hand", h.chained)}
	case h.hasChained:
		result.Action = Restored
		return result, w.unchain(h)
	}
	result.Action, err = w.strip(o, h)
	return result, err
}

// unchain moves the chained hook back.
func (w writer) unchain(h hook) error {
	target, err := os.Readlink(h.chained)
	if err != nil {
		return w.move(h.chained, h.path)
	}
	if err := w.replaceLink(h.path, strings.TrimPrefix(target, up)); err != nil {
		return err
	}
	return w.remove(h.chained)
}

// strip takes our lines out of a hook.
func (w writer) strip(o Options, h hook) (Action, error) {
	r, kept := readRecord(o.State, o.Dir, h.name)
	rest := h.parts.rest()
	switch {
	case kept && r.Kind == kindJoined && bytes.Equal(rest, r.Content):
		return Restored, w.replace(h.path, r.Content, fs.FileMode(r.Mode))
	case h.parts.own():
		return Removed, w.remove(h.path)
	}
	return Stripped, w.replace(h.path, rest, h.mode)
}

// copies returns other files in the hooks folder that hold our lines, such as the one the pre-commit framework makes of a
// hook it finds.
func copies(dir, name string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if e.Name() == name || !strings.HasPrefix(e.Name(), name) || !e.Type().IsRegular() {
			continue
		}
		if h, err := look(dir, e.Name()); h.ours || errors.As(err, new(*ConflictError)) {
			found = append(found, file)
		}
	}
	return found
}
