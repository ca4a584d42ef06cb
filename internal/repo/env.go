package repo

import (
	"path/filepath"
	"runtime"
	"strings"
)

// environment is what the caller's environment says, by name. The last of two equal names counts.
type environment map[string]string

func parseEnviron(list []string) environment {
	env := make(environment, len(list))
	for _, entry := range list {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || strings.Contains(value, "\x00") {
			continue
		}
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		env[name] = value
	}
	return env
}

// keptNames are the variables a git process gets from the caller: where the user's configuration is, and for which
// user root works (git's own ownership check looks at SUDO_UID).
func keptNames() []string {
	names := []string{
		"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "SUDO_UID",
	}
	if runtime.GOOS == "windows" {
		names = append(names, "SYSTEMROOT", "WINDIR", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA",
			"LOCALAPPDATA", "PROGRAMDATA", "TEMP", "TMP")
	}
	return names
}

// gitEnviron makes the environment of a git process, without the repository's own variables. GIT_ALLOW_PROTOCOL
// names no transport, so that an object which is missing in a partial clone is missing instead of fetched (older git
// does not know GIT_NO_LAZY_FETCH).
func gitEnviron(env environment, path []string) []string {
	out := []string{
		"PATH=" + strings.Join(path, string(filepath.ListSeparator)),
		"LC_ALL=C",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ALLOW_PROTOCOL=none",
	}
	for _, name := range keptNames() {
		if value, ok := env[name]; ok {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// usualPath is searched when nothing usable is left of PATH.
func usualPath() []string {
	if runtime.GOOS == "windows" {
		return nil
	}
	return []string{"/usr/local/bin", "/usr/bin", "/bin"}
}

// pathFolders returns the entries of PATH that are absolute names, or the usual folders where there are none.
func pathFolders(path string) []string {
	var folders []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			folders = append(folders, filepath.Clean(dir))
		}
	}
	if len(folders) == 0 {
		return usualPath()
	}
	return folders
}

// outside tells names that lie in one of a few folders from others.
type outside struct{ folders []string }

// outsideOf takes every folder by its name and by what it is once links are followed.
func outsideOf(folders ...string) outside {
	var o outside
	for _, dir := range folders {
		o.folders = append(o.folders, dir)
		if real := resolve(dir); real != filepath.Clean(dir) {
			o.folders = append(o.folders, real)
		}
	}
	return o
}

// has reports whether path lies in none of the folders, neither by its name nor once links are followed.
func (o outside) has(path string) bool {
	names := []string{path}
	if real := resolve(path); real != path {
		names = append(names, real)
	}
	for _, dir := range o.folders {
		for _, name := range names {
			if _, ok := below(dir, name); ok {
				return false
			}
		}
	}
	return true
}

// below returns path relative to dir, with slashes, when it is dir ("") or lies in it. Both are absolute names.
func below(dir, path string) (string, bool) {
	dir, path = filepath.Clean(dir), filepath.Clean(path)
	head, rest := path, ""
	if len(path) > len(dir) {
		head, rest = path[:len(dir)], path[len(dir):]
	}
	if !sameName(head, dir) {
		return "", false
	}
	if rest == "" {
		return "", true
	}
	if !strings.HasSuffix(dir, string(filepath.Separator)) && rest[0] != filepath.Separator {
		return "", false
	}
	return filepath.ToSlash(strings.TrimPrefix(rest, string(filepath.Separator))), true
}

// sameName compares names as the platform's usual file system does.
func sameName(a, b string) bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// resolve follows every link in path as far as it exists, and keeps the rest as it is.
func resolve(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for at := path; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = parent
	}
}
