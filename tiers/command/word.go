package command

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/correx/correx/internal/change"
)

// arg is one word of a command as the program gets it.
type arg struct {
	// text has quotes resolved; what only run time knows stands as it is written.
	text string
	// known: text is all there is to know; but for glob, which may be any name that fits.
	known bool
	glob  bool
	// split: the word may become several, or none.
	split bool
	// lister: the word is what a program that lists the repository's own paths prints.
	lister bool
}

func literal(text string) arg { return arg{text: text, known: true} }

// mayBeFlag reports whether the word could turn out to be a flag that does not show.
func (a arg) mayBeFlag() bool {
	if a.glob {
		return strings.HasPrefix(a.text, "*") || strings.HasPrefix(a.text, "?") || strings.HasPrefix(a.text, "[")
	}
	return !a.known && !a.lister && (a.split || a.text == "" || a.text[0] == '$' || a.text[0] == '`' || a.text[0] == '-')
}

const maxBraces = 128

// word grades what stands inside a word and returns the words that it becomes.
func (w *walker) word(sc *scope, word *syntax.Word) []arg {
	if word == nil {
		return nil
	}
	simple, braced := plainParts(word.Parts)
	if !simple {
		w.inside(sc, word)
	}
	alternatives := [][]syntax.WordPart{word.Parts}
	if braced {
		split := &syntax.Word{Parts: slices.Clone(word.Parts)}
		syntax.SplitBraces(split)
		alternatives = braces(split.Parts)
	}
	if alternatives == nil {
		return []arg{{text: w.printed(word), split: true}}
	}
	var all []arg
	for _, parts := range alternatives {
		r := &reader{walker: w, sc: sc}
		for i, p := range parts {
			r.part(p, i == 0)
		}
		a := r.arg()
		all = append(all, a)
	}
	return all
}

// plainParts reports whether nothing in a word can run anything, and whether it may have braces that make several of it.
func plainParts(parts []syntax.WordPart) (simple, braced bool) {
	simple = true
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			braced = braced || strings.IndexByte(p.Value, '{') >= 0
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			inner, _ := plainParts(p.Parts)
			simple = simple && inner
		default:
			simple = false
		}
	}
	return simple, braced
}

// braces returns the alternatives that brace expansion makes of the parts of a word; nil for too many.
func braces(parts []syntax.WordPart) [][]syntax.WordPart {
	all := [][]syntax.WordPart{nil}
	for _, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range all {
				all[i] = append(all[i][:len(all[i]):len(all[i])], p)
			}
			continue
		}
		if b.Sequence {
			return nil
		}
		var next [][]syntax.WordPart
		for _, elem := range b.Elems {
			for _, tail := range braces(elem.Parts) {
				for _, head := range all {
					next = append(next, append(head[:len(head):len(head)], tail...))
				}
			}
		}
		if len(next) == 0 || len(next) > maxBraces {
			return nil
		}
		all = next
	}
	return all
}

// reader puts the parts of a word together.
type reader struct {
	*walker
	sc  *scope
	b   strings.Builder
	out arg
	// unknown is set by the first part that only run time knows.
	unknown bool
	count   int
}

func (r *reader) arg() arg {
	r.out.text = r.b.String()
	r.out.known = !r.unknown
	r.out.lister = r.out.lister && r.count == 1
	return r.out
}

func (r *reader) part(p syntax.WordPart, first bool) {
	r.count++
	switch p := p.(type) {
	case *syntax.Lit:
		r.literal(p.Value, first)
	case *syntax.SglQuoted:
		if p.Dollar {
			text, ok := ansiC(p.Value)
			r.unknown = r.unknown || !ok
			r.b.WriteString(text)
			return
		}
		r.b.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			if l, ok := q.(*syntax.Lit); ok {
				r.b.WriteString(unquoteDouble(l.Value))
				continue
			}
			r.dynamic(q, isMany(q))
		}
	default:
		r.dynamic(p, true)
	}
}

// isMany reports whether an expansion becomes several words, or none, even between quotes.
func isMany(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	if !ok || e.Length {
		return false
	}
	if e.Param != nil && e.Param.Value == "@" {
		return true
	}
	index, ok := e.Index.(*syntax.Word)
	return ok && index.Lit() == "@"
}

