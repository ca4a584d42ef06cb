package change

// Op says what a file change does.
type Op string

// The ops. An overwrite is an edit that keeps less than half of the old content; retype changes what kind of thing a
// path is (file to symlink and back); symlink creates or retargets a symlink.
const (
	OpCreate    Op = "create"
	OpEdit      Op = "edit"
	OpOverwrite Op = "overwrite"
	OpDelete    Op = "delete"
	OpRename    Op = "rename"
	OpCopy      Op = "copy"
	OpChmod     Op = "chmod"
	OpSymlink   Op = "symlink"
	OpRetype    Op = "retype"
)

// Ops returns every op there is.
func Ops() []Op {
	return []Op{OpCreate, OpEdit, OpOverwrite, OpDelete, OpRename, OpCopy, OpChmod, OpSymlink, OpRetype}
}

// FileState says what became of one file change of a set.
type FileState string

// The states of a file change.
const (
	FilePending  FileState = "pending"
	FileApproved FileState = "approved"
	FileRejected FileState = "rejected"
	FileApplied  FileState = "applied"
	FileUndone   FileState = "undone"
)

// FileChange is one path in a change set, pinned at both ends.
type FileChange struct {
	Path Path `json:"path"`
	// OldPath is where a rename comes from, or what a copy was made of.
	OldPath Path `json:"old_path,omitempty"`
	Op      Op   `json:"op"`
	// Base is the real file the change was made against: for a rename the one at OldPath, for a create or a copy absent.
	Base Pin `json:"base"`
	// Proposed is what the path would hold: absent for a delete. Of its permission bits only the executable one counts.
	Proposed Pin `json:"proposed"`
	// Added and Removed count lines as git does; both are 0 for binary content.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Bytes is the size of what is added plus what is removed: the measure of the envelope.
	Bytes  int64 `json:"bytes"`
	Binary bool  `json:"binary,omitempty"`
	// Kept is the share of the old content that is still there, in thousandths.
	Kept int `json:"kept,omitempty"`
	// Hidden counts control, bidirectional and zero-width characters in what is added.
	Hidden int `json:"hidden,omitempty"`
	// TooLarge marks content that was pinned but not compared line by line.
	TooLarge bool `json:"too_large,omitempty"`
}

// Hunk is one block of a text edit: a run of lines of the base, and the run that takes its place. Where a run is empty its
// start is the line before it, else its first line; lines count from 1, as in the headers of a diff without context.
type Hunk struct {
	// Number counts the hunks of one file change from 1, in order.
	Number   int `json:"hunk"`
	OldStart int `json:"old_start"`
	OldLines int `json:"old_lines"`
	NewStart int `json:"new_start"`
	NewLines int `json:"new_lines"`
}

// HasHunks reports whether c puts lines of a text file in the place of others, so that some of them can be chosen: it is
// an edit or overwrite of a regular file that was compared line by line. A rename is not, whatever else it does.
func (c FileChange) HasHunks() bool {
	return (c.Op == OpEdit || c.Op == OpOverwrite) && c.Base.Kind == KindFile && c.Proposed.Kind == KindFile && !c.Binary && !c.TooLarge
}

// Step is one path of the real tree going from one pin to another.
type Step struct {
	Path   Path `json:"path"`
	Base   Pin  `json:"base"`
	Result Pin  `json:"result"`
}

// Folder is a folder with its permission bits.
type Folder struct {
	Path Path   `json:"path"`
	Perm uint32 `json:"perm"`
}

// Steps returns what landing c does to single paths: two steps for a rename, else one.
func (c FileChange) Steps() []Step {
	if c.Op == OpRename {
		return []Step{
			{Path: c.OldPath, Base: c.Base, Result: Absent()},
			{Path: c.Path, Base: Absent(), Result: c.Proposed},
		}
	}
	return []Step{{Path: c.Path, Base: c.Base, Result: c.Proposed}}
}

// Paths returns every path of the real tree that landing c touches.
func (c FileChange) Paths() []Path {
	if c.Op == OpRename {
		return []Path{c.OldPath, c.Path}
	}
	return []Path{c.Path}
}

// Same reports whether c and d propose the same thing on the same base.
func (c FileChange) Same(d FileChange) bool {
	return c.Path == d.Path && (c.Op == OpRename) == (d.Op == OpRename) && (c.Op != OpRename || c.OldPath == d.OldPath) &&
		c.Base.SameForGit(d.Base) && c.Proposed.SameForGit(d.Proposed)
}
