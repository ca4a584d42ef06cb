package command

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/correx/correx/internal/change"
)

// invocation is one program with its words.
type invocation struct {
	*grader
	sc   *scope
	in   source
	name string
	args []arg
	// operands are the args that are not flags; flags those that are, with their values.
	operands []arg
	flags    []given
	// rest is the index in args of the first operand behind the flags, for programs that run what follows.
	rest  int
	entry *entry
	part  Part
	// context is the tier of what the words do besides: no rule lowers a part below it.
	context change.Tier
}

// given is a flag as it stands.
type given struct {
	name  string
	value arg
	spec  flag
}

func (c *invocation) raise(tier change.Tier, reason change.Reason, why string) {
	if reason == change.ProtectedTarget || reason == change.HiddenCharacters {
		c.context = max(c.context, tier)
	}
	if tier > c.part.Tier || tier == c.part.Tier && c.part.Reason == "" && reason != "" {
		c.part.Tier, c.part.Reason, c.part.Why = tier, reason, why
	}
}

func (c *invocation) take(f finding) {
	if f.why != "" {
		c.context = max(c.context, f.tier)
		c.judge(f)
	}
}

// judge counts what is said of the program itself.
func (c *invocation) judge(f finding) {
	if f.why != "" {
		c.raise(f.tier, f.reason, f.why)
	}
}

func (c *invocation) unknown(why string)  { c.raise(change.T3, change.Unclassified, why) }
func (c *invocation) hidden(why string)   { c.raise(change.T4, change.Unclassified, why) }
func (c *invocation) destroys(why string) { c.raise(change.T4, change.DestructiveOperation, why) }
func (c *invocation) outside(why string)  { c.raise(change.T3, change.OutsideRepository, why) }

// has returns the first flag that is given under one of the names, such as "-f" or "--force".
func (c *invocation) has(names ...string) (given, bool) {
	for _, f := range c.flags {
		if slices.Contains(names, f.name) {
			return f, true
		}
	}
	return given{}, false
}

func shown(args []arg) string {
	list := make([]string, 0, len(args))
	for _, a := range args {
		text := a.text
		if a.known && (text == "" || strings.ContainsAny(text, " \t\n;|&<>()")) {
			text = "'" + text + "'"
		}
		list = append(list, text)
	}
	return clip(strings.Join(list, " "))
}

// run grades a command whose program is args[0].
func (g *grader) run(sc *scope, args []arg, in source) {
	if g.full() {
		return
	}
	c := &invocation{grader: g, sc: sc, in: in, part: Part{Text: shown(args), Tier: sc.lowest}}
	if g.depth >= maxDepth {
		c.hidden("is nested too deep to be looked into")
	} else {
		g.depth++
		c.program(args)
		g.depth--
		c.ruled(args)
	}
	if c.part.Why == "" {
		c.part.Why = "only reads"
	}
	g.add(c.part)
}

// program settles what program runs and grades it.
func (c *invocation) program(args []arg) {
	if len(args) == 0 || args[0].text == "" && args[0].known {
		c.hidden("names no program")
		return
	}
	name := args[0]
	c.args = args[1:]
	switch {
	case !name.known || name.glob && len(name.text) > 1:
		if name.text == "[" {
			break
		}
		c.hidden("runs a program that only run time knows")
		return
	case strings.HasPrefix(name.text, "="):
		c.hidden("runs a program that another shell would compute")
		return
	case strings.IndexFunc(name.text, func(r rune) bool { return r >= utf8.RuneSelf || r <= ' ' }) >= 0:
		c.raise(change.T4, change.HiddenCharacters, "runs a program whose name holds characters that deceive")
		return
	case strings.ContainsAny(name.text, "!#$^&|;<>()`'\"\\") && name.text != "!":
		c.hidden("runs a program whose name no program has")
		return
	}
	if c.sc.funcs[name.text] {
		c.part.Why = "runs a function, whose body is graded"
		if programs()[name.text] == nil {
			return
		}
	}
	c.name = c.known(name.text)
	e := programs()[c.name]
	if e == nil {
		c.stranger(name.text)
		return
	}
	c.grade(e)
}

