package tiers

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/correx/correx/internal/change"
)

// Pattern is a path pattern of the policy, made by ParsePattern. The zero Pattern matches nothing.
type Pattern struct {
	text string
	// parts are matched against the components of a path, one by one.
	parts []part
	// content is set where only what lies inside a matching folder is meant.
	content bool
	// open is set where the pattern says "**" at its end.
	open bool
	// bare is set for a name without a slash, which holds at any depth.
	bare bool
}

// maxParts is how many parts a pattern has at most: one for every second byte, and the "**" put in front.
const maxParts = maxPatternBytes/2 + 2

// part matches one component of a path, or any number of them.
type part struct {
	deep bool // "**": any number of components, also none
	// names is what the component may be, braces expanded; folded is the same in the spelling of foldName.
	names, folded []glob
	// literal is set where the component stands for one name only.
	literal bool
}

// glob is one name, or one pattern for names.
type glob struct {
	text  string
	plain bool // text is a name, not a pattern
	// star is set where all that text has for a pattern is one star; before and after are what stands around it.
	star          bool
	before, after string
}

func (g *glob) match(name string) bool {
	switch {
	case g.plain:
		return g.text == name
	case g.star:
		return len(name) >= len(g.before)+len(g.after) && strings.HasPrefix(name, g.before) && strings.HasSuffix(name, g.after)
	}
	return doublestar.MatchUnvalidated(g.text, name)
}

func matchAny(globs []glob, name string) bool {
	for i := range globs {
		if globs[i].match(name) {
			return true
		}
	}
	return false
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Match reports whether path is what the pattern names, letter by letter.
func (p Pattern) Match(path change.Path) bool {
	ended, _ := p.walk(strings.Split(string(path), "/"), false)
	return ended
}

// MatchFold reports whether some file system could take path for something the pattern names: it is Match in every
// spelling that package tiers knows. Square brackets and braces are also tried as the letters they are, since a folder
// may really be named "[id]".
func (p Pattern) MatchFold(path change.Path) bool {
	ended, _ := p.meets(spell(path))
	return ended
}

// meets is MatchFold for a path that was spelt already. Above is set where the path is a folder, named letter by letter
// in the pattern, that whatever the pattern names lies in: a symlink put there moves all of it.
func (p Pattern) meets(s spelling) (ended, above bool) {
	exact, _ := p.walk(s.exact, false)
	ended, above = p.meetsFolded(s)
	return exact || ended, above
}

// meetsFolded is meets without the path as it is written, which for a pattern in the letters of ASCII, without brackets,
// adds nothing.
func (p Pattern) meetsFolded(s spelling) (ended, above bool) {
	if len(p.parts) == 2 && p.parts[0].deep && !p.parts[1].deep && !p.parts[1].literal && !p.content {
		return p.anyComponent(s), false
	}
	for _, names := range s.folded {
		e, a := p.walk(names, true)
		ended, above = ended || e, above || a
	}
	return ended, above
}

// anyComponent reports whether a component meets a pattern of one part, at any depth.
func (p Pattern) anyComponent(s spelling) bool {
	for _, names := range s.folded {
		for _, name := range names {
			if p.parts[1].match(name, true) {
				return true
			}
		}
	}
	return false
}

// walk runs the components of a path through the pattern as through a state machine: a state is the number of parts
// used up. The cost is at most components times parts, whatever the pattern.
func (p Pattern) walk(names []string, fold bool) (ended, above bool) {
	n := len(p.parts)
	if n == 0 {
		return false, false
	}
	// Most patterns have few parts, and clearing room for the most that one may have would cost more than the walk.
	var few [2][12]bool
	at, next := few[0][:], few[1][:]
	if n >= len(at) {
		var here, there [maxParts + 1]bool
		at, next = here[:], there[:]
	}
	at, next = at[:n+1], next[:n+1]
	at[0] = true
	p.skipDeep(at)
	for i, name := range names {
		clear(next)
		for s := range n {
			if !at[s] {
				continue
			}
			part := &p.parts[s]
			if part.deep {
				next[s] = true
			} else if part.match(name, fold) {
				next[s+1] = true
			}
		}
		p.skipDeep(next)
		at, next = next, at
		last := i == len(names)-1
		if at[n] && (!p.content || !last) {
			return true, false
		}
	}
	return false, p.above(at, names[len(names)-1], fold)
}

// skipDeep marks the states that are reached because "**" may stand for no component at all.
func (p Pattern) skipDeep(at []bool) {
	for s := range p.parts {
		if at[s] && p.parts[s].deep {
			at[s+1] = true
		}
	}
}

// above reports whether a walk that stopped in the states at, on a component called name, stopped inside the part of
// the pattern that is made of plain names.
func (p Pattern) above(at []bool, name string, fold bool) bool {
	for s, part := range p.parts {
		if part.deep && s == 0 {
			continue
		}
		if !part.literal {
			return false
		}
		// A state past this part that this component did not lead to is one that "**" opened.
		inside := s+1 < len(p.parts) || p.content
		if at[s+1] && inside && part.match(name, fold) {
			return true
		}
	}
	return false
}

func (p *part) match(name string, fold bool) bool {
	if fold {
		return matchAny(p.folded, name)
	}
	return matchAny(p.names, name)
}
