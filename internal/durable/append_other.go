//go:build !linux

package durable

import "os"

// reserve does nothing: what these systems offer changes the size of the file.
func reserve(*os.File, int64, int64) error { return nil }
