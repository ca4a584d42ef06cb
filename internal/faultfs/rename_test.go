//go:build linux && amd64

package faultfs

import (
	"slices"
	"syscall"
	"unsafe"
)

func rename2(from, to *byte, flags uintptr) error {
	here := dirHere
	_, _, e := syscall.Syscall6(callRenameat2, uintptr(here), uintptr(unsafe.Pointer(from)), uintptr(here), uintptr(unsafe.Pointer(to)), flags, 0)
	if e != 0 {
		return e
	}
	return nil
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}
