//go:build linux || darwin

package ledger

import (
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

const canLimitFiles = true

// limitFiles keeps this process from making files longer than size bytes, and makes sure that the setting took.
func limitFiles(t *testing.T, size string) {
	t.Helper()
	if size == "" {
		return
	}
	n, err := strconv.ParseUint(size, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	ignored(unix.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: n}); err != nil {
		t.Fatal(err)
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &now); err != nil || now.Cur != n {
		t.Fatalf("limit is %d, %v", now.Cur, err)
	}
}