// known returns the name under which the tables have a program, or "" for one that lies where nobody looks after it.
func (c *invocation) known(name string) string {
	dir, base := path.Split(name)
	base = strings.TrimSuffix(base, ".exe")
	switch {
	case dir == "":
		return alias(base)
	case systemFolders[dir]:
		return alias(base)
	}
	p := c.resolve(c.sc, literal(name))
	if !c.inRoot(p) {
		return ""
	}
	dir = path.Dir(p)
	up := path.Base(path.Dir(dir))
	switch {
	case strings.HasSuffix(dir, "/node_modules/.bin"), strings.HasSuffix(dir, "/vendor/bin"),
		path.Base(dir) == "bin" && slices.Contains([]string{".venv", "venv", "env", ".tox"}, up):
		c.raise(change.T2, "", "runs a tool of the project")
		if path.Base(dir) == "bin" && strings.HasPrefix(alias(base), "pip") {
			return "venv-pip"
		}
		if path.Base(dir) == "bin" && strings.HasPrefix(alias(base), "python") {
			return "venv-python"
		}
		return alias(base)
	case slices.Contains([]string{"gradlew", "mvnw"}, base), path.Base(dir) == "bin" && slices.Contains([]string{"rails", "rake", "rspec", "artisan"}, base), base == "manage.py":
		c.raise(change.T2, "", "runs a tool of the project")
		return alias(base)
	}
	return ""
}

// alias drops a version from a program's name, and returns the name of another that does the same.
func alias(name string) string {
	if name == ":" {
		return "true"
	}
	for _, p := range []string{"python", "pip", "ruby", "node", "perl", "php", "gcc", "g++", "clang", "clang++", "clang-format", "lua", "go"} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" && strings.Trim(strings.TrimPrefix(rest, "-"), "0123456789.") == "" {
			return p
		}
	}
	return name
}

// stranger grades a program that no table knows.
func (c *invocation) stranger(name string) {
	c.unknown("is a program that is not known")
	if strings.Contains(name, "/") && c.fetched(literal(name)) {
		c.hidden("runs what was just downloaded")
	}
	if strings.Contains(name, "/") {
		c.part.Why = "runs a program that nobody has read"
	}
	if lower := strings.ToLower(name); lower != name && programs()[lower] != nil {
		c.hidden("is the name of a known program, disguised by letter case")
		return
	}
	words := append([]arg{literal(path.Base(name))}, c.args...)
	for i, a := range words {
		flagged := strings.HasPrefix(a.text, "--") && (a.text == "--force" || a.text == "--hard" || destroys(a.text))
		verb := !strings.ContainsAny(a.text, " /=") && (!strings.HasPrefix(a.text, "-") || i == 0) && destroys(a.text)
		e := programs()[programName(a.text)]
		if flagged || verb || i > 0 && e != nil && e.tier == change.T4 {
			c.destroys("is a program that is not known, with a word that destroys: " + a.text)
			return
		}
	}
}

// grade goes by an entry of the table.
func (c *invocation) grade(e *entry) {
	c.entry = e
	if e.verbs {
		c.verb(e)
		return
	}
	c.apply(e)
}

// verb finds the entry of the verb behind the program's own flags.
func (c *invocation) verb(e *entry) {
	if len(c.args) > 0 && strings.HasPrefix(c.args[0].text, "-") {
		if next := programs()[c.name+":"+c.args[0].text]; next != nil && c.args[0].known {
			c.name, c.args = c.name+":"+c.args[0].text, c.args[1:]
			c.grade(next)
			return
		}
	}
	if !c.onlyHelp() {
		c.scan(e, c.args, true)
	}
	if c.name == "git" {
		gitGlobals(c)
	}
	if c.onlyHelp() {
		c.part.Why = "prints help"
		return
	}
	if c.rest >= len(c.args) {
		c.apply(e)
		return
	}
	verb := c.args[c.rest]
	if !verb.known || verb.glob || verb.mayBeFlag() {
		c.hidden("has a verb that only run time knows")
		return
	}
	next := programs()[c.name+":"+verb.text]
	global := c.flags
	if next == nil {
		next = programs()[c.name+":*"]
	} else {
		c.args = c.args[c.rest+1:]
		c.name += ":" + verb.text
	}
	c.effects(global)
	if next == nil {
		c.apply(e)
		return
	}
	c.flags, c.operands = nil, nil
	c.grade(next)
	c.flags = append(global, c.flags...)
}

