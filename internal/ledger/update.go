package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/correx/correx/internal/durable"
)

// Update appends events under the ledger's lock, waiting for it until ctx ends.
//
//  1. The lock is taken; the folder is made when it is missing.
//  2. Everything not handed out yet is read and verified, whole events beyond the head included.
//  3. decide is given those events, which count as handed out from then on, and returns what to append. With no drafts, or
//     an error, nothing is written and Update returns. decide must not call methods of l.
//  4. A torn tail is copied aside, flushed and cut off, and a LedgerRepaired event goes before the drafts.
//  5. The events are written in one go and flushed.
//  6. The head is written, the lock freed. The events are returned, LedgerRepaired included; they count as handed out.
//
// A failed write is cut off again: nothing was appended, and l can be used on. An error that is durable.ErrFlush leaves
// open whether the events are on the disk: l refuses everything from then on, and the process must stop; the next one
// decides from what the disk holds. A crash between 5 and 6 leaves events beyond the head, which count. A power cut while
// 5 runs may leave the first of several drafts without the rest, so each of them must be true by itself.
func (l *Log) Update(ctx context.Context, decide func(fresh []Event) ([]Draft, error)) ([]Event, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	from := l.tip
	var fresh []Event
	// Most of the reading is done before others are kept waiting.
	if _, err := l.readAcknowledged(collect(&fresh)); err != nil {
		l.tip = from
		return nil, err
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		l.tip = from
		return nil, err
	}
	// The lock is free after unlock whatever it returns, and what was appended stays appended.
	defer func() { _ = unlock() }()
	torn, err := l.readAll(collect(&fresh))
	if err != nil {
		l.tip = from
		return nil, err
	}
	return l.update(torn, func() ([]Draft, error) { return decide(fresh) })
}

func (l *Log) lock(ctx context.Context) (func() error, error) {
	if err := l.disk.MkdirAll(l.dir); err != nil {
		return nil, err
	}
	return durable.Lock(ctx, filepath.Join(l.dir, lockName), l.o.Holder)
}

// update is steps 3 to 6 of Update, under the lock and with l.tip behind the last whole event.
func (l *Log) update(torn int64, decide func() ([]Draft, error)) ([]Event, error) {
	drafts, err := decide()
	if err != nil {
		return nil, err
	}
	if len(drafts) == 0 {
		return nil, nil
	}
	a := appending{log: l, at: l.tip, torn: torn}
	if torn > 0 {
		name, err := a.setAside()
		if err != nil {
			return nil, err
		}
		repaired := Draft{Type: LedgerRepaired, Actor: repairActor, Data: Repaired{SetAside: name, Bytes: torn}}
		drafts = append([]Draft{repaired}, drafts...)
	}
	return a.append(drafts)
}

// appending is one Update that has something to write.
type appending struct {
	log *Log
	// at is behind the last event before the new ones, and moves along with them.
	at Position
	// torn is the length of the torn tail behind that.
	torn   int64
	lines  bytes.Buffer
	events []Event
}

// append is steps 5 and 6 of Update.
func (a *appending) append(drafts []Draft) ([]Event, error) {
	l, start := a.log, a.at
	for _, d := range drafts {
		if err := a.add(d); err != nil {
			return nil, err
		}
	}
	slot, err := a.prepareHead()
	if err != nil {
		return nil, err
	}
	if err := l.settle(a.write(start)); err != nil {
		return nil, err
	}
	// Commit point: the events are on the disk.
	h := head{seq: a.at.Seq, length: a.at.Offset, hash: a.at.Hash}
	if err := l.disk.WriteAt(filepath.Join(l.dir, headName), int64(slot)*slotApart, []byte(h.String())); err != nil {
		// The events are there and will be taken over by whoever comes next, but without the head nobody may be told yet.
		return nil, l.settle(fmt.Errorf("write ledger head: %w: %w", durable.ErrFlush, err))
	}
	l.tip = a.at
	return a.events, nil
}

