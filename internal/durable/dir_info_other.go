//go:build !linux && !darwin

package durable

import "io/fs"

// addSystemInfo adds nothing: inode, owner and change time stay 0, which means unknown.
func addSystemInfo(*Info, fs.FileInfo) {}
