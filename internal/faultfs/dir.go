package faultfs

import (
	"os"
	"testing"
)

// QuickDir is an empty folder for the length of a test, on a file system in memory where there is one: tests of this kind
// make very many files, and flush them.
func QuickDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "correx-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
