package command

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

// hiddenGlob reports whether a pattern may match names that begin with a dot.
func hiddenGlob(p string) bool {
	for _, name := range strings.Split(p, "/") {
		if strings.HasPrefix(name, ".") && strings.ContainsAny(name, "*?[") {
			return true
		}
	}
	return false
}

// runLines grades programs whose every operand is a line for a shell.
func runLines(c *invocation) {
	for _, a := range c.operands {
		c.code(a)
	}
}

// codeOperand grades programs whose first operand is code.
func codeOperand(c *invocation) {
	if len(c.operands) > 0 {
		c.inline(c.operands[0])
	}
}

// agent grades programs that act by themselves: one that is told to ask nobody is past every guard.
func agent(c *invocation) {
	remoteVerb(c)
	for i, a := range c.args {
		lower := strings.ToLower(a.text)
		value := i > 0 && strings.HasPrefix(c.args[i-1].text, "-") && !strings.Contains(lower, " ")
		if !strings.HasPrefix(lower, "-") && !value {
			continue
		}
		for _, word := range []string{"danger", "yolo", "bypass", "skip-perm", "yes-always", "full-auto", "auto-approve", "trust-all", "allow-all", "no-sandbox", "never"} {
			if strings.Contains(lower, word) {
				c.raise(change.T4, change.ProtectedTarget, "starts an agent that asks nobody")
			}
		}
	}
}

// mountNothing grades mount: without operands it prints what is mounted.
func mountNothing(c *invocation) {
	if len(c.operands) == 0 && len(c.flags) == 0 {
		c.lower(change.T1, "reads what is mounted")
	}
}

// teeInto grades tee, which copies what it is fed to files.
func teeInto(c *invocation) {
	for _, a := range c.operands {
		c.take(c.writes(c.sc, a))
		if c.in.kind == sourceNetwork {
			c.downloaded[c.resolve(c.sc, a)] = true
		}
	}
}

// atQueue grades at and batch, which run commands later; -l only lists.
func atQueue(c *invocation) {
	if len(c.args) == 1 && c.args[0].known && c.args[0].text == "-l" {
		c.lower(change.T3, "reads the user's schedule")
	}
}

// editYAML grades yq, which changes its files when it is told so.
func editYAML(c *invocation) {
	files := c.operands
	if len(files) > 0 && oneOf(files[0].text, "e eval ea eval-all") {
		files = files[1:]
	}
	if len(files) > 0 {
		if files[0].split {
			c.unknown("has an expression that may turn out to be several words")
		}
		files = files[1:]
	}
	for _, a := range c.args {
		if jqEnvironment.MatchString(a.text) {
			c.raise(change.T3, change.ProtectedTarget, "prints variables, or files, that the program names")
		}
	}
	inPlace := c.any("-i", "--inplace", "--in-place")
	for _, a := range files {
		if inPlace {
			c.take(c.writes(c.sc, a))
		} else {
			c.take(c.reads(c.sc, a))
		}
	}
}

// runTargets grades nx and turbo: the names of targets, behind run or alone, and then of projects.
func runTargets(c *invocation) {
	list := c.operands
	if len(list) > 0 && oneOf(list[0].text, "run run-many affected") {
		list = list[1:]
		for _, name := range []string{"-t", "--target", "--targets"} {
			if f, ok := c.has(name); ok {
				list = append([]arg{f.value}, list...)
			}
		}
	}
	if len(list) == 0 {
		return
	}
	c.lowerTasks()
	c.scan(c.entry, c.args, false)
	c.effects(c.flags)
	names := list[:1]
	if c.name == "turbo" {
		names = list
	}
	for _, a := range names {
		for _, name := range strings.Split(a.text, ",") {
			name = name[strings.LastIndexByte(name, ':')+1:]
			c.script1(arg{text: name, known: a.known, glob: a.glob})
		}
	}
	c.anyDestroyer(c.operands)
}

var (
	jqEnvironment = pattern(`(^|[^.$A-Za-z0-9_])(env|\$ENV|strenv|load|load_str)\b`)
	swapsProgram  = pattern(`(?i)(COMPILER|LAUNCHER|LINKER|PROGRAM|_COMMAND|TOOLCHAIN)(:[A-Z]+)?=`)
)

// filterJSON grades jq, whose program can print all variables. Some of its flags have two values, a name and what it stands for.
func filterJSON(c *invocation) {
	var list []arg
	for i := 0; i < len(c.args); i++ {
		switch c.args[i].text {
		case "--arg", "--argjson":
			i += 2
		case "--rawfile", "--slurpfile", "--argfile":
			if i += 2; i < len(c.args) {
				c.take(c.reads(c.sc, c.args[i]))
			}
		default:
			list = append(list, c.args[i])
		}
	}
	for _, a := range list {
		if jqEnvironment.MatchString(a.text) {
			c.raise(change.T3, change.ProtectedTarget, "prints variables, which may hold secrets")
		}
	}
	c.scan(c.entry, list, false)
	patternThenRead(c)
}

// sample grades programs that print numbers again and again: with an interval and no count they never end.
func sample(c *invocation) {
	if len(c.operands) == 1 {
		c.unknown("runs until it is stopped")
	}
}

