package repo

import (
	"context"
	"fmt"
	"os/user"
	"path/filepath"
	"strings"
)

// HooksDir is the folder in which git looks for hooks.
type HooksDir struct {
	// Path is absolute. It need not exist.
	Path string
	// Configured says that core.hooksPath is set; Scope and Origin then say in which layer and in which file.
	Configured    bool
	Scope, Origin string
	// InTree says that the folder lies in the tree, where a change could rewrite a hook.
	InTree bool
}

// HooksDir returns the folder git really uses in this working tree, whichever file sets it. (Configuration given to a
// single git command cannot be seen here.)
func (r *Repo) HooksDir(ctx context.Context) (HooksDir, error) {
	c, err := r.settings(ctx)
	if err != nil {
		return HooksDir{}, fmt.Errorf("find the hooks folder: %w", err)
	}
	s, ok := c.used("core.hookspath")
	if !ok {
		return HooksDir{Path: filepath.Join(r.commonDir, "hooks")}, nil
	}
	name, err := r.expandPath(s.Value)
	if err != nil {
		return HooksDir{}, fmt.Errorf("find the hooks folder: core.hooksPath %q: %w", s.Value, err)
	}
	h := HooksDir{Path: absolute(r.root, name), Configured: true, Scope: s.Scope, Origin: s.Origin}
	_, h.InTree = r.inTree(h.Path)
	h.InTree = h.InTree || h.Path == r.root
	return h, nil
}

// expandPath replaces the user at the front of a path as git does. An empty path leads to the root of the file system,
// because that is where git then looks.
func (r *Repo) expandPath(value string) (string, error) {
	if value == "" {
		return string(filepath.Separator), nil
	}
	rest, ok := strings.CutPrefix(value, "~")
	if !ok {
		return filepath.FromSlash(value), nil
	}
	name, rest, _ := strings.Cut(rest, "/")
	home := r.env["HOME"]
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return "", err
		}
		home = u.HomeDir
	}
	if home == "" {
		return "", fmt.Errorf("no home folder is known")
	}
	return filepath.Join(home, filepath.FromSlash(rest)), nil
}
