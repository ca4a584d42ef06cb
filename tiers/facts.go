package tiers

import "github.com/correx/correx/internal/change"

// FileFacts is one file change and what a look at the real tree, at git and at the set it is part of has shown about it.
// The zero value of a fact is the harmless one, but for PreImageStored.
type FileFacts struct {
	File change.FileChange
	// PreImageStored says that what the path held is kept, so that landing can be taken back. It counts only where the
	// path held something. For origin commit the content git has committed is such a copy.
	PreImageStored bool
	// Submodule: the path is a submodule or a nested repository, or lies in one.
	Submodule bool
	// Ignored: git ignores the path in the real tree.
	Ignored bool
	// HardLink: the real file has more than one name.
	HardLink bool
	// UnderLink: a parent of the path is a symlink in the real tree, and the same set does not take that symlink away.
	UnderLink bool
	// LinkOutside: the proposed symlink leads out of the repository, as ResolveLink or a look at the disk says.
	LinkOutside bool
	// LinkTarget is the path in the repository that the proposed symlink leads to; "" for the root, or for no symlink.
	LinkTarget change.Path
	// CopyOf is a path whose content the proposed content repeats; "" for none. For a copy OldPath is looked at as well.
	CopyOf change.Path
	// Rollback: the change would bring back what git has recorded for the path, and what was changed since would be gone.
	Rollback bool
	// Recoded: a text is saved in another encoding, UTF-8 instead of what it was or the other way round.
	Recoded bool
	// CorrexOwn: the path is correx's state, configuration or program, by the place this correx really uses.
	CorrexOwn bool
	// GitProgram is the key of git's configuration by which git runs or reads the path, such as "core.hooksPath".
	GitProgram string
	// BareRepository: after landing the path would be part of a folder that git takes for a bare repository.
	BareRepository bool
	// ShadowsMakefile: after landing make would read the path instead of another file beside it.
	ShadowsMakefile bool
	// UntrackedTooLarge: the real file is untracked and over the limit of what shadows hold, so nobody has its content.
	UntrackedTooLarge bool
}

// Usage is what a session has landed by itself since a person last decided.
type Usage struct {
	Files int
	Bytes int64
}

// Facts is what there is to know about a change set.
type Facts struct {
	Files  []FileFacts
	Origin change.Origin
	// Used is what the session has used of its budget before this set.
	Used Usage
	// Enforced is how far the session is confined: "full", "tree", "partial" or "none". Anything else counts as none.
	Enforced string
	// Now is when it is judged, for rules that hold at times.
	Now Moment
}

// The limits that hold where no configuration says otherwise.
const (
	defaultMaxBytes     = 65536
	defaultMaxFiles     = 1
	defaultSessionBytes = 262144
	defaultSessionFiles = 20
)

// Policy is the settings that verdicts depend on. The zero Policy lets nothing land by itself.
type Policy struct {
	// Mode is the highest tier that passes without a person; one that is not known asks about everything.
	Mode change.Mode
	// MaxBytes and MaxFiles are what a set may hold to land by itself: bytes added plus removed, and files.
	MaxBytes int64
	MaxFiles int
	// SessionBytes and SessionFiles are what a session may land by itself until a person decides again.
	SessionBytes int64
	SessionFiles int
	// RequireSandbox makes everything ask in a session that is confined less than "tree".
	RequireSandbox bool
	// Protect adds protected names.
	Protect []Protect
	// Rules are the rules of all layers, from the lowest layer on and in the order of their files. A deny that holds counts
	// wherever it stands; of an allow and an ask in one layer the later counts, of those in several the ask.
	Rules []Rule
	// Grants are the remembered yeses, in the order in which they are looked at.
	Grants []Grant
	// Untrusted is the policy that would hold if what somebody's repository says were trusted, where that is another.
	Untrusted *Policy
	// Source says where a setting is written, by its key in the configuration: "auto.max_bytes": ".correx.toml:14". A
	// setting without an entry is a built-in one.
	Source map[string]string
}

// Default returns the policy that holds without any configuration.
func Default() Policy {
	return Policy{
		Mode:         change.ModeAuto,
		MaxBytes:     defaultMaxBytes,
		MaxFiles:     defaultMaxFiles,
		SessionBytes: defaultSessionBytes,
		SessionFiles: defaultSessionFiles,
	}
}

// written returns where the setting key is written, for the end of a clause.
func (p Policy) written(key string) string {
	if at := p.Source[key]; at != "" {
		return " (" + at + ")"
	}
	return ""
}
