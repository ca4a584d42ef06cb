package grants

import (
	"slices"

	"github.com/correx/correx/internal/change"
)

// Key is content as a commit knows it. The zero Key is a path where nothing stands.
type Key struct {
	// Mode is git's mode: "100644", "100755", "120000" or "160000".
	Mode string
	// OID is the git object id of the content, where it is known.
	OID string
	// SHA256 is the digest of the bytes in the working tree, where it is known.
	SHA256 string
}

// KeyOf returns the Key of what p pins.
func KeyOf(p change.Pin) Key {
	mode := p.GitMode()
	if mode == "" {
		return Key{}
	}
	return Key{Mode: mode, OID: p.OID, SHA256: p.SHA256}
}

// Matches reports whether k and o are the same content in the same mode: by object id where both have one, else by digest
// of the bytes. Keys that share neither do not match.
func (k Key) Matches(o Key) bool {
	switch {
	case k.Mode != o.Mode:
		return false
	case k.Mode == "":
		return true
	case k.OID != "" && o.OID != "":
		return k.OID == o.OID
	}
	return k.SHA256 != "" && k.SHA256 == o.SHA256
}

// State says how a link came to stand.
type State string

// The states of a link.
const (
	Landed   State = "landed"
	Approved State = "approved"
)

// Link is one path that went from one content to another by a change that landed, or that a person approved, and that
// was neither undone nor rejected since.
type Link struct {
	Path         change.Path
	Base, Result Key
	State        State
	// Set is the number of the change set.
	Set int
}

// Chain finds links of path that lead from what HEAD holds to what is staged. It returns the sets they belong to, in
// order: the shortest such chain, of several the one whose links come first. Nothing is needed where head and staged match.
func Chain(links []Link, path change.Path, head, staged Key) (sets []int, ok bool) {
	if head.Matches(staged) {
		return nil, true
	}
	// A search in breadth. Each link is used once, so a loop of links ends it no later.
	const none = -1
	before := make(map[int]int, len(links)) // the link that leads to a link
	var queue []int
	reach := func(content Key, from int) {
		for i, l := range links {
			if _, seen := before[i]; !seen && l.Path == path && l.Base.Matches(content) {
				before[i] = from
				queue = append(queue, i)
			}
		}
	}
	reach(head, none)
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if links[at].Result.Matches(staged) {
			for ; at != none; at = before[at] {
				sets = append(sets, links[at].Set)
			}
			slices.Reverse(sets)
			return sets, true
		}
		reach(links[at].Result, at)
	}
	return nil, false
}
