package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/correx/correx/internal/durable"
)

const (
	logName  = "events.jsonl"
	lockName = "ledger.lock"

	// A reader that finds a writer at work gives it this long, in growing pauses, to publish its head.
	firstPause   = time.Millisecond
	longestPause = 64 * time.Millisecond
)

// Options is what a Log needs from outside.
type Options struct {
	// Clock gives the time of new events.
	Clock func() time.Time
	// Rand gives the randomness of new ids.
	Rand io.Reader
	// Holder is put into the lock while appending: process id, command, start.
	Holder string
	// From is the place after which reading begins; zero is the start. The events before it are not verified.
	From Position
}

// Log reads and appends the events of one ledger. It remembers which events it has handed out. Its methods may be called
// from several goroutines; they wait for each other.
type Log struct {
	dir string
	o   Options
	// turn holds one token: whoever has it may use the fields below.
	turn chan struct{}
	disk disk
	// tip is behind the last event handed out, and read is set once the first reading has found it in the log.
	tip  Position
	read bool
	// broken is the failed flush after which this Log does nothing any more.
	broken error
}

// disk is the part of package durable that appending needs.
type disk interface {
	MkdirAll(path string) error
	WriteNew(path string, data []byte) error
	WriteAt(path string, off int64, data []byte) error
	OpenAppend(path string) (appendFile, error)
	NewIncoming(dir string) (incoming, error)
	Flush(path string) error
}

type appendFile interface {
	Append(p []byte) (int64, error)
	Sync() error
	Truncate(n int64) error
	Reserve(n int64) error
	Close() error
}

type incoming interface {
	io.Writer
	Commit(final string) (bool, error)
	Abort() error
}

// Open returns a Log of the ledger in the folder dir. Nothing is read, and nothing is made: a ledger that is not there is
// one without events, and the folder is made with the first Update.
func Open(dir string, o Options) (*Log, error) {
	if o.Clock == nil || o.Rand == nil {
		return nil, errors.New("open ledger: a clock and a random source are needed")
	}
	return open(dir, o), nil
}

func open(dir string, o Options) *Log {
	return &Log{dir: dir, o: o, turn: make(chan struct{}, 1), disk: realDisk{}, tip: o.From}
}

// Path returns the name of the log file. Its folder is what to watch for new events.
func (l *Log) Path() string { return filepath.Join(l.dir, logName) }

// Position returns the place behind the last event handed out.
func (l *Log) Position() Position {
	l.turn <- struct{}{}
	defer l.leave()
	return l.tip
}

// Refresh returns the verified events that this Log has not handed out yet. It takes no lock that keeps a writer waiting
// for long and writes nothing. After an error nothing counts as handed out; a *CorruptError when the ledger does not
// verify, ErrPosition on the first call when Options.From is not in it.
//
// Everything acknowledged before the call is returned. Whole events beyond the head, left by a writer that was killed, are
// flushed and returned too, unless another writer stays at work: whoever must know for certain that an event is not there,
// as recovery must, asks inside Update.
func (l *Log) Refresh() ([]Event, error) {
	l.turn <- struct{}{}
	defer l.leave()
	from := l.tip
	var events []Event
	if _, err := l.each(collect(&events)); err != nil {
		l.tip = from
		return nil, err
	}
	return events, nil
}

// Each is Refresh for a ledger of any length: it hands the events to fn one by one. An event counts as handed out when fn
// returned nil for it; an error of fn ends the reading and is returned. What fn was given before an error was verified
// and follows on what it was given before, but must not be acted on.
func (l *Log) Each(fn func(Event) error) error {
	l.turn <- struct{}{}
	defer l.leave()
	_, err := l.each(fn)
	return err
}

func collect(events *[]Event) func(Event) error {
	return func(e Event) error {
		*events = append(*events, e)
		return nil
	}
}

