package tiers

import (
	"fmt"
	"slices"

	"github.com/correx/correx/internal/change"
)

// Action is what a rule says of the changes that it names.
type Action string

// The actions, from the mildest on.
const (
	ActionAllow Action = "allow"
	ActionAsk   Action = "ask"
	ActionDeny  Action = "deny"
)

// Rule is one rule of somebody's configuration. It names changes by their paths and ops.
//
// An allow holds for exactly that: every end of the change is one of Paths letter by letter, its op is one of Ops. An ask
// or a deny holds for all that could come to it: one end is enough, in any spelling that a file system takes for the same
// name, and an op counts as what it does, so that a file moved away is also deleted there. What is copied, and what a link
// leads to, is looked at by rules that name the op.
type Rule struct {
	// Paths are the patterns, of which one has to match; a rule without any names nothing.
	Paths []Pattern
	// Ops are the operations; none stands for all of them.
	Ops    []change.Op
	Action Action
	// When is the times at which the rule holds.
	When When
	// Source says where it is written, as "file:line".
	Source string
	// Layer tells the files apart that rules come from: the last word of one does not silence that of another.
	Layer int
}

// by names the rule in Verdict.SettledBy.
func (r Rule) by() string { return "rule:" + r.Source }

// end is one path that a change reaches, and what happens there.
type end struct {
	path change.Path
	ops  []change.Op
	// source is set where the path is only read: what is copied, or what a link leads to.
	source bool
}

// ends returns every path that a change reaches, and the ops that come to pass at each.
func ends(f FileFacts) []end {
	c := f.File
	var list []end
	switch c.Op {
	case change.OpRename:
		list = append(list, end{path: c.OldPath, ops: []change.Op{c.Op, change.OpDelete}}, end{path: c.Path, ops: []change.Op{c.Op, change.OpCreate}})
	case change.OpCopy:
		list = append(list, end{path: c.Path, ops: []change.Op{c.Op, change.OpCreate}})
	case change.OpOverwrite:
		list = append(list, end{path: c.Path, ops: []change.Op{c.Op, change.OpEdit}})
	case change.OpRetype:
		list = append(list, end{path: c.Path, ops: []change.Op{c.Op, change.OpOverwrite, change.OpEdit}})
	default:
		list = append(list, end{path: c.Path, ops: []change.Op{c.Op}})
	}
	at := &list[len(list)-1]
	at.ops = append(at.ops, besides(c)...)
	if c.Op == change.OpSymlink && c.Base.Exists() {
		at.ops = append(at.ops, change.OpEdit)
	} else if c.Op == change.OpSymlink {
		at.ops = append(at.ops, change.OpCreate)
	}
	for _, from := range []change.Path{copySource(c), f.CopyOf} {
		if from != "" {
			list = append(list, end{path: from, ops: []change.Op{change.OpCopy}, source: true})
		}
	}
	if c.Proposed.Kind == change.KindSymlink && f.LinkTarget != "" {
		list = append(list, end{path: f.LinkTarget, ops: []change.Op{change.OpSymlink}, source: true})
	}
	return list
}

// besides returns the ops that a change is in addition to the one it is called by.
func besides(c change.FileChange) []change.Op {
	var ops []change.Op
	if c.Proposed.Kind == change.KindSymlink && c.Op != change.OpSymlink && c.Op != change.OpRetype {
		ops = append(ops, change.OpSymlink)
	}
	if c.Base.Kind == change.KindFile && c.Proposed.Kind == change.KindFile && c.Base.Perm != c.Proposed.Perm && c.Op != change.OpChmod {
		ops = append(ops, change.OpChmod)
	}
	return ops
}

// reached is an end with its path in every spelling.
type reached struct {
	end
	spelling spelling
}

// spellEnds prepares the ends of a change for rules.
func spellEnds(f FileFacts) []reached {
	var list []reached
	for _, e := range ends(f) {
		list = append(list, reached{e, spell(e.path)})
	}
	return list
}

// holds reports whether the rule speaks of the change f, whose ends are at. Extra is the protected names of the policy.
func (r Rule) holds(f FileFacts, at []reached, extra []Protect) bool {
	if r.Action == ActionAllow {
		return r.covers(f, at, extra)
	}
	return slices.ContainsFunc(at, r.meets)
}

// meets reports whether an ask or a deny speaks of what happens at one end.
func (r Rule) meets(e reached) bool {
	named := slices.ContainsFunc(e.ops, func(op change.Op) bool { return slices.Contains(r.Ops, op) })
	if !named && (e.source || len(r.Ops) > 0) {
		return false
	}
	return slices.ContainsFunc(r.Paths, func(p Pattern) bool {
		ended, above := p.meets(e.spelling)
		return ended || above
	})
}

// covers reports whether an allow speaks of all that the change comes to. What leads out of the repository is named by no
// pattern; a protected file that is copied, or linked to, has to be named as well.
func (r Rule) covers(f FileFacts, at []reached, extra []Protect) bool {
	if f.LinkOutside {
		return false
	}
	for _, op := range append(besides(f.File), f.File.Op) {
		if len(r.Ops) > 0 && !slices.Contains(r.Ops, op) {
			return false
		}
	}
	for _, e := range at {
		if slices.ContainsFunc(r.Paths, func(p Pattern) bool { return p.Match(e.path) }) {
			continue
		}
		if !e.source {
			return false
		}
		if _, protected := Protects(e.path, extra); protected {
			return false
		}
	}
	return true
}

// ruled is what the rules say of one file change.
type ruled struct {
	// found has a finding for every deny that holds, and for an ask that is the last word.
	found []finding
	// held has the indexes of all rules that hold, in their order.
	held []int
	// words has the index of the last ask or allow that holds of each layer: its word. Allow is the last word that allows if
	// no layer's asks, or noRule.
	words []int
	allow int
}

// underRules asks the rules about one file change: each deny that holds counts, and of the others the last that holds in each
// layer. Between layers an ask is stricter than an allow.
func underRules(f FileFacts, p Policy) ruled {
	out := ruled{allow: noRule}
	if len(p.Rules) == 0 {
		return out
	}
	at := spellEnds(f)
	for i, r := range p.Rules {
		if !r.holds(f, at, p.Protect) {
			continue
		}
		out.held = append(out.held, i)
		switch r.known() {
		case ActionAllow, ActionAsk:
			out.words = append(slices.DeleteFunc(out.words, func(old int) bool { return p.Rules[old].Layer == r.Layer }), i)
		default:
			why := fmt.Sprintf("a rule denies it (%s)", r.Source)
			out.found = append(out.found, finding{change.RuleDeny, change.T2, change.Deny, r.by(), why})
		}
	}
	asks := slices.DeleteFunc(slices.Clone(out.words), func(i int) bool { return p.Rules[i].Action == ActionAllow })
	for _, i := range asks {
		r := p.Rules[i]
		out.found = append(out.found, finding{change.RuleAsk, change.T2, change.Ask, r.by(), fmt.Sprintf("a rule asks about it (%s)", r.Source)})
	}
	if len(asks) == 0 && len(out.words) > 0 {
		out.allow = out.words[len(out.words)-1]
	}
	return out
}

// settles reports whether the word of rule i is one that counts: an ask, or an allow where no layer asks.
func (r ruled) settles(i int, p Policy) bool {
	return slices.Contains(r.words, i) && (p.Rules[i].Action != ActionAllow || r.allow != noRule)
}
