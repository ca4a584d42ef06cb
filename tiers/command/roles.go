package command

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

// roles says how the operands of a program are graded, by the names that programs.txt uses.
func roles() map[string]func(*invocation) {
	return map[string]func(*invocation){
		"read": readAll, "pattern": patternThenRead, "write": writeAll, "create": createAll, "second": secondWritten, "inner": runInner, "cd": changeFolder,
		"copy": copyTo, "move": moveTo, "link": linkTo, "dd": copyBlocks, "chmod": changeMode, "truncate": truncate, "rsync": synchronize, "tar": archive, "unzip": unpack,
		"find": findFiles, "fd": findNames, "xargs": feedArguments, "parallel": feedParallel, "sed": editStream, "awk": awkProgram, "sort": readAll,
		"shell": runShell, "interp": interpret, "python": runPython, "eval": evaluate, "trap": setTrap, "source": sourceScript, "exec": replaceShell, "env": withEnvironment, "alias": setAlias,
		"test": testWords, "printf": printFormat, "names": variableNames, "set": setOptions, "kill": endProcess, "history": shellHistory, "hash": rememberPath, "unset": unsetNames,
		"git": unknownVerb, "checkout": gitCheckout, "push": gitPush, "fetch": gitFetch, "config": gitConfig, "gitexec": gitRunsShell, "branch": gitBranch, "tag": gitTag,
		"stash": gitStash, "gitreset": gitReset, "lsremote": gitURL, "gitdiff": gitDiff,
		"scripts": runScripts, "make": runMake, "install": nodeInstall, "npx": runPackage, "pip": pipInstall, "venvpip": venvPip, "venvpython": venvPython, "gobuild": goBuild, "gorun": readAll,
		"verbs": unknownVerb, "remote": remoteVerb, "ssh": runElsewhere, "dockerrun": dockerRun, "dockerexec": dockerExec, "curl": transfer, "api": forgeAPI, "scp": copyRemote,
		"sql": runSQL, "sqlite": runSQLite, "redis": runRedis, "tmux": typeInto, "date": setDate, "hostname": setName, "runner": projectRunner, "cmakeE": cmakeTool, "crontab": schedule,
		"sysctl": setKernel, "manage": manageVerb, "mongo": runMongo, "wget": transfer, "busybox": multiCall, "ps": listProcesses, "service": serviceVerb,
		"ip": networkSetting, "debug": debug, "lines": runLines, "agent": agent, "mount": mountNothing, "tee": teeInto, "code": codeOperand, "atqueue": atQueue, "yq": editYAML, "jq": filterJSON, "workspace": inWorkspace, "declares": declareQuoted, "sampler": sample, "completion": completion, "repack": repack, "protoc": protoc, "compile": compile, "monorepo": runTargets,
	}
}

func readAll(c *invocation) {
	for _, a := range c.operands {
		c.take(c.reads(c.sc, a))
	}
}

func patternThenRead(c *invocation) {
	files := c.operands
	for _, f := range c.flags {
		if oneOf(f.name, "--include -g --glob --iglob") && secretFile(f.value.text) {
			c.raise(change.T3, change.ProtectedTarget, "reads what may hold secrets")
		}
	}
	if _, given := c.has("-e", "-f", "--regexp", "--file", "--files"); !given && len(files) > 0 {
		if files[0].split {
			c.unknown("has a pattern that may turn out to be several words")
		}
		files = files[1:]
	}
	for _, a := range files {
		c.take(c.reads(c.sc, a))
	}
}

func writeAll(c *invocation) {
	for _, a := range c.operands {
		c.take(c.writes(c.sc, a))
	}
}

// createAll grades programs that make new things and overwrite nothing.
func createAll(c *invocation) {
	for _, a := range c.operands {
		c.take(c.creates(c.sc, a))
	}
}

// creates says what making something new comes to.
func (g *grader) creates(sc *scope, a arg) finding {
	f := g.writes(sc, a)
	if f.reason == change.OutsideRepository && f.tier == change.T4 {
		f = finding{change.T3, change.OutsideRepository, "creates something outside the repository"}
	}
	return f
}

// secondWritten grades filters whose second operand is where the result goes.
func secondWritten(c *invocation) {
	for i, a := range c.operands {
		if i == 1 {
			c.take(c.writes(c.sc, a))
		} else {
			c.take(c.reads(c.sc, a))
		}
	}
}

// runInner grades the command behind a wrapper's flags and own operands.
func runInner(c *invocation) {
	rest := c.operands
	if c.name == "command" && c.any("-v", "-V") {
		c.part.Why = "says where a program is"
		return
	}
	if len(rest) < c.entry.skip {
		return
	}
	rest = rest[c.entry.skip:]
	if c.part.Reason == change.Unclassified {
		c.anyDestroyer(rest)
	}
	c.inner(rest)
}

