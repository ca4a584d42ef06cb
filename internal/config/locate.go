package config

import (
	"slices"
	"strings"
)

// The decoder says where a syntax error is, but not where a key stands. locate finds that out, by a walk over the text
// that knows TOML's outer form and leaves the values to the decoder. It also keeps from the decoder what would make it
// slow: keys of thousands of parts, deep nesting.

// What a file may nest at most. Settings need two parts and two levels.
const (
	maxKeyParts = 8
	maxNesting  = 8
)

// point is a place in a file, counted from 1; columns are characters.
type point struct{ line, column int }

// located is a key, or the name of a table, and where it stands.
type located struct {
	key   []string
	at    point
	items []point
	// array is set for the header of one table of an array, in double brackets, and header for that of any table.
	array, header bool
	// start and end are where its statement begins and ends in the text, the end of its last line included.
	start, end int
}

// name returns the key as it is written in a file.
func (l located) name() string { return strings.Join(l.key, ".") }

// wrong returns the error that something is wrong with the key.
func (l located) wrong(file, problem string) *Error {
	return &Error{File: file, Line: l.at.line, Column: l.at.column, Key: l.name(), Problem: problem}
}

// trouble is where a walk ended before the end of the text.
type trouble struct {
	at  point
	key string
	// end is the end of the line it happened in.
	end int
	// problem is what this package refuses, though it is TOML; empty where the decoder is to say what is wrong.
	problem string
}

// locator walks over a text.
type locator struct {
	text  string
	pos   int
	table []string
	found []located
	// problem and key are set when the walk gives up.
	problem, key string
	// last is the place of the byte at offset lastPos: places are asked for from left to right.
	last    point
	lastPos int
}

// locate returns every key and table of text in the order in which they stand there.
func locate(text string) ([]located, *trouble) {
	l := &locator{text: text, last: point{1, 1}}
	l.skip("\ufeff")
	l.lastPos = l.pos
	for l.blank(); l.pos < len(l.text); l.blank() {
		if !l.statement() {
			end := len(text)
			if i := strings.IndexByte(text[l.pos:], '\n'); i >= 0 {
				end = l.pos + i + 1
			}
			return nil, &trouble{at: l.here(l.pos), key: l.key, end: end, problem: l.problem}
		}
	}
	return l.found, nil
}

// here returns the place of the byte at offset i, which is no earlier one than the last time.
func (l *locator) here(i int) point {
	for _, r := range l.text[l.lastPos:i] {
		l.last.column++
		if r == '\n' {
			l.last = point{l.last.line + 1, 1}
		}
	}
	l.lastPos = i
	return l.last
}

func (l *locator) peek() byte {
	if l.pos < len(l.text) {
		return l.text[l.pos]
	}
	return 0
}

// skip steps over s if it comes next.
func (l *locator) skip(s string) bool {
	if strings.HasPrefix(l.text[l.pos:], s) {
		l.pos += len(s)
		return true
	}
	return false
}

func (l *locator) spaces() {
	for l.peek() == ' ' || l.peek() == '\t' {
		l.pos++
	}
}

// blank steps over spaces, ends of lines and comments.
func (l *locator) blank() {
	for {
		l.spaces()
		switch {
		case l.peek() == '#':
			l.toLineEnd()
		case l.skip("\n"), l.skip("\r\n"):
		default:
			return
		}
	}
}

func (l *locator) toLineEnd() {
	if i := strings.IndexByte(l.text[l.pos:], '\n'); i >= 0 {
		l.pos += i
	} else {
		l.pos = len(l.text)
	}
}

// statement reads the name of a table, or a key and its value, up to the end of the line, and notes where it stands.
func (l *locator) statement() bool {
	start, first := l.pos, len(l.found)
	if !l.oneStatement() {
		return false
	}
	for i := first; i < len(l.found); i++ {
		l.found[i].start, l.found[i].end = start, l.pos
	}
	return true
}

