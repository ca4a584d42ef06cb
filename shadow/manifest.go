package shadow

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// stat is what tells whether a file was written since it was last looked at.
type stat struct {
	size, mtime, ctime int64
	ino                uint64
}

func statOf(i durable.Info) stat {
	return stat{size: i.Size, mtime: i.MTimeNS, ctime: i.CTimeNS, ino: i.Ino}
}

// tickOf returns how far apart two changes must lie for the file system that gave ctime to tell them apart, with room
// to spare: Linux' slowest clock ticks every 10 ms, file systems without sub-second times every second or two.
func tickOf(ctime int64) int64 {
	if ctime%1e9 == 0 {
		return 2e9
	}
	return 20e6
}

// settled reports whether a change made at or after now would give another ctime than the one in st.
func (st stat) settled(now int64) bool { return now != 0 && st.ctime+tickOf(st.ctime) < now }

// entryKind says what an entry of the manifest stands for.
type entryKind uint8

const (
	entryFile entryKind = iota + 1
	entrySymlink
	entrySubmodule
	// entryLeftOut is a path of the real tree that the shadow does not show: its reason says why.
	entryLeftOut
	entryKindEnd
)

const (
	// hasStat: the shadow's file with exactly this stat holds the base.
	hasStat uint8 = 1 << iota
	// racy: the stat was taken in the same tick as the last change, so it does not prove anything yet.
	racy
	// lazy: the base's digest was not computed; origin is the stat of the real file that was cloned.
	lazy
	flagsEnd
)

// entry is one path of the manifest.
type entry struct {
	path   change.Path
	size   int64
	sum    [32]byte
	seen   stat
	origin *stat
	perm   uint32
	kind   entryKind
	flags  uint8
	reason Reason
}

// saw records the stat of the shadow's file while it held the base. It was taken after now, the file system's time.
func (e *entry) saw(st stat, now int64) {
	e.seen, e.flags = st, e.flags|hasStat|racy
	if st.settled(now) {
		e.flags &^= racy
	}
}

// pin returns the base. It must not be called on a lazy or left-out entry.
func (e *entry) pin() change.Pin {
	switch e.kind {
	case entryFile:
		return change.Pin{Kind: change.KindFile, Perm: e.perm, Size: e.size, SHA256: hex.EncodeToString(e.sum[:])}
	case entrySymlink:
		return change.Pin{Kind: change.KindSymlink, Size: e.size, SHA256: hex.EncodeToString(e.sum[:])}
	case entrySubmodule:
		return change.Pin{Kind: change.KindSubmodule}
	}
	return change.Absent()
}

// pinned returns an entry whose base is pin; ok is false for a pin that is no end of a change.
func pinned(p change.Path, pin change.Pin) (e entry, ok bool) {
	e = entry{path: p, size: pin.Size, perm: pin.Perm}
	switch pin.Kind {
	case change.KindFile:
		e.kind = entryFile
	case change.KindSymlink:
		e.kind, e.perm = entrySymlink, 0
	case change.KindSubmodule:
		return entry{path: p, kind: entrySubmodule}, true
	default:
		return entry{}, false
	}
	n, err := hex.Decode(e.sum[:], []byte(pin.SHA256))
	return e, err == nil && n == len(e.sum) && len(pin.SHA256) == 2*len(e.sum) && pin.Size >= 0 && pin.Perm <= 0o7777
}

// header is what a manifest says of its shadow as a whole.
type header struct {
	Version    int     `json:"version"`
	Session    string  `json:"session"`
	Agent      string  `json:"agent,omitempty"`
	Name       string  `json:"name,omitempty"`
	Backend    string  `json:"backend"`
	Tree       rawText `json:"tree"`
	Worktree   string  `json:"worktree"`
	GitDir     rawText `json:"git_dir"`
	CommonDir  rawText `json:"common_dir"`
	Seq        uint64  `json:"seq"`
	Generation uint64  `json:"generation"`
}

// manifest is what a shadow last saw of the real tree. Entries are in ascending order of their paths' bytes, each path
// once. A manifest that others can see is never changed: with returns a new one.
type manifest struct {
	head    header
	entries []entry
}

// find returns the index of p, or where it would stand.
func (m *manifest) find(p change.Path) (int, bool) {
	return slices.BinarySearchFunc(m.entries, p, func(e entry, p change.Path) int {
		return strings.Compare(string(e.path), string(p))
	})
}

// get returns the entry of p, or nil.
func (m *manifest) get(p change.Path) *entry {
	if i, ok := m.find(p); ok {
		return &m.entries[i]
	}
	return nil
}

// beneath returns the half-open range of the entries strictly below the folder dir.
func (m *manifest) beneath(dir change.Path) (lo, hi int) {
	if dir == "" {
		return 0, len(m.entries)
	}
	return m.beneathIn(dir, 0, len(m.entries))
}

// beneathIn is beneath for a folder that is known to lie in the range lo to hi.
func (m *manifest) beneathIn(dir change.Path, lo, hi int) (int, int) {
	part := m.entries[lo:hi]
	// "/" + 1 is "0", so everything with the prefix dir + "/" sorts between the two.
	from, _ := slices.BinarySearchFunc(part, dir+"/", comparePath)
	to, _ := slices.BinarySearchFunc(part, dir+"0", comparePath)
	return lo + from, lo + to
}

func comparePath(e entry, p change.Path) int { return strings.Compare(string(e.path), string(p)) }

// with returns a manifest in which put replaces the entries of the same paths and drop are gone.
func (m *manifest) with(put []entry, drop map[change.Path]bool) *manifest {
	put = slices.Clone(put)
	slices.SortFunc(put, func(a, b entry) int { return strings.Compare(string(a.path), string(b.path)) })
	next := &manifest{head: m.head, entries: make([]entry, 0, len(m.entries)+len(put))}
	i := 0
	for _, e := range m.entries {
		for i < len(put) && put[i].path < e.path {
			next.entries = append(next.entries, put[i])
			i++
		}
		if i < len(put) && put[i].path == e.path || drop[e.path] {
			continue
		}
		next.entries = append(next.entries, e)
	}
	next.entries = append(next.entries, put[i:]...)
	return next
}