// anyDestroyer looks for a program that destroys where nobody can tell which word is the command.
func (c *invocation) anyDestroyer(list []arg) {
	for _, a := range list {
		if e := programs()[programName(a.text)]; e != nil && e.tier == change.T4 || destroys(a.text) && !strings.Contains(a.text, " ") {
			c.destroys("may run a word that destroys: " + a.text)
		}
	}
}

func (c *invocation) inner(args []arg) {
	if len(args) == 0 {
		return
	}
	if c.part.Why == c.entry.why && c.part.Tier <= change.T1 {
		c.part.Why = "runs another program"
	}
	c.run(c.sc, args, c.in)
}

func changeFolder(c *invocation) {
	to := arg{text: c.in0().Home, known: c.in0().Home != ""}
	if len(c.operands) > 0 {
		to = c.operands[0]
	}
	if to.text == "-" || to.glob || c.name == "popd" {
		to.known = false
	}
	p := c.resolve(c.sc, to)
	c.sc.cwd = p
	if p == "" {
		c.unknown("goes to a folder that only run time knows")
		return
	}
	c.take(c.reads(c.sc, literal(p)))
}

func (c *invocation) in0() Context { return c.grader.in }

// testWords grades test and [: bash evaluates the text of a subscript there.
func testWords(c *invocation) {
	evaluates := false
	for _, a := range c.args {
		evaluates = evaluates || a.text == "-v" || a.text == "-R"
		if hidden(a.text) && evaluates {
			c.hidden("evaluates quoted text as a subscript")
		}
		if evaluates && !a.known {
			c.unknown("evaluates a name that only run time knows")
		}
	}
}

func printFormat(c *invocation) {
	if len(c.args) > 1 && strings.HasPrefix(c.args[0].text, "-v") {
		name := c.args[1]
		if c.args[0].text != "-v" {
			name = arg{text: c.args[0].text[2:], known: c.args[0].known}
		}
		c.nameOf(name)
	} else if len(c.args) > 0 && c.args[0].split {
		c.unknown("has a format that may turn out to be a flag")
	}
}

// nameOf grades a word that a builtin takes for a variable.
func (c *invocation) nameOf(a arg) {
	switch {
	case hidden(a.text) && strings.Contains(a.text, "["):
		c.hidden("evaluates quoted text as a subscript")
	case !a.known:
		c.unknown("sets a variable that only run time knows")
	case strings.HasPrefix(a.text, "CORREX_"):
		c.raise(change.T4, change.ProtectedTarget, "changes what correx goes by")
	case steering(a.text, ""):
		c.unknown("sets a variable that changes what later commands do")
	}
}

func variableNames(c *invocation) {
	if f, ok := c.has("-p"); ok && c.name == "wait" {
		c.nameOf(f.value)
	}
	for _, a := range c.operands {
		c.nameOf(a)
	}
}

func unsetNames(c *invocation) {
	c.sc.own()
	clear(c.sc.funcs)
	variableNames(c)
}

func setOptions(c *invocation) {
	if len(c.args) == 0 {
		c.raise(change.T3, change.ProtectedTarget, "prints all variables, which may hold secrets")
	}
	for _, a := range c.args {
		if !a.known && len(c.args) > 0 && !strings.HasPrefix(c.args[0].text, "--") {
			c.unknown("sets an option that only run time knows")
		}
	}
}

func endProcess(c *invocation) {
	if len(c.args) == 0 {
		return
	}
	switch first := c.args[0].text; {
	case first == "-l" || first == "-L":
		c.part.Tier, c.part.Reason, c.part.Why = max(c.sc.lowest, change.T1), "", "prints the names of signals"
		return
	case first == "-0":
		c.part.Tier, c.part.Reason, c.part.Why = max(c.sc.lowest, change.T1), "", "asks whether a process runs"
		return
	}
	for i, a := range c.args {
		own := strings.HasPrefix(a.text, "%") || a.text == "$!" || i == 0 && strings.HasPrefix(a.text, "-")
		if !own {
			return
		}
	}
	c.part.Tier, c.part.Reason, c.part.Why = max(c.sc.lowest, change.T2), "", "ends a job of this shell"
}

func shellHistory(c *invocation) {
	for i, a := range c.args {
		switch {
		case a.text == "-c" || a.text == "-d" || strings.HasPrefix(a.text, "-w") || strings.HasPrefix(a.text, "-a"):
			c.destroys("rewrites the shell's history")
			if i+1 < len(c.args) {
				c.take(c.writes(c.sc, c.args[i+1]))
			}
		case a.text == "-s" || a.text == "-p":
			c.raise(change.T3, change.Unclassified, "changes the shell's history")
		}
	}
}

func rememberPath(c *invocation) {
	if _, ok := c.has("-p"); ok {
		c.hidden("binds a name to another file")
	}
	if len(c.operands) == 0 {
		c.part.Why = "forgets where programs are"
	}
}

