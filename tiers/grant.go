package tiers

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/correx/correx/internal/change"
)

// Grant is a remembered yes of a person: changes of these ops to these paths pass where policy would only ask about what
// is not small. It names nothing wider than its words: every end of a change has to be one of Paths letter by letter, and
// every op that the change comes to one of Ops.
//
// Its patterns are read more narrowly than those of a rule. One that holds a slash names what lies in a folder only if it
// ends in "/" or "/**". A protected file is covered only by a pattern that names what protects it: one that matches nothing else, whatever
// its wildcards stand for, as ".github/workflows/*.yml" and "*.pem" do and "**" and ".github/**" do not.
type Grant struct {
	// ID names it in Verdict.SettledBy, as "grant:" and ID.
	ID string
	// Scope is "session", "stage" or "project".
	Scope string
	// Paths and Ops are what it covers; a grant without one of them covers nothing.
	Paths []Pattern
	Ops   []change.Op
	// Exact is the digest of the one set of file changes that it covers; empty for any of its ops and paths.
	Exact string
	// Source says where it is written: "file:line", or the id of an event.
	Source string
	// Void says why it does not count now, such as "expired"; empty for one that counts.
	Void string
}

// by names the grant in Verdict.SettledBy.
func (g Grant) by() string { return "grant:" + g.ID }

// String returns the grant in one line: `session grant of edit, create of "/src/a.go"`.
func (g Grant) String() string {
	r := Rule{Paths: g.Paths, Ops: g.Ops, Action: Action(g.Scope + " grant of")}
	if g.Exact != "" {
		return fmt.Sprintf("%s, exactly %.12s", r, g.Exact)
	}
	return r.String()
}

// NeededOps returns every op that a grant has to name to cover the change f: the one it is called by, and what it does
// besides. A file that gains the executable bit needs chmod, a file that is moved or copied and changed on the way the op
// that changes it, a text saved in another encoding overwrite.
func NeededOps(f FileFacts) []change.Op {
	c := f.File
	ops := append([]change.Op{c.Op}, besides(c)...)
	if c.Proposed.Executable() && !c.Base.Executable() {
		ops = append(ops, change.OpChmod)
	}
	if f.Recoded {
		ops = append(ops, change.OpOverwrite)
	}
	switch c.Op {
	case change.OpRename:
		if c.Bytes != 0 || c.Base.SHA256 != c.Proposed.SHA256 {
			ops = append(ops, change.OpEdit)
		}
	case change.OpCopy:
		if c.Bytes != 0 {
			ops = append(ops, change.OpCreate)
		}
	}
	slices.Sort(ops)
	return slices.Compact(ops)
}

// LiteralPattern returns the pattern that names p and nothing else in a grant. An error says why no pattern can: names may
// hold what the dialect refuses.
func LiteralPattern(p change.Path) (Pattern, error) {
	if !utf8.ValidString(string(p)) {
		return Pattern{}, &PatternError{Pattern: string(p), Problem: "is not valid UTF-8"}
	}
	text := "/" + escape(string(p))
	if rest, ok := strings.CutSuffix(text, " "); ok {
		text = rest + `\ `
	}
	return ParsePattern(text)
}

// covers reports whether the grant covers the change f, which is part of changes with these digests. What hides something
// from a reader's eye, takes back work that is not committed or leads out of the repository is covered by no grant.
func (g Grant) covers(f FileFacts, digests []string, extra []Protect) bool {
	c := f.File
	if g.Void != "" || f.LinkOutside || f.Rollback || c.Hidden > 0 || (g.Exact != "" && !slices.Contains(digests, g.Exact)) {
		return false
	}
	for _, op := range NeededOps(f) {
		if !slices.Contains(g.Ops, op) {
			return false
		}
	}
	for _, e := range ends(f) {
		by := protectionsOf(e.path, extra)
		if e.source && len(by) == 0 {
			continue
		}
		if !slices.ContainsFunc(g.Paths, func(p Pattern) bool { return p.names(e.path, by, extra) }) {
			return false
		}
	}
	if f.GitProgram == "" && !f.BareRepository && !f.ShadowsMakefile {
		return true
	}
	// What is dangerous by what lies around it has no name of its own; only the literal path names it.
	return slices.ContainsFunc(g.Paths, func(p Pattern) bool {
		return slices.ContainsFunc(p.single(), func(one Pattern) bool { return one.literal() && one.matchWhole(c.Path) })
	})
}

