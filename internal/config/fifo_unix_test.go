//go:build unix

package config

import (
	"syscall"
	"testing"
)

func fifo(t *testing.T, path string) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
}
