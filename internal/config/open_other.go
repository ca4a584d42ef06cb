//go:build !unix

package config

// Where the system has no such flags, read compares the file it has opened with the one it has seen.
const (
	noFollow = 0
	noBlock  = 0
)
