package textdiff

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
)

// ObjectFormat is how a repository names its objects.
type ObjectFormat string

// The object formats of git. The zero value stands for SHA1.
const (
	SHA1   ObjectFormat = "sha1"
	SHA256 ObjectFormat = "sha256"
)

// hash returns a fresh hash of the format.
func (f ObjectFormat) hash() hash.Hash {
	if f == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// none returns the object id that stands for "no object".
func (f ObjectFormat) none() string { return strings.Repeat("0", 2*f.hash().Size()) }

// BlobID returns the object id of content as git stores it, without any conversion.
func BlobID(content []byte, f ObjectFormat) string {
	h := blobHash(int64(len(content)), f)
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func blobHash(size int64, f ObjectFormat) hash.Hash {
	h := f.hash()
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// Content is one side of a file: the bytes themselves, or, with Open set, a stream of Size bytes that can be opened more
// than once. A stream is never looked at line by line.
type Content struct {
	Bytes []byte
	Size  int64
	Open  func() (io.ReadCloser, error)
}

// subproject begins the line that stands for a submodule in a patch.
const subproject = "Subproject commit "

// Submodule returns the content that stands for a submodule at a commit.
func Submodule(commit string) Content { return Content{Bytes: []byte(subproject + commit + "\n")} }

// commit returns the commit of a submodule's content.
func (c Content) commit() (string, error) {
	line, ok := strings.CutPrefix(string(c.Bytes), subproject)
	if !ok {
		return "", fmt.Errorf("%q names no commit", c.Bytes)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// streamed reports whether c is read when needed.
func (c Content) streamed() bool { return c.Open != nil }

func (c Content) size() int64 {
	if c.streamed() {
		return c.Size
	}
	return int64(len(c.Bytes))
}

// copyTo writes the content to w and refuses a stream that is not as long as it was said to be.
func (c Content) copyTo(w io.Writer) (err error) {
	if !c.streamed() {
		_, err := w.Write(c.Bytes)
		return err
	}
	r, err := c.Open()
	if err != nil {
		return err
	}
	defer func() {
		if cerr := r.Close(); err == nil {
			err = cerr
		}
	}()
	n, err := io.Copy(w, r)
	if err == nil && n != c.Size {
		return fmt.Errorf("content has %d bytes, expected %d", n, c.Size)
	}
	return err
}

// id returns the blob's object id.
func (c Content) id(f ObjectFormat) (string, error) {
	h := blobHash(c.size(), f)
	if err := c.copyTo(h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
