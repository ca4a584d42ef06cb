package repo

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/correx/correx/internal/change"
)

// Setting is one value of git's configuration.
type Setting struct {
	// Key is the section and the name in lower case, with the subsection between them as it is written.
	Key   string
	Value string
	// Implicit marks a key that stands without a value, which for a boolean means true.
	Implicit bool
	// Scope is git's: "system", "global", "local" or "worktree".
	Scope string
	// Origin is the absolute name of the file the value stands in.
	Origin string
	// InTree is the path of that file in the tree; "" where it is elsewhere.
	InTree change.Path
}

// configuration is what git's files say, in the order in which git reads them: the last value of a key counts.
type configuration struct {
	settings []Setting
}

// settings reads the configuration once.
func (r *Repo) settings(ctx context.Context) (configuration, error) {
	r.configMu.Lock()
	defer r.configMu.Unlock()
	if r.config == nil {
		c, ok := configuration{}, false
		if r.fast {
			c, ok = r.plainConfig()
		}
		if !ok {
			var err error
			if c, err = r.readConfig(ctx); err != nil {
				return configuration{}, err
			}
		}
		r.config = &c
	}
	return *r.config, nil
}

func (r *Repo) readConfig(ctx context.Context) (configuration, error) {
	out, err := r.git.run(ctx, call{args: []string{"config", "--list", "--includes", "--show-scope", "--show-origin", "-z"}})
	if err != nil {
		return configuration{}, err
	}
	fields, err := records("config", out.out)
	if err != nil {
		return configuration{}, err
	}
	if len(fields)%3 != 0 {
		return configuration{}, &OutputError{Command: "config", Problem: strconv.Itoa(len(fields)) + " fields are not whole entries"}
	}
	var c configuration
	for ; len(fields) > 0; fields = fields[3:] {
		file, isFile := strings.CutPrefix(fields[1], "file:")
		if !isFile || fields[0] == "command" {
			continue
		}
		s := Setting{Scope: fields[0], Origin: absolute(r.root, filepath.FromSlash(file))}
		var valued bool
		s.Key, s.Value, valued = strings.Cut(fields[2], "\n")
		s.Implicit = !valued
		s.InTree, _ = r.inTree(s.Origin)
		c.settings = append(c.settings, s)
	}
	return c, nil
}

// last returns the value of a key that counts, leaving out what stands in files in the tree.
func (c configuration) last(key string) (Setting, bool) {
	for i := len(c.settings) - 1; i >= 0; i-- {
		if s := c.settings[i]; s.Key == key && s.InTree == "" {
			return s, true
		}
	}
	return Setting{}, false
}

// used returns the value of a key that git itself would use, wherever it stands.
func (c configuration) used(key string) (Setting, bool) {
	for i := len(c.settings) - 1; i >= 0; i-- {
		if c.settings[i].Key == key {
			return c.settings[i], true
		}
	}
	return Setting{}, false
}

// isTrue reads a setting as git reads a boolean.
func (s Setting) isTrue() bool {
	if s.Implicit {
		return true
	}
	switch strings.ToLower(s.Value) {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.Atoi(s.Value)
	return err == nil && n != 0
}

// InTreeSettings returns the settings that stand in files in the tree, where an agent's change could rewrite them. Git
// processes of this package run as if they were not there.
func (r *Repo) InTreeSettings(ctx context.Context) ([]Setting, error) {
	c, err := r.settings(ctx)
	if err != nil {
		return nil, err
	}
	var found []Setting
	for _, s := range c.settings {
		if s.InTree != "" {
			found = append(found, s)
		}
	}
	return found, nil
}

// reader returns a runner for commands whose answer depends on configuration: settings from files in the tree are
// overridden by what stands elsewhere, or by nothing.
func (r *Repo) reader(ctx context.Context) (runner, error) {
	c, err := r.settings(ctx)
	if err != nil {
		return runner{}, err
	}
	return r.git.with(c.overrides()...), nil
}

// overrides returns the variables that make git see a configuration without the files in the tree. A number that
// stands nowhere else is left: git would not take an empty one, and a number names no program and no file.
func (c configuration) overrides() []string {
	var env []string
	count := 0
	done := map[string]bool{}
	for _, s := range c.settings {
		if s.InTree == "" || done[s.Key] || fixedElsewhere(s.Key) {
			continue
		}
		done[s.Key] = true
		value := ""
		outer, ok := c.last(s.Key)
		switch {
		case ok && outer.Implicit:
			value = "true"
		case ok:
			value = outer.Value
		case isNumber(s.Value):
			continue
		}
		n := strconv.Itoa(count)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.Key, "GIT_CONFIG_VALUE_"+n+"="+value)
		count++
	}
	if count == 0 {
		return nil
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(count))
}

// fixedElsewhere names the keys an override would break: those every process gets already, those git takes from the
// repository's own file alone, and includes, which must stand in a file.
func fixedElsewhere(key string) bool {
	switch key {
	case "core.fsmonitor", "core.hookspath", "core.bare", "core.worktree", "core.repositoryformatversion",
		"core.sharedrepository", "include.path":
		return true
	}
	return strings.HasPrefix(key, "safe.") || strings.HasPrefix(key, "extensions.") || strings.HasPrefix(key, "includeif.")
}

// isNumber leaves out 0 and 1, which may be meant as a boolean.
func isNumber(value string) bool {
	digits := strings.TrimRight(value, "kKmMgG")
	n, err := strconv.Atoi(digits)
	return err == nil && (digits != value || n != 0 && n != 1)
}
