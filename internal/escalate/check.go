package escalate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// check makes sure that the program is the user's own: a file outside the trees that agents write to, which nobody but the
// user or the system's owner can replace. What is started is what was looked at, since nobody else can change it.
func (p Program) check() error {
	if len(p.Args) == 0 || !filepath.IsAbs(p.Args[0]) {
		return errors.New("is not named by an absolute path")
	}
	real, err := filepath.EvalSymlinks(p.Args[0])
	if err != nil {
		return fmt.Errorf("cannot be found: %w", err)
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return fmt.Errorf("cannot be found: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q is no regular file", p.Args[0])
	}
	for _, name := range append([]string{real}, p.Args...) {
		if dir := p.inside(name); dir != "" {
			return fmt.Errorf("%q lies in %q, where agents may write", name, dir)
		}
	}
	for _, name := range []string{p.Args[0], real} {
		if err := ownOnly(name); err != nil {
			return err
		}
	}
	return nil
}

// inside returns the folder of Outside that an absolute name lies in, by its words or with links followed, or "".
func (p Program) inside(name string) string {
	if !filepath.IsAbs(name) {
		return ""
	}
	for _, dir := range p.Outside {
		for _, d := range []string{filepath.Clean(dir), followed(dir)} {
			for _, n := range []string{filepath.Clean(name), followed(name)} {
				if rel, err := filepath.Rel(d, n); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
					return dir
				}
			}
		}
	}
	return ""
}

// followed is name with every link followed; of a name that is not there, what is there of it.
func followed(name string) string {
	rest := ""
	for at := filepath.Clean(name); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return filepath.Join(at, rest)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
