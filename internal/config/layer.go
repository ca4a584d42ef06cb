package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// maxBytes is how large a file of settings may be.
const maxBytes = 256 << 10

// layer is one file, read and checked.
type layer struct {
	file string
	// entries are the settings of the file, by name.
	entries map[string]entry
	// rules are its rules, and grants its grants, in their order.
	rules  []ruleEntry
	grants []grantEntry
	// found is every statement of the file.
	found []located
}

// entry is one setting as a file gives it.
type entry struct {
	file  string
	value any
	at    point
	items []point // where the elements of an array stand
}

// line returns where element i stands.
func (e entry) line(i int) int {
	if i < len(e.items) {
		return e.items[i].line
	}
	return e.at.line
}

// parse reads a layer. Every error is an *Error.
func parse(s Source) (layer, error) {
	fail := func(at point, key, problem string) (layer, error) {
		return layer{}, &Error{File: s.Name, Line: at.line, Column: at.column, Key: key, Problem: problem}
	}
	if len(s.Data) > maxBytes {
		return fail(point{}, "", fmt.Sprintf("has more than %d bytes", maxBytes))
	}
	text := string(s.Data)
	if i := invalidUTF8(text); i >= 0 {
		l := locator{text: text, last: point{1, 1}}
		return fail(l.here(i), "", "is not valid UTF-8")
	}
	found, trouble := locate(text)
	if trouble != nil && trouble.problem != "" {
		return fail(trouble.at, trouble.key, trouble.problem)
	}
	if trouble != nil {
		// The decoder says in its own words what is wrong here. It does not get to see what follows.
		text = text[:trouble.end]
	}
	tree, err := decode(text)
	if err != nil {
		at, key, problem := explain(err)
		return fail(at, key, problem)
	}
	if trouble != nil {
		return fail(trouble.at, trouble.key, "is not valid TOML")
	}
	return check(s.Name, tree, found)
}

// decode hands text to the decoder. A panic of the decoder on text from a stranger is an error like any other.
func decode(text string) (tree map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the decoder gave up on it")
		}
	}()
	_, err = toml.Decode(text, &tree)
	return tree, err
}

// explain takes the place and the words out of an error of the decoder.
func explain(err error) (point, string, string) {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		return point{}, "", "is not valid TOML: " + err.Error()
	}
	at := point{line: parse.Position.Line, column: parse.Position.Col}
	return at, parse.LastKey, "is not valid TOML: " + strings.TrimSuffix(parse.Message, ".")
}

// check compares what was decoded with the settings there are, in the order of the file.
func check(file string, tree map[string]any, found []located) (layer, error) {
	l := layer{file: file, entries: map[string]entry{}, found: found}
	seen := 0
	lastOf := newest{}
	for _, f := range found {
		value, there := lastOf.lookUp(tree, f)
		if !there {
			return layer{}, f.wrong(file, "cannot be told apart from another key")
		}
		if begin, ok := map[string]func(located, any) error{tableRule: l.beginRule, tableGrant: l.beginGrant}[f.name()]; ok {
			if err := begin(f, value); err != nil {
				return layer{}, err
			}
			continue
		}
		into, k, ok := l.fields(f)
		if !ok {
			if err := checkTable(file, f, value); err != nil {
				return layer{}, err
			}
			continue
		}
		seen++
		e := entry{file: file, value: value, at: f.at, items: f.items}
		if err := checkEntry(k, e, f); err != nil {
			return layer{}, err
		}
		into[k.name] = e
	}
	if seen != leaves(tree) {
		// What was located and what was decoded are not the same settings, so places and values cannot be trusted.
		return layer{}, &Error{File: file, Problem: "cannot be read reliably; write one setting a line"}
	}
	if err := l.finishCommands(); err != nil {
		return l, err
	}
	if err := l.finishRules(); err != nil {
		return l, err
	}
	return l, l.finishGrants()
}

// checkEntry says what is wrong with a setting, and where.
func checkEntry(k key, e entry, f located) error {
	if is, should := kindOf(e.value), k.kind; !fits(is, should) {
		return f.wrong(e.file, fmt.Sprintf("expected %s, found %s", article(should), article(is)))
	}
	err := checkValue(k, e)
	if err == nil {
		return nil
	}
	var item *itemError
	if errors.As(err, &item) && item.index < len(f.items) {
		f.at = f.items[item.index]
	}
	return f.wrong(e.file, err.Error())
}

// fits reports whether a value of one kind can be one of another.
func fits(is, should kind) bool {
	switch should {
	case kindStrings:
		return is == "array"
	case kindCommand:
		return is == "array" || is == kindString
	}
	return is == should
}

func checkValue(k key, e entry) error {
	if items, ok := e.value.([]any); ok {
		for i, item := range items {
			if is := kindOf(item); is != kindString {
				return &itemError{i, fmt.Errorf("expected %s, found %s", article(kindString), article(is))}
			}
		}
	}
	if k.check == nil {
		return nil
	}
	return k.check(e.value)
}

