package repo

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"hash"
)

// The object formats.
const (
	formatSHA1   = "sha1"
	formatSHA256 = "sha256"
)

// emptyTree is the id of a tree without entries, which git knows without having it stored.
func emptyTree(format string) string {
	if format == formatSHA256 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// emptyBlob is the id of empty content.
func emptyBlob(format string) string {
	if format == formatSHA256 {
		return "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
	}
	return "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
}

// isOID reports whether s is a whole object id of either format, in lower case.
func isOID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// blobHash returns a hash that has taken in what git puts before a blob's content of the given size.
func blobHash(format string, size int64) hash.Hash {
	h := sha1.New()
	if format == formatSHA256 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// countingWriter hashes and counts.
type countingWriter struct {
	w hash.Hash
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *countingWriter) sum() string { return fmt.Sprintf("%x", c.w.Sum(nil)) }