// onlyHelp reports whether the words ask for nothing but help or the version.
func (c *invocation) onlyHelp() bool {
	if len(c.args) != 1 || !c.args[0].known {
		return false
	}
	switch c.args[0].text {
	case "--help", "--version", "-help", "-version":
		return true
	case "-v":
		return oneOf(c.name, "node nodejs ruby perl php lua java")
	case "-h":
		f, listed := c.entry.short['h']
		return !c.entry.open && !listed && f.tier == ""
	case "-V":
		if oneOf(c.name, "ssh rustc") {
			return true
		}
		_, listed := c.entry.short['V']
		return !listed && (!c.entry.open || c.entry.role == "python!")
	}
	return false
}

// verbHelp reports whether a verb of a program that hands nothing on is asked for its help only.
func (c *invocation) verbHelp(e *entry) bool {
	if !strings.Contains(c.name, ":") || strings.HasSuffix(e.role, "!") || len(c.args) == 0 || oneOf(c.name, "go:run cargo:run cargo:r") {
		return false
	}
	for _, a := range c.args[:len(c.args)-1] {
		if !a.known || a.glob || strings.HasPrefix(a.text, "-") {
			return false
		}
	}
	return c.args[len(c.args)-1].known && c.args[len(c.args)-1].text == "--help"
}

// apply grades by the entry alone: flags first, then operands.
func (c *invocation) apply(e *entry) {
	c.entry = e
	if c.onlyHelp() {
		c.part.Why = "prints help"
		return
	}
	if c.verbHelp(e) {
		c.part.Why = "prints help"
		return
	}
	c.raise(e.tier, reasonOf(e.tier), e.why)
	if c.part.Why == "" {
		c.part.Why = e.why
	}
	c.scan(e, c.args, e.role == "inner" || strings.HasSuffix(e.role, "!"))
	c.effects(c.flags)
	if role := c.roles[strings.TrimSuffix(e.role, "!")]; role != nil {
		role(c)
	}
	c.elsewhereBuilt(e)
}

func reasonOf(t change.Tier) change.Reason {
	switch t {
	case change.T3:
		return change.OutsideRepository
	case change.T4:
		return change.DestructiveOperation
	}
	return ""
}

// scan splits args into flags and operands. With first it stops at the first operand.
func (c *invocation) scan(e *entry, args []arg, first bool) {
	c.flags, c.operands, c.rest = nil, nil, len(args)
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.known && a.text == "--":
			c.operands = append(c.operands, args[i+1:]...)
			c.rest = min(c.rest, i+1)
			return
		case len(a.text) < 2 || a.text[0] != '-' || a.glob && a.text[0] != '-':
			c.rest = min(c.rest, i)
			if first {
				c.operands = append(c.operands, args[i:]...)
				return
			}
			c.operands = append(c.operands, a)
			if a.mayBeFlag() && e.tier < change.T3 && (e.risky || !e.open) && !roleTakesNone(e.role) {
				c.unknown("has a word that may turn out to be a flag: " + a.text)
			}
		case strings.HasPrefix(a.text, "--") || e.single:
			i += c.long(e, a, args[i+1:])
		default:
			i += c.cluster(e, a, args[i+1:])
		}
	}
}

func roleTakesNone(role string) bool { return role == "pure" }

// long takes a long flag, abbreviated or not; it returns how many words of rest are its value.
func (c *invocation) long(e *entry, a arg, rest []arg) int {
	name, value, has := strings.Cut(strings.TrimLeft(a.text, "-"), "=")
	dashes := "--"
	if e.single {
		dashes = "-"
	}
	f, full, ok := e.findLong(name)
	if !ok && e.open {
		c.flags = append(c.flags, given{name: dashes + name, value: arg{text: value, known: a.known}})
		return 0
	}
	if !ok || !a.known && !has {
		c.unknown("has a flag that is not known: " + a.text)
		c.flags = append(c.flags, given{name: dashes + name, value: arg{text: value, known: a.known}})
		return 0
	}
	g := given{name: dashes + full, spec: f, value: arg{text: value, known: a.known, split: a.split}}
	used := 0
	if f.value && !has && !f.optional && len(rest) > 0 {
		g.value = rest[0]
		if full == name || !e.open {
			used = 1
		}
		// Else the name may be one that the table does not list, and the next word an operand.
	}
	c.valueSplits(e, g)
	c.flags = append(c.flags, g)
	return used
}

