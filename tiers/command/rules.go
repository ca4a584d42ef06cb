package command

import (
	"fmt"
	"path"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// ruled goes by the rules of the configuration, once all else about a program is known. args begins with the program.
func (c *invocation) ruled(args []arg) {
	rules := c.grader.in.Commands
	if len(rules) == 0 || len(args) == 0 || !args[0].known {
		return
	}
	best := closest(rules, args)
	if r := best; r != nil && c.mayLower(r, args) {
		c.lookAtWords(args[len(r.Words):])
		c.lowerBy(r)
	}
	for i := range rules {
		r := &rules[i]
		if r.Lowers && best != nil && len(r.Words) < len(best.Words) {
			// The person's own closer words count.
			continue
		}
		if r.Tier > c.part.Tier && raisedBy(r, args) {
			c.part.Tier, c.part.Reason, c.part.Rule = r.Tier, change.RuleAsk, r.Source
			c.part.Why = fmt.Sprintf("has the tier of %q in %s", strings.Join(r.Words, " "), r.Source)
		}
	}
}

// closest returns the rule with the most words, of those that may lower, or nil.
func closest(rules []tiers.CommandRule, args []arg) *tiers.CommandRule {
	var best *tiers.CommandRule
	for i := range rules {
		if r := &rules[i]; r.Lowers && beginsWith(args, r.Words) && (best == nil || len(r.Words) > len(best.Words)) {
			best = r
		}
	}
	return best
}

// mayLower reports whether nothing about a command forbids that a rule lowers its tier.
func (c *invocation) mayLower(r *tiers.CommandRule, args []arg) bool {
	if r.Tier >= c.part.Tier || c.part.Tier == change.T4 || c.in.kind >= sourceDecoded {
		return false
	}
	if _, shadowed := c.sc.funcs[args[0].text]; shadowed || c.runsWhatFollows(r.Words) {
		return false
	}
	for _, a := range args {
		if !a.known || a.mayBeFlag() {
			return false
		}
	}
	return true
}

// lowerBy gives the part the tier of a rule, or of what the words do besides, where that is higher.
func (c *invocation) lowerBy(r *tiers.CommandRule) {
	tier := max(r.Tier, c.context, c.sc.lowest)
	if tier >= c.part.Tier {
		return
	}
	c.part.Tier, c.part.Reason, c.part.Rule = tier, "", r.Source
	c.part.Why = fmt.Sprintf("has the tier of %q in %s", strings.Join(r.Words, " "), r.Source)
	if tier > r.Tier {
		c.part.Why += ", raised by what it reads, writes or is told"
	}
}

// lookAtWords counts the paths among words of which the tables may know nothing.
func (c *invocation) lookAtWords(args []arg) {
	for _, a := range args {
		text := a.text
		if strings.HasPrefix(text, "-") {
			_, text, _ = strings.Cut(text, "=")
		}
		a = literal(strings.TrimPrefix(text, "@"))
		p := c.resolve(c.sc, a)
		if strings.HasPrefix(a.text, "/") || strings.HasPrefix(a.text, "..") || secretFile(a.text) || strings.Contains(a.text, "://") {
			c.context = max(c.context, c.reads(c.sc, a).tier)
		}
		if f := c.writes(c.sc, a); c.inRoot(p) && f.tier > change.T2 {
			c.context = max(c.context, f.tier)
		}
	}
}

// beginsWith reports whether the words of a command are those of a rule, and its program one that is found by its name.
func beginsWith(args []arg, words []string) bool {
	if len(args) < len(words) || programName(args[0].text) != words[0] {
		return false
	}
	for i, w := range words[1:] {
		if a := args[i+1]; !a.known || a.glob || a.text != w {
			return false
		}
	}
	return true
}

// programName returns the name of a program that lies where the machine keeps its programs, and else the whole word.
func programName(word string) string {
	dir, base := path.Split(word)
	if systemFolders[dir] {
		return base
	}
	return word
}

// raisedBy reports whether a command has the words of a rule in their order, whatever stands between them.
func raisedBy(r *tiers.CommandRule, args []arg) bool {
	if base := path.Base(args[0].text); base != r.Words[0] && alias(base) != alias(r.Words[0]) {
		return false
	}
	rest := r.Words[1:]
	for _, a := range args[1:] {
		if len(rest) > 0 && a.text == rest[0] {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// runsWhatFollows reports whether words name a program that runs what it is given, and do not say what that is.
func (c *invocation) runsWhatFollows(words []string) bool {
	e := programs()[alias(words[0])]
	if e == nil || !runners[strings.TrimSuffix(e.role, "!")] {
		return false
	}
	return len(words) == 1 || strings.HasPrefix(words[len(words)-1], "-")
}

var (
	systemFolders = set("/bin/ /usr/bin/ /sbin/ /usr/sbin/ /usr/local/bin/ /usr/local/sbin/ /opt/homebrew/bin/")
	runners       = set(`inner shell interp python venvpython php code debug inlineall exec env xargs parallel eval source ssh busybox find fd awk sed script watchrun destroyer tmux
		lines editor runner npx uvrun scripts make flock`)
)
