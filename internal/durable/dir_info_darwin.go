package durable

import (
	"io/fs"
	"syscall"
)

func addSystemInfo(out *Info, info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	out.CTimeNS = st.Ctimespec.Nano()
	out.Ino, out.Dev, out.Nlink = st.Ino, uint64(st.Dev), uint64(st.Nlink)
	out.UID, out.GID = st.Uid, st.Gid
}