func setAlias(c *invocation) {
	for _, a := range c.operands {
		name, body, ok := strings.Cut(a.text, "=")
		if !ok {
			continue
		}
		if !a.known {
			c.hidden("gives a name to text that only run time knows")
			continue
		}
		if programs()[name] != nil && !strings.HasPrefix(body, name+" ") {
			c.unknown("gives the name of a known program to something else")
		}
		c.nested(body)
	}
}

func evaluate(c *invocation) {
	text := ""
	for _, a := range c.args {
		if !a.known {
			c.hidden("runs text that only run time knows")
			return
		}
		text += a.text + " "
	}
	if strings.TrimSpace(text) != "" {
		c.script(c.sc, strings.TrimSuffix(text, " "), c.in)
	}
}

func setTrap(c *invocation) {
	if len(c.operands) < 2 || c.operands[0].text == "-" {
		return
	}
	if !c.operands[0].known {
		c.hidden("runs text that only run time knows")
		return
	}
	c.nested(c.operands[0].text)
}

func replaceShell(c *invocation) {
	if len(c.operands) > 0 {
		c.inner(c.operands)
	}
}

// withEnvironment grades env: variables, then a command.
func withEnvironment(c *invocation) {
	for _, name := range []string{"-S", "--split-string"} {
		if f, ok := c.has(name); ok {
			c.code(f.value)
			c.anyDestroyer(c.operands)
			return
		}
	}
	for _, f := range c.flags {
		if (f.name == "-C" || f.name == "--chdir") && c.resolve(c.sc, f.value) != "" {
			c.sc = c.sc.fork()
			c.sc.cwd = c.resolve(c.sc, f.value)
		}
		if f.name == "-u" || f.name == "--unset" {
			c.nameOf(f.value)
		}
	}
	rest := c.operands
	w := &walker{grader: c.grader}
	for len(rest) > 0 {
		name, value, ok := strings.Cut(rest[0].text, "=")
		if !ok {
			break
		}
		w.variable(c.sc, name, arg{text: value, known: rest[0].known})
		rest = rest[1:]
	}
	if len(rest) == 0 {
		c.raise(change.T3, change.ProtectedTarget, "prints all variables, which may hold secrets")
		return
	}
	if c.part.Reason == change.Unclassified {
		c.anyDestroyer(rest)
	}
	c.inner(rest)
}

func setDate(c *invocation) {
	for _, a := range c.operands {
		if !strings.HasPrefix(a.text, "+") {
			c.destroys("sets the clock")
		}
	}
}

func setName(c *invocation) {
	if len(c.operands) > 0 {
		c.destroys("sets the name of the machine")
	}
}

func setKernel(c *invocation) {
	for _, a := range c.operands {
		if strings.Contains(a.text, "=") || !a.known {
			c.destroys("changes the kernel")
		}
	}
}

func networkSetting(c *invocation) {
	for i, a := range c.operands {
		switch a.text {
		case "add", "del", "delete", "set", "flush", "change", "replace", "exec", "append":
			if i > 0 {
				c.destroys("changes the network")
			}
		}
	}
}

func schedule(c *invocation) {
	if _, ok := c.has("-l"); ok && len(c.flags) == 1 {
		c.part.Tier, c.part.Reason, c.part.Why = change.T3, change.OutsideRepository, "reads the user's schedule"
	}
}

func listProcesses(c *invocation) {
	for i, a := range c.args {
		flags := strings.HasPrefix(a.text, "-") || i == 0
		if flags && !strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "e") || !a.known {
			c.raise(change.T3, change.ProtectedTarget, "prints the environments of processes")
		}
	}
}

func serviceVerb(c *invocation) {
	if c.name == "service" && (len(c.operands) == 2 && c.operands[1].text == "status" || c.any("--status-all")) || c.name != "service" && len(c.args) == 0 {
		c.lower(change.T1, "reads the state of services")
		return
	}
	for _, a := range c.operands {
		if readingService.MatchString(a.text) {
			c.part.Tier, c.part.Reason, c.part.Why = max(c.sc.lowest, change.T1), "", "reads the state of services"
			return
		}
		if a.text != "" && !strings.HasSuffix(a.text, ".service") {
			return
		}
	}
}

var readingService = pattern(`^(status|list-(units|unit-files|timers|sockets|jobs|machines|dependencies|paths|sessions|users|seats|timezones|keymaps|locales|keys|schemas|recursively)|list|is-active|is-enabled|is-failed|is-system-running|show|show-(session|user|seat)|cat|get|get-default|timesync-status|show-timesync|session-status|user-status|hostname|print|blame)$`)

func multiCall(c *invocation) { c.inner(c.operands) }

// typeInto grades programs that keep sessions in which others run.
func typeInto(c *invocation) {
	for i, a := range c.operands {
		if a.text == "send-keys" || a.text == "send" || a.text == "stuff" || a.text == "kill-server" || a.text == "kill-session" || !a.known {
			c.hidden("types into another shell, or ends it")
			return
		}
		if strings.Contains(a.text, " ") && i > 0 {
			c.nested(a.text)
		}
	}
	c.anyDestroyer(c.operands)
}
