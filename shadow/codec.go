package shadow

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/correx/correx/internal/change"
)

// The manifest's file: manifestMagic, the header as one line of JSON, the number of entries, the entries in ascending
// order of their paths, and the SHA-256 of everything before it. Numbers are little-endian. An entry is
//
//	path length  uint16, then the path
//	kind, flags  uint8 each
//	size         int64; only file and symlink
//	perm         uint16; only file
//	digest       32 bytes; only file and symlink, not when lazy
//	seen         size, mtime, ctime (int64 each), inode (uint64); only with hasStat
//	origin       the same; only when lazy
//	reason       length uint8, then the text; only left out
//
// Fields may be added only under a new version in the magic; a reader refuses versions it does not know.
const (
	manifestMagic   = "correx shadow manifest 1\n"
	manifestVersion = 1
	// manifestLimit bounds what is read into memory: about five million entries.
	manifestLimit = 1 << 30
	statBytes     = 32
)

// encode returns the file's bytes.
func (m *manifest) encode() ([]byte, error) {
	head, err := json.Marshal(m.head)
	if err != nil {
		return nil, err
	}
	size := len(manifestMagic) + len(head) + 1 + 8 + sha256.Size
	for i := range m.entries {
		size += len(m.entries[i].path) + 2 + 2 + 8 + 2 + sha256.Size + 2*statBytes + 1 + len(m.entries[i].reason)
	}
	out := make([]byte, 0, size)
	out = append(append(append(out, manifestMagic...), head...), '\n')
	out = binary.LittleEndian.AppendUint64(out, uint64(len(m.entries)))
	for i := range m.entries {
		e := &m.entries[i]
		if len(e.path) > maxPath || len(e.reason) > 255 {
			return nil, fmt.Errorf("manifest entry %q: too long", e.path)
		}
		out = e.append(out)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

func (e *entry) append(out []byte) []byte {
	le := binary.LittleEndian
	out = le.AppendUint16(out, uint16(len(e.path)))
	out = append(out, e.path...)
	out = append(out, byte(e.kind), e.flags)
	if e.kind == entryFile || e.kind == entrySymlink {
		out = le.AppendUint64(out, uint64(e.size))
		if e.kind == entryFile {
			out = le.AppendUint16(out, uint16(e.perm))
		}
		if e.flags&lazy == 0 {
			out = append(out, e.sum[:]...)
		}
	}
	if e.flags&hasStat != 0 {
		out = e.seen.append(out)
	}
	if e.flags&lazy != 0 {
		out = e.origin.append(out)
	}
	if e.kind == entryLeftOut {
		out = append(append(out, byte(len(e.reason))), e.reason...)
	}
	return out
}

func (st stat) append(out []byte) []byte {
	le := binary.LittleEndian
	out = le.AppendUint64(out, uint64(st.size))
	out = le.AppendUint64(out, uint64(st.mtime))
	out = le.AppendUint64(out, uint64(st.ctime))
	return le.AppendUint64(out, st.ino)
}

// decode reads what encode wrote. Anything else is an error that says what is wrong with it.
func decode(data []byte) (*manifest, error) {
	if !bytes.HasPrefix(data, []byte(manifestMagic)) {
		return nil, fmt.Errorf("does not begin with %q", manifestMagic)
	}
	if len(data) < len(manifestMagic)+sha256.Size {
		return nil, fmt.Errorf("ends early")
	}
	body := data[:len(data)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], data[len(body):]) {
		return nil, fmt.Errorf("checksum is %x, expected %x", sum[:6], data[len(body):len(body)+6])
	}
	body = body[len(manifestMagic):]
	line, rest, ok := bytes.Cut(body, []byte("\n"))
	if !ok {
		return nil, fmt.Errorf("has no header")
	}
	m := &manifest{}
	if err := json.Unmarshal(line, &m.head); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if m.head.Version != manifestVersion {
		return nil, fmt.Errorf("version is %d, expected %d", m.head.Version, manifestVersion)
	}
	entries, err := decodeEntries(string(rest))
	m.entries = entries
	return m, err
}

// decodeEntries reads the count and the entries. Their paths share the memory of text.
func decodeEntries(text string) ([]entry, error) {
	r := &reader{rest: text}
	count := r.uint64()
	if count > uint64(len(text))/4 { // Every entry takes at least four bytes.
		return nil, fmt.Errorf("counts %d entries in %d bytes", count, len(text))
	}
	entries := make([]entry, count)
	last := change.Path("")
	for i := range entries {
		e := &entries[i]
		if problem := r.entry(e); problem != "" {
			return nil, fmt.Errorf("entry %d: %s", i+1, problem)
		}
		if e.path <= last {
			return nil, fmt.Errorf("entry %d: %q is out of order", i+1, e.path)
		}
		last = e.path
	}
	if r.rest != "" || r.short {
		return nil, fmt.Errorf("holds %d bytes more than its entries", len(r.rest))
	}
	return entries, nil
}

// reader takes values off the front of rest. When rest is too short, short is set and the values are zero.
type reader struct {
	rest  string
	short bool
}

func (r *reader) take(n int) string {
	if n > len(r.rest) {
		r.short = true
		return ""
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part
}

func (r *reader) uint8() uint8 {
	if b := r.take(1); b != "" {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	b := r.take(2)
	if b == "" {
		return 0
	}
	return uint16(b[0]) | uint16(b[1])<<8
}

func (r *reader) uint64() uint64 {
	b := r.take(8)
	if b == "" {
		return 0
	}
	var n uint64
	for i := range 8 {
		n |= uint64(b[i]) << (8 * i)
	}
	return n
}

func (r *reader) stat() stat {
	return stat{size: int64(r.uint64()), mtime: int64(r.uint64()), ctime: int64(r.uint64()), ino: r.uint64()}
}

// entry reads one entry and returns what is wrong with it, or "".
func (r *reader) entry(e *entry) string {
	e.path = change.Path(r.take(int(r.uint16())))
	e.kind, e.flags = entryKind(r.uint8()), r.uint8()
	if e.kind == 0 || e.kind >= entryKindEnd || e.flags >= flagsEnd {
		return fmt.Sprintf("kind %d with flags %d", e.kind, e.flags)
	}
	content := e.kind == entryFile || e.kind == entrySymlink
	if !content && e.flags != 0 || e.kind == entrySymlink && e.flags&lazy != 0 {
		return fmt.Sprintf("kind %d with flags %d", e.kind, e.flags)
	}
	if content {
		e.size = int64(r.uint64())
		if e.kind == entryFile {
			e.perm = uint32(r.uint16())
		}
		if e.flags&lazy == 0 {
			copy(e.sum[:], r.take(len(e.sum)))
		}
	}
	if e.flags&hasStat != 0 {
		e.seen = r.stat()
	}
	if e.flags&lazy != 0 {
		origin := r.stat()
		e.origin = &origin
	}
	if e.kind == entryLeftOut {
		e.reason = Reason(strings.Clone(r.take(int(r.uint8()))))
	}
	if r.short {
		return "ends early"
	}
	if e.size < 0 || e.perm > 0o7777 {
		return fmt.Sprintf("size %d, mode %o", e.size, e.perm)
	}
	if _, err := change.ParsePath(string(e.path)); err != nil {
		return err.Error()
	}
	return ""
}