// checkTable accepts the tables that settings are in and refuses every other key.
func checkTable(file string, f located, value any) error {
	name := f.name()
	for _, u := range unsupported() {
		if name == u || strings.HasPrefix(name, u+".") {
			return f.wrong(file, "is not supported by this version of correx, which uses no policy that it reads only in part")
		}
	}
	if slices.ContainsFunc(ruleKeys(), func(k key) bool { return k.name == name }) {
		return f.wrong(file, "stands in no rule; write it below [[rule]]")
	}
	if slices.ContainsFunc(grantKeys(), func(k key) bool { return k.name == name }) {
		return f.wrong(file, "stands in no grant; write it below [[grant]]")
	}
	for _, k := range keys() {
		table, _, inside := strings.Cut(k.name, ".")
		if !inside || table != name {
			continue
		}
		if is := kindOf(value); is != "table" {
			return f.wrong(file, fmt.Sprintf("expected a table, found %s", article(is)))
		}
		return nil
	}
	err := f.wrong(file, "is not a key of correx")
	err.Nearest = nearest(name)
	if err.Nearest != "" && strings.EqualFold(err.Nearest, name) {
		err.Problem = "is not a key of correx, which writes keys in lower case"
		if err.Nearest != strings.ToLower(err.Nearest) {
			err.Problem = "is not a key of correx, which writes tiers as T1 to T4"
		}
	}
	return err
}

// newest counts how many tables of each array of tables a walk has come past.
type newest map[string]int

// lookUp finds the value of a key in what was decoded. In an array of tables it is the table that the walk stands in.
func (n newest) lookUp(tree map[string]any, f located) (any, bool) {
	if f.array {
		n[f.name()]++
	}
	var value any = tree
	for i, part := range f.key {
		switch table := value.(type) {
		case map[string]any:
			value = table[part]
		case []map[string]any:
			at := n[strings.Join(f.key[:i], ".")]
			if at == 0 || at > len(table) {
				return table, true // tables inside a list: the list itself is what is wrong
			}
			value = table[at-1][part]
		case []any:
			return table, true // inside a list: the list itself is what is wrong
		default:
			return nil, false
		}
		if value == nil {
			return nil, false
		}
	}
	return value, true
}

// leaves counts the values in what was decoded that are no tables.
func leaves(tree map[string]any) int {
	n := 0
	for _, value := range tree {
		switch table := value.(type) {
		case map[string]any:
			n += leaves(table)
		case []map[string]any:
			for _, one := range table {
				n += leaves(one)
			}
		default:
			n++
		}
	}
	return n
}

// kindOf names the type of a decoded value.
func kindOf(value any) kind {
	switch value.(type) {
	case string:
		return kindString
	case bool:
		return kindBool
	case int64:
		return kindInteger
	case float64:
		return "number with a fraction"
	case time.Time:
		return "date"
	case []any:
		return "array"
	case []map[string]any:
		return "array of tables"
	}
	return "table"
}

func article(k kind) string {
	if strings.ContainsRune("aeiou", rune(k[0])) {
		return "an " + string(k)
	}
	return "a " + string(k)
}

// replace puts every setting of l into c, of a repository's file all but what counts only in the user's own.
func (l layer) replace(c *Config, number int) {
	for _, k := range keys() {
		if e, ok := l.entries[k.name]; ok && (number == layerUser || !k.own) {
			k.set(c, e)
			c.Policy.Source[k.name] = place(l.file, e.at.line)
		}
	}
	l.addRules(c, true, number)
}

// tighten puts into c what makes it stricter, and returns the rest.
func (l layer) tighten(c *Config, number int) []Loosening {
	var rest []Loosening
	l.lowerFloor(c)
	for _, k := range keys() {
		e, ok := l.entries[k.name]
		switch {
		case !ok, k.own:
		case k.compare(c, e.value) > 0:
			rest = append(rest, l.loosening(e.at, k.name, fmt.Sprintf("%s would loosen what holds without it", show(e.value))))
		case k.compare(c, e.value) < 0:
			k.set(c, e)
			c.Policy.Source[k.name] = place(l.file, e.at.line)
		}
	}
	for _, e := range l.rules {
		if e.rule.Action == tiers.ActionAllow {
			rest = append(rest, l.loosening(e.at.at, tableRule, `action "allow" would loosen what holds without it`))
		}
	}
	for _, e := range l.grants {
		rest = append(rest, l.loosening(e.at.at, tableGrant, "would let pass what asks without it"))
	}
	l.addRules(c, false, number)
	slices.SortStableFunc(rest, func(a, b Loosening) int { return cmp.Compare(a.Line, b.Line) })
	return rest
}

// lowerFloor notes the mode that a repository's file asks for.
func (l layer) lowerFloor(c *Config) {
	if e, ok := l.entries["mode"]; ok {
		if m := change.Mode(e.value.(string)); c.Floor == "" || m.StricterThan(c.Floor) {
			c.Floor, c.FloorSource = m, place(l.file, e.at.line)
		}
	}
}

// inVain tells of the settings of a repository's file that count only in the user's own.
func (l layer) inVain() []Notice {
	var notices []Notice
	for _, k := range keys() {
		if e, ok := l.entries[k.name]; ok && k.own {
			notices = append(notices, Notice{File: l.file, Line: e.at.line, Key: k.name, Text: "counts only in your own configuration, so it is left out here"})
		}
	}
	return notices
}

// show writes a value as a file does.
func show(value any) string {
	if s, ok := value.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(value)
}

// invalidUTF8 returns where text stops being UTF-8, or -1.
func invalidUTF8(text string) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return -1
}
