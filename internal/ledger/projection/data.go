package projection

import (
	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
)

// The structs below are what the events of the same name carry in `data`, one struct an event type. They are stored for
// ever: a member may be added, none may change its name, its type or its meaning, and none may be taken away while a
// ledger that holds it can still be read.

// SessionOpened records a new shadow.
type SessionOpened struct {
	Session  string `json:"session"`
	Name     string `json:"name,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Worktree string `json:"worktree"`
	Backend  string `json:"backend"`
	// Tree is the shadow's folder on this machine, as bytes of an operating-system path.
	Tree string `json:"tree"`
	// Enforced is how far the kernel holds the session to its shadow: full, tree, partial or none.
	Enforced string `json:"enforced"`
}

// SessionClosed ends a session; its waiting sets stay decidable.
type SessionClosed struct {
	Session string `json:"session"`
}

// ChangeStaged carries a change set whole, as it was submitted.
type ChangeStaged struct {
	Set change.Set `json:"set"`
}

// PreflightCompleted carries the verdict on a staged set, and the outcome for each of its files in the set's order.
type PreflightCompleted struct {
	Set     int            `json:"set"`
	Verdict change.Verdict `json:"verdict"`
	Files   []FileOutcome  `json:"files,omitempty"`
	// Facts is what the verdict was made from; nil for a set that takes another back, and in ledgers of earlier versions.
	Facts *Facts `json:"facts,omitempty"`
}

// Escalated says that the user's own program raised the verdict on a staged set, which comes after it: from auto to ask, or
// from either to deny. Failed says that the program gave no answer.
type Escalated struct {
	Set    int            `json:"set"`
	From   change.Outcome `json:"from"`
	To     change.Outcome `json:"to"`
	Reason string         `json:"reason"`
	Failed bool           `json:"failed,omitempty"`
}

// FileOutcome is the verdict on one file of a set by itself.
type FileOutcome struct {
	Outcome change.Outcome  `json:"outcome"`
	Reasons []change.Reason `json:"reasons,omitempty"`
}

// SetEvent names a set and, where it matters, its digest: ApprovalRequired, UndoIssued, CommitBlocked.
type SetEvent struct {
	Set    int    `json:"set"`
	Digest string `json:"digest,omitempty"`
}

// Decided carries a decision: ApprovalGranted, ApprovalGrantedAuto, ApprovalReused, ApprovalRejected, ApprovalSkipped, and
// ApprovalTimedOut, which nobody took.
type Decided struct {
	Set      int             `json:"set"`
	Request  string          `json:"request,omitempty"`
	Decision change.Decision `json:"decision"`
	// Only lists the paths of a partial approval; empty means all.
	Only []change.Path `json:"only,omitempty"`
	// Hunks says which hunks of the one path in Only a person chose; without it files land whole. It occurs in
	// ApprovalGranted alone.
	Hunks *ChosenHunks `json:"hunks,omitempty"`
	// GrantHit is the id of the grant that let the set in, and GrantHits of all where several had to. They occur in
	// ApprovalReused alone.
	GrantHit  string   `json:"grant_hit,omitempty"`
	GrantHits []string `json:"grant_hits,omitempty"`
}

// ChosenHunks is the part of one edit or overwrite that a person let land: some of its hunks. All else of the file stays
// what the base is, its mode included.
type ChosenHunks struct {
	// File is what lands: from the base to the base with the lines of the chosen hunks replaced.
	File change.FileChange `json:"file"`
	// Chosen are the hunks in order, numbered as in the whole edit, which has Of of them.
	Chosen []change.Hunk `json:"chosen"`
	Of     int           `json:"of"`
}

// Stale names the paths that were not what the set was based on, and what was found there.
type Stale struct {
	Set   int         `json:"set"`
	Paths []StalePath `json:"paths"`
}

// StalePath is one path that moved.
type StalePath struct {
	Path     change.Path `json:"path"`
	Expected change.Pin  `json:"expected"`
	Found    change.Pin  `json:"found"`
}

// Superseded says that a set no longer waits because By took its place; 0 when its paths went back to their base.
type Superseded struct {
	Set int `json:"set"`
	By  int `json:"by,omitempty"`
}

// Applied is the closing event of a landing (ChangeApplied, and UndoApplied for a set that reverts another): after it is
// flushed the landing counts.
type Applied struct {
	Set     int `json:"set"`
	Reverts int `json:"reverts,omitempty"`
	// Landing is the id of the decision event under which it landed.
	Landing string `json:"landing"`
	// Steps are the paths with the pins as they really are on disk.
	Steps []change.Step `json:"steps"`
	// Folders are the folders the landing had to make.
	Folders []change.Path `json:"folders,omitempty"`
	// Removed are the folders that go with the landing once nothing is left in them, as they were.
	Removed []change.Folder `json:"removed_folders,omitempty"`
	// Credential is the SHA-256 of the undo credential.
	Credential string `json:"credential"`
}

// Reverted records a landing that went back, with the paths a person had changed meanwhile and which were left alone.
type Reverted struct {
	Set     int           `json:"set"`
	Landing string        `json:"landing"`
	Cause   string        `json:"cause"`
	Kept    []change.Path `json:"kept,omitempty"`
}

// UndoRefused records an undo that would have overwritten something.
type UndoRefused struct {
	Set   int         `json:"set"`
	Paths []StalePath `json:"paths"`
}

// ModeChanged sets the mode of the repository.
type ModeChanged struct {
	Mode change.Mode `json:"mode"`
	How  string      `json:"how"`
}

// Stage begins or ends a named phase of a session.
type Stage struct {
	Session string `json:"session"`
	Stage   string `json:"stage"`
}

// GrantAdded is a person's lasting yes for a session, or for the stage that the event Began opened.
type GrantAdded struct {
	Grant   grants.Grant `json:"grant"`
	Session string       `json:"session"`
	Stage   string       `json:"stage,omitempty"`
	Began   string       `json:"began,omitempty"`
	// Set is the change set that it was given with, or 0.
	Set int    `json:"set,omitempty"`
	How string `json:"how"`
}

// GrantLoaded notes a project's grant when it was written, or used for the first time.
type GrantLoaded struct {
	Grant grants.Grant `json:"grant"`
	File  string       `json:"file"`
	Set   int          `json:"set,omitempty"`
	// How is how a person gave it; empty where it was found in the file.
	How string `json:"how,omitempty"`
	// Landing is the id of the decision event under which the edit of the file landed, which this event then closes.
	Landing string `json:"landing,omitempty"`
}

// GrantRevoked takes a grant back.
type GrantRevoked struct {
	Grant string       `json:"grant"`
	Scope grants.Scope `json:"scope"`
	How   string       `json:"how"`
	// Landing as in GrantLoaded.
	Landing string `json:"landing,omitempty"`
}

// ConfigTrusted says that a person trusts these bytes of a repository's settings. SHA256 is empty where the file is not
// there.
type ConfigTrusted struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	// Loosens counts what they loosen.
	Loosens int    `json:"loosens"`
	How     string `json:"how"`
}
