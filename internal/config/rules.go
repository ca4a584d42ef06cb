package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// tableRule is the name of the array of tables that rules stand in.
const tableRule = "rule"

// ruleEntry is one [[rule]] table of a file.
type ruleEntry struct {
	at located
	// fields are its settings, by name; rule is what they come to.
	fields map[string]entry
	rule   tiers.Rule
}

// ruleKeys returns the settings of a rule.
func ruleKeys() []key {
	return []key{
		{name: "rule.paths", kind: kindStrings, check: func(v any) error { return some(v, checkPatterns(v)) }},
		{name: "rule.ops", kind: kindStrings, check: func(v any) error { return some(v, checkOps(v)) }},
		{name: "rule.action", kind: kindString, check: oneOf(string(tiers.ActionAllow), string(tiers.ActionAsk), string(tiers.ActionDeny))},
		{name: "rule.when", kind: kindString, check: func(v any) error { _, err := tiers.ParseWhen(v.(string)); return err }},
	}
}

// some adds to what is wrong with the elements of an array that it has none: nobody writes a rule to name nothing.
func some(v any, err error) error {
	if len(v.([]any)) == 0 {
		return fmt.Errorf("names nothing; leave the rule out, or say what it is about")
	}
	return err
}

func checkOps(value any) error {
	var known []string
	for _, op := range change.Ops() {
		known = append(known, string(op))
	}
	for i, v := range value.([]any) {
		if err := oneOf(known...)(v); err != nil {
			return &itemError{i, err}
		}
	}
	return nil
}

// beginRule starts the rule whose header stands at f.
func (l *layer) beginRule(f located, value any) error {
	if !f.array {
		is := kindOf(value)
		return f.wrong(l.file, fmt.Sprintf("expected [[rule]] with a rule's settings below it, found %s", article(is)))
	}
	if len(l.rules) == maxPatterns {
		return f.wrong(l.file, fmt.Sprintf("stands here more than %d times", maxPatterns))
	}
	l.rules = append(l.rules, ruleEntry{at: f, fields: map[string]entry{}})
	return nil
}

// finishRules makes rules of the tables that were read.
func (l *layer) finishRules() error {
	patterns := 0
	for i := range l.rules {
		e := &l.rules[i]
		for _, name := range []string{"rule.paths", "rule.action"} {
			if _, ok := e.fields[name]; !ok {
				return e.at.wrong(l.file, fmt.Sprintf("has no %q", strings.TrimPrefix(name, "rule.")))
			}
		}
		paths := texts(e.fields["rule.paths"].value)
		if patterns += len(paths); patterns > maxPatterns {
			return e.at.wrong(l.file, fmt.Sprintf("brings the patterns of all rules to %d, at most %d are allowed", patterns, maxPatterns))
		}
		e.rule = tiers.Rule{Action: tiers.Action(e.fields["rule.action"].value.(string)), Source: place(l.file, e.at.at.line)}
		for _, text := range paths {
			p, err := tiers.ParsePattern(text)
			if err != nil {
				return e.at.wrong(l.file, err.Error())
			}
			e.rule.Paths = append(e.rule.Paths, p)
		}
		if when, ok := e.fields["rule.when"]; ok {
			var err error
			if e.rule.When, err = tiers.ParseWhen(when.value.(string)); err != nil {
				return e.at.wrong(l.file, err.Error())
			}
		}
		if ops, ok := e.fields["rule.ops"]; ok {
			for _, op := range texts(ops.value) {
				e.rule.Ops = append(e.rule.Ops, change.Op(op))
			}
		}
	}
	return nil
}

// fields returns where the settings of f belong, and which setting it is; for a setting of a rule, or a grant, in the one it
// stands in.
func (l *layer) fields(f located) (map[string]entry, key, bool) {
	isNamed := func(k key) bool { return k.name == f.name() }
	if list := keys(); slices.ContainsFunc(list, isNamed) {
		return l.entries, list[slices.IndexFunc(list, isNamed)], true
	}
	if list := ruleKeys(); len(l.rules) > 0 && slices.ContainsFunc(list, isNamed) {
		return l.rules[len(l.rules)-1].fields, list[slices.IndexFunc(list, isNamed)], true
	}
	if list := grantKeys(); len(l.grants) > 0 && slices.ContainsFunc(list, isNamed) {
		return l.grants[len(l.grants)-1].fields, list[slices.IndexFunc(list, isNamed)], true
	}
	return nil, key{}, false
}

// addRules puts into c the rules of l, or only those that ask or deny, as rules of the given layer.
func (l layer) addRules(c *Config, all bool, number int) {
	for _, e := range l.rules {
		if all || e.rule.Action != tiers.ActionAllow {
			rule := e.rule
			rule.Layer = number
			c.Policy.Rules = append(c.Policy.Rules, rule)
		}
	}
}
