package command

import (
	"path"
	"strings"

	"github.com/correx/correx/internal/change"
)

// runShell grades bash and the shells that read the same language.
func runShell(c *invocation) {
	foreign := !oneOf(c.name, "bash sh dash")
	if foreign {
		c.unknown("runs a shell that reads text by other rules")
	}
	if c.in.kind == sourceNetwork {
		c.hidden("runs text from the network")
	}
	letters, rest := c.shellOptions()
	has := func(letter string) bool { return strings.Contains(letters, letter) }
	switch {
	case has("i"):
		c.unknown("is an interactive shell")
	case has("n") && !has("c"):
		c.part.Why = "checks the syntax only"
		for _, a := range rest {
			c.take(c.reads(c.sc, a))
		}
		return
	}
	switch {
	case has("c") && len(rest) == 0:
		c.hidden("has no text to run")
	case has("c"):
		c.code(rest[0])
	case len(rest) > 0 && !has("s"):
		c.scriptFile(rest[0], rest[1:])
	default:
		c.standardInput()
	}
}

// shellOptions goes past the options as a shell does and returns their letters and what comes behind them: with a c among
// them the first word of that is the text to run, wherever the c stood.
func (c *invocation) shellOptions() (letters string, rest []arg) {
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a.known && (a.text == "--" || a.text == "-"):
			return letters, c.args[i+1:]
		case len(a.text) < 2 || a.text[0] != '-' && a.text[0] != '+':
			return letters, c.args[i:]
		case !a.known || a.glob:
			c.hidden("has an option that only run time knows")
		case strings.HasPrefix(a.text, "--"):
			if oneOf(a.text, "--init-file --rcfile --startup-file") && i+1 < len(c.args) {
				i++
				c.scriptFile(c.args[i], nil)
			}
			if oneOf(a.text, "--command --command=") {
				letters += "c"
			}
		case oneOf(c.name, "fish elvish nu xonsh") && strings.HasPrefix(a.text, "-C"):
			letters += "c"
		default:
			if strings.ContainsAny(a.text, "oO") && !strings.HasSuffix(a.text, "c") || strings.HasSuffix(a.text, "oc") {
				i += min(strings.Count(a.text, "o")+strings.Count(a.text, "O"), len(c.args)-1-i)
			}
			if a.text[0] == '-' {
				letters += a.text[1:]
			}
		}
	}
	return letters, nil
}

// scriptFile grades running a file.
func (c *invocation) scriptFile(a arg, rest []arg) {
	switch {
	case !a.known:
		c.hidden("runs what only run time knows")
	case strings.HasPrefix(c.resolve(c.sc, a), "/dev/fd/"):
		c.hidden("runs what another program prints")
	case device(c.resolve(c.sc, a)):
		c.standardInput()
		c.unknown("runs what a device gives")
	default:
		c.unknown("runs a script that nobody has read")
		c.take(c.readsScript(a))
		for i, w := range append([]arg{a}, rest...) {
			if i == 0 && destroys(w.text) || i > 0 && (w.text == "--force" || !strings.ContainsAny(w.text, " /") && destroys(w.text)) {
				c.destroys("runs a script with a word that destroys: " + w.text)
			}
		}
	}
}

// fetched reports whether an earlier part wrote a path, or a folder above it, from the network.
func (c *invocation) fetched(a arg) bool {
	if len(c.downloaded) == 0 {
		return false
	}
	for p := c.resolve(c.sc, a); p != "" && p != "/" && p != "."; p = path.Dir(p) {
		if c.downloaded[p] {
			return true
		}
	}
	return false
}

func (c *invocation) readsScript(a arg) finding {
	if c.fetched(a) {
		return finding{change.T4, change.Unclassified, "runs what was just downloaded"}
	}
	return finding{}
}

// standardInput grades a shell that runs what it is given.
func (c *invocation) standardInput() {
	switch c.in.kind {
	case sourceNone:
		c.unknown("is an interactive shell")
	case sourceText:
		if oneOf(c.name, "bash sh dash") {
			c.script(c.sc.fork(), c.in.text, source{})
			return
		}
		c.hidden("runs text that is fed to it")
	default:
		c.hidden("runs text that only run time knows")
	}
}

func sourceScript(c *invocation) {
	if len(c.args) == 0 {
		return
	}
	a := c.args[0]
	if m := activates.MatchString(a.text); a.known && m {
		c.venv()
		c.lower(change.T2, "uses the project's own environment")
		return
	}
	if c.in.kind >= sourceDecoded {
		c.hidden("runs text from the network")
	}
	if strings.HasPrefix(a.text, "/dev/fd/") {
		c.hidden("runs text that only run time knows")
		return
	}
	c.scriptFile(a, c.args[1:])
}

var activates = pattern(`^(\./)?(\.?venv|env|\.tox/[^/]+)/bin/activate$`)

// venv notes that an environment of the project is in use.
func (c *invocation) venv() { c.sc.define("\x00venv", true) }

func (c *invocation) inVenv() bool { return c.sc.funcs["\x00venv"] }

