package command

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

// editStream grades sed: its script is a small language, with commands that write files and run programs.
func editStream(c *invocation) {
	files := c.operands
	var scripts []arg
	for _, f := range c.flags {
		switch f.name {
		case "-e", "--expression":
			scripts = append(scripts, f.value)
		case "-f", "--file":
			c.unknown("runs a script that nobody has read")
			scripts = append(scripts, literal(""))
		}
	}
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	sandbox := c.any("--sandbox")
	for _, s := range scripts {
		if !s.known {
			c.unknown("has an expression that only run time knows, which may write or run")
			continue
		}
		if !sandbox {
			r := sedScript{invocation: c, s: s.text}
			r.read()
		}
	}
	inPlace := c.any("-i", "--in-place")
	for _, a := range files {
		if inPlace {
			c.take(c.writes(c.sc, a))
			continue
		}
		c.take(c.reads(c.sc, a))
	}
}

// sedScript reads a sed script from front to back.
type sedScript struct {
	*invocation
	s string
	i int
}

func (r *sedScript) read() {
	for r.i < len(r.s) {
		if !r.command() {
			r.unknown("has an expression that could not be read")
			if strings.ContainsAny(r.s[min(r.i, len(r.s)):], "weWE") {
				r.hidden("has an expression that could not be read, which may write or run")
			}
			return
		}
	}
}

func (r *sedScript) skip(chars string) {
	for r.i < len(r.s) && strings.IndexByte(chars, r.s[r.i]) >= 0 {
		r.i++
	}
}

// line returns the rest of the line.
func (r *sedScript) line() string {
	rest, _, _ := strings.Cut(r.s[r.i:], "\n")
	r.i += len(rest)
	return strings.TrimSpace(rest)
}

// delimited goes past text up to an unescaped delimiter.
func (r *sedScript) delimited(by byte) bool {
	for ; r.i < len(r.s); r.i++ {
		switch r.s[r.i] {
		case '\\':
			r.i++
		case by:
			r.i++
			return true
		}
	}
	return false
}

// address goes past one address.
func (r *sedScript) address() bool {
	r.skip(" \t")
	if r.i >= len(r.s) {
		return true
	}
	switch c := r.s[r.i]; {
	case c == '/':
		r.i++
		if !r.delimited('/') {
			return false
		}
		r.skip("IM")
	case c == '\\' && r.i+1 < len(r.s):
		by := r.s[r.i+1]
		r.i += 2
		if !r.delimited(by) {
			return false
		}
		r.skip("IM")
	default:
		r.skip("0123456789$~+")
	}
	return true
}

func (r *sedScript) command() bool {
	r.skip(" \t\n;{}")
	if !r.address() {
		return false
	}
	r.skip(" \t")
	if r.i < len(r.s) && r.s[r.i] == ',' {
		r.i++
		if !r.address() {
			return false
		}
	}
	r.skip(" \t!")
	if r.i >= len(r.s) {
		return true
	}
	c := r.s[r.i]
	r.i++
	switch c {
	case '#', ':', 'b', 't', 'T':
		if c == '#' {
			r.line()
		} else {
			for r.i < len(r.s) && r.s[r.i] != '\n' && r.s[r.i] != ';' && r.s[r.i] != '}' {
				r.i++
			}
		}
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F', '}', '{':
	case 'q', 'Q', 'l', 'L':
		r.skip(" 0123456789")
	case 'a', 'i', 'c':
		for {
			text := r.line()
			if !strings.HasSuffix(text, `\`) || r.i >= len(r.s) {
				break
			}
			r.i++
		}
	case 'r', 'R':
		r.take(r.reads(r.sc, literal(r.line())))
	case 'w', 'W':
		r.take(r.writes(r.sc, literal(r.line())))
	case 'e':
		r.runs(r.line())
	case 's', 'y':
		return r.substitute(c)
	default:
		return false
	}
	return true
}

func (r *sedScript) runs(text string) {
	if text == "" {
		r.hidden("runs its input as a command")
		return
	}
	r.unknown("runs a command")
	r.nested(text)
}

// substitute reads the rest of s/…/…/FLAGS or y/…/…/.
func (r *sedScript) substitute(kind byte) bool {
	if r.i >= len(r.s) || r.s[r.i] == '\n' || r.s[r.i] == '\\' {
		return false
	}
	by := r.s[r.i]
	r.i++
	for range 2 {
		if !r.delimited(by) {
			return false
		}
	}
	for kind == 's' && r.i < len(r.s) {
		switch c := r.s[r.i]; {
		case strings.IndexByte("gpiIMm0123456789", c) >= 0:
			r.i++
		case c == 'e':
			r.hidden("runs the result of a substitution")
			r.i++
		case c == 'w':
			r.i++
			r.take(r.writes(r.sc, literal(r.line())))
		default:
			return strings.IndexByte(" \t\n;}#", c) >= 0
		}
	}
	return true
}

// awkProgram grades awk: its program may run commands and write files.
func awkProgram(c *invocation) {
	files := c.operands
	var texts []arg
	inPlace := false
	for _, f := range c.flags {
		switch f.name {
		case "-f", "--file":
			c.unknown("runs a program that nobody has read")
			texts = append(texts, literal(""))
		case "-e", "--source":
			texts = append(texts, f.value)
		case "-i", "--include", "-l", "--load":
			if inPlace = inPlace || f.value.text == "inplace"; f.value.text != "inplace" {
				c.unknown("loads code that nobody has read")
			}
		}
	}
	if len(texts) == 0 && len(files) > 0 {
		texts, files = files[:1], files[1:]
	}
	for _, t := range texts {
		if !t.known {
			c.unknown("has a program that only run time knows")
		}
		c.awk(t.text)
	}
	for _, a := range files {
		switch {
		case strings.Contains(a.text, "=") && !strings.Contains(a.text, "/"):
		case inPlace:
			c.take(c.writes(c.sc, a))
		default:
			c.take(c.reads(c.sc, a))
		}
	}
}

var (
	awkString = pattern(`^\s*"((\\.|[^"\\])*)"\s*(;|\}|\)|$|\n)`)
	awkRegexp = pattern(`(^|[~!(,{;&|\n]\s*)/(\\.|\[[^\]\n]*\]|[^/\\\n])+/`)
)

