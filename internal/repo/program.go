package repo

import (
	"os"
	"path/filepath"
	"runtime"
)

// program is the git program that is used, and how its processes are confined.
type program struct {
	file string
	// path is the PATH its processes get.
	path []string
	// executable lists the only files a git process may execute. It is nil where that cannot be enforced; unconfined
	// then says why.
	executable []string
	unconfined string
}

// findProgram returns the first git on PATH that lies outside the working tree. Its processes get a PATH of that one
// folder: no command used here starts another program. A wrapper script is used only where there is no other git, with
// what is usable of PATH, and unconfined: the programs it needs cannot be told from those an agent would start.
func findProgram(path string, trees outside) (program, error) {
	folders := pathFolders(path)
	script := ""
	for _, dir := range folders {
		file := filepath.Join(dir, gitName())
		if !runnable(file) || !trees.has(dir) || !trees.has(file) {
			continue
		}
		if isNative(file) {
			executable, why := confinement(file)
			return program{file: file, path: []string{dir}, executable: executable, unconfined: why}, nil
		}
		if script == "" {
			script = file
		}
	}
	if script == "" {
		return program{}, ErrNoGit
	}
	p := program{file: script, unconfined: "the git on PATH is a script, which needs other programs"}
	for _, dir := range folders {
		if trees.has(dir) {
			p.path = append(p.path, dir)
		}
	}
	return p, nil
}

func gitName() string {
	if runtime.GOOS == "windows" {
		return "git.exe"
	}
	return "git"
}

func runnable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}