// literal reports whether p names one path and no other.
func (p Pattern) literal() bool {
	return !p.content && !p.open && !slices.ContainsFunc(p.parts, func(one part) bool { return one.deep || !one.names[0].plain })
}

// Names reports whether a grant of pattern p would cover the file at path, as far as names go.
func (p Pattern) Names(path change.Path, extra []Protect) bool {
	return p.names(path, protectionsOf(path, extra), extra)
}

// HardNamed returns what protects every path that p can name from every grant: such a pattern covers nothing.
func (p Pattern) HardNamed() (Protection, bool) {
	var pr Protection
	list := p.single()
	for _, one := range list {
		var ok bool
		if pr, ok = Protects(one.sample(oddLetters()[0]), nil); !ok || pr.Level < HardAsk {
			return Protection{}, false
		}
	}
	return pr, len(list) > 0
}

// names reports whether p, in a grant, names path, which the patterns by protect.
func (p Pattern) names(path change.Path, by []string, extra []Protect) bool {
	for _, one := range p.single() {
		whole := one.matchWhole(path)
		switch {
		case !whole && (!one.bare || !one.Match(path)):
			continue
		case len(by) == 0:
			return true
		}
		named := true
		for _, odd := range oddLetters() {
			like := one.sample(odd)
			if !whole {
				like = like.Join(odd)
			}
			also := protectionsOf(like, extra)
			named = named && !slices.ContainsFunc(by, func(s string) bool { return !slices.Contains(also, s) })
		}
		if named {
			return true
		}
	}
	return false
}

// matchWhole is Match without what lies in a folder of a matching name, unless the pattern says so at its end.
func (p Pattern) matchWhole(path change.Path) bool {
	if p.content || p.open {
		return p.Match(path)
	}
	names := strings.Split(string(path), "/")
	at := make([]bool, len(p.parts)+1)
	at[0] = true
	p.skipDeep(at)
	for _, name := range names {
		next := make([]bool, len(at))
		for s, part := range p.parts {
			switch {
			case !at[s]:
			case part.deep:
				next[s] = true
			case part.match(name, false):
				next[s+1] = true
			}
		}
		p.skipDeep(next)
		at = next
	}
	return len(p.parts) > 0 && at[len(p.parts)]
}

// single returns p for each choice of what stands in its braces.
func (p Pattern) single() []Pattern {
	list := []Pattern{p}
	for i, part := range p.parts {
		if len(part.names) < 2 {
			continue
		}
		var next []Pattern
		for _, one := range list {
			for _, name := range part.names {
				chosen := one
				chosen.parts = slices.Clone(one.parts)
				chosen.parts[i].names = []glob{name}
				next = append(next, chosen)
			}
		}
		list = next
	}
	return list
}

// oddLetters are what stands for wildcards in a sample: what protects a name for such a letter protects it for any.
func oddLetters() []string { return []string{"\u2603", "q"} }

// sample returns a path that p, which has no braces left, matches, with odd for what its wildcards stand for. Whatever
// protects the sample for each of oddLetters protects all that p matches.
func (p Pattern) sample(odd string) change.Path {
	var names []string
	for _, part := range p.parts {
		switch {
		case part.deep:
			names = append(names, odd)
		case part.names[0].plain:
			names = append(names, part.names[0].text)
		default:
			names = append(names, spellGlob(part.names[0].text, odd))
		}
	}
	if p.content {
		names = append(names, odd)
	}
	return change.Path(strings.Join(names, "/"))
}

// spellGlob returns a name that the matcher's pattern text matches, with odd in the place of each wildcard.
func spellGlob(text, odd string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*', '?':
			b.WriteString(odd)
		case '[':
			b.WriteString(odd)
			for i++; i < len(text) && text[i] != ']'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '\\':
			i++
			if i < len(text) {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// protectionsOf returns every pattern that protects p, and not only the strongest.
func protectionsOf(p change.Path, extra []Protect) []string {
	strongest, ok := Protects(p, extra)
	if !ok {
		return nil
	}
	by := []string{strongest.Pattern}
	s := spell(p)
	for _, n := range builtin().all {
		if ended, above := n.pattern.meetsFolded(s); ended || above {
			by = append(by, n.pattern.String())
		}
	}
	for _, e := range extra {
		if ended, above := e.Pattern.meets(s); ended || above {
			by = append(by, e.Pattern.String())
		}
	}
	slices.Sort(by)
	return slices.Compact(by)
}
