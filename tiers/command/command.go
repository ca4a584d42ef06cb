package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// The limits beyond which a command is not looked into.
const (
	maxBytes   = 64 << 10
	maxNesting = 100
	maxReasons = 20
	maxWords   = 4096
	maxDepth   = 12
	maxParts   = 2048
	// maxUnrolled is how many words loops are gone through one by one.
	maxUnrolled = 256
)

// Context is where a command would run. But for rules that lower it only ever raises a tier: with the zero Context no path is
// known to be inside.
type Context struct {
	// Root is the absolute path of the repository, Cwd of the working directory, Home of the user's folder.
	Root, Cwd, Home string
	// Commands are rules of the configuration, those that lower first.
	Commands []tiers.CommandRule
}

// Part is one thing that may run, or one file that a redirection opens.
type Part struct {
	// Text is the part as it was understood: quotes resolved, what is only known at run time written as it stands.
	Text string
	Tier change.Tier
	// Reason is the code of what raised the tier; empty where nothing did.
	Reason change.Reason
	// Why says what settled the tier.
	Why string
	// Rule is where the rule of the configuration stands that gave the tier; empty where none did.
	Rule string
}

// String returns the reason code, the part and why it has its tier.
func (p Part) String() string {
	s := fmt.Sprintf("%q: %s", p.Text, p.Why)
	if p.Reason != "" {
		s = string(p.Reason) + ": " + s
	}
	return s
}

// Result is the grade of a command.
type Result struct {
	// Tier is the highest tier of all parts.
	Tier change.Tier
	// Reasons has the reason of each part that has that tier, without repetition; never empty.
	Reasons []string
	// Parts are in the order in which they were found; never empty.
	Parts []Part
	// Unclassified says that some part could not be told, so that no mode passes the command without a person.
	Unclassified bool
}

// Grade says what tier a line, or a script, for bash has. It is total: what is not understood is T4 and unclassified.
func Grade(text string, in Context) Result {
	g := &grader{in: in, downloaded: map[string]bool{}, inside: map[change.Path]finding{}, roles: roles(), parser: newParser()}
	g.parts = make([]Part, 0, min(maxParts, 8+len(text)/8))
	maps.Copy(g.roles, toolRoles())
	if why := unreadable(text); why != "" {
		g.add(Part{Text: clip(text), Tier: change.T4, Reason: change.Unclassified, Why: why})
	} else {
		g.script(newScope(in), text, source{})
	}
	if len(g.parts) == 0 {
		g.add(Part{Text: clip(text), Tier: change.T4, Reason: change.Unclassified, Why: "nothing that runs was found"})
	}
	return g.result()
}

func (g *grader) result() Result {
	r := Result{Tier: change.T1, Parts: g.parts}
	for _, p := range g.parts {
		r.Tier = max(r.Tier, p.Tier)
		r.Unclassified = r.Unclassified || p.Reason == change.Unclassified
	}
	for _, p := range g.parts {
		if p.Tier < r.Tier || len(r.Reasons) == maxReasons {
			continue
		}
		if s := p.String(); !slices.Contains(r.Reasons, s) {
			r.Reasons = append(r.Reasons, s)
		}
	}
	return r
}

// unreadable says why text must not be given to the parser, or "". The parser reads some bytes in another way than bash
// does, and its stack grows with every bracket.
func unreadable(text string) string {
	if len(text) > maxBytes {
		return fmt.Sprintf("is too large to be looked into (%d bytes, limit %d)", len(text), maxBytes)
	}
	depth, deepest := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' && c != '\t' && c != '\n', c == 0x7f:
			return "holds a control character, which shells read in different ways"
		case c == '(' || c == '{' || c == '`':
			depth++
		case c == ')' || c == '}':
			depth = max(0, depth-1)
		case c == '$' && strings.HasPrefix(text[i+1:], "\\\n"):
			return "continues a line right behind a dollar sign"
		case c == '!' || c == '[' || c == '-' || c == '+' || c == '~':
			if runLength(text[i:], c) > maxNesting*4 {
				return "is nested too deep to be looked into"
			}
		}
		deepest = max(deepest, depth)
	}
	if deepest > maxNesting || keywords(text) > maxNesting {
		return "is nested too deep to be looked into"
	}
	return ""
}

// keywords returns how deep words that open a compound command may nest.
func keywords(text string) int {
	depth, deepest := 0, 0
	for text != "" {
		end := strings.IndexAny(text, " \t\n;&|()")
		if end < 0 {
			end = len(text)
		}
		w := text[:end]
		text = text[min(end+1, len(text)):]
		switch w {
		case "if", "while", "until", "for", "select", "case", "elif", "!", "time", "coproc":
			depth++
		case "fi", "done", "esac":
			depth = max(0, depth-1)
		}
		deepest = max(deepest, depth)
	}
	return deepest
}

func runLength(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// parse reads a script. Bash ends a comment at the end of its line; the parser lets a backslash there carry it on.
func newParser() *syntax.Parser {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
}

func parse(p *syntax.Parser, text string) (*syntax.File, string) {
	f, err := p.Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, "cannot be parsed: " + err.Error()
	}
	if strings.IndexByte(text, '#') < 0 {
		return f, ""
	}
	problem := ""
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && (strings.HasSuffix(c.Text, `\`) || strings.Contains(c.Text, "\\\n")) {
			problem = "has a comment that ends in a backslash"
		}
		return problem == ""
	})
	if problem == "" && strings.Contains(text, "\\\n") && commentContinues(text) {
		problem = "has a comment that ends in a backslash"
	}
	return f, problem
}

// commentContinues reports whether some line that ends in a backslash may be a comment.
func commentContinues(text string) bool {
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		if !strings.HasSuffix(body, `\`) {
			continue
		}
		for i := range len(body) {
			if body[i] == '#' && (i == 0 || strings.IndexByte(" \t;&|()<>`", body[i-1]) >= 0) {
				return true
			}
		}
	}
	return false
}

// clip shortens text for a person.
func clip(text string) string {
	const most = 300
	if len(text) <= most {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:most], "\uFFFD") + "…"
}

// Verdict says what a mode makes of the result, and what settled that.
func (r Result) Verdict(mode change.Mode) (change.Outcome, string) {
	passes := map[change.Mode]change.Tier{change.ModePrompt: change.T1, change.ModeAuto: change.T2, change.ModeYolo: change.T4}
	switch top, known := passes[mode]; {
	case mode == change.ModeDeny:
		return change.Deny, "mode"
	case r.Unclassified:
		return change.Ask, "unclassified"
	case known && r.Tier <= top:
		return change.Auto, "mode"
	}
	return change.Ask, "mode"
}

// Join returns the text of a command with these words; one word alone is taken for a line as it is.
func Join(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
