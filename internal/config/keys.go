package config

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// key is one setting.
type key struct {
	name string
	kind kind
	// own is set where the setting counts only in the user's own file.
	own bool
	// def is the default as it is written in a file, doc what the setting does, in one line.
	def, doc string
	// check says what is wrong with a value of the right kind; an *itemError, with which element of it. It may be nil.
	check func(value any) error
	// set puts a checked value into c.
	set func(c *Config, v entry)
	// compare says how the value would change c: below 0 stricter, 0 not at all, above 0 looser. Own settings have none.
	compare func(c *Config, value any) int
}

// kind is the type of a setting's value.
type kind string

// The kinds, in the words of messages.
const (
	kindString  kind = "string"
	kindBool    kind = "boolean"
	kindInteger kind = "integer"
	kindStrings kind = "array of strings"
	kindCommand kind = "string or array of strings"
)

// maxPatterns is how many patterns a layer may list. Every path is compared with each of them.
const maxPatterns = 1000

// keys returns every setting there is, in the order in which the template shows them.
func keys() []key {
	return slices.Concat(policyKeys(), timeoutKeys(), commandKeys(), ownKeys())
}

func policyKeys() []key {
	return []key{
		{
			name: "version", kind: kindInteger, def: "1",
			doc: "The format of this file.",
			check: func(v any) error {
				if n := v.(int64); n != 1 {
					return fmt.Errorf("expected 1, found %d; this version of correx reads no other format", n)
				}
				return nil
			},
			set:     func(*Config, entry) {},
			compare: func(*Config, any) int { return 0 },
		},
		{
			name: "mode", kind: kindString, def: `"auto"`,
			doc:   `What passes without a person: "deny" nothing, "prompt" no change, "auto" small ones, "yolo" all but hard-protected names.`,
			check: oneOf("deny", "prompt", "auto", "yolo"),
			set:   func(c *Config, v entry) { c.Policy.Mode = change.Mode(v.value.(string)) },
			compare: func(c *Config, v any) int {
				return cmp.Compare(looseness(v.(string)), looseness(string(c.Policy.Mode)))
			},
		},
		limit("auto.max_bytes", "65536", "Bytes added plus removed that may land by themselves in one change set.",
			func(c *Config) *int64 { return &c.Policy.MaxBytes }),
		count("auto.max_files", "1", "Files that may land by themselves in one change set.",
			func(c *Config) *int { return &c.Policy.MaxFiles }),
		count("auto.session_files", "20", "Files a session may land by themselves until a person decides again.",
			func(c *Config) *int { return &c.Policy.SessionFiles }),
		limit("auto.session_bytes", "262144", "Bytes a session may land by themselves until a person decides again.",
			func(c *Config) *int64 { return &c.Policy.SessionBytes }),
		{
			name: "auto.require_sandbox", kind: kindBool, def: "false",
			doc:     "Whether everything asks in a session that can write to the real tree.",
			set:     func(c *Config, v entry) { c.Policy.RequireSandbox = v.value.(bool) },
			compare: func(c *Config, v any) int { return compareBool(c.Policy.RequireSandbox, v.(bool)) },
		},
		{
			name: "protect.paths", kind: kindStrings, def: `[]`,
			doc:   `Names that are never small, added to the built-in ones. Without a slash: at any depth; "/x" from the root; "x/" what lies in x.`,
			check: checkPatterns,
			set: func(c *Config, v entry) {
				for i, text := range texts(v.value) {
					p, err := tiers.ParsePattern(text)
					if err != nil {
						continue // checkPatterns has refused it
					}
					c.Policy.Protect = append(c.Policy.Protect, tiers.Protect{Pattern: p, Source: place(v.file, v.line(i))})
				}
			},
			compare: func(_ *Config, v any) int { return -len(texts(v)) },
		},
		{
			name: "hooks.gate", kind: kindString, def: `"all"`,
			doc:     `Whose commits the git hooks hold: "all", or "agents" where no person is at a terminal or an agent's session is found.`,
			check:   oneOf(GateAll, GateAgents),
			set:     func(c *Config, v entry) { c.Gate = v.value.(string) },
			compare: func(c *Config, v any) int { return compareBool(c.Gate == GateAll, v.(string) == GateAll) },
		},
	}
}

