package tiers

import (
	"fmt"
	"strings"

	"github.com/correx/correx/internal/change"
)

// CommandRule gives the commands that begin with some words a tier.
type CommandRule struct {
	// Words are the program, by its name without a path, and what stands behind it.
	Words []string
	Tier  change.Tier
	// Lowers says that the rule may also make a tier lower; else it only raises.
	Lowers bool
	// Source says where the rule is written, "file:line".
	Source string
}

// String returns the words of the rule and its tier.
func (r CommandRule) String() string {
	return fmt.Sprintf("%s = %s", strings.Join(r.Words, " "), r.Tier)
}

// How long the words of a rule may be.
const (
	maxCommandWords = 8
	maxCommandBytes = 200
)

// ParseCommand returns the words of a rule about commands. They are words as the program gets them, not a line for a shell:
// what a shell would read in another way is refused, so that nobody expects a pattern, a quote or a pipe to count.
func ParseCommand(text string) ([]string, error) {
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		return nil, fmt.Errorf("names no program")
	case len(words) > maxCommandWords || len(text) > maxCommandBytes:
		return nil, fmt.Errorf("has %d words in %d bytes, at most %d in %d are allowed", len(words), len(text), maxCommandWords, maxCommandBytes)
	}
	for _, r := range text {
		if r == ' ' || r > ' ' && r < 0x7f && !strings.ContainsRune("'\"`\\$;&|<>(){}*?[]!#~^", r) {
			continue
		}
		return nil, fmt.Errorf("holds %q; expected words as the program gets them, with spaces between", r)
	}
	if first := words[0]; strings.ContainsAny(first, "/=") || first[0] == '-' {
		return nil, fmt.Errorf("begins with %q, expected the name of a program, without a path", first)
	}
	return words, nil
}
