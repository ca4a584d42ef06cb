package projection

import (
	"time"

	"github.com/correx/correx/internal/change"
)

// Facts is what a verdict was made from besides the set and the policy, so that it can be made again by another policy.
type Facts struct {
	// Now is when it was made, with the offset of the clock on the wall.
	Now time.Time `json:"now,omitzero"`
	// UsedFiles and UsedBytes are what had landed by itself before, as it counted against the budget.
	UsedFiles int    `json:"used_files,omitempty"`
	UsedBytes int64  `json:"used_bytes,omitempty"`
	Enforced  string `json:"enforced,omitempty"`
	// Waits is why the set asks even if policy lets it pass, in the words of Verdict.SettledBy.
	Waits string `json:"waits,omitempty"`
	// Own marks what a person had correx write: no policy was asked.
	Own bool `json:"own,omitempty"`
	// Files has the files about which there is more to know than their change says.
	Files []FileFacts `json:"files,omitempty"`
}

// FileFacts is what was known about one file of a set; members are as in the policy's own facts. NoPreImage is the opposite
// of what the policy calls it, so that what is missing is the usual.
type FileFacts struct {
	// File is the index of the file in the set.
	File              int         `json:"file"`
	NoPreImage        bool        `json:"no_pre_image,omitempty"`
	Submodule         bool        `json:"submodule,omitempty"`
	Ignored           bool        `json:"ignored,omitempty"`
	HardLink          bool        `json:"hard_link,omitempty"`
	UnderLink         bool        `json:"under_link,omitempty"`
	LinkOutside       bool        `json:"link_outside,omitempty"`
	LinkTarget        change.Path `json:"link_target,omitempty"`
	CopyOf            change.Path `json:"copy_of,omitempty"`
	Rollback          bool        `json:"rollback,omitempty"`
	Recoded           bool        `json:"recoded,omitempty"`
	CorrexOwn         bool        `json:"correx_own,omitempty"`
	GitProgram        string      `json:"git_program,omitempty"`
	BareRepository    bool        `json:"bare_repository,omitempty"`
	ShadowsMakefile   bool        `json:"shadows_makefile,omitempty"`
	UntrackedTooLarge bool        `json:"untracked_too_large,omitempty"`
}
