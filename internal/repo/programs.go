package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
)

// Programs returns the paths in the tree that git's configuration executes, includes or reads as configuration, sorted:
// commands and their arguments, the hooks folder, included files, files of ignore rules and attributes, and what a hook
// that is a symlink leads to. A path need not exist. It returns rather too much than too little, because what it
// returns is only guarded more closely.
func (r *Repo) Programs(ctx context.Context) ([]change.Path, error) {
	c, err := r.settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("find what git runs: %w", err)
	}
	found := map[change.Path]bool{}
	for _, s := range c.settings {
		if s.InTree != "" {
			found[s.InTree] = true
		}
		for _, p := range r.namedBy(s) {
			found[p] = true
		}
	}
	hooks, err := r.HooksDir(ctx)
	if err != nil {
		return nil, fmt.Errorf("find what git runs: %w", err)
	}
	if p, ok := r.inTree(hooks.Path); ok {
		found[p] = true
	}
	for _, p := range r.linkedHooks(hooks.Path) {
		found[p] = true
	}
	paths := make([]change.Path, 0, len(found))
	for p := range found {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths, nil
}

// linkedHooks returns what the symlinks in the hooks folder lead to. A folder that cannot be read holds no hook that
// git could run.
func (r *Repo) linkedHooks(dir string) []change.Path {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var found []change.Path
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		if p, ok := r.inTree(resolve(filepath.Join(dir, e.Name()))); ok {
			found = append(found, p)
		}
	}
	return found
}

// kind says how a setting names files.
type kind int

const (
	namesNothing kind = iota
	namesFile
	namesCommand
)

// kindOf sorts configuration keys. A key of a name that git or its helpers use for a command anywhere is taken for one.
func kindOf(key string) kind {
	section, _, _ := strings.Cut(key, ".")
	name := key[strings.LastIndex(key, ".")+1:]
	switch {
	case section == "include" || section == "includeif":
		return namesFile
	case section == "alias" || section == "pager" || section == "hook":
		return namesCommand
	}
	switch name {
	case "hookspath", "templatedir", "attributesfile", "excludesfile", "mailmap", "allowedsignersfile":
		return namesFile
	case "clean", "smudge", "process", "textconv", "command", "external", "driver", "cmd", "path", "program", "helper",
		"fsmonitor", "sshcommand", "gitproxy", "askpass", "editor", "pager", "browser", "difffilter", "packobjectshook",
		"uploadpack", "receivepack", "alternaterefscommand", "defaultkeycommand", "update", "tocmd", "cccmd",
		"headercmd", "sendmailcmd", "smtpserver", "virtualfilesystem", "vcs":
		return namesCommand
	}
	return namesNothing
}

// namedBy returns the paths in the tree that a setting names.
func (r *Repo) namedBy(s Setting) []change.Path {
	switch kindOf(s.Key) {
	case namesFile:
		name, err := r.expandPath(s.Value)
		if err != nil || s.Value == "" {
			return nil
		}
		base := r.root
		if strings.HasPrefix(s.Key, "include") {
			base = filepath.Dir(s.Origin)
		}
		if p, ok := r.inTree(absolute(base, name)); ok {
			return []change.Path{p}
		}
	case namesCommand:
		return r.commandPaths(s.Value)
	}
	return nil
}

// commandPaths returns the paths in the tree that occur in a command line of a shell. The line is not understood, only
// cut at whatever ends a word. The first word is a path if it has a slash; any other one also if such a file exists, or
// if it looks like a file's name. After a substitution a word may begin with a path below the tree.
func (r *Repo) commandPaths(line string) []change.Path {
	words := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t\r\n;|&<>()\"'`=,!\\", c) })
	substitutes := strings.ContainsAny(line, "$`")
	var found []change.Path
	for i, word := range words {
		if strings.HasPrefix(word, "$") {
			_, rest, _ := strings.Cut(word, "/")
			word = "/" + rest
		}
		names := []string{word}
		if strings.HasPrefix(word, "~") {
			if name, err := r.expandPath(word); err == nil {
				names = []string{name}
			}
		}
		if substitutes && strings.HasPrefix(word, "/") {
			names = append(names, strings.TrimLeft(word, "/"))
		}
		for _, name := range names {
			p, ok := r.inTree(absolute(r.root, filepath.FromSlash(name)))
			if ok && (strings.Contains(name, "/") || i > 0 && r.looksLikeFile(name, p)) {
				found = append(found, p)
			} else if ok && substitutes && len(names) > 1 {
				found = append(found, p)
			}
		}
	}
	return found
}

// looksLikeFile reports whether a word without a slash may name a file of the tree.
func (r *Repo) looksLikeFile(name string, p change.Path) bool {
	if strings.HasPrefix(name, "-") {
		return false
	}
	if strings.Contains(name, ".") {
		return true
	}
	_, err := os.Lstat(r.real(p))
	return err == nil
}
