package durable

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Abilities is what a file system can do for a landing and for shadows.
type Abilities struct {
	// Exchange: two names can be swapped in one step.
	Exchange bool
	// Reflink: a file can be cloned without copying its bytes.
	Reflink bool
	// FoldsCase: names that differ in case only are one name.
	FoldsCase bool
}

// Probe tries the abilities of the file system that holds dir, with two small files in a folder of its own there, which it
// removes again.
func Probe(dir string) (a Abilities, err error) {
	tmp, err := os.MkdirTemp(dir, "probe-")
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	one, two := filepath.Join(tmp, "one"), filepath.Join(tmp, "two")
	for _, p := range []string{one, two} {
		if err := os.WriteFile(p, []byte(p), 0o600); err != nil {
			return a, err
		}
	}
	if _, err := os.Lstat(filepath.Join(tmp, strings.ToUpper("one"))); err == nil {
		a.FoldsCase = true
	}
	a.Exchange = probeExchange(one, two)
	a.Reflink = probeReflink(one, filepath.Join(tmp, "three"))
	return a, nil
}

// TempDir makes a new folder, 0700, under the system's folder for temporary files.
func TempDir(pattern string) (string, error) { return os.MkdirTemp("", pattern) }
