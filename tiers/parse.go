package tiers

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// What a pattern may be at most. The matcher's cost grows with each of them, and a pattern can come from a stranger.
const (
	maxPatternBytes = 256
	maxBraces       = 4
	maxChoices      = 64
)

// ParsePattern reads a path pattern. The dialect is close to that of .gitignore:
//
//   - without a slash (but at the end) a pattern holds at any depth; with one, or with "/" or "./" in front, it starts at
//     the root of the repository;
//   - a pattern that names a folder holds for all that lies in it; with "/" at the end it holds for that alone;
//   - "*" is any text and "?" any single character without a slash, "[a-z]" and "[!a-z]" are classes, "**" between
//     slashes is any number of folders, "{a,b}" is either, and a backslash takes the next character as it is;
//   - names that begin with a dot are names like any other.
//
// Refused, with a *PatternError, is what would not mean what it seems to: an empty pattern, one that begins with "!",
// brackets or braces that do not close, nested braces, a slash inside either, a reversed range, "**" glued to other text,
// a "." or ".." or empty component, and control characters; also more than 256 bytes, 4 pairs of braces, or 64
// combinations of what stands in them.
func ParsePattern(s string) (Pattern, error) {
	refuse := func(format string, args ...any) (Pattern, error) {
		return Pattern{}, &PatternError{Pattern: s, Problem: fmt.Sprintf(format, args...)}
	}
	if problem := checkText(s); problem != "" {
		return refuse("%s", problem)
	}
	body, rooted := s, false
	if rest, ok := strings.CutPrefix(body, "./"); ok {
		body, rooted = rest, true
	} else if rest, ok := strings.CutPrefix(body, "/"); ok {
		body, rooted = rest, true
	}
	body, content := strings.CutSuffix(body, "/")
	if body == "" {
		return refuse("names nothing; %q stands for the whole repository", "**")
	}
	sc := scanner{rest: body}
	parts, problem := sc.parts()
	if problem != "" {
		return refuse("%s", problem)
	}
	bare := !rooted && len(parts) == 1 && !parts[0].deep
	if bare {
		parts = append([]part{{deep: true}}, parts...)
	}
	// "a/**" is what lies in a, not a itself, and what lies in a folder that matches is always meant: so a closing "**"
	// is the same as "*".
	open := parts[len(parts)-1].deep
	if open {
		parts[len(parts)-1] = part{names: []glob{{text: "*"}}, folded: []glob{{text: "*"}}}
	}
	return Pattern{text: s, parts: parts, content: content, open: open, bare: bare}, nil
}

// checkText returns what is wrong with a pattern as a text, or "".
func checkText(s string) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > maxPatternBytes:
		return fmt.Sprintf("has %d bytes, at most %d are allowed", len(s), maxPatternBytes)
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case strings.ContainsFunc(s, unicode.IsControl):
		return "holds a control character"
	case s[0] == '!':
		return `begins with "!", which is no negation here; write "\!" for a name that begins with it`
	case strings.TrimSpace(s) != s && !strings.HasSuffix(s, `\ `):
		return "begins or ends with a space"
	}
	return ""
}

// token is a piece of a component.
type token struct {
	kind tokenKind
	text string // of tokenText
	set  class  // of tokenClass
}

type tokenKind int

const (
	tokenText tokenKind = iota
	tokenStar
	tokenAny
	tokenClass
)

// scanner reads the text of a pattern from left to right.
type scanner struct {
	rest    string
	braces  int
	choices int
}

// parts reads all components.
func (sc *scanner) parts() ([]part, string) {
	sc.choices = 1
	var parts []part
	for {
		before := sc.rest
		choices, special, problem := sc.component()
		if problem != "" {
			return nil, problem
		}
		raw := before[:len(before)-len(sc.rest)]
		p, problem := newPart(raw, choices, special)
		if problem != "" {
			return nil, problem
		}
		if !p.deep || len(parts) == 0 || !parts[len(parts)-1].deep {
			parts = append(parts, p)
		}
		if sc.rest == "" {
			return parts, ""
		}
		sc.rest = sc.rest[1:] // the slash
	}
}

