package command

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/correx/correx/internal/change"
)

// walker goes through the tree of one script.
type walker struct {
	*grader
	seen map[syntax.Node]bool
	// nodes is how many nodes there are to see.
	nodes int
	// passed is what the statements of pipelines pass on, so that a long pipeline is not looked through again at each stage.
	passed map[*syntax.Stmt]source
}

// assignments collects the variables that a script sets; true for those that only ever get a number.
// nodes is how many nodes the walk will have to see.
func assignments(f *syntax.File, outer map[string]bool) (m map[string]bool, nodes int) {
	m = maps.Clone(outer)
	if m == nil {
		m = map[string]bool{}
	}
	note := func(name string, number bool) {
		before, known := m[name]
		m[name] = number && (before || !known)
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.DeclClause:
			nodes++
		case *syntax.Assign:
			if n.Name != nil {
				note(n.Name.Value, n.Array == nil && !n.Append && n.Value != nil && isNumber(n.Value.Lit()))
			}
		case *syntax.WordIter:
			number := len(n.Items) > 0
			for _, w := range n.Items {
				number = number && isNumber(w.Lit())
			}
			note(n.Name.Value, number)
		case *syntax.CStyleLoop:
			if b, ok := n.Init.(*syntax.BinaryArithm); ok && b.Op == syntax.Assgn {
				name, _ := b.X.(*syntax.Word)
				value, _ := b.Y.(*syntax.Word)
				if name != nil && value != nil {
					note(name.Lit(), isNumber(value.Lit()))
				}
			}
		case *syntax.CallExpr:
			nodes++
			if len(n.Args) > 0 && oneOf(n.Args[0].Lit(), "read mapfile readarray printf getopts") {
				for _, w := range n.Args[1:] {
					note(w.Lit(), false)
				}
			}
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				note(n.Param.Value, false)
			}
		}
		return true
	})
	return m, nodes
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// oneOf reports whether a word is in a list of words with spaces between.
func oneOf(word, list string) bool {
	if word == "" || strings.IndexByte(word, ' ') >= 0 {
		return false
	}
	for at := 0; ; at++ {
		i := strings.Index(list[at:], word)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(word)
		if (at == 0 || list[at-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
	}
}

// missed returns a call, or a redirection, of f that was not graded, or "".
func (w *walker) missed(f *syntax.File) string {
	missed := ""
	if w.full() {
		return ""
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CallExpr, *syntax.Redirect, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.DeclClause:
			if !w.seen[n] {
				missed = w.printed(n)
			}
		}
		return missed == ""
	})
	return missed
}

func (w *walker) visit(n syntax.Node) {
	if w.seen == nil {
		w.seen = map[syntax.Node]bool{}
	}
	w.seen[n] = true
}

// printed returns the text of a node.
func (g *grader) printed(n syntax.Node) string {
	if g.printer == nil {
		g.printer = syntax.NewPrinter(syntax.SingleLine(true))
	}
	g.printing.Reset()
	if err := g.printer.Print(&g.printing, n); err != nil {
		return "a part of the script"
	}
	return clip(strings.TrimSpace(g.printing.String()))
}

func (w *walker) stmts(sc *scope, list []*syntax.Stmt, in source) {
	for _, s := range list {
		if w.full() {
			return
		}
		w.stmt(sc, s, in)
	}
}

// stmt grades a statement with its redirections.
func (w *walker) stmt(sc *scope, s *syntax.Stmt, in source) {
	if s.Background || s.Coprocess {
		sc = sc.fork()
	}
	for _, r := range s.Redirs {
		in = w.redirect(sc, r, in)
	}
	w.noteDownload(sc, s, in)
	if emptiesFile(s) {
		w.add(Part{Text: w.printed(s), Tier: change.T4, Reason: change.DestructiveOperation, Why: "empties a file"})
	}
	if s.Cmd != nil {
		w.cmd(sc, s.Cmd, in)
	}
}

