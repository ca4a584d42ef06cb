package ledger

import (
	"encoding/base32"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// Type says what an event records.
type Type string

// The types. Data and meaning of each belong to the package that appends it; this one owns LedgerRepaired.
const (
	SessionOpened             Type = "SessionOpened"
	SessionClosed             Type = "SessionClosed"
	StageBegan                Type = "StageBegan"
	StageEnded                Type = "StageEnded"
	ChangeStaged              Type = "ChangeStaged"
	PreflightCompleted        Type = "PreflightCompleted"
	ApprovalRequired          Type = "ApprovalRequired"
	ApprovalPending           Type = "ApprovalPending"
	ApprovalGranted           Type = "ApprovalGranted"
	ApprovalGrantedAuto       Type = "ApprovalGrantedAuto"
	ApprovalRejected          Type = "ApprovalRejected"
	ApprovalSkipped           Type = "ApprovalSkipped"
	ApprovalTimedOut          Type = "ApprovalTimedOut"
	ApprovalEscalated         Type = "ApprovalEscalated"
	ApprovalReused            Type = "ApprovalReused"
	ApprovalSessionGrantAdded Type = "ApprovalSessionGrantAdded"
	ApprovalStageGrantAdded   Type = "ApprovalStageGrantAdded"
	GrantLoadedFromProject    Type = "GrantLoadedFromProject"
	GrantRevoked              Type = "GrantRevoked"
	ApprovalModeChanged       Type = "ApprovalModeChanged"
	ConfigTrusted             Type = "ConfigTrusted"
	ChangeApplied             Type = "ChangeApplied"
	ChangeStale               Type = "ChangeStale"
	ChangeSuperseded          Type = "ChangeSuperseded"
	UndoIssued                Type = "UndoIssued"
	UndoApplied               Type = "UndoApplied"
	UndoRefused               Type = "UndoRefused"
	CommitBlocked             Type = "CommitBlocked"
	CommitVerified            Type = "CommitVerified"
	LandingReverted           Type = "LandingReverted"
	ImagesDropped             Type = "ImagesDropped"
	LedgerRepaired            Type = "LedgerRepaired"
)

// Event is one line of the log. Encoded as JSON, without escapes for HTML, it is that line again.
type Event struct {
	// Seq counts from 1 without gaps, and is the number of the line.
	Seq uint64 `json:"seq"`
	// At is when the event was appended, in UTC. Clocks go backwards at times; order is Seq's.
	At   time.Time `json:"at"`
	Type Type      `json:"type"`
	// ID is "e-" and 16 characters, as NewID makes it.
	ID string `json:"id"`
	// Cause is the id of the event that led to this one, "" where nothing did.
	Cause string `json:"cause"`
	// Actor is who did it, in the words of whoever appended it.
	Actor string `json:"actor"`
	// Data is a JSON object, byte for byte as it stands in the line.
	Data json.RawMessage `json:"data"`
	// Prev and Hash are lower-case hexadecimal SHA-256 digests; see the package comment for what they cover.
	Prev string `json:"prev"`
	Hash string `json:"hash"`
}

// Draft is an event to be appended. ID "" is replaced by a new one; a caller that needs the id beforehand, to name it as
// the Cause of the next draft, takes one from NewID. Data is encoded as JSON and must come out as an object; nil is {}.
type Draft struct {
	ID    string
	Type  Type
	Cause string
	Actor string
	Data  any
}

// Repaired is the data of a LedgerRepaired event. Stored for ever: members may be added, none may change.
type Repaired struct {
	// SetAside is the name, in the ledger's folder, of the file that holds what was cut off.
	SetAside string `json:"set_aside"`
	// Bytes is how much that was.
	Bytes int64 `json:"bytes"`
}

// repairActor is the actor of LedgerRepaired events.
const repairActor = "correx"

const (
	idPrefix = "e-"
	// idBytes of randomness make idChars characters.
	idBytes = 10
	idChars = 16
	// idAlphabet leaves out i, l, o and u, which are easily taken for something else.
	idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
)

// NewID returns a new event id with 80 bits from rand.
func NewID(rand io.Reader) string {
	var raw [idBytes]byte
	if _, err := io.ReadFull(rand, raw[:]); err != nil {
		// The random source is the operating system's, which does not fail (crypto/rand ends the process itself if it
		// does); an id without randomness would collide with another event's.
		panic("ledger: random source: " + err.Error())
	}
	return idPrefix + base32.NewEncoding(idAlphabet).WithPadding(base32.NoPadding).EncodeToString(raw[:])
}

func isID(s string) bool {
	body, ok := strings.CutPrefix(s, idPrefix)
	if !ok || len(body) != idChars {
		return false
	}
	for i := range len(body) {
		if strings.IndexByte(idAlphabet, body[i]) < 0 {
			return false
		}
	}
	return true
}

// isType accepts the form, not the list: a later version's events must be readable, and what they mean is not judged here.
func isType(s string) bool {
	if len(s) == 0 || len(s) > 64 || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
