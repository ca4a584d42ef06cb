package change

// Kind says what stands at a path.
type Kind string

// The kinds. KindOther is a FIFO, a socket or a device: it is reported and never opened.
const (
	KindAbsent    Kind = "absent"
	KindFile      Kind = "file"
	KindSymlink   Kind = "symlink"
	KindDir       Kind = "directory"
	KindSubmodule Kind = "submodule"
	KindOther     Kind = "other"
)

// Pin is what a path was when it was looked at. Only absent paths, regular files, symlinks and submodules are ever pinned
// as an end of a change; the other kinds occur where a refusal names what was found.
type Pin struct {
	Kind Kind `json:"kind"`
	// Perm holds a regular file's permission bits as chmod takes them (0 to 07777).
	Perm uint32 `json:"perm,omitempty"`
	// Size is the number of bytes of the content, or of a symlink's target.
	Size int64 `json:"size,omitempty"`
	// SHA256 is the lower-case hexadecimal digest of the content, or of a symlink's target as it is stored.
	SHA256 string `json:"sha256,omitempty"`
	// OID is the git object id of the blob that git would store for this content at this path, after git's own
	// conversions; for a submodule that of its commit. Empty where that is unknown. It takes no part in comparisons.
	OID string `json:"oid,omitempty"`
}

// Absent returns the pin of a path where nothing stands.
func Absent() Pin { return Pin{Kind: KindAbsent} }

// Exists reports whether anything stands at the path.
func (p Pin) Exists() bool { return p.Kind != KindAbsent && p.Kind != "" }

// HasImage reports whether p pins bytes, which the store keeps. A submodule has none: git keeps its commit elsewhere.
func (p Pin) HasImage() bool { return p.Kind == KindFile || p.Kind == KindSymlink }

// Executable reports whether p is a regular file that its owner may execute, which is all of a mode that git keeps.
func (p Pin) Executable() bool { return p.Kind == KindFile && p.Perm&0o100 != 0 }

// GitMode returns the mode git records: "100644", "100755", "120000", "160000", or "" for anything it does not.
func (p Pin) GitMode() string {
	switch {
	case p.Kind == KindSymlink:
		return "120000"
	case p.Kind == KindSubmodule:
		return "160000"
	case p.Executable():
		return "100755"
	case p.Kind == KindFile:
		return "100644"
	}
	return ""
}

// Equal reports whether p and q are the same file in full: kind, permission bits, size and digest. This is the test at
// the instant of landing.
func (p Pin) Equal(q Pin) bool {
	if !p.Exists() || !q.Exists() {
		return p.Exists() == q.Exists()
	}
	return p.Kind == q.Kind && p.Perm == q.Perm && p.Size == q.Size && p.SHA256 == q.SHA256
}

// SameForGit reports whether git would see p and q as the same: kind, executable bit, size and digest. This is the test
// for "no change" and for bytes that were decided on before.
func (p Pin) SameForGit(q Pin) bool {
	if !p.Exists() || !q.Exists() {
		return p.Exists() == q.Exists()
	}
	return p.GitMode() == q.GitMode() && p.Kind == q.Kind && p.Size == q.Size && p.SHA256 == q.SHA256
}