// literal takes text without quotes.
func (r *reader) literal(s string, first bool) {
	r.b.Grow(len(s))
	if first && strings.HasPrefix(s, "~") {
		name, rest, _ := strings.Cut(s[1:], "/")
		switch {
		case name == "" && r.in.Home != "":
			r.b.WriteString(r.in.Home)
			s = strings.TrimPrefix(s, "~")
		case name == "+" || name == "-" || name == "":
			r.unknown = true
		default:
			// Another user's folder is outside, wherever it is.
			r.b.WriteString("/home/" + name + "/")
			s = rest
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
			if i < len(s) && s[i] != '\n' {
				r.b.WriteByte(s[i])
			}
		case '*', '?', '[':
			r.out.glob = true
			r.b.WriteByte(c)
		default:
			r.b.WriteByte(c)
		}
	}
}

// dynamic takes an expansion.
func (r *reader) dynamic(p syntax.WordPart, bare bool) {
	if text, ok := r.value(p); ok {
		r.b.WriteString(text.text)
		r.out.glob = r.out.glob || text.glob
		r.unknown = r.unknown || !text.known
		r.out.split = r.out.split || text.split
		r.out.lister = text.lister
		return
	}
	r.unknown = true
	r.out.split = r.out.split || bare
	if c, ok := p.(*syntax.CmdSubst); ok && bare {
		r.out.lister = r.listsRepository(r.sc, c.Stmts)
	}
	if g, ok := p.(*syntax.ExtGlob); ok {
		r.out.glob = true
		r.b.WriteString(g.Op.String() + g.Pattern.Value + ")")
		return
	}
	r.b.WriteString(r.printed(p))
}

// value returns what an expansion is known to be.
func (r *reader) value(p syntax.WordPart) (arg, bool) {
	switch p := p.(type) {
	case *syntax.ParamExp:
		if p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0 {
			return arg{}, false
		}
		name := p.Param.Value
		if v, ok := r.sc.bounded[name]; ok {
			return v, true
		}
		if _, set := r.assigned[name]; set {
			return arg{}, false
		}
		switch {
		case name == "HOME" && r.in.Home != "":
			return literal(r.in.Home), true
		case name == "PWD" && r.sc.cwd != "":
			return literal(r.sc.cwd), true
		}
	case *syntax.CmdSubst:
		return r.substituted(p)
	case *syntax.ProcSubst:
		return literal("/dev/fd/63"), true
	}
	return arg{}, false
}

// substituted returns what some commands are known to print.
func (r *reader) substituted(c *syntax.CmdSubst) (arg, bool) {
	if len(c.Stmts) != 1 || len(c.Stmts[0].Redirs) > 0 {
		return arg{}, false
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return arg{}, false
	}
	var list []string
	for _, a := range call.Args {
		list = append(list, a.Lit())
	}
	switch line := strings.Join(list, " "); {
	case line == "git rev-parse --show-toplevel" && r.in.Root != "" && r.inRoot(r.sc.cwd):
		return literal(r.in.Root), true
	case line == "pwd" && r.sc.cwd != "":
		return literal(r.sc.cwd), true
	case len(list) > 2 && list[0] == "git" && (list[1] == "merge-base" || line == "git rev-parse HEAD" || line == "git rev-parse --short HEAD"):
		// One hash, or nothing.
		return literal("0000000"), true
	case len(list) > 0 && list[0] == "date" && len(list) <= 2, line == "nproc", line == "git branch --show-current", line == "whoami":
		return arg{text: "$(" + line + ")"}, true
	}
	return arg{}, false
}

// unquoteDouble drops the backslashes that count inside double quotes.
func unquoteDouble(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes the text of $'…'; false where it holds an escape that is not known.
func ansiC(s string) (string, bool) {
	var b strings.Builder
	simple := map[byte]byte{'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11, '\\': '\\', '\'': '\'', '"': '"', '?': '?'}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		if v, ok := simple[c]; ok {
			b.WriteByte(v)
			continue
		}
		digits, base, most := "", 16, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if c >= '0' && c <= '7' {
			base, most, i = 8, 3, i-1
		}
		for len(digits) < most && i+1 < len(s) && strings.IndexByte("0123456789abcdefABCDEF"[:min(base, 8)+(base-8)*14/8], s[i+1]) >= 0 {
			i++
			digits += string(s[i])
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil {
			return s, false
		}
		if c == 'u' || c == 'U' {
			b.WriteRune(rune(n))
		} else {
			b.WriteByte(byte(n))
		}
		if n == 0 {
			// Bash ends the string here, and some versions the word.
			return b.String(), false
		}
	}
	return b.String(), true
}

// hidden reports whether text holds a substitution that something may still evaluate.
func hidden(text string) bool { return strings.Contains(text, "$(") || strings.Contains(text, "`") }

// inside grades everything that runs inside a node that is not itself a command.
func (w *walker) inside(sc *scope, n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.visit(n)
			w.stmts(sc.fork(), n.Stmts, source{})
			return false
		case *syntax.ProcSubst:
			w.visit(n)
			in := source{}
			if n.Op == syntax.CmdOut {
				in.kind = sourceUnknown
			}
			w.stmts(sc.fork(), n.Stmts, in)
			return false
		case *syntax.ParamExp:
			w.parameter(n)
			if n.Slice != nil {
				w.slice(sc, n.Slice)
			}
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			w.arithmetic(sc, n)
		case *syntax.BinaryTest:
			if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
				w.arithmetic(sc, n)
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				w.arithmetic(sc, n)
			}
		}
		return true
	})
}

