package preflight

import (
	"errors"
	"io"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// takes is how often a file that changes while it is read is read again.
const takes = 5

// Images is the store of contents by their SHA-256. Put keeps what it reads and names it; Open's reader fails at the end
// when the bytes are not the ones asked for.
type Images interface {
	Intake
	Open(sha256 string) (io.ReadCloser, error)
	Has(sha256 string) bool
}

// Intake is the part of the store that takes contents in. What it took may be readable only later.
type Intake interface {
	Put(r io.Reader) (sha256 string, size int64, err error)
}

// Tree is a working tree or a shadow, as far as it is looked at. Pin writes the content that it pins to w: a file's
// bytes, a symlink's target; nothing for whatever else it finds.
type Tree interface {
	Pin(p change.Path, w io.Writer) (change.Pin, error)
}

// Take pins what stands at p and stores its content: the bytes are copied into the store first, and the pin names what
// was stored. The target of a symlink is stored too. For what has no content (absent, a folder, a special file) only the
// kind is returned.
//
// After an error the store may hold an image that nothing names. A file that is written to meanwhile is read again a few
// times, then it is an *UnsteadyError.
func Take(tree Tree, images Intake, p change.Path) (change.Pin, error) {
	for range takes {
		pin, steady, err := takeOnce(tree, images, p)
		if err != nil || steady {
			return pin, err
		}
	}
	return change.Pin{}, &UnsteadyError{Path: p}
}

// takeOnce reports steady when what was stored is what was pinned.
func takeOnce(tree Tree, images Intake, p change.Path) (pin change.Pin, steady bool, err error) {
	store := &storing{images: images}
	pin, err = tree.Pin(p, store)
	sum, size, storeErr := store.finish(err)
	var busy *durable.BusyError
	switch {
	case errors.As(err, &busy):
		return change.Pin{}, false, nil
	case storeErr != nil:
		return change.Pin{}, false, storeErr
	case err != nil:
		return change.Pin{}, false, err
	case pin.Kind != change.KindFile && pin.Kind != change.KindSymlink:
		return pin, true, nil
	}
	if !store.begun {
		// Nothing was written: an empty file.
		if sum, size, err = images.Put(eof{}); err != nil {
			return change.Pin{}, false, err
		}
	}
	return pin, sum == pin.SHA256 && size == pin.Size, nil
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// storing hands what is written to it to the store. The store reads in a goroutine that finish waits for; it is started
// by the first byte, so that a folder or a missing file stores nothing.
type storing struct {
	images Intake
	begun  bool
	pipe   *io.PipeWriter
	done   chan struct{}
	sum    string
	size   int64
	err    error
}

// Write passes p to the store and returns the store's error, if it has given up.
func (s *storing) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !s.begun {
		s.begun = true
		s.done = make(chan struct{})
		r, w := io.Pipe()
		s.pipe = w
		go func() {
			defer close(s.done)
			s.sum, s.size, s.err = s.images.Put(r)
			if s.err != nil {
				r.CloseWithError(s.err)
				return
			}
			r.Close()
		}()
	}
	return s.pipe.Write(p)
}

// finish ends the stream, in failure when cause is one, and returns what the store says.
func (s *storing) finish(cause error) (sum string, size int64, err error) {
	if !s.begun {
		return "", 0, nil
	}
	s.pipe.CloseWithError(cause)
	<-s.done
	if cause != nil && errors.Is(s.err, cause) {
		return "", 0, nil
	}
	return s.sum, s.size, s.err
}
