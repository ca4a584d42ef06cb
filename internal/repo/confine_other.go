//go:build !linux

package repo

import (
	"os/exec"
	"runtime"
)

// isNative treats every program alike, since none can be confined here.
func isNative(string) bool { return true }

func confinement(string) (executable []string, why string) {
	return nil, "what git may execute cannot be limited on " + runtime.GOOS
}

func startConfined(cmd *exec.Cmd, _ []string) error { return cmd.Start() }
