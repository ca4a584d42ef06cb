package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
)

// normalize puts every flag of args before the arguments, with "--" between, so that a flag counts wherever it stands:
// the library stops looking for flags at the first argument and would silently take the rest as arguments. Flags of the
// program itself (-C) may stand anywhere too and move to the front. What is behind a "--" is left alone. An unknown flag,
// a missing value and an unknown command are usage errors.
func normalize(app *cli.App, args []string) ([]string, error) {
	n := &normalizer{global: app.Flags, commands: app.Commands}
	rest := args[1:]
	for len(rest) > 0 {
		word := rest[0]
		rest = rest[1:]
		switch {
		case word == "--":
			n.args = append(n.args, rest...)
			rest = nil
		case len(word) > 1 && word[0] == '-':
			used, err := n.flag(word, rest)
			if err != nil {
				return nil, err
			}
			rest = rest[used:]
		default:
			if err := n.word(word); err != nil {
				return nil, err
			}
		}
	}
	return n.line(args[0]), nil
}

type normalizer struct {
	global   []cli.Flag
	commands []*cli.Command // the commands the next word may name
	current  *cli.Command
	path     []string
	front    []string
	flags    []string
	args     []string
	help     bool
}

// word takes an argument or the name of a command.
func (n *normalizer) word(word string) error {
	if len(n.commands) == 0 || len(n.args) > 0 {
		n.args = append(n.args, word)
		return nil
	}
	if n.current == nil {
		switch word {
		case "help":
			n.help = true
			return nil
		case "version":
			n.front = append(n.front, "--version")
			return nil
		}
	}
	for _, c := range n.commands {
		if c.HasName(word) {
			n.current, n.commands = c, c.Subcommands
			n.path = append(n.path, c.Name)
			return nil
		}
	}
	if n.current != nil && n.current.Action != nil {
		n.args = append(n.args, word)
		return nil
	}
	return n.unknown(word)
}

func (n *normalizer) unknown(word string) error {
	what, best := "command", ""
	for _, c := range n.commands {
		if d := distance(word, c.Name); !c.Hidden && d <= 2 && (best == "" || d < distance(word, best)) {
			best = c.Name
		}
	}
	prefix := strings.Join(append([]string{"correx"}, n.path...), " ")
	e := &gate.UsageError{Problem: fmt.Sprintf("unknown %s %q", what, word), Hint: prefix + " --help"}
	if best != "" {
		e.Hint = prefix + " " + best
	}
	return e
}

// flag takes one flag and, if it needs one, its value from rest; it returns how many words of rest it used.
func (n *normalizer) flag(word string, rest []string) (int, error) {
	name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
	switch name {
	case "help", "h":
		n.help = true
		return 0, nil
	case "version", "v":
		if n.current == nil {
			n.front = append(n.front, "--version")
			return 0, nil
		}
	}
	into, def := &n.flags, n.find(name)
	if def == nil {
		into, def = &n.front, findFlag(n.global, name)
	}
	if def == nil {
		return 0, &gate.UsageError{
			Problem: fmt.Sprintf("unknown flag %q", word), Hint: strings.Join(append([]string{"correx"}, n.path...), " ") + " --help",
		}
	}
	dashed := "--" + def.Names()[0]
	switch {
	case isOptionalValue(def):
		if _, err := time.ParseDuration(firstOf(rest)); !hasValue && err == nil {
			return 0, &gate.UsageError{Problem: "--" + name + " takes its value with =", Hint: fmt.Sprintf("--%s=%s", name, rest[0])}
		}
		if !hasValue {
			value = waitForever
		}
		*into = append(*into, dashed+"="+value)
		return 0, nil
	case !takesValue(def):
		if hasValue {
			return 0, &gate.UsageError{Problem: fmt.Sprintf("flag %q takes no value", word)}
		}
		*into = append(*into, dashed)
		return 0, nil
	case hasValue:
		*into = append(*into, dashed+"="+value)
		return 0, nil
	case len(rest) == 0:
		return 0, &gate.UsageError{Problem: fmt.Sprintf("flag %q needs a value", word)}
	}
	*into = append(*into, dashed+"="+rest[0])
	return 1, nil
}

func firstOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func (n *normalizer) find(name string) cli.Flag {
	if n.current == nil {
		// --json may stand before the command that it is meant for.
		return findFlag([]cli.Flag{jsonFlag()}, name)
	}
	return findFlag(n.current.Flags, name)
}

func findFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		for _, known := range f.Names() {
			if known == name {
				return f
			}
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	_, isBool := f.(*cli.BoolFlag)
	return !isBool
}

// isOptionalValue reports whether f may stand without a value (`--wait` and `--wait=10m`).
func isOptionalValue(f cli.Flag) bool { return f.Names()[0] == "wait" }

// line returns the reordered command line.
func (n *normalizer) line(program string) []string {
	out := append([]string{program}, n.front...)
	out = append(out, n.path...)
	if n.help {
		return append(out, "--help")
	}
	out = append(out, n.flags...)
	if len(n.path) == 0 || n.current.Action == nil {
		return out
	}
	return append(append(out, "--"), n.args...)
}

// distance is the number of letters to change, insert or remove to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := before
			if a[i-1] != b[j-1] {
				cost = 1 + min(before, row[j], row[j-1])
			}
			before, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}
