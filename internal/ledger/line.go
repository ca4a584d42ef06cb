package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

const (
	// maxLine bounds a line with its newline. It is what a reader holds in memory at once, and no event comes near it: the
	// largest carry the list of files of one change set.
	maxLine = 64 << 20
	// hexDigest is the length of a SHA-256 digest in hexadecimal.
	hexDigest = 2 * sha256.Size
	// firstPrev is the prev of the first event.
	firstPrev = "0000000000000000000000000000000000000000000000000000000000000000"

	prevMember = `,"prev":"`
	hashMember = `","hash":"`
	lineEnd    = `"}`
	// hashPart is the length of `,"hash":"…"}`: what the hash does not cover. One quote of hashMember closes prev.
	hashPart = len(hashMember) - 1 + hexDigest + len(lineEnd)
	// chainPart is the length of everything from prevMember on.
	chainPart = len(prevMember) + hexDigest + len(hashMember) + hexDigest + len(lineEnd)
)

// formatLine returns the line of e, with its newline, after setting e.Hash. The result is read back, so that nothing is
// ever written that a reader would refuse.
func formatLine(e *Event) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"seq":%d,"at":"%s","type":"%s","id":"%s","cause":"%s","actor":`,
		e.Seq, e.At.Format(time.RFC3339Nano), e.Type, e.ID, e.Cause)
	actor, err := quote(e.Actor)
	if err != nil {
		return nil, err
	}
	b.Write(actor)
	b.WriteString(`,"data":`)
	b.Write(e.Data)
	b.WriteString(prevMember)
	b.WriteString(e.Prev)
	b.WriteByte('"')
	e.Hash = digest(b.Bytes())
	b.WriteString(hashMember[1:])
	b.WriteString(e.Hash)
	b.WriteString(lineEnd)
	if b.Len() >= maxLine {
		return nil, fmt.Errorf("it takes %d bytes, the limit is %d", b.Len()+1, maxLine)
	}
	back, err := parseLine(b.Bytes())
	if err != nil {
		return nil, err
	}
	*e = back
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// parseLine reads a line, without its newline, strictly: exactly the members in exactly their order and spelling, no
// spaces, every value in the one form that formatLine gives it, and a hash that fits. Data is kept as it is, and must be
// a JSON object. Of the chain only the form is checked. The event shares no memory with line.
func parseLine(line []byte) (Event, error) {
	if len(line) < chainPart {
		return Event{}, errors.New("not a whole event")
	}
	var e Event
	tail := cursor{rest: line[len(line)-chainPart:]}
	tail.literal(prevMember)
	e.Prev = tail.digest("prev")
	tail.literal(hashMember)
	e.Hash = tail.digest("hash")
	tail.literal(lineEnd)
	if tail.problem != "" {
		return Event{}, errors.New(tail.problem)
	}
	if got := digest(line[:len(line)-hashPart]); got != e.Hash {
		return Event{}, fmt.Errorf("hash is %.12s, its bytes give %.12s", e.Hash, got)
	}
	c := cursor{rest: line[:len(line)-chainPart]}
	c.literal(`{"seq":`)
	e.Seq = c.number()
	c.literal(`,"at":`)
	e.At = c.time()
	c.literal(`,"type":`)
	e.Type = Type(c.text("type", isType))
	c.literal(`,"id":`)
	e.ID = c.text("id", isID)
	c.literal(`,"cause":`)
	e.Cause = c.text("cause", func(s string) bool { return s == "" || isID(s) })
	c.literal(`,"actor":`)
	e.Actor = c.text("actor", func(string) bool { return true })
	c.literal(`,"data":`)
	if c.problem == "" && (!bytes.HasPrefix(c.rest, []byte("{")) || !json.Valid(c.rest) || bytes.IndexByte(c.rest, '\n') >= 0) {
		c.problem = "data is not a JSON object"
	}
	if c.problem != "" {
		return Event{}, errors.New(c.problem)
	}
	e.Data = bytes.Clone(c.rest)
	return e, nil
}

// cursor reads the members of a line one after the other. After the first problem it does nothing more.
type cursor struct {
	rest    []byte
	problem string
}

func (c *cursor) fail(format string, args ...any) {
	if c.problem == "" {
		c.problem = fmt.Sprintf(format, args...)
	}
}

func (c *cursor) literal(want string) {
	if c.problem != "" {
		return
	}
	if !bytes.HasPrefix(c.rest, []byte(want)) {
		c.fail("expected %q, found %q", want, c.rest[:min(len(c.rest), len(want))])
		return
	}
	c.rest = c.rest[len(want):]
}

func (c *cursor) digest(member string) string {
	if c.problem != "" {
		return ""
	}
	d := string(c.rest[:hexDigest])
	if !isDigest(d) {
		c.fail("%s is not a digest", member)
		return ""
	}
	c.rest = c.rest[hexDigest:]
	return d
}

func (c *cursor) number() uint64 {
	if c.problem != "" {
		return 0
	}
	n := 0
	for n < len(c.rest) && c.rest[n] >= '0' && c.rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseUint(string(c.rest[:n]), 10, 64)
	if err != nil || c.rest[0] == '0' {
		c.fail("seq is not a number from 1 on")
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

func (c *cursor) time() time.Time {
	raw := c.text("at", func(string) bool { return true })
	if c.problem != "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, raw)
	if err != nil || t.UTC().Format(time.RFC3339Nano) != raw {
		c.fail("at is not a time in UTC")
	}
	return t.UTC()
}

// text reads a JSON string in the one spelling that quote gives it.
func (c *cursor) text(member string, valid func(string) bool) string {
	if c.problem != "" {
		return ""
	}
	end := stringEnd(c.rest)
	if end < 0 {
		c.fail("%s is not a string", member)
		return ""
	}
	raw := c.rest[:end]
	c.rest = c.rest[end:]
	s := string(raw[1 : end-1])
	if !plain(s) {
		if json.Unmarshal(raw, &s) != nil {
			c.fail("%s is not a string", member)
			return ""
		}
		if again, err := quote(s); err != nil || !bytes.Equal(again, raw) {
			c.fail("%s is not written as it should be", member)
			return ""
		}
	}
	if !valid(s) {
		c.fail("%s cannot be %q", member, s)
		return ""
	}
	return s
}

// stringEnd returns the index behind the quote that closes the string at the start of b, or -1.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return -1
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// plain reports whether s is spelled the same inside a JSON string.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// quote returns s as a JSON string, without the detours that make it safe inside HTML.
func quote(s string) ([]byte, error) { return encode(s) }

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func isDigest(s string) bool {
	if len(s) != hexDigest {
		return false
	}
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return true
}