// add turns a draft into an event and its line.
func (a *appending) add(d Draft) error {
	if d.ID == "" {
		d.ID = NewID(a.log.o.Rand)
	}
	if err := d.check(); err != nil {
		return err
	}
	data := json.RawMessage("{}")
	if d.Data != nil {
		var err error
		if data, err = encode(d.Data); err != nil {
			return &DraftError{Type: d.Type, Problem: err.Error()}
		}
	}
	e := Event{
		Seq: a.at.Seq + 1, At: a.log.o.Clock().UTC().Round(0), Type: d.Type, ID: d.ID,
		Cause: d.Cause, Actor: strings.ToValidUTF8(d.Actor, "\ufffd"), Data: data, Prev: a.at.prev(),
	}
	line, err := formatLine(&e)
	if err != nil {
		return &DraftError{Type: d.Type, Problem: err.Error()}
	}
	a.lines.Write(line)
	a.events = append(a.events, e)
	a.at = Position{Seq: e.Seq, Offset: a.at.Offset + int64(len(line)), Hash: e.Hash}
	return nil
}

func (d Draft) check() error {
	switch {
	case !isType(string(d.Type)):
		return &DraftError{Type: d.Type, Problem: "not the name of a type"}
	case !isID(d.ID):
		return &DraftError{Type: d.Type, Problem: fmt.Sprintf("id cannot be %q", d.ID)}
	case d.Cause != "" && !isID(d.Cause):
		return &DraftError{Type: d.Type, Problem: fmt.Sprintf("cause cannot be %q", d.Cause)}
	}
	return nil
}

// prepareHead returns the slot for the new head: the one that the newest is not in. A new ledger gets its head file here,
// before its log, so that a log without a head is always a loss.
func (a *appending) prepareHead() (slot int, err error) {
	h, err := readHead(a.log.dir)
	if missing(err) {
		return 1, a.log.disk.WriteNew(filepath.Join(a.log.dir, headName), newHeadFile())
	}
	return 1 - h.slot, err
}

// write cuts the log to its last event, where a torn tail stands behind it, and appends the lines.
func (a *appending) write(start Position) error {
	f, err := a.log.disk.OpenAppend(a.log.Path())
	if err != nil {
		return err
	}
	if a.torn > 0 {
		// Only then: a cut to the length the file has would give room that was reserved away.
		err = f.Truncate(start.Offset)
	}
	if err == nil {
		err = appendAt(f, start.Offset, a.lines.Bytes())
	}
	// Everything is flushed by now or the flush has failed: closing the file can add nothing to that.
	_ = f.Close()
	return err
}

func appendAt(f appendFile, end int64, lines []byte) error {
	off, err := f.Append(lines)
	if err != nil {
		return err
	}
	if off != end {
		return fmt.Errorf("%w: appended at byte %d, expected %d", durable.ErrFlush, off, end)
	}
	return f.Sync()
}

// setAside copies the torn tail into a file of its own, flushed, and returns its name. The log still holds the tail.
func (a *appending) setAside() (string, error) {
	f, err := openForReading(a.log.Path())
	if err != nil {
		return "", err
	}
	defer f.Close()
	for n := 1; ; n++ {
		name := fmt.Sprintf("torn-%06d-%d", a.at.Seq+1, n)
		created, err := a.copyTo(name, io.NewSectionReader(f, a.at.Offset, a.torn))
		if err != nil {
			return "", fmt.Errorf("set the end of %q aside: %w", a.log.Path(), err)
		}
		if created {
			return name, nil
		}
	}
}

func (a *appending) copyTo(name string, r io.Reader) (created bool, err error) {
	in, err := a.log.disk.NewIncoming(a.log.dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, in.Abort()) }()
	if _, err := io.Copy(in, r); err != nil {
		return false, err
	}
	return in.Commit(filepath.Join(a.log.dir, name))
}