// ownKeys are the settings that count only in the user's own file.
func ownKeys() []key {
	return []key{
		{
			name: "approve.require_tty", kind: kindBool, own: true, def: "true",
			doc: "Whether a person decides at a terminal only.",
			set: func(c *Config, v entry) { c.RequireTTY = v.value.(bool) },
		},
		{
			name: "shadow.dir", kind: kindString, own: true, def: `""`,
			doc: "The folder that shadows are made in, as an absolute path; empty for correx's own.",
			check: func(v any) error {
				if dir := v.(string); dir != "" && !filepath.IsAbs(dir) {
					return fmt.Errorf("expected an absolute path, found %q", dir)
				}
				return nil
			},
			set: func(c *Config, v entry) { c.Shadow.Dir = v.value.(string) },
		},
		{
			name: "shadow.include", kind: kindStrings, own: true, def: `[]`,
			doc:   "Ignored files that a shadow shows all the same, as patterns.",
			check: checkPatterns,
			set:   func(c *Config, v entry) { c.Shadow.Include = texts(v.value) },
		},
		{
			name: "shadow.backend", kind: kindString, own: true, def: `""`,
			doc:   `How a shadow is made: "clone" or "copy"; empty for the first that works.`,
			check: oneOf("", "clone", "copy"),
			set:   func(c *Config, v entry) { c.Shadow.Backend = v.value.(string) },
		},
		{
			name: "shadow.max_untracked", kind: kindInteger, own: true, def: "67108864",
			doc:   "Bytes over which an untracked file is left out of a shadow; a change to it is then refused.",
			check: within(math.MaxInt64),
			set:   func(c *Config, v entry) { c.Shadow.MaxUntracked = v.value.(int64) },
		},
		{
			name: "escalate.command", kind: kindCommand, own: true, def: `[]`,
			doc:   "A program, as an absolute path, and its arguments, which sees each submission and may only make it ask or deny it.",
			check: checkProgram,
			set:   func(c *Config, v entry) { c.Escalate = words(v.value) },
		},
	}
}

// unsupported returns the settings, and tables of settings, that the documents name and this version does not read.
func unsupported() []string {
	return []string{
		"approve.signing_key", "share", "ledger", "notify", "sandbox", "agents",
	}
}

func limit(name, def, doc string, field func(*Config) *int64) key {
	return key{
		name: name, kind: kindInteger, def: def, doc: doc, check: within(math.MaxInt64),
		set:     func(c *Config, v entry) { *field(c) = v.value.(int64) },
		compare: func(c *Config, v any) int { return cmp.Compare(v.(int64), *field(c)) },
	}
}

func count(name, def, doc string, field func(*Config) *int) key {
	return key{
		name: name, kind: kindInteger, def: def, doc: doc, check: within(math.MaxInt32),
		set:     func(c *Config, v entry) { *field(c) = int(v.value.(int64)) },
		compare: func(c *Config, v any) int { return cmp.Compare(v.(int64), int64(*field(c))) },
	}
}

func within(most int64) func(any) error {
	return func(v any) error {
		if n := v.(int64); n < 0 || n > most {
			return fmt.Errorf("expected a number from 0 to %d, found %d", most, n)
		}
		return nil
	}
}

func oneOf(words ...string) func(any) error {
	return func(v any) error {
		if slices.Contains(words, v.(string)) {
			return nil
		}
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = fmt.Sprintf("%q", w)
		}
		return fmt.Errorf("expected one of %s, found %q", strings.Join(quoted, ", "), v)
	}
}

// looseness orders modes from the strictest on.
func looseness(mode string) int {
	return slices.Index([]string{"deny", "prompt", "auto", "yolo"}, mode)
}

// compareBool compares two settings of which true is the stricter.
func compareBool(is, would bool) int {
	switch {
	case is == would:
		return 0
	case would:
		return -1
	}
	return 1
}

// texts returns the strings of a checked array.
func texts(value any) []string {
	var all []string
	for _, v := range value.([]any) {
		all = append(all, v.(string))
	}
	return all
}

// words returns the program and arguments of a checked value of kindCommand.
func words(value any) []string {
	if s, ok := value.(string); ok {
		return []string{s}
	}
	return texts(value)
}

// maxWords is how many arguments a program may get.
const maxWords = 64

func checkProgram(value any) error {
	list := words(value)
	if len(list) > maxWords {
		return fmt.Errorf("has %d words, at most %d are allowed", len(list), maxWords)
	}
	for i, w := range list {
		if strings.ContainsRune(w, 0) {
			return &itemError{i, fmt.Errorf("%q holds a NUL, which no argument can", w)}
		}
	}
	if len(list) > 0 && !filepath.IsAbs(list[0]) {
		return &itemError{0, fmt.Errorf("expected the absolute path of a program, found %q", list[0])}
	}
	return nil
}

// itemError is what is wrong with one element of an array.
type itemError struct {
	index int
	err   error
}

func (e *itemError) Error() string { return e.err.Error() }

func checkPatterns(value any) error {
	all := texts(value)
	if len(all) > maxPatterns {
		return fmt.Errorf("has %d patterns, at most %d are allowed", len(all), maxPatterns)
	}
	for i, text := range all {
		if _, err := tiers.ParsePattern(text); err != nil {
			return &itemError{i, err}
		}
	}
	return nil
}
