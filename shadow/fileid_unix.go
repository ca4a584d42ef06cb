//go:build unix

package shadow

import (
	"io/fs"
	"syscall"
)

// fileID returns the device and inode of what info describes.
func fileID(info fs.FileInfo) (dev, ino uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(st.Dev), uint64(st.Ino), true
}
