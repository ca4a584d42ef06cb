package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// State is where a change set stands.
type State string

// The states of a change set; docs/architecture.md draws how they follow each other.
const (
	StateStaged            State = "staged"
	StateStale             State = "stale"
	StateDenied            State = "denied"
	StatePending           State = "pending"
	StateApproved          State = "approved"
	StateApplied           State = "applied"
	StatePartiallyAccepted State = "partially_accepted"
	StateRejected          State = "rejected"
	StateSkipped           State = "skipped"
	StateTimedOut          State = "timed_out"
	StateSuperseded        State = "superseded"
	StateUndone            State = "undone"
)

// Waits reports whether a person can still decide on a set in this state, or has decided and it has not landed.
func (s State) Waits() bool { return s == StatePending || s == StateApproved }

// Landed reports whether the set's content is in the real tree by its landing.
func (s State) Landed() bool { return s == StateApplied || s == StatePartiallyAccepted }

// Origin says where a change set came from.
type Origin string

// The origins.
const (
	OriginShadow Origin = "shadow"
	OriginCommit Origin = "commit"
	OriginAgent  Origin = "agent"
	OriginUndo   Origin = "undo"
)

// Outcome is the verdict's word.
type Outcome string

// The outcomes of a verdict.
const (
	Auto Outcome = "auto"
	Ask  Outcome = "ask"
	Deny Outcome = "deny"
)

// Mode is the highest tier that passes without a person.
type Mode string

// The modes, from the strictest to the loosest.
const (
	ModeDeny   Mode = "deny"
	ModePrompt Mode = "prompt"
	ModeAuto   Mode = "auto"
	ModeYolo   Mode = "yolo"
)

// StricterThan reports whether m lets less pass by itself than o. A mode that is not known lets nothing pass.
func (m Mode) StricterThan(o Mode) bool { return m.rank() < o.rank() }

func (m Mode) rank() int {
	switch m {
	case ModePrompt:
		return 1
	case ModeAuto:
		return 2
	case ModeYolo:
		return 3
	}
	return 0
}

// Tier grades what a change reaches.
type Tier string

// The tiers.
const (
	T0 Tier = "T0"
	T1 Tier = "T1"
	T2 Tier = "T2"
	T3 Tier = "T3"
	T4 Tier = "T4"
)

// Risk sums up tier and reasons for a reader.
type Risk string

// The risks.
const (
	RiskLow      Risk = "low"
	RiskMedium   Risk = "medium"
	RiskHigh     Risk = "high"
	RiskCritical Risk = "critical"
)

// Reason is a code that says why a change does not simply pass.
type Reason string

// The reason codes.
const (
	TooLarge             Reason = "too_large"
	MultiFile            Reason = "multi_file"
	Overwrite            Reason = "overwrite"
	Binary               Reason = "binary"
	Executable           Reason = "executable"
	Symlink              Reason = "symlink"
	HardLink             Reason = "hard_link"
	DestructiveOperation Reason = "destructive_operation"
	ProtectedTarget      Reason = "protected_target"
	OutsideRepository    Reason = "outside_repository"
	Submodule            Reason = "submodule"
	IgnoredPath          Reason = "ignored_path"
	HiddenCharacters     Reason = "hidden_characters"
	Budget               Reason = "budget"
	UntrustedConfig      Reason = "untrusted_config"
	NoSandbox            Reason = "no_sandbox"
	RuleAsk              Reason = "rule_ask"
	RuleDeny             Reason = "rule_deny"
	Unclassified         Reason = "unclassified"
)

// Verdict is what policy says of a change set.
type Verdict struct {
	Outcome Outcome  `json:"outcome"`
	Tier    Tier     `json:"tier"`
	Risk    Risk     `json:"risk"`
	Reasons []Reason `json:"reasons"`
	// SettledBy names the limit, protection, mode, rule or grant that decided, as a config key or a built-in's name.
	SettledBy string `json:"settled_by"`
	// Why says the same for a person, one clause a reason, in the order of Reasons: `protected path ".github/**"`.
	Why []string `json:"why,omitempty"`
}

// Set is what was submitted together. It is never changed after it was staged; what became of it is the ledger's.
type Set struct {
	ID       int    `json:"id"`
	Session  string `json:"session,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Worktree string `json:"worktree"`
	Stage    string `json:"stage,omitempty"`
	Origin   Origin `json:"origin"`
	Message  string `json:"message,omitempty"`
	// Parent is the set this one is the undecided rest of.
	Parent int `json:"parent,omitempty"`
	// Reverts is the set that landing this one takes back.
	Reverts   int          `json:"reverts,omitempty"`
	Files     []FileChange `json:"files"`
	Digest    string       `json:"digest"`
	CreatedAt time.Time    `json:"created_at"`
}

// Digest returns the digest of what landing files would do: every path with both pins, in order. A decision names it, so
// that a number can never come to mean other content.
func Digest(files []FileChange) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00", f.Op, f.Path, f.OldPath)
		for _, p := range []Pin{f.Base, f.Proposed} {
			fmt.Fprintf(h, "%s\x00%o\x00%d\x00%s\x00", p.Kind, p.Perm, p.Size, p.SHA256)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Steps returns the steps of all files of s, in order.
func (s Set) Steps() []Step {
	var steps []Step
	for _, f := range s.Files {
		steps = append(steps, f.Steps()...)
	}
	return steps
}

// Same reports whether s proposes exactly files, in any order.
func (s Set) Same(files []FileChange) bool {
	if len(s.Files) != len(files) {
		return false
	}
	byPath := make(map[Path]FileChange, len(files))
	for _, f := range files {
		byPath[f.Path] = f
	}
	for _, f := range s.Files {
		other, ok := byPath[f.Path]
		if !ok || !f.Same(other) {
			return false
		}
	}
	return true
}

// DecisionKind is what was decided.
type DecisionKind string

// The kinds of decision.
const (
	Approved DecisionKind = "approved"
	Rejected DecisionKind = "rejected"
	Skipped  DecisionKind = "skipped"
	TimedOut DecisionKind = "timed_out"
)

// Decision is an answer to a set that asked, or the envelope's own yes.
type Decision struct {
	Kind DecisionKind `json:"kind"`
	// By is who decided: "person:NAME", or "correx" for what landed by itself.
	By string    `json:"by"`
	At time.Time `json:"at"`
	// Scope is "all", or "only" for a part.
	Scope    string `json:"scope"`
	Reason   string `json:"reason,omitempty"`
	Steering string `json:"steering,omitempty"`
	// How is how the decision was given: "terminal", "no-terminal" (allowed by the user's own config), "credential" for an
	// undo, and for what landed by itself "envelope" or "grant".
	How string `json:"how"`
	// Digest is the digest of the set that was decided on.
	Digest string `json:"digest"`
}