// interpret grades programs that run code in a language of their own.
func interpret(c *invocation) {
	if c.in.kind >= sourceDecoded {
		c.hidden("runs code from the network, or decoded code")
	}
	for _, f := range c.flags {
		if f.spec.effect == 'p' {
			c.inline(f.value)
		}
		if f.name == "--test" || f.name == "--check" {
			c.part.Tier, c.part.Reason = max(c.sc.lowest, map[string]change.Tier{"--test": change.T2, "--check": change.T1}[f.name]), ""
			c.part.Why = "runs the project's tests, or checks the syntax"
			return
		}
	}
	if c.in.kind == sourceText {
		c.inline(literal(c.in.text))
	}
	c.editsInPlace()
	for i, a := range c.operands {
		switch {
		case !a.known:
			c.hidden("runs what only run time knows")
		case i == 0 && c.fetched(a):
			c.hidden("runs what was just downloaded")
		case i == 0 && strings.HasPrefix(a.text, "/dev/fd/"):
			c.hidden("runs what only run time knows")
		case i == 0 && destroys(a.text), i > 0 && !strings.ContainsAny(a.text, " /") && destroys(a.text):
			c.destroys("runs a script with a word that destroys: " + a.text)
		}
	}
}

// editsInPlace grades the files that perl -i or ruby -i puts others in the place of.
func (c *invocation) editsInPlace() {
	if !oneOf(c.name, "perl ruby") || !c.any("-i") {
		return
	}
	files := c.operands
	if !c.any("-e", "-E") && len(files) > 0 {
		files = files[1:]
	}
	for _, a := range files {
		c.take(c.writes(c.sc, a))
	}
}

// debug grades debuggers: their commands may be a shell's.
func debug(c *invocation) {
	for _, f := range c.flags {
		if f.spec.effect != 'p' {
			continue
		}
		text := strings.TrimSpace(f.value.text)
		for _, escape := range []string{"shell ", "!", "platform shell "} {
			if rest, ok := strings.CutPrefix(text, escape); ok {
				c.nested(rest)
			}
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ;|&", r) }) {
			if destroys(word) {
				c.destroys("runs a command that destroys: " + word)
			}
		}
		c.inline(f.value)
	}
	c.anyDestroyer(c.operands)
}

// inline grades code of another language.
func (c *invocation) inline(a arg) {
	switch {
	case !a.known:
		c.hidden("runs code that only run time knows")
	case codeDestroys(a.text):
		c.destroys("runs code that deletes, spawns or decodes")
	default:
		c.unknown("runs inline code, which proves nothing")
	}
}

// runPython grades python: a module, code or a script.
func runPython(c *invocation) {
	for i, a := range c.args {
		if a.known && strings.HasPrefix(a.text, "-m") && onlyFlags(c.args[:i]) {
			module, rest := strings.TrimPrefix(a.text, "-m"), c.args[i+1:]
			if module == "" && len(rest) > 0 {
				if !rest[0].known {
					break
				}
				module, rest = rest[0].text, rest[1:]
			}
			c.module(module, rest)
			return
		}
	}
	if len(c.operands) > 0 && c.operands[0].known && c.operands[0].text[strings.LastIndexByte(c.operands[0].text, '/')+1:] == "manage.py" {
		c.part.Tier, c.part.Reason = c.sc.lowest, ""
		c.operands = c.operands[1:]
		manageVerb(c)
		return
	}
	interpret(c)
}

func onlyFlags(args []arg) bool {
	for _, a := range args {
		if !strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "-c") || strings.HasPrefix(a.text, "-m") {
			return false
		}
	}
	return true
}

// module grades python -m: many modules are programs of the same name.
func (c *invocation) module(name string, rest []arg) {
	lower := func(tier change.Tier, why string) {
		c.part.Tier, c.part.Reason, c.part.Why = max(tier, c.sc.lowest), "", why
	}
	if c.in.kind >= sourceDecoded {
		c.hidden("runs code with what comes from the network")
	}
	switch {
	case name == "venv" || name == "virtualenv":
		lower(change.T2, "makes an environment")
		for _, a := range rest {
			if !strings.HasPrefix(a.text, "-") {
				c.take(c.writes(c.sc, a))
			}
		}
	case name == "py_compile" || name == "compileall" || name == "tabnanny" || name == "ast":
		lower(change.T2, "compiles into its own cache")
		for _, a := range rest {
			c.take(c.reads(c.sc, a))
		}
	case name == "json.tool":
		lower(change.T1, "prints JSON in another form")
		n := 0
		for i, a := range rest {
			if strings.HasPrefix(a.text, "-") || i > 0 && rest[i-1].text == "--indent" && isNumber(a.text) {
				continue
			}
			n++
			if n == 2 {
				c.take(c.writes(c.sc, a))
			} else {
				c.take(c.reads(c.sc, a))
			}
		}
	case name == "build" && len(rest) < 3:
		lower(change.T2, "builds the project")
	case name == "unittest" || name == "doctest":
		lower(change.T2, "runs the project's tests")
		c.operands = rest
		c.oursAll()
	case name == "pip" && c.name == "venv-python":
		lower(change.T2, "runs a tool of the project")
		c.run(c.sc, append([]arg{literal("venv-pip")}, rest...), c.in)
	case programs()[name] != nil && pythonTools[name]:
		lower(change.T2, "runs a tool of the project")
		c.run(c.sc, append([]arg{literal(name)}, rest...), c.in)
	default:
		c.unknown("runs a module that is not known: " + name)
	}
}

var pythonTools = set("pip pytest mypy black ruff flake8 pylint isort tox nox coverage build twine pyright bandit pre_commit sphinx pipx uv django alembic celery jupyter")

func venvPython(c *invocation) { runPython(c) }