// component reads up to the next slash or the end and returns every sequence of tokens it stands for, braces expanded.
// Special is set where brackets or braces were read as such.
func (sc *scanner) component() (choices [][]token, special bool, problem string) {
	choices = [][]token{nil}
	for sc.rest != "" && sc.rest[0] != '/' {
		if sc.rest[0] == '{' {
			special = true
			alternatives, problem := sc.alternatives()
			if problem != "" {
				return nil, false, problem
			}
			choices = product(choices, alternatives)
			continue
		}
		t, problem := sc.token()
		if problem != "" {
			return nil, false, problem
		}
		special = special || t.kind == tokenClass
		for i := range choices {
			choices[i] = append(choices[i], t)
		}
	}
	return choices, special, ""
}

func product(heads, tails [][]token) [][]token {
	var all [][]token
	for _, head := range heads {
		for _, tail := range tails {
			joined := append(append([]token(nil), head...), tail...)
			all = append(all, joined)
		}
	}
	return all
}

// alternatives reads "{a,b}".
func (sc *scanner) alternatives() ([][]token, string) {
	if sc.braces++; sc.braces > maxBraces {
		return nil, fmt.Sprintf("has more than %d pairs of braces", maxBraces)
	}
	sc.rest = sc.rest[1:]
	all := [][]token{nil}
	for sc.rest != "" {
		switch sc.rest[0] {
		case '{':
			return nil, "has braces inside braces"
		case '/':
			return nil, "has a slash inside braces"
		case ',':
			sc.rest = sc.rest[1:]
			all = append(all, nil)
		case '}':
			sc.rest = sc.rest[1:]
			if sc.choices *= len(all); sc.choices > maxChoices {
				return nil, fmt.Sprintf("has braces with more than %d combinations", maxChoices)
			}
			return all, ""
		default:
			t, problem := sc.token()
			if problem != "" {
				return nil, problem
			}
			all[len(all)-1] = append(all[len(all)-1], t)
		}
	}
	return nil, `has a "{" that does not close`
}

// token reads one piece that is neither a brace nor a slash.
func (sc *scanner) token() (token, string) {
	if n := plainLetters(sc.rest); n > 0 {
		t := token{text: sc.rest[:n]}
		sc.rest = sc.rest[n:]
		return t, ""
	}
	r, size := utf8.DecodeRuneInString(sc.rest)
	switch r {
	case '*':
		sc.rest = sc.rest[1:]
		return token{kind: tokenStar}, ""
	case '?':
		sc.rest = sc.rest[1:]
		return token{kind: tokenAny}, ""
	case '[':
		return sc.class()
	case ']':
		// As in .gitignore a bracket that closes nothing is a letter; it only follows a class that was one.
	case '}':
		return token{}, `has a "}" that closes nothing`
	case '\\':
		return sc.escaped()
	}
	sc.rest = sc.rest[size:]
	return token{text: string(r)}, ""
}

// plainLetters returns how many bytes at the front of s are letters, digits and the like that mean themselves anywhere.
func plainLetters(s string) int {
	n := 0
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z' || s[n] >= '0' && s[n] <= '9' ||
		s[n] == '.' || s[n] == '_' || s[n] == '-') {
		n++
	}
	return n
}

func (sc *scanner) escaped() (token, string) {
	rest := sc.rest[1:]
	if rest == "" {
		return token{}, "ends in a backslash that escapes nothing"
	}
	r, size := utf8.DecodeRuneInString(rest)
	if r == '/' {
		return token{}, "has a slash behind a backslash"
	}
	sc.rest = rest[size:]
	return token{text: string(r)}, ""
}

// newPart makes the part that a component stands for.
func newPart(raw string, choices [][]token, special bool) (part, string) {
	switch raw {
	case "":
		return part{}, "has an empty component"
	case ".", "..":
		return part{}, fmt.Sprintf("has a %q component, which no path has", raw)
	case "**":
		return part{deep: true}, ""
	}
	if strings.Contains(withoutEscapes(raw), "**") {
		return part{}, `has "**" glued to other text; it must stand alone between slashes`
	}
	var p part
	for _, tokens := range choices {
		p.names = append(p.names, exactGlob(tokens))
		p.folded = append(p.folded, foldedGlob(tokens))
	}
	for _, g := range p.names {
		if !g.plain && !doublestar.ValidatePattern(g.text) {
			return part{}, "is not a pattern that can be matched"
		}
	}
	p.literal = len(p.names) == 1 && p.names[0].plain
	if special {
		p.folded = append(p.folded, glob{text: foldName(raw), plain: true})
	}
	return p, ""
}

// withoutEscapes drops escaped characters and classes' brackets keep their content: it is only looked at for "**".
func withoutEscapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			b.WriteByte('_')
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