// parameter grades an expansion of a variable by itself.
func (w *walker) parameter(p *syntax.ParamExp) {
	raise := func(tier change.Tier, why string) {
		w.add(Part{Text: w.printed(p), Tier: tier, Reason: change.Unclassified, Why: why})
	}
	switch {
	case p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && (p.Exp.Word == nil || p.Exp.Word.Lit() == "P"):
		raise(change.T4, "may evaluate the text of a variable")
	case p.Param == nil || p.NestedParam != nil:
		raise(change.T4, "is an expansion of another shell")
	case p.Excl && p.Names == 0 && !strings.ContainsAny(w.printed(p), "@*"):
		raise(change.T3, "shows a variable that only run time knows")
	case secretName(p.Param.Value) && !p.Length:
		raise(change.T3, "shows a variable that is named like a secret")
	}
	if p.Index != nil && !plainIndex(p.Index) {
		raise(change.T3, "evaluates a subscript, which can run code")
	}
}

func plainIndex(x syntax.ArithmExpr) bool {
	word, ok := x.(*syntax.Word)
	return ok && (isNumber(word.Lit()) || word.Lit() == "@" || word.Lit() == "*")
}

// arithmetic grades what bash evaluates: a variable in it is evaluated as an expression itself.
func (w *walker) arithmetic(sc *scope, n syntax.Node) {
	unknown := ""
	syntax.Walk(n, func(x syntax.Node) bool {
		switch x := x.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			unknown = w.printed(x)
			return false
		case *syntax.ParamExp:
			if x.Param != nil && !x.Length && !w.isInteger(sc, x.Param.Value) {
				unknown = w.printed(x)
			}
			return false
		case *syntax.Word:
			if l := x.Lit(); l != "" && syntax.ValidName(l) && !w.isInteger(sc, l) {
				unknown = l
			}
		case *syntax.SglQuoted:
			w.subscript(x.Value)
		case *syntax.Lit:
			w.subscript(x.Value)
		}
		return true
	})
	if unknown != "" {
		tier := change.T3
		if w.planted {
			tier = change.T4
		}
		w.add(Part{Text: w.printed(n), Tier: tier, Reason: change.Unclassified, Why: "evaluates " + strconv.Quote(unknown) + " as arithmetic, which can run code"})
	}
}

// index grades the subscript of an assignment: bash evaluates what is in it, also in quotes.
func (w *walker) index(sc *scope, x syntax.ArithmExpr) {
	if plainIndex(x) {
		return
	}
	w.arithmetic(sc, x)
	if word, ok := x.(*syntax.Word); ok && word.Lit() == "" && len(word.Parts) > 0 {
		if _, variable := word.Parts[0].(*syntax.ParamExp); !variable || len(word.Parts) > 1 {
			w.add(Part{Text: w.printed(x), Tier: change.T3, Reason: change.Unclassified, Why: "evaluates a subscript, which can run code"})
		}
	}
}

// slice grades the numbers of an expansion such as ${a:b:c}.
func (w *walker) slice(sc *scope, s *syntax.Slice) {
	for _, x := range []syntax.ArithmExpr{s.Offset, s.Length} {
		if x != nil {
			w.arithmetic(sc, x)
		}
	}
}

// subscript refuses text that bash would evaluate though it is quoted.
func (w *walker) subscript(text string) {
	if hidden(text) {
		w.add(Part{Text: clip(text), Tier: change.T4, Reason: change.Unclassified, Why: "is evaluated though it is quoted"})
	}
}

func (w *walker) isInteger(sc *scope, name string) bool {
	if v, ok := sc.bounded[name]; ok && v.known && isNumber(v.text) {
		return true
	}
	return w.assigned[name] || strings.Contains(" # ? $ ! RANDOM SECONDS LINENO EPOCHSECONDS UID EUID PPID ", " "+name+" ")
}
