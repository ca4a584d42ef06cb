package textdiff

import (
	"compress/zlib"
	"fmt"
	"io"
)

// binaryLine is how many bytes git puts into one line of a binary patch.
const binaryLine = 52

// writeBinary writes the body of a binary patch: the new content whole, then the old one, each compressed and in git's
// base 85. git checks the second when the patch is reversed, and both against the object ids in the header.
func writeBinary(w io.Writer, old, new Content) error {
	if _, err := io.WriteString(w, "GIT binary patch\n"); err != nil {
		return err
	}
	for _, c := range []Content{new, old} {
		if _, err := fmt.Fprintf(w, "literal %d\n", c.size()); err != nil {
			return err
		}
		lines := &base85{w: w}
		z := zlib.NewWriter(lines)
		if err := c.copyTo(z); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		if err := lines.close(); err != nil {
			return err
		}
	}
	return nil
}

// base85 writes what it is given in lines of git's base 85: a letter for the number of bytes (A to Z for 1 to 26, a to z
// for 27 to 52), then five characters for each four bytes, the last four padded with zeros.
type base85 struct {
	w    io.Writer
	line [binaryLine]byte
	n    int
}

// Write encodes the lines that p completes.
func (e *base85) Write(p []byte) (int, error) {
	for at := 0; at < len(p); {
		n := copy(e.line[e.n:], p[at:])
		e.n += n
		at += n
		if e.n == binaryLine {
			if err := e.flush(); err != nil {
				return at, err
			}
		}
	}
	return len(p), nil
}

// close writes what is left and the empty line that ends the body.
func (e *base85) close() error {
	if e.n > 0 {
		if err := e.flush(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(e.w, "\n")
	return err
}

func (e *base85) flush() error {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	out := make([]byte, 0, 1+binaryLine/4*5+1)
	if e.n <= 26 {
		out = append(out, 'A'+byte(e.n-1))
	} else {
		out = append(out, 'a'+byte(e.n-27))
	}
	clear(e.line[e.n:])
	for i := 0; i < e.n; i += 4 {
		word := uint32(e.line[i])<<24 | uint32(e.line[i+1])<<16 | uint32(e.line[i+2])<<8 | uint32(e.line[i+3])
		var five [5]byte
		for k := 4; k >= 0; k-- {
			five[k] = digits[word%85]
			word /= 85
		}
		out = append(out, five[:]...)
	}
	e.n = 0
	_, err := e.w.Write(append(out, '\n'))
	return err
}
