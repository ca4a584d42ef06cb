package command

import (
	"bytes"
	"maps"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/correx/correx/internal/change"
)

// grader collects the parts of one command.
type grader struct {
	in     Context
	parts  []Part
	depth  int
	parser *syntax.Parser
	// printer and printing write nodes as text.
	printer  *syntax.Printer
	printing bytes.Buffer
	// unrolled counts the words that loops went through one by one.
	unrolled int
	// roles is what programs.txt calls roles, by name.
	roles map[string]func(*invocation)
	// inside is what writing a path of the repository comes to, as far as it was looked up.
	inside map[change.Path]finding
	// assigned are the variables that the script sets, and whether only to numbers.
	assigned map[string]bool
	// planted says that some variable got text with a subscript that runs code where bash evaluates it.
	planted bool
	// downloaded are files that an earlier part writes from the network.
	downloaded map[string]bool
}

// scope is what the shell is known to be like at one place of a script.
type scope struct {
	// cwd is the working directory; empty where it is not known.
	cwd string
	// funcs are the functions that are surely defined.
	funcs map[string]bool
	// bounded are loop variables, with the word that each has.
	bounded map[string]arg
	// shared says that another scope has the same maps, so that a change takes copies.
	shared bool
	// sure says that what stands here runs before what comes after.
	sure bool
	// lowest is the tier that no part is below, for commands that run where the words do not show.
	lowest change.Tier
}

func newScope(in Context) *scope {
	cwd := ""
	if path.IsAbs(in.Cwd) {
		cwd = path.Clean(in.Cwd)
	}
	return &scope{cwd: cwd, funcs: map[string]bool{}, bounded: map[string]arg{}, sure: true, lowest: change.T1}
}

// fork returns a scope whose changes stay its own.
func (s *scope) fork() *scope {
	s.shared = true
	c := *s
	c.sure = false
	return &c
}

// own makes the maps of a scope its own.
func (s *scope) own() {
	if s.shared {
		s.funcs, s.bounded, s.shared = maps.Clone(s.funcs), maps.Clone(s.bounded), false
	}
}

// define notes a function; sure says that it is there for all that follows.
func (s *scope) define(name string, sure bool) {
	s.own()
	s.funcs[name] = sure
}

// bind gives a loop's variable its word.
func (s *scope) bind(name string, v arg) {
	s.own()
	s.bounded[name] = v
}

// join takes over what may have happened in branches: a working directory that they do not agree on is unknown.
func (s *scope) join(branches ...*scope) {
	for _, b := range branches {
		if b.cwd != s.cwd {
			s.cwd = ""
		}
	}
}

// source is what a command reads from its standard input.
type source struct {
	kind sourceKind
	// text is what a literal source holds.
	text string
}

type sourceKind int

// From the harmless on; a pipeline passes on the worst.
const (
	sourceNone sourceKind = iota
	sourceText
	sourceLister
	sourceFile
	sourceUnknown
	sourceDecoded
	sourceNetwork
)

// add records a part.
func (g *grader) add(p Part) {
	switch {
	case len(g.parts) < maxParts:
		g.parts = append(g.parts, p)
	case len(g.parts) == maxParts:
		g.parts = append(g.parts, Part{Text: p.Text, Tier: change.T4, Reason: change.Unclassified, Why: "there are too many parts to be looked into"})
	}
}

// full reports whether looking further changes nothing.
func (g *grader) full() bool { return len(g.parts) > maxParts }

// script grades text that a shell would run.
func (g *grader) script(sc *scope, text string, in source) {
	if g.full() {
		return
	}
	refuse := func(why string) {
		g.add(Part{Text: clip(text), Tier: change.T4, Reason: change.Unclassified, Why: why})
	}
	if g.depth >= maxDepth {
		refuse("is nested too deep to be looked into")
		return
	}
	if why := unreadable(text); why != "" {
		refuse(why)
		return
	}
	f, why := parse(g.parser, text)
	if why != "" {
		refuse(why)
		return
	}
	g.depth++
	outer := g.assigned
	assigned, nodes := assignments(f, outer)
	g.assigned = assigned
	nodes = min(nodes, maxParts)
	w := &walker{grader: g, nodes: nodes, seen: make(map[syntax.Node]bool, nodes)}
	w.stmts(sc, f.Stmts, in)
	if missed := w.missed(f); missed != "" {
		refuse("a part of it was not found: " + missed)
	}
	g.assigned = outer
	g.depth--
}

// destroys reports whether a word, or what stands between its dashes, dots and colons, is a verb that destroys.
func destroys(word string) bool {
	for rest := strings.ToLower(word); rest != ""; {
		end := strings.IndexAny(rest, "-_:./,")
		if end < 0 {
			return destroyers[rest]
		}
		if destroyers[rest[:end]] {
			return true
		}
		rest = rest[end+1:]
	}
	return false
}

var destroyers = set(`rm rmdir del delete destroy drop remove purge wipe reset prune clean clear flush flushall flushdb truncate terminate kill
	nuke erase uninstall shred unlink rimraf teardown format mkfs dd fdisk wipefs reboot shutdown poweroff halt undeploy revoke rollback
	downgrade deregister evict dropdb detach disassociate deleteall dropall fresh obliterate expunge zap unpublish forget decommission
	distclean realclean mrproper clobber cleanall cleanup trash deltree dropall wiped deletion autoclean`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