// completion grades compgen and complete, which evaluate some of their words.
func completion(c *invocation) {
	for _, a := range c.args {
		if hidden(a.text) {
			c.hidden("evaluates quoted text")
		}
	}
}

// repack grades git repack: with -a and -d, objects that nothing reaches are gone.
func repack(c *invocation) {
	if c.any("-a") && c.any("-d") && !c.any("-k", "--keep-unreachable") {
		c.destroys("drops objects that nothing reaches")
	}
}

// protoc grades protoc: each plugin has a flag that says where it writes.
func protoc(c *invocation) {
	for _, f := range c.flags {
		if strings.HasSuffix(f.name, "_out") {
			to := f.value.text[strings.LastIndexByte(f.value.text, ':')+1:]
			c.take(c.writes(c.sc, arg{text: to, known: f.value.known}))
		}
	}
	readAll(c)
}

// compile grades compilers and linkers, whose flags may stick to their values.
func compile(c *invocation) {
	for _, a := range c.args {
		switch {
		case strings.HasPrefix(a.text, "-o") && len(a.text) > 2 && !strings.HasPrefix(a.text, "-out") && !strings.HasPrefix(a.text, "-od"):
			c.take(c.writes(c.sc, arg{text: strings.TrimPrefix(a.text[2:], "="), known: a.known}))
		case strings.HasPrefix(a.text, "-B") && len(a.text) > 2, strings.Contains(a.text, "plugin"), strings.Contains(a.text, "linker="), strings.Contains(a.text, "-load"), strings.HasPrefix(a.text, "-fuse-ld=/"):
			c.unknown("names a program, or code, that runs: " + a.text)
		case strings.HasPrefix(a.text, "@"):
			c.unknown("takes flags from a file: " + a.text)
		}
	}
	readAll(c)
}

// fedEditor grades what an editor of lines is fed: a line may run a command, or name a file to write.
func (c *invocation) fedEditor() {
	if !oneOf(c.name, "ed ex vi vim") || c.in.kind != sourceText {
		return
	}
	for line := range strings.Lines(c.in.text) {
		line = strings.TrimSpace(line)
		if _, shell, ok := strings.Cut(line, "!"); ok {
			c.nested(shell)
		}
		if i := strings.IndexAny(line, "wW"); i >= 0 && strings.Trim(line[:i], "0123456789,$%.:") == "" {
			if name := strings.TrimSpace(strings.TrimLeft(line[i:], "wWq")); name != "" {
				c.take(c.writes(c.sc, literal(name)))
			}
		}
	}
}

// declareQuoted grades export and the like where they are not written as words of the language, such as \\export.
func declareQuoted(c *invocation) {
	w := &walker{grader: c.grader}
	if len(c.operands) == 0 {
		c.raise(change.T3, change.ProtectedTarget, "prints variables, which may hold secrets")
	}
	for _, a := range c.args {
		if hidden(a.text) {
			c.hidden("evaluates quoted text")
		}
	}
	for _, a := range c.operands {
		name, value, set := strings.Cut(a.text, "=")
		switch {
		case !a.known && !set:
			c.unknown("declares names that only run time knows")
		case set:
			w.variable(c.sc, name, arg{text: value, known: a.known})
		default:
			c.nameOf(a)
		}
	}
	if c.any("-i", "-n", "-f") {
		c.unknown("changes how a variable is read")
	}
}

// packages grades package managers of the machine.
func packages(c *invocation) {
	for i, a := range c.operands {
		if i < 2 && (destroys(a.text) || stops(a.text) || i == 1 && c.operands[0].text == "services" && a.text == "start" || oneOf(a.text, "cleanup autoremove autopurge clean-all dist-upgrade full-upgrade gc collect-garbage untap")) {
			c.destroys("removes what is installed: " + a.text)
		}
		if a.text == "run" || a.text == "exec" || a.text == "--run" || a.text == "-c" || a.text == "develop" || a.text == "shell" {
			c.anyDestroyer(c.operands[i+1:])
		}
	}
	for _, f := range c.flags {
		if oneOf(f.name, "-R -Rs -Rns -e --erase --uninstall --remove --purge --zap --delete-generations --gc --delete --delete-old -C --unmerge --depclean") || c.name == "nix-collect-garbage" {
			c.destroys("removes what is installed")
		}
	}
	for _, a := range c.args {
		if strings.Contains(a.text, " ") {
			c.nested(a.text)
		}
	}
}

// inWorkspace grades "yarn workspace NAME CMD": the same as the command alone.
func inWorkspace(c *invocation) {
	list := c.operands
	if strings.HasSuffix(c.name, ":workspace") && len(list) > 0 || len(list) > 0 && list[0].text == "foreach" {
		list = list[1:]
	}
	for len(list) > 0 && strings.HasPrefix(list[0].text, "-") {
		list = list[1:]
	}
	c.run(c.sc, append([]arg{literal("yarn")}, list...), c.in)
}

// unreadStatements refuses a tool that migrates a database where it is given statements, or may lose what is there.
func (c *invocation) unreadStatements() {
	for _, a := range c.args {
		switch {
		case strings.HasSuffix(a.text, "data-loss"):
			c.destroys("may lose data: " + a.text)
		case a.text == "execute":
			c.hidden("runs statements that nobody has read")
		}
	}
}
