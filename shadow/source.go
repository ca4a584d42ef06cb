package shadow

import (
	"context"

	"github.com/correx/correx/internal/change"
)

// Source describes a repository to make a shadow of. The caller reads it from the repository; nothing of it is looked up
// here but the files themselves.
type Source struct {
	// Root is the working tree, GitDir its git directory and CommonDir the one shared by all worktrees, as absolute
	// paths of the operating system.
	Root, GitDir, CommonDir string
	// ObjectFormat is "sha1" (also "") or "sha256".
	ObjectFormat string
	Head         Head
	// Refs are the refs the shadow begins with. refs/stash, refs/bisect, refs/rewritten and refs/worktree are left out.
	Refs []Ref
	// Config holds keys as "git config --list" spells them, with their values, in order; a key may come more than once.
	// What could lead back into the real repository or reach a remote is left out (see ConfigCopied).
	Config [][2]string
	// CopyFiles maps names inside the git directory, with slashes, to the files to copy there: the index, the shared
	// index it is split from, info/exclude, info/attributes, info/sparse-checkout, shallow. Missing files are skipped.
	CopyFiles map[string]string
	// ObjectDirs are the folders objects are borrowed from, as absolute paths.
	ObjectDirs []string
	// Files is exactly what is shown.
	Files []SourceFile
}

// Head is where HEAD points: a branch, or a commit when Ref is "". Unborn says that the branch has no commit yet.
type Head struct {
	Ref, OID string
	Unborn   bool
}

// Ref is a ref by its full name. Peeled is what an annotated tag points to, "" for anything else.
type Ref struct {
	Name, OID, Peeled string
}

// SourceFile is a path to show. What stands there when it is copied decides what it is: a file, a symlink, or nothing.
type SourceFile struct {
	Path change.Path
	// Untracked files are subject to Options.MaxUntracked.
	Untracked bool
	// Submodule marks a folder that is shown empty.
	Submodule bool
	// Nested marks the folder of another repository; it is left out and named in the report.
	Nested bool
}

// Options says where a shadow goes and for whom.
type Options struct {
	// Session names the session: letters, digits, ".", "_" and "-".
	Session, Agent, Name string
	// Parent is the folder where shadows live. It must not lie inside the git directory.
	Parent string
	// State is the folder for the manifest, of this session alone. Both are made when missing.
	State string
	// Worktree is the id under which correx knows the worktree.
	Worktree string
	// Backend is "copy", "clone", or "" for the clone backend where it works and the copy backend elsewhere.
	Backend string
	// MaxUntracked is the size in bytes above which an untracked file is left out; 0 means no limit.
	MaxUntracked int64
	// Progress, when not nil, is told how many of the files are done, from one goroutine at a time.
	Progress func(done, total int)
	// Seq is the number of the ledger's last event that the real tree's content reflects.
	Seq uint64
	// Workers is the number of files copied at a time; 0 means one for each processor.
	Workers int
	// Holder is what others are told of this process while it holds the manifest's lock.
	Holder string
}

// The backends.
const (
	BackendCopy  = "copy"
	BackendClone = "clone"
)

// Reason says why a path of the real tree is not shown.
type Reason string

// The reasons.
const (
	TooLarge    Reason = "too large"
	Special     Reason = "not a regular file"
	Nested      Reason = "another repository"
	Unreadable  Reason = "not readable"
	NameTooLong Reason = "path too long"
)

// LeftOut is a path that the real tree holds and the shadow does not show. What an agent puts there is found by a scan and
// marked, so that it can be refused.
type LeftOut struct {
	Path   change.Path
	Reason Reason
	// Detail is for a person: the size, the error.
	Detail string
}

// Report says what Open or Reset did.
type Report struct {
	// Files counts files and symlinks, Bytes their content.
	Files   int
	Bytes   int64
	Backend string
	// LeftOut is in ascending order of paths.
	LeftOut []LeftOut
}

// IgnoreFunc says which of paths git ignores in the real repository; dirs holds those that are folders. None of the paths
// is shown by the shadow, lies inside a submodule or has a component that is a spelling of ".git"; a folder
// among them may be a symlink in the real tree, and the others may lie below one.
type IgnoreFunc func(ctx context.Context, paths []change.Path, dirs map[change.Path]bool) (map[change.Path]bool, error)
