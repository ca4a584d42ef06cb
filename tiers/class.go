package tiers

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is a set of characters in square brackets.
type class struct {
	not    bool
	ranges []runeRange
}

type runeRange struct{ lo, hi rune }

func (c class) lists(r rune) bool {
	for _, x := range c.ranges {
		if x.lo <= r && r <= x.hi {
			return true
		}
	}
	return false
}

// class reads "[…]" from its opening bracket on. As in .gitignore a "]" right after the opening is a member.
func (sc *scanner) class() (token, string) {
	const open = `has a "[" that does not close`
	rest := sc.rest[1:]
	var c class
	if rest != "" && (rest[0] == '!' || rest[0] == '^') {
		c.not, rest = true, rest[1:]
	}
	for first := true; ; first = false {
		if strings.HasPrefix(rest, "[:") {
			return token{}, `has a named class such as "[:alpha:]", which is not supported`
		}
		if rest == "" {
			return token{}, open
		}
		if rest[0] == ']' && !first {
			sc.rest = rest[1:]
			return token{kind: tokenClass, set: c}, ""
		}
		lo, after, problem := member(rest)
		if problem != "" {
			return token{}, problem
		}
		rest = after
		hi := lo
		if len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			if hi, rest, problem = member(rest[1:]); problem != "" {
				return token{}, problem
			}
		}
		if hi < lo {
			return token{}, fmt.Sprintf("has the reversed range %q", string(lo)+"-"+string(hi))
		}
		c.ranges = append(c.ranges, runeRange{lo, hi})
	}
}

// member reads one character of a class.
func member(s string) (rune, string, string) {
	if s[0] == '\\' {
		s = s[1:]
		if s == "" {
			return 0, "", `has a "[" that does not close`
		}
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == '/' {
		return 0, "", "has a slash inside brackets"
	}
	return r, s[size:], ""
}

// folded returns the class that holds a character in the spelling of foldName if c holds one of its two cases. Only the
// letters of ASCII are turned; others are kept as they are.
func (c class) folded() class {
	f := class{not: c.not}
	for _, x := range c.ranges {
		f.ranges = append(f.ranges, splitLetters(x)...)
	}
	for r := 'a'; r <= 'z'; r++ {
		lower, upper := c.lists(r), c.lists(unicode.ToUpper(r))
		// A negated class holds the letter unless both its cases are excluded.
		if (c.not && lower && upper) || (!c.not && (lower || upper)) {
			f.ranges = append(f.ranges, runeRange{r, r})
		}
	}
	if len(f.ranges) == 0 {
		// Nothing is left to exclude; a class must not be empty, and no name holds a NUL.
		f.ranges = append(f.ranges, runeRange{0, 0})
	}
	return f
}

// splitLetters returns x without the letters of ASCII.
func splitLetters(x runeRange) []runeRange {
	keep := []runeRange{x}
	for _, cut := range []runeRange{{'A', 'Z'}, {'a', 'z'}} {
		var next []runeRange
		for _, k := range keep {
			if k.hi < cut.lo || cut.hi < k.lo {
				next = append(next, k)
				continue
			}
			if k.lo < cut.lo {
				next = append(next, runeRange{k.lo, cut.lo - 1})
			}
			if k.hi > cut.hi {
				next = append(next, runeRange{cut.hi + 1, k.hi})
			}
		}
		keep = next
	}
	return keep
}

func (c class) write(b *strings.Builder) {
	b.WriteByte('[')
	if c.not {
		b.WriteByte('!')
	}
	for _, x := range c.ranges {
		b.WriteByte('\\')
		b.WriteRune(x.lo)
		if x.hi != x.lo {
			b.WriteString(`-\`)
			b.WriteRune(x.hi)
		}
	}
	b.WriteByte(']')
}

// exactGlob returns tokens in the syntax of the matcher.
func exactGlob(tokens []token) glob {
	return newGlob(tokens, func(s string) string { return s }, func(c class) class { return c })
}

// foldedGlob returns tokens in the syntax of the matcher, for names in the spelling of foldName.
func foldedGlob(tokens []token) glob {
	return newGlob(tokens, foldName, class.folded)
}

func newGlob(tokens []token, text func(string) string, set func(class) class) glob {
	var b strings.Builder
	plain := true
	var words strings.Builder // text tokens in a row, since folding may look at neighbours
	flush := func() {
		if s := text(words.String()); plain {
			b.WriteString(s)
		} else {
			b.WriteString(escape(s))
		}
		words.Reset()
	}
	for _, t := range tokens {
		plain = plain && t.kind == tokenText
	}
	for _, t := range tokens {
		if t.kind == tokenText {
			words.WriteString(t.text)
			continue
		}
		flush()
		switch t.kind {
		case tokenStar:
			b.WriteByte('*')
		case tokenAny:
			b.WriteByte('?')
		case tokenClass:
			set(t.set).write(&b)
		}
	}
	flush()
	g := glob{text: b.String(), plain: plain}
	if i := slices.IndexFunc(tokens, func(t token) bool { return t.kind != tokenText }); i >= 0 && tokens[i].kind == tokenStar {
		after := tokens[i+1:]
		g.star = !slices.ContainsFunc(after, func(t token) bool { return t.kind != tokenText })
		g.before, g.after = text(joined(tokens[:i])), text(joined(after))
	}
	return g
}

// joined returns the text of tokens that are nothing but text.
func joined(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.text)
	}
	return b.String()
}

// escape makes the matcher take s letter by letter.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`*?[]{}\,!^-`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