func (w *walker) cmd(sc *scope, c syntax.Command, in source) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		w.call(sc, c, in)
	case *syntax.Block:
		w.stmts(sc, c.Stmts, in)
	case *syntax.Subshell:
		w.stmts(sc.fork(), c.Stmts, in)
	case *syntax.BinaryCmd:
		w.binary(sc, c, in)
	case *syntax.IfClause:
		w.branch(sc, c, in)
	case *syntax.WhileClause:
		w.loop(sc, func(in2 *scope) { w.stmts(in2, c.Cond, in); w.stmts(in2, c.Do, in) })
	case *syntax.ForClause:
		w.forLoop(sc, c, in)
	case *syntax.CaseClause:
		w.inside(sc, c.Word)
		var all []*scope
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.inside(sc, p)
			}
			b := sc.fork()
			w.stmts(b, item.Stmts, in)
			all = append(all, b)
		}
		sc.join(all...)
		w.control("case")
	case *syntax.FuncDecl:
		w.function(sc, c, in)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.stmt(sc, c.Stmt, in)
		}
		w.control("time")
	case *syntax.CoprocClause:
		if c.Stmt != nil {
			w.stmt(sc.fork(), c.Stmt, source{kind: sourceUnknown})
		}
	case *syntax.DeclClause:
		w.declare(sc, c)
	case *syntax.ArithmCmd, *syntax.LetClause, *syntax.TestClause:
		w.inside(sc, c)
		w.control(w.printed(c))
	default:
		w.add(Part{Text: w.printed(c), Tier: change.T4, Reason: change.Unclassified, Why: "is a form of command that is not known"})
	}
}

// control records that a word of the language runs nothing by itself.
func (w *walker) control(text string) {
	w.add(Part{Text: text, Tier: change.T1, Why: "runs nothing but its parts"})
}

func (w *walker) binary(sc *scope, c *syntax.BinaryCmd, in source) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		w.stmt(sc.fork(), c.X, in)
		w.stmt(sc.fork(), c.Y, w.output(sc, c.X, in))
	case syntax.OrStmt:
		before := sc.fork()
		w.stmt(sc, c.X, in)
		after := before.fork()
		w.stmt(after, c.Y, in)
		if after.cwd != before.cwd {
			sc.cwd = ""
		}
	default:
		w.stmt(sc, c.X, in)
		before := sc.fork()
		w.stmt(before, c.Y, in)
		sc.cwd = before.cwd
	}
}

func (w *walker) branch(sc *scope, c *syntax.IfClause, in source) {
	var all []*scope
	for i := c; i != nil; i = i.Else {
		w.stmts(sc, i.Cond, in)
		b := sc.fork()
		w.stmts(b, i.Then, in)
		all = append(all, b)
	}
	sc.join(all...)
	w.control("if")
}

// values returns the words that a loop goes through: one that is not known where there are many.
func (w *walker) values(sc *scope, l *syntax.WordIter) []arg {
	const most = 8
	var values []arg
	for _, item := range l.Items {
		values = append(values, w.word(sc, item)...)
	}
	w.unrolled += len(values)
	if len(values) == 0 || len(values) > most || len(sc.bounded) > 1 || w.unrolled > maxUnrolled {
		return []arg{{text: "$" + l.Name.Value, split: true}}
	}
	return values
}

// loop grades a body that may run again: a folder that it goes to is unknown the second time.
func (w *walker) loop(sc *scope, body func(*scope)) {
	b := sc.fork()
	body(b)
	if b.cwd != sc.cwd {
		sc.cwd = ""
		body(sc.fork())
	}
}

func (w *walker) forLoop(sc *scope, c *syntax.ForClause, in source) {
	values := []arg{{}}
	name := ""
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		name, values = l.Name.Value, w.values(sc, l)
		w.variable(sc, name, arg{})
	case *syntax.CStyleLoop:
		w.inside(sc, l)
	}
	b := sc.fork()
	for _, v := range values {
		if name != "" {
			b.bind(name, v)
		}
		w.loop(b, func(s *scope) { w.stmts(s, c.Do, in) })
	}
	sc.join(b)
	w.control("for")
}

func (w *walker) function(sc *scope, c *syntax.FuncDecl, in source) {
	names := c.Names
	if c.Name != nil {
		names = append(names, c.Name)
	}
	shared := sc.shared
	body := sc.fork()
	// The body runs where it is called, which need not be where it stands.
	w.stmt(body, c.Body, source{kind: max(in.kind, sourceUnknown)})
	// What the body's scope changed it has copied, and nothing looks at it again.
	sc.shared = shared
	if body.cwd != sc.cwd {
		sc.cwd = ""
	}
	for _, n := range names {
		sc.define(n.Value, sc.sure)
		calls := false
		syntax.Walk(c.Body, func(x syntax.Node) bool {
			if call, ok := x.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == n.Value {
				calls = true
			}
			return !calls
		})
		if calls {
			w.add(Part{Text: w.printed(c), Tier: change.T4, Reason: change.Unclassified, Why: "is a function that calls itself"})
		}
	}
}

