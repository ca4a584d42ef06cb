package durable

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
)

// FindWriters asks whether anybody, in any process, has the file f open for writing or mapped for writing; f itself must
// be open for reading only. The answer holds for the instant of the call: who opens the file later is not seen. It is not
// known elsewhere than on Linux, and on Linux where the file belongs to somebody else or its file system has no leases.
//
// System calls: fcntl(F_SETLEASE, F_RDLCK), which is granted only if nobody writes, then F_UNLCK.
func FindWriters(f *os.File) (some, known bool) { return findWriters(f) }

// NewFile is a file made by Dir.Create. Not for use by several goroutines at once.
type NewFile struct {
	f    *os.File
	dir  *Dir
	name string
}

// Write adds p to the content.
func (n *NewFile) Write(p []byte) (int, error) { return n.f.Write(p) }

// StartFlush tells the system to begin putting the content on the disk, and does not wait. It makes flushing many files
// one after the other much faster, and promises nothing.
func (n *NewFile) StartFlush() { startFlush(n.f) }

// Flush puts content and attributes on the disk; the file's name needs its folder's Sync. The error is ErrFlush when that
// is not known to have happened.
func (n *NewFile) Flush() error {
	if err := n.f.Sync(); err != nil {
		return flushError(n.dir.display(n.name), err)
	}
	return nil
}

// Resemble gives the file the owner, extended attributes and ACL of like, unless like is nil, and exactly the permission
// bits perm. What cannot be given is a *PreserveError: the file then has some of it and must not take the other's place.
// security.ima and security.evm are left to the kernel, which computes them from the content.
func (n *NewFile) Resemble(like *os.File, perm uint32) error {
	if like != nil {
		if err := copyAttributes(n.f, like); err != nil {
			return n.dir.wrap("preserve", n.name, err)
		}
	}
	return n.dir.wrap("preserve", n.name, setPerm(n.f, perm))
}

// ReadBack reads the whole file through the descriptor it was written by and returns what it is and its digest.
func (n *NewFile) ReadBack() (Info, string, error) {
	if _, err := n.f.Seek(0, 0); err != nil {
		return Info{}, "", n.dir.wrap("read back", n.name, err)
	}
	sum := sha256.New()
	if _, err := n.dir.stream(sum, nil, n.f); err != nil {
		return Info{}, "", n.dir.wrap("read back", n.name, err)
	}
	info, err := statFile(n.f)
	return info, hex.EncodeToString(sum.Sum(nil)), n.dir.wrap("read back", n.name, err)
}

// Close ends writing.
func (n *NewFile) Close() error { return n.f.Close() }

// errNotRegular and errNotLink are internal answers of the per-system handles.
var (
	errNotRegular = errors.New("not a regular file")
	errNotLink    = errors.New("not a symlink")
)
