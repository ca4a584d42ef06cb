package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	headName = "head"
	// slotApart keeps the two slots in different sectors of any disk, so that a torn write spoils one of them at most.
	slotApart = 4096
	// slotSize is two numbers of 20 digits, two digests, three spaces and a newline.
	slotSize = 20 + 1 + 20 + 1 + hexDigest + 1 + hexDigest + 1
	// headTries is how often a head is read before it counts as broken: a slow reader may meet one writer in each slot.
	headTries = 20
)

// head is the newest acknowledged event: its number, its hash, and the length of the log with it.
type head struct {
	seq    uint64
	length int64
	hash   string
	// slot is where it was read from; the next one goes to the other.
	slot int
}

func emptyHead() head { return head{hash: firstPrev} }

func (h head) String() string {
	text := fmt.Sprintf("%020d %020d %s", h.seq, h.length, h.hash)
	return text + " " + digest([]byte(text)) + "\n"
}

// newHeadFile returns the head file of a ledger without events.
func newHeadFile() []byte {
	b := make([]byte, slotApart+slotSize)
	copy(b, emptyHead().String())
	return b
}

// parseSlot returns the head in a slot, if the slot verifies.
func parseSlot(b []byte) (head, bool) {
	if len(b) != slotSize {
		return head{}, false
	}
	seq, err1 := strconv.ParseUint(string(b[:20]), 10, 64)
	length, err2 := strconv.ParseInt(string(b[21:41]), 10, 64)
	if err1 != nil || err2 != nil {
		return head{}, false
	}
	h := head{seq: seq, length: length, hash: string(b[42 : 42+hexDigest])}
	return h, isDigest(h.hash) && h.String() == string(b)
}

// readHead returns the newest valid slot of the head file in dir. Without such a file the error is fs.ErrNotExist, without
// a valid slot a *CorruptError.
func readHead(dir string) (head, error) {
	path := filepath.Join(dir, headName)
	for try := range headTries {
		h, ok, err := readSlots(path)
		if ok || err != nil {
			return h, err
		}
		timer := time.NewTimer(time.Duration(try) * time.Millisecond)
		<-timer.C
	}
	return head{}, &CorruptError{Path: path, Problem: "neither slot of the head verifies"}
}

func readSlots(path string) (best head, ok bool, err error) {
	f, err := openForReading(path)
	if err != nil {
		return head{}, false, err
	}
	defer f.Close()
	for slot := range 2 {
		b := make([]byte, slotSize)
		if _, err := f.ReadAt(b, int64(slot)*slotApart); err != nil && !errors.Is(err, io.EOF) {
			return head{}, false, err
		}
		h, valid := parseSlot(b)
		if valid && (!ok || h.seq > best.seq) {
			best, ok = h, true
			best.slot = slot
		}
	}
	return best, ok, nil
}

// openForReading opens a file of the ledger, which must be a regular one.
func openForReading(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &CorruptError{Path: path, Problem: "not a regular file"}
	}
	return os.Open(path)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
