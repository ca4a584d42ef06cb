package grants

import (
	"cmp"
	"slices"

	"github.com/correx/correx/internal/change"
)

// Scope says for how long, and for whom, a grant holds.
type Scope string

// The scopes, in the order in which grants are looked up.
const (
	// Session: for one session, until its shadow is closed.
	Session Scope = "session"
	// Stage: for one stage of a session, until it ends. Another stage of the same name is another stage.
	Stage Scope = "stage"
	// Project: for every session of the repository, as long as it stands in a trusted .correx.toml.
	Project Scope = "project"
)

// Grant is a remembered yes, as it is stored.
type Grant struct {
	ID    string      `json:"id"`
	Scope Scope       `json:"scope"`
	Ops   []change.Op `json:"ops"`
	// Paths are patterns in the dialect of package tiers.
	Paths []string `json:"paths"`
	// Exact is the digest of the one set of file changes that it covers; empty for any of these ops and paths.
	Exact string `json:"exact,omitempty"`
	// Expires is when it stops to count, in UTC as 2006-01-02T15:04:05Z, so that moments are in the order of their texts;
	// empty for never.
	Expires string `json:"expires,omitempty"`
}

// Expired reports whether the grant counts no more at the moment now, written like Expires.
func (g Grant) Expired(now string) bool { return g.Expires != "" && g.Expires <= now }

// Held is a grant that a ledger knows of, with what became of it.
type Held struct {
	Grant
	// Session, and for scope stage the event that began the stage and its name; empty for scope project.
	Session, StageEvent, Stage string
	// Event is the id of the event that added it, At when, and By who did. Set is the change set it was given with, or 0.
	Event, At, By string
	Set           int
	// File is where a project grant stood when it was first seen.
	File string
	// Revoked: a person took it back. Ended: its session was closed, or its stage is over.
	Revoked, Ended bool
	// Uses counts the change sets it let in, LastUse says when the last was, LastSet which.
	Uses    int
	LastUse string
	LastSet int
}

// Book remembers the grants of a ledger. The zero value is empty. It is not safe for use by several goroutines at once.
type Book struct {
	held map[string]*Held
	ids  []string
}

// Add takes a grant in. A project grant that is known keeps its uses; it reports false for a session's or stage's id that
// is known.
func (b *Book) Add(h Held) bool {
	if b.held == nil {
		b.held = map[string]*Held{}
	}
	old, known := b.held[h.ID]
	switch {
	case known && (h.Scope != Project || old.Scope != Project):
		return false
	case known:
		h.Uses, h.LastUse, h.LastSet = old.Uses, old.LastUse, old.LastSet
	default:
		b.ids = append(b.ids, h.ID)
	}
	b.held[h.ID] = &h
	return true
}

// Get returns a grant by its id.
func (b *Book) Get(id string) (Held, bool) {
	h, ok := b.held[id]
	if !ok {
		return Held{}, false
	}
	return *h, true
}

// Revoke takes a grant back. One that is not known is left to whoever knows it.
func (b *Book) Revoke(id string) {
	if h, ok := b.held[id]; ok {
		h.Revoked = true
	}
}

// Use notes that a grant let a change set in.
func (b *Book) Use(id, at string, set int) {
	if h, ok := b.held[id]; ok {
		h.Uses++
		h.LastUse, h.LastSet = at, set
	}
}

// EndStage ends the grants of the stage that the event began, and EndSession those of a session.
func (b *Book) EndStage(event string) {
	b.end(func(h *Held) bool { return h.Scope == Stage && h.StageEvent == event })
}

// EndSession ends the grants of a session, those of its stages among them.
func (b *Book) EndSession(session string) {
	b.end(func(h *Held) bool { return h.Scope != Project && h.Session == session })
}

func (b *Book) end(which func(*Held) bool) {
	for _, h := range b.held {
		if which(h) {
			h.Ended = true
		}
	}
}

// Standing returns the grants of sessions and stages that were neither revoked nor are over, those of sessions first, each
// in the order in which they were added. Whether one has expired is for a clock to say.
func (b *Book) Standing() []Held {
	var list []Held
	for _, id := range b.ids {
		if h := b.held[id]; h.Scope != Project && !h.Revoked && !h.Ended {
			list = append(list, *h)
		}
	}
	slices.SortStableFunc(list, func(x, y Held) int { return cmp.Compare(rank(x.Scope), rank(y.Scope)) })
	return list
}

func rank(s Scope) int { return slices.Index([]Scope{Session, Stage, Project}, s) }
