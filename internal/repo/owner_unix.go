//go:build unix

package repo

import (
	"os"
	"syscall"
)

// ownedByUser reports whether every file belongs to the user this process works for, which is what git's ownership
// check asks of a repository that is not listed in safe.directory.
func ownedByUser(files ...string) bool {
	for _, file := range files {
		info, err := os.Lstat(file)
		if err != nil {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(stat.Uid) != os.Geteuid() {
			return false
		}
	}
	return true
}