// declare grades export, declare and the like.
func (w *walker) declare(sc *scope, c *syntax.DeclClause) {
	w.visit(c)
	p := Part{Text: w.printed(c), Tier: change.T2, Why: "changes only this shell's variables"}
	if c.Variant.Value == "local" {
		p.Tier = change.T1
	}
	raise := func(tier change.Tier, why string) {
		if tier > p.Tier {
			p.Tier, p.Reason, p.Why = tier, change.Unclassified, why
		}
	}
	integer, keyed, named := false, false, false
	for _, a := range c.Args {
		if a.Name == nil {
			for _, v := range w.word(sc, a.Value) {
				flag := v.text
				if hidden(flag) && strings.Contains(flag, "[") {
					raise(change.T4, "evaluates quoted text as a subscript")
				}
				integer = integer || (strings.HasPrefix(flag, "-") && strings.ContainsAny(flag, "in"))
				keyed = keyed || strings.HasPrefix(flag, "-") && strings.Contains(flag, "A")
				if !v.known {
					raise(change.T3, "declares names that only run time knows")
				}
				named = named || !strings.HasPrefix(flag, "-")
			}
			continue
		}
		named = true
		v := w.assigned1(sc, a, keyed)
		if integer && !isNumber(v.text) {
			raise(change.T3, "evaluates text as arithmetic, which can run code")
		}
		if hidden(v.text) && integer {
			raise(change.T4, "evaluates text that holds a substitution")
		}
		if !a.Naked {
			w.variable(sc, a.Name.Value, v)
		}
	}
	if !named {
		raise(change.T3, "prints variables, which may hold secrets")
	}
	w.add(p)
}

// assigned1 returns the value of an assignment as one word; keyed says that the subscripts of its list are mere keys.
func (w *walker) assigned1(sc *scope, a *syntax.Assign, keyed bool) arg {
	if a.Index != nil {
		w.inside(sc, a.Index)
		w.index(sc, a.Index)
	}
	if a.Array != nil {
		w.inside(sc, a.Array)
		for _, e := range a.Array.Elems {
			if e.Index != nil && !keyed {
				w.index(sc, e.Index)
			}
		}
		return arg{text: w.printed(a)}
	}
	if a.Value == nil {
		return arg{known: true}
	}
	v := w.word(sc, a.Value)
	if len(v) != 1 {
		return arg{text: w.printed(a.Value)}
	}
	return v[0]
}

// variable grades setting a variable.
func (w *walker) variable(sc *scope, name string, v arg) {
	p := Part{Text: name + "=" + v.text, Tier: change.T1, Why: "sets a variable"}
	w.planted = w.planted || v.known && hidden(v.text) && strings.Contains(v.text, "[")
	switch {
	case strings.HasPrefix(name, "CORREX_"):
		p.Tier, p.Reason, p.Why = change.T4, change.ProtectedTarget, "changes what correx goes by"
	case v.known && benign(name, v.text):
	case runsText(name):
		if v.known {
			inner := sc.fork()
			before := len(w.parts)
			w.script(inner, strings.TrimLeft(v.text, "|- "), source{kind: sourceUnknown})
			// What a variable holds runs later, at a place that nobody shows.
			for _, q := range w.parts[before:] {
				p.Tier = max(p.Tier, q.Tier)
			}
		}
		p.Tier, p.Reason, p.Why = max(p.Tier, change.T3), change.Unclassified, "sets a variable whose text is run as a command"
	case strings.HasPrefix(name, "GIT_TRACE") && v.known && strings.HasPrefix(v.text, "/"):
		if f := w.writes(sc, v); f.why != "" {
			p.Tier, p.Reason, p.Why = f.tier, f.reason, f.why
		}
	case steering(name, v.text) && steersToDestroy.MatchString(v.text):
		p.Tier, p.Reason, p.Why = change.T4, change.DestructiveOperation, "sets a variable that changes what later commands do, to text that destroys"
	case steering(name, v.text):
		p.Tier, p.Reason, p.Why = change.T3, change.Unclassified, "sets a variable that changes what later commands do"
	}
	w.add(p)
}

var steersToDestroy = pattern(`(^|[\s;|&({])(rm|unlink|shred|mkfs|dd|sudo)\s`)

// call grades a simple command.
func (w *walker) call(sc *scope, c *syntax.CallExpr, in source) {
	w.visit(c)
	for _, a := range c.Assigns {
		w.variable(sc, a.Name.Value, w.assigned1(sc, a, false))
	}
	args := make([]arg, 0, len(c.Args))
	for _, word := range c.Args {
		if args = append(args, w.word(sc, word)...); len(args) > maxWords {
			w.add(Part{Text: shown(args[:8]), Tier: change.T4, Reason: change.Unclassified, Why: "has too many words to be looked at"})
			return
		}
	}
	if len(c.Args) > 0 {
		w.run(sc, args, in)
	}
}
