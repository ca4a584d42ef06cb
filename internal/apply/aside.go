package apply

import (
	"os"
	"path/filepath"

	"github.com/correx/correx/internal/durable"
)

// Interrupted reports whether the journal of a landing is in dir, a worktree's folder in correx's state.
func Interrupted(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, journalName))
	return err == nil
}

// TryLockDir takes the landing lock of a worktree by its folder in correx's state, for SetAside.
func TryLockDir(dir, holder string) (unlock func() error, err error) {
	return durable.TryLock(filepath.Join(dir, lockName), holder)
}