// each reads as a reader does, and returns the length of the torn tail. The caller has the turn.
func (l *Log) each(fn func(Event) error) (torn int64, err error) {
	if l.broken != nil {
		return 0, l.broken
	}
	var target int64
	for pause := firstPause; ; pause *= 2 {
		size, err := l.readAcknowledged(fn)
		if err != nil {
			return 0, err
		}
		// Events that arrive while this runs are for the next call: a busy ledger must not keep a reader here for ever.
		if target == 0 {
			target = size
		}
		if l.tip.Offset >= min(size, target) {
			return 0, nil
		}
		unlock, err := durable.TryLockShared(filepath.Join(l.dir, lockName))
		var held *durable.HeldError
		switch {
		case errors.As(err, &held) && pause > longestPause:
			return 0, nil
		case errors.As(err, &held):
			timer := time.NewTimer(pause)
			<-timer.C
			continue
		case missing(err):
			// Without a lock file there is no writer.
			unlock = func() error { return nil }
		case err != nil:
			return 0, err
		}
		torn, err = l.readAll(fn)
		return torn, errors.Join(err, unlock())
	}
}

// readAcknowledged reads up to the head and returns the size of the log.
func (l *Log) readAcknowledged(fn func(Event) error) (int64, error) {
	v, err := l.look()
	if err != nil {
		return 0, err
	}
	defer v.close()
	return v.size, v.acknowledged(&l.tip, fn)
}

// readAll reads up to the head and beyond it, and returns the length of the torn tail. The caller keeps writers out.
func (l *Log) readAll(fn func(Event) error) (torn int64, err error) {
	v, err := l.look()
	if err != nil {
		return 0, err
	}
	defer v.close()
	if err := v.acknowledged(&l.tip, fn); err != nil {
		return 0, err
	}
	if err := v.beyond(&l.tip, func() error { return l.settle(l.disk.Flush(l.Path())) }, fn); err != nil {
		return 0, err
	}
	return v.size - l.tip.Offset, nil
}

// look opens the ledger and makes sure that the last event handed out is still in it.
func (l *Log) look() (*view, error) {
	v, err := look(l.dir)
	if err != nil {
		return nil, err
	}
	ok, err := v.holds(l.tip)
	switch {
	case err != nil:
	case ok:
		l.read = true
		return v, nil
	case l.read:
		err = v.corrupt(Position{Seq: l.tip.Seq - 1}, "event %d is no longer what it was", l.tip.Seq)
	default:
		err = fmt.Errorf("ledger %q: event %d at byte %d: %w", v.path, l.tip.Seq, l.tip.Offset, ErrPosition)
	}
	v.close()
	return nil, err
}

// Reserve sets room for n more bytes of events aside, so that an Update of that size does not find the disk full. The log
// must exist. Where the file system has no such thing nothing happens.
func (l *Log) Reserve(n int64) error {
	if err := l.enter(context.Background()); err != nil {
		return err
	}
	defer l.leave()
	if _, err := os.Lstat(l.Path()); err != nil {
		return err
	}
	f, err := l.disk.OpenAppend(l.Path())
	if err != nil {
		return err
	}
	return errors.Join(f.Reserve(n), f.Close())
}

// enter waits for the turn.
func (l *Log) enter(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("ledger %q: %w", l.dir, ctx.Err())
	}
	if l.broken != nil {
		l.leave()
		return l.broken
	}
	return nil
}

func (l *Log) leave() { <-l.turn }

// settle keeps a failed flush: what the disk holds is not known then, and this Log must not find out by reading back.
func (l *Log) settle(err error) error {
	if errors.Is(err, durable.ErrFlush) {
		l.broken = err
	}
	return err
}

// realDisk is package durable with the modes of the ledger's files.
type realDisk struct{}

func (realDisk) MkdirAll(path string) error              { return durable.MkdirAll(path, 0o700) }
func (realDisk) WriteNew(path string, data []byte) error { return durable.WriteNew(path, data, 0o600) }
func (realDisk) WriteAt(path string, off int64, data []byte) error {
	return durable.WriteAt(path, off, data)
}
func (realDisk) OpenAppend(path string) (appendFile, error) { return durable.OpenAppend(path) }
func (realDisk) NewIncoming(dir string) (incoming, error)   { return durable.NewIncoming(dir, 0) }
func (realDisk) Flush(path string) error                    { return durable.Flush(path) }