// awkToken returns the word, string or operator of awk with which text begins, or "" for a character that says nothing here.
func awkToken(text string) string {
	switch c := text[0]; {
	case inWord(c):
		return text[:wordLength(text)]
	case c == '@':
		if n := wordLength(text[1:]); n > 0 {
			return text[:1+n]
		}
	case strings.IndexByte(";{}\n()", c) >= 0:
		return text[:1]
	case c == '"':
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return text[:i+1]
			}
		}
	case c == '|' || c == '>':
		for _, operator := range []string{"||&", "||", "|&", "|", ">>=", ">>", ">=", ">"} {
			if strings.HasPrefix(text, operator) {
				return operator
			}
		}
	}
	return ""
}

func wordLength(text string) int {
	n := 0
	for n < len(text) && inWord(text[n]) {
		n++
	}
	return n
}

// awk looks for what writes or runs in an awk program, outside its regular expressions and strings.
func (c *invocation) awk(text string) {
	text = awkRegexp().ReplaceAllString(text, "$1 1 ")
	depth, printing, open := 0, false, 0
	last := ""
	for at := 0; at < len(text); {
		word := awkToken(text[at:])
		at += max(len(word), 1)
		rest := text[at:]
		switch {
		case word == "" && text[at-1] == '"':
			// Each of them is looked for up to the end of the text.
			if open++; open > 64 {
				c.hidden("has strings that do not end")
				return
			}
		case word == "":
		case word == "ENVIRON":
			c.raise(change.T3, change.ProtectedTarget, "prints variables, which may hold secrets")
		case strings.HasPrefix(word, "@"):
			c.unknown("loads code, or calls a function by a computed name")
		case word == "print" || word == "printf":
			printing, depth = true, 0
		case word == ";" || word == "{" || word == "}" || word == "\n":
			printing, depth = false, 0
		case word == "(":
			depth++
		case word == ")":
			depth--
		case word == "system":
			c.awkRuns(strings.TrimPrefix(strings.TrimSpace(rest), "("))
		case word == "|" || word == "|&":
			if next := strings.TrimSpace(rest); strings.HasPrefix(next, "getline") {
				c.awkRuns(last)
			} else {
				c.awkRuns(rest)
			}
		case word == "getline":
			if next := strings.TrimSpace(rest); strings.Contains(strings.SplitN(next, ";", 2)[0], "<") {
				c.unknown("reads a file that the program names")
			}
		case (word == ">" || word == ">>") && printing && depth <= 0:
			c.awkWrites(rest)
		case word[0] == '"':
			last = word
		}
	}
}

func (c *invocation) awkRuns(rest string) {
	m := awkString().FindStringSubmatch(rest)
	if m == nil || strings.Contains(m[1], `\`) {
		c.hidden("runs text that the program computes")
		return
	}
	c.unknown("runs a command")
	c.script(c.sc.fork(), m[1], source{kind: sourceUnknown})
}

func (c *invocation) awkWrites(rest string) {
	m := awkString().FindStringSubmatch(rest)
	if m == nil || strings.Contains(m[1], `\`) {
		c.raise(change.T4, change.Unclassified, "writes to a path that the program computes")
		return
	}
	c.take(c.writes(c.sc, literal(m[1])))
}
