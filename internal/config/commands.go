package config

import (
	"fmt"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// tableCommands is the table whose keys are tiers, each with the commands that have it.
const tableCommands = "commands"

// commandKeys are the lists of commands, one for each tier that a command can have.
func commandKeys() []key {
	docs := map[change.Tier]string{
		change.T1: `Commands that count as reading only: "PROGRAM WORD…", each the beginning of a command.`,
		change.T2: `Commands that count as undoable. Lists in your own file may lower a tier, but never T4; those here only raise.`,
		change.T3: `Commands that count as reaching outside.`,
		change.T4: `Commands that count as destructive.`,
	}
	var all []key
	for _, tier := range []change.Tier{change.T1, change.T2, change.T3, change.T4} {
		all = append(all, key{
			name: tableCommands + "." + string(tier), kind: kindStrings, def: `[]`, doc: docs[tier], check: checkCommands,
			set: func(c *Config, v entry) { c.Commands = append(c.Commands, commandRules(v, tier)...) },
			// A repository's list can only raise, and nothing is lower than T1.
			own: tier == change.T1, compare: func(_ *Config, v any) int { return -len(texts(v)) },
		})
	}
	return all
}

func commandRules(v entry, tier change.Tier) []tiers.CommandRule {
	var all []tiers.CommandRule
	for i, text := range texts(v.value) {
		words, err := tiers.ParseCommand(text)
		if err != nil {
			continue // checkCommands has refused it
		}
		all = append(all, tiers.CommandRule{Words: words, Tier: tier, Source: place(v.file, v.line(i))})
	}
	return all
}

func checkCommands(value any) error {
	all := texts(value)
	if len(all) > maxPatterns {
		return fmt.Errorf("has %d commands, at most %d are allowed", len(all), maxPatterns)
	}
	for i, text := range all {
		if _, err := tiers.ParseCommand(text); err != nil {
			return &itemError{i, err}
		}
	}
	return nil
}

// finishCommands refuses words that stand in more than one list of a file, or twice in one: which counts would be a guess.
func (l *layer) finishCommands() error {
	seen := map[string]string{}
	for _, k := range commandKeys() {
		e, ok := l.entries[k.name]
		if !ok {
			continue
		}
		for i, text := range texts(e.value) {
			words := strings.Join(strings.Fields(text), " ")
			before, twice := seen[words]
			if seen[words] = fmt.Sprintf("line %d", e.line(i)); !twice {
				continue
			}
			at := located{key: []string{tableCommands, strings.TrimPrefix(k.name, tableCommands+".")}, at: e.at}
			if i < len(e.items) {
				at.at = e.items[i]
			}
			return at.wrong(l.file, fmt.Sprintf("names %q, which stands in %s too", words, before))
		}
	}
	return nil
}

// lowerCommands lets the rules that are in c, which are the user's own, lower tiers too.
func (c *Config) lowerCommands() {
	for i := range c.Commands {
		c.Commands[i].Lowers = true
	}
}