func (l *locator) oneStatement() bool {
	if l.peek() == '[' {
		closing := "]"
		if l.pos++; l.skip("[") {
			closing = "]]"
		}
		l.spaces()
		l.table = nil
		start := l.pos
		name, ok := l.readKey()
		if !ok || !l.skip(closing) {
			return false
		}
		l.table = name
		l.found = append(l.found, located{key: name, at: l.here(start), array: closing == "]]", header: true})
	} else if !l.pair(l.table, 0) {
		return false
	}
	l.spaces()
	if l.peek() == '#' {
		l.toLineEnd()
	}
	return l.pos == len(l.text) || l.skip("\n") || l.skip("\r\n")
}

// pair reads a key and its value in the table named prefix.
func (l *locator) pair(prefix []string, depth int) bool {
	start := l.pos
	name, ok := l.readKey()
	if !ok || !l.skip("=") {
		return false
	}
	full := slices.Concat(prefix, name)
	if len(full) > maxKeyParts {
		return l.refuse(strings.Join(full, "."), "has too many parts")
	}
	l.found = append(l.found, located{key: full, at: l.here(start)})
	index := len(l.found) - 1
	l.spaces()
	return l.value(index, depth)
}

// readKey reads a key of one or more parts and the spaces behind it.
func (l *locator) readKey() ([]string, bool) {
	var parts []string
	for {
		if c := l.peek(); c == '"' || c == '\'' {
			return nil, l.refuse("", "a key stands in quotes, which no key of correx needs")
		}
		start := l.pos
		for isBare(l.peek()) {
			l.pos++
		}
		if l.pos == start {
			return nil, false
		}
		if parts = append(parts, l.text[start:l.pos]); len(parts) > maxKeyParts {
			return nil, l.refuse("", "a key has too many parts")
		}
		l.spaces()
		if !l.skip(".") {
			return parts, true
		}
		l.spaces()
	}
}

func isBare(c byte) bool {
	return c == '_' || c == '-' || ('0' <= c && c <= '9') || ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z')
}

// refuse ends the walk over something that is TOML and still not read.
func (l *locator) refuse(key, problem string) bool {
	l.key, l.problem = key, problem
	return false
}

// value reads the value of found[index].
func (l *locator) value(index, depth int) bool {
	if depth > maxNesting {
		return l.refuse(l.found[index].name(), "is nested too deeply")
	}
	switch c := l.peek(); {
	case c == '"' || c == '\'':
		return l.quoted(c)
	case l.skip("["):
		return l.list("]", func() bool {
			if depth == 0 {
				l.found[index].items = append(l.found[index].items, l.here(l.pos))
			}
			return l.value(index, depth+1)
		})
	case l.skip("{"):
		prefix := l.found[index].key
		return l.list("}", func() bool { return l.pair(prefix, depth+1) })
	}
	start := l.pos
	for l.pos < len(l.text) && !strings.ContainsRune(",]}#\n\r", rune(l.text[l.pos])) {
		l.pos++
	}
	return l.pos > start
}

// list reads what stands between brackets or braces, separated by commas.
func (l *locator) list(closing string, element func() bool) bool {
	for {
		l.blank()
		if l.skip(closing) {
			return true
		}
		if !element() {
			return false
		}
		l.blank()
		if !l.skip(",") {
			return l.skip(closing)
		}
	}
}

// quoted reads a string in quotes of kind q, in one of TOML's four forms.
func (l *locator) quoted(q byte) bool {
	one := string(q)
	three := strings.Repeat(one, 3)
	escapes := q == '"'
	end := one
	if l.skip(three) {
		end = three
	} else {
		l.pos++
	}
	for l.pos < len(l.text) {
		switch {
		case escapes && l.peek() == '\\':
			l.pos = min(l.pos+2, len(l.text))
		case l.skip(end):
			// Up to two quotes may stand right before the three that close.
			for end == three && l.skip(one) {
			}
			return true
		case end == one && l.peek() == '\n':
			return false
		default:
			l.pos++
		}
	}
	return false
}
