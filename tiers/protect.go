package tiers

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

// Level says how strongly a name is protected.
type Level int

// The levels, from the weakest on. A Protected name asks unless mode or grant lets it pass; a HardAsk name asks in every
// mode; a Never name is refused, to a person as well.
const (
	Unprotected Level = iota
	Protected
	HardAsk
	Never
)

// Protect is a protected pattern of somebody's configuration.
type Protect struct {
	Pattern Pattern
	// Source says where it is written, as "file:line".
	Source string
}

// Protection is what protects a path.
type Protection struct {
	Level Level
	// Pattern is the pattern that the path matches, as it is written.
	Pattern string
	// Why says what is special about such names; empty for a pattern of the configuration.
	Why string
	// Source is where the pattern is written; empty for a built-in one.
	Source string
}

// Protects returns the strongest protection of p in any spelling: the built-in names first, then extra in its order. It
// reports false for a path that nothing protects.
//
// Names of git's own folder, at any depth, are Never; so are names beginning ".correx-", which a landing uses for itself.
func Protects(p change.Path, extra []Protect) (Protection, bool) {
	s := spell(p)
	if protection, ok := never(s); ok {
		return protection, true
	}
	if i, ok := builtin().find(s); ok {
		n := builtin().all[i]
		return Protection{Level: n.level, Pattern: n.pattern.String(), Why: n.why}, true
	}
	for _, e := range extra {
		if ended, above := e.Pattern.meets(s); ended || above {
			return Protection{Level: Protected, Pattern: e.Pattern.String(), Source: e.Source}, true
		}
	}
	return Protection{}, false
}

// never finds the names that nobody can approve.
func never(s spelling) (Protection, bool) {
	for _, names := range s.folded {
		for _, name := range names {
			stem, short := shortName(name)
			switch {
			case name == ".git", short && stem == "git":
				return Protection{Level: Never, Pattern: ".git", Why: "is git's own folder"}, true
			case strings.HasPrefix(name, ".correx-"):
				return Protection{Level: Never, Pattern: ".correx-*", Why: "is a name that landings use"}, true
			}
		}
	}
	return Protection{}, false
}

// find returns the index of the strongest built-in pattern for a path; among equals the one that stands first.
func (t nameTable) find(s spelling) (int, bool) {
	best := len(t.all)
	for _, names := range s.folded {
		for _, name := range names {
			if i, ok := t.byName[name]; ok {
				best = min(best, i)
			}
			if i, ok := t.short(name); ok {
				best = min(best, i)
			}
			best = t.first(t.byFirst[name], s, best)
			if name != "" {
				best = t.first(t.byStart[name[0]], s, best)
			}
			best = t.first(t.byEnd[ending(name)], s, best)
		}
	}
	best = t.first(t.rest, s, best)
	return best, best < len(t.all)
}

// first returns the first of some patterns, in the order of all, that a path meets, or best where none stands before it.
func (t nameTable) first(some []int, s spelling, best int) int {
	for _, i := range some {
		if i >= best {
			break
		}
		if ended, above := t.all[i].pattern.meetsFolded(s); ended || above {
			return i
		}
	}
	return best
}

// short finds the pattern whose name an 8.3 short name could stand for.
func (t nameTable) short(name string) (int, bool) {
	stem, ok := shortName(name)
	if !ok {
		return 0, false
	}
	switch stem {
	// git's own way of naming the two where the plain short names are taken.
	case "gi7eba":
		return t.byName[".gitmodules"], true
	case "gi7d29":
		return t.byName[".gitattributes"], true
	}
	i, ok := t.byStem[stem]
	return i, ok
}