// valueSplits refuses the value of a flag that could turn out to hold flags of its own.
func (c *invocation) valueSplits(e *entry, g given) {
	if g.value.split && !g.value.known && e.tier < change.T3 && (e.risky || !e.open) {
		c.unknown("has a value that may turn out to be several words: " + g.value.text)
	}
}

// findLong finds a flag by its name or by the beginning of it; of several the one that raises most.
func (e *entry) findLong(name string) (flag, string, bool) {
	if f, ok := e.long[name]; ok {
		return f, name, true
	}
	if e.single || name == "" {
		return flag{}, "", false
	}
	best, full := flag{}, ""
	for known, f := range e.long {
		if !strings.HasPrefix(known, name) {
			continue
		}
		if full == "" || f.tier > best.tier || f.tier == best.tier && (f.effect > best.effect || f.effect == best.effect && known < full) {
			best, full = f, known
		}
	}
	return best, full, full != ""
}

// cluster takes short flags that share a dash.
func (c *invocation) cluster(e *entry, a arg, rest []arg) int {
	for i := 1; i < len(a.text); i++ {
		letter := a.text[i]
		f, ok := e.short[letter]
		if !ok {
			if letter >= '0' && letter <= '9' || e.open {
				c.flags = append(c.flags, given{name: "-" + string(letter)})
				continue
			}
			c.unknown("has a flag that is not known: " + a.text)
			c.flags = append(c.flags, given{name: "-" + string(letter)})
			continue
		}
		g := given{name: "-" + string(letter), spec: f}
		if !f.value {
			c.flags = append(c.flags, g)
			continue
		}
		g.value = arg{text: a.text[i+1:], known: a.known, split: a.split}
		used := 0
		if g.value.text == "" && !f.optional && len(rest) > 0 {
			g.value, used = rest[0], 1
		}
		c.valueSplits(e, g)
		c.flags = append(c.flags, g)
		return used
	}
	if !a.known && e.tier < change.T3 {
		c.unknown("has a flag that only run time knows: " + a.text)
	}
	return 0
}

// effects grades what the flags do.
func (c *invocation) effects(flags []given) {
	for _, f := range flags {
		if f.spec.tier != "" && (f.spec.tier > change.T3 || f.value.text != "false") {
			c.context = max(c.context, f.spec.tier)
			c.raise(f.spec.tier, reasonOf(f.spec.tier), c.entry.why+": "+f.name)
			if f.spec.tier == change.T4 && c.entry.tier < change.T4 {
				c.part.Why = "destroys or forces with " + f.name
			}
		}
		switch f.spec.effect {
		case 'r':
			if f.value.text != "-" {
				c.take(c.reads(c.sc, stripAt(f.value)))
			}
		case 'w':
			switch {
			case strings.HasPrefix(f.value.text, "|"), strings.HasPrefix(f.value.text, "!"):
				c.hidden("writes to a program: " + f.value.text)
			case f.value.text != "-":
				c.take(c.writes(c.sc, f.value))
			}
		case 'b':
			if f.value.text != "-" {
				c.take(c.ours(c.sc, f.value))
			}
		case 'm':
			c.named(f.value, f.name)
		case 'x':
			c.steers(f.value, f.name)
		case 'c':
			c.code(f.value)
		}
	}
}

func stripAt(a arg) arg {
	a.text = strings.TrimPrefix(a.text, "@")
	return a
}

// steers grades a program that a setting or a flag names.
func (c *invocation) steers(a arg, by string) {
	if !a.known {
		c.hidden("names a program that only run time knows: " + by)
		return
	}
	c.context = max(c.context, change.T3)
	c.unknown("names a program that runs: " + by)
	if first, _, _ := strings.Cut(a.text, " "); shellNames[path.Base(first)] && !strings.Contains(a.text, " ") {
		c.hidden("names a shell that is fed data: " + by)
	}
	c.nested(a.text)
}

// code grades text that a shell runs.
func (c *invocation) code(a arg) {
	if !a.known {
		c.hidden("runs text that only run time knows")
		return
	}
	c.nested(a.text)
}

// nested grades text as a script of its own, whose parts count as they are.
func (c *invocation) nested(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	c.script(c.sc.fork(), text, c.in)
}
