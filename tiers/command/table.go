package command

import (
	_ "embed" // programs.txt
	"strings"
	"sync"

	"github.com/correx/correx/internal/change"
)

//go:embed programs.txt
var programsText string

// entry is what a program, or one verb of it, does.
type entry struct {
	tier change.Tier
	why  string
	// role says what the operands are; one that starts with "@" names a function of roles.
	role string
	// skip is how many operands stand before an inner command.
	skip  int
	short map[byte]flag
	long  map[string]flag
	// open: flags that are not listed are harmless.
	open bool
	// single: a flag with one dash is a word and not a cluster of letters.
	single bool
	// risky: some flag writes, runs something or raises the tier.
	risky bool
	// runsProject: known verbs run code of the folder in which they are run.
	runsProject bool
	// verbs: the first operand is a verb, with an entry of its own.
	verbs bool
}

// flag is what one flag does.
type flag struct {
	value, optional bool
	// effect says what the value is: 'r' a path that is read, 'b' code or settings that must be the project's, 'm' a module, 'w' a path that is written,
	// 'x' a program, 'c' a command, 'p' code.
	effect byte
	tier   change.Tier
}

// programs is programs.txt, arranged for looking up "program" and "program:verb".
var programs = sync.OnceValue(func() map[string]*entry {
	all := map[string]*entry{}
	why := ""
	for line := range strings.Lines(programsText) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '=':
			why = strings.TrimSpace(line[1:])
			continue
		}
		fields := strings.Fields(line)
		e := parseEntry(fields[1:])
		e.why = why
		e.runsProject = (why == "builds, tests or checks the project" || why == "restores or changes the project's packages") &&
			!oneOf(strings.TrimSuffix(e.role, "!"), "compile fmtwrite formatter ruffformat rustfmt protoc read write goenv golist goclean")
		for _, name := range names(fields[0]) {
			all[name] = e
		}
	}
	for name := range all {
		if i := strings.LastIndexByte(name, ':'); i >= 0 && all[name[:i]] != nil {
			all[name[:i]].verbs = true
		}
	}
	return all
})

// names returns the names that "a,b:c:d,e" stands for: a:c:d, a:c:e, b:c:d and b:c:e.
func names(spec string) []string {
	all := []string{""}
	for i, level := range strings.Split(spec, ":") {
		var next []string
		for _, before := range all {
			for _, name := range strings.Split(level, ",") {
				if i > 0 {
					name = before + ":" + name
				}
				next = append(next, name)
			}
		}
		all = next
	}
	return all
}

// parseEntry reads "TIER ROLE FLAG…".
func parseEntry(fields []string) *entry {
	e := &entry{tier: change.Tier(fields[0]), role: fields[1], short: map[byte]flag{}, long: map[string]flag{}}
	if name, n, ok := strings.Cut(e.role, "+"); ok {
		e.role, e.skip = name, int(n[0]-'0')
	}
	for _, f := range fields[2:] {
		switch f {
		case "*":
			e.open = true
			continue
		case "%":
			e.single = true
			continue
		}
		name, rest := f, ""
		if i := strings.IndexAny(f, "=?:"); i > 0 {
			name, rest = f[:i], f[i:]
		}
		var x flag
		if i := strings.IndexByte(rest, ':'); i >= 0 {
			x.tier, rest = change.Tier(rest[i+1:]), rest[:i]
		}
		if rest != "" {
			x.value, x.optional = true, rest[0] == '?'
			if len(rest) > 1 {
				x.effect = rest[1]
			}
		}
		e.risky = e.risky || x.tier != "" || x.effect != 0 && x.effect != 'r'
		switch {
		case strings.HasPrefix(name, "-["):
			for i := 2; i < len(name)-1; i++ {
				e.short[name[i]] = x
			}
		case strings.HasPrefix(name, "--"), e.single:
			e.long[strings.TrimLeft(name, "-")] = x
		default:
			e.short[name[1]] = x
		}
	}
	return e
}
