package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Position is a place between two events of a ledger: after the event Seq, which has Hash and ends at byte Offset of the
// log. The zero Position is the start. It may be stored, and be given to Open as the place to go on from.
type Position struct {
	Seq    uint64 `json:"seq"`
	Offset int64  `json:"offset"`
	Hash   string `json:"hash"`
}

func (p Position) prev() string {
	if p.Seq == 0 {
		return firstPrev
	}
	return p.Hash
}

// scan reads the events between a position and a byte of the log.
type scan struct {
	in  *bufio.Reader
	at  Position
	buf []byte
}

// errScanEnd is returned by scan.next behind the last event.
var errScanEnd = errors.New("end of scan")

// badLine is what does not verify in a line.
type badLine struct{ problem string }

func (e *badLine) Error() string { return e.problem }

func newScan(f *os.File, from Position, end int64) *scan {
	return &scan{in: bufio.NewReaderSize(io.NewSectionReader(f, from.Offset, end-from.Offset), 1<<16), at: from}
}

// next returns the event behind s.at and moves there. It returns errScanEnd when nothing is left, a *badLine when what is
// left does not begin with a whole event that follows the one before, and then stays where it is.
func (s *scan) next() (Event, error) {
	line, err := s.line()
	if err != nil {
		return Event{}, err
	}
	e, err := parseLine(line[:len(line)-1])
	if err != nil {
		return Event{}, &badLine{err.Error()}
	}
	if e.Seq != s.at.Seq+1 {
		return Event{}, &badLine{fmt.Sprintf("seq is %d, expected %d", e.Seq, s.at.Seq+1)}
	}
	if e.Prev != s.at.prev() {
		return Event{}, &badLine{fmt.Sprintf("prev is %.12s, the event before has %.12s", e.Prev, s.at.prev())}
	}
	s.at = Position{Seq: e.Seq, Offset: s.at.Offset + int64(len(line)), Hash: e.Hash}
	return e, nil
}

// line returns the next line with its newline. The slice is valid until the next call.
func (s *scan) line() ([]byte, error) {
	s.buf = s.buf[:0]
	for {
		part, err := s.in.ReadSlice('\n')
		if err == nil && len(s.buf) == 0 {
			return part, nil
		}
		s.buf = append(s.buf, part...)
		switch {
		case err == nil:
			return s.buf, nil
		case errors.Is(err, io.EOF) && len(s.buf) == 0:
			return nil, errScanEnd
		case errors.Is(err, io.EOF):
			return nil, &badLine{fmt.Sprintf("ends after %d bytes without a newline", len(s.buf))}
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(s.buf) > maxLine:
			return nil, &badLine{fmt.Sprintf("longer than %d bytes", maxLine)}
		}
	}
}

// view is the ledger as it was at one moment: the head, and the log at least as long as the head says.
type view struct {
	path string
	head head
	// log is nil when there is no log yet.
	log  *os.File
	size int64
	// headless is set when there is no head yet either.
	headless bool
}

// look opens the ledger in dir: the head first, then the log.
func look(dir string) (*view, error) {
	v := &view{path: filepath.Join(dir, logName), head: emptyHead()}
	h, err := readHead(dir)
	switch {
	case missing(err):
		v.headless = true
	case err != nil:
		return nil, err
	default:
		v.head = h
	}
	v.log, err = openForReading(v.path)
	if missing(err) {
		if v.head.length > 0 {
			return nil, &CorruptError{Path: v.path, Line: 1, Problem: fmt.Sprintf("the log is missing, the head names %d events", v.head.seq)}
		}
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	if v.headless {
		// The head is made before the log: if both were made since the first look, it is there now.
		if v.head, err = readHead(dir); err != nil {
			v.close()
			if missing(err) {
				err = &CorruptError{Path: filepath.Join(dir, headName), Problem: "the head is missing beside a log"}
			}
			return nil, err
		}
		v.headless = false
	}
	info, err := v.log.Stat()
	if err != nil {
		v.close()
		return nil, err
	}
	v.size = info.Size()
	return v, nil
}

func (v *view) close() {
	if v.log != nil {
		// Opened for reading only: closing it can lose nothing.
		_ = v.log.Close()
	}
}

// corrupt reports the line behind at.
func (v *view) corrupt(at Position, format string, args ...any) error {
	return &CorruptError{Path: v.path, Line: int(at.Seq) + 1, Problem: fmt.Sprintf(format, args...)}
}

// holds reports whether the event before at really is in the log: by the last bytes of its line, which are its hash.
func (v *view) holds(at Position) (bool, error) {
	if at.Seq == 0 {
		return at == Position{}, nil
	}
	want := at.Hash + lineEnd + "\n"
	if v.log == nil || at.Offset < int64(len(want)) || at.Offset > v.size {
		return false, nil
	}
	got := make([]byte, len(want))
	if _, err := v.log.ReadAt(got, at.Offset-int64(len(want))); err != nil {
		return false, err
	}
	return string(got) == want, nil
}

// acknowledged hands to each the events from at to the head, and moves at along. Whatever does not verify there is a
// *CorruptError.
func (v *view) acknowledged(at *Position, each func(Event) error) error {
	if at.Offset > v.head.length {
		return nil
	}
	if v.log != nil {
		s := newScan(v.log, *at, v.head.length)
		if err := s.run(at, each); !errors.Is(err, errScanEnd) {
			var bad *badLine
			if errors.As(err, &bad) {
				return v.broken(*at, bad)
			}
			return err
		}
	}
	switch {
	case at.Offset < v.head.length:
		return v.corrupt(*at, "the log was cut: it ends at byte %d, the head names %d", at.Offset, v.head.length)
	case at.Seq != v.head.seq || at.prev() != v.head.hash:
		return v.corrupt(Position{Seq: at.Seq - min(at.Seq, 1)}, "the head names event %d with hash %.12s, the log has %d with %.12s",
			v.head.seq, v.head.hash, at.Seq, at.prev())
	}
	return nil
}

// broken tells a line that does not verify from a log that ends inside it.
func (v *view) broken(at Position, bad *badLine) error {
	if v.size < v.head.length {
		return v.corrupt(at, "the log was cut: it has %d bytes, the head names %d", v.size, v.head.length)
	}
	return v.corrupt(at, "%s", bad.problem)
}

// beyond hands to each the whole chained events behind the head, and moves at along. What is left between at and v.size
// then is the torn tail. settle is called once before the first event: nobody may act on it while it is not flushed.
func (v *view) beyond(at *Position, settle func() error, each func(Event) error) error {
	if v.log == nil {
		return nil
	}
	settled := false
	err := newScan(v.log, *at, v.size).run(at, func(e Event) error {
		if !settled {
			if err := settle(); err != nil {
				return err
			}
			settled = true
		}
		return each(e)
	})
	var bad *badLine
	if errors.Is(err, errScanEnd) || errors.As(err, &bad) {
		return nil
	}
	return err
}

// run hands events to each until one of both fails; at is left behind the last event that was taken.
func (s *scan) run(at *Position, each func(Event) error) error {
	for {
		e, err := s.next()
		if err != nil {
			return err
		}
		if err := each(e); err != nil {
			return err
		}
		*at = s.at
	}
}
