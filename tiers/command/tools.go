package command

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

// toolRoles are the roles of single programs.
func toolRoles() map[string]func(*invocation) {
	return map[string]func(*invocation){
		"ansible": ansible, "clone": cloneTo, "cloud": remoteVerb, "compress": compress, "destroyer": destroyerAny, "dockercp": dockerCopy, "editor": editor, "flock": flockInner,
		"fmtwrite": formatInPlace, "forgepr": forgeVerb, "forgerepo": forgeVerb, "forgeverb": forgeVerb, "formatter": formatter, "gitclean": gitClean,
		"gitremote": gitRemote, "goclean": goClean, "goenv": goEnv, "golist": goList, "gotool": goTool, "inlineall": inlineAll, "install2": uninstall, "man": manual, "mktemp": makeTemporary,
		"netcat": netcat, "npmconfig": npmConfig, "packages": packages, "php": runPHP, "printenv": printVariable, "remoteshow": gitRemoteShow, "restore": gitRestore, "rollout": rollout,
		"ruffformat": formatter, "rustfmt": formatter, "scale": scale, "script": recordSession, "split": splitFile, "sshkeygen": makeKey, "state": terraformState, "symref": gitSymbolicRef,
		"tasks": runTasks, "tooltask": toolTask, "unpackunknown": unpackUnknown, "uvrun": uvRun, "watchrun": watchRun, "worktreeadd": worktreeAdd, "yarn": yarnAlone, "yarnscript": yarnScript, "zip": makeZip,
		"tests": runTests, "packagetask": (*invocation).packageFlags, "crates": buildCrates, "dry": dryRun, "gitapply": applyPatch, "patch": dryPatch, "tffmt": formatTerraform, "clientversion": clientVersion,
	}
}

// lower sets the tier of a program by what its words prove; it is called before anything else is found.
func (c *invocation) lower(tier change.Tier, why string) {
	c.part.Tier, c.part.Reason, c.part.Why = max(tier, c.sc.lowest), "", why
}

// proven reports whether nothing but the entry's own tier has been found so far.
func (c *invocation) proven() bool {
	return c.part.Tier == max(c.entry.tier, c.sc.lowest) && c.part.Reason != change.Unclassified
}

func ansible(c *invocation) {
	for _, f := range c.flags {
		if f.name == "-a" && strings.Contains(f.value.text, "state=absent") {
			c.destroys("removes things on other machines")
		}
		if f.name == "-a" && f.value.text != "" {
			c.elsewhere(f.value)
		}
		if f.name == "-m" && (f.value.text == "shell" || f.value.text == "command" || f.value.text == "raw") {
			c.unknown("runs a command on other machines")
		}
	}
	for _, a := range c.operands {
		if destroys(a.text) {
			c.destroys("runs a playbook that is named like one that destroys: " + a.text)
		}
	}
}

func cloneTo(c *invocation) {
	gitURL(c)
	if len(c.operands) > 1 {
		c.take(c.writes(c.sc, c.operands[1]))
		c.downloaded[c.resolve(c.sc, c.operands[1])] = true
	} else if len(c.operands) > 0 {
		from := strings.TrimRight(c.operands[0].text, "/")
		name := strings.TrimSuffix(from[strings.LastIndexAny(from, "/:")+1:], ".git")
		c.downloaded[c.resolve(c.sc, literal(name))] = true
	}
	for _, f := range c.flags {
		if f.spec.effect == 'c' {
			key, value, _ := strings.Cut(f.value.text, "=")
			c.gitKey(key, arg{text: value, known: f.value.known})
		}
	}
}

// compress grades gzip and the like, which put one file in the place of another.
func compress(c *invocation) {
	if c.any("-c", "--stdout", "-l", "--list", "-t", "--test") || len(c.operands) == 0 {
		if c.proven() {
			c.lower(change.T1, "prints")
		}
		readAll(c)
		return
	}
	writeAll(c)
}

func destroyerAny(c *invocation) {
	c.unknown("runs another program again and again")
	c.anyDestroyer(c.operands)
	for _, a := range c.operands {
		if strings.Contains(a.text, " ") {
			c.nested(a.text)
		}
	}
}

func dockerCopy(c *invocation) {
	if len(c.operands) == 2 && strings.Contains(c.operands[0].text, ":") && !strings.Contains(c.operands[1].text, ":") {
		if c.proven() || c.part.Tier == change.T4 {
			c.lower(change.T3, "copies out of a container")
		}
		c.take(c.writes(c.sc, c.operands[1]))
	}
}

// editor grades programs with a prompt; what they are started with may run.
func editor(c *invocation) {
	c.fedEditor()
	for i, a := range c.args {
		text := a.text
		command := strings.HasPrefix(text, "+") && len(text) > 1
		if (text == "-c" || text == "--cmd" || text == "-S" || text == "--eval" || text == "-s") && i+1 < len(c.args) {
			text, command = c.args[i+1].text, true
		}
		if !command {
			continue
		}
		if _, shell, ok := strings.Cut(text, "!"); ok {
			c.unknown("runs a command at its start")
			c.nested(shell)
		}
		if strings.Contains(text, "delete(") || strings.Contains(text, "system(") || strings.Contains(text, "writefile") || strings.Contains(text, "delete-file") || strings.Contains(text, "shell-command") || strings.Contains(text, "w!") {
			c.destroys("runs a command at its start that deletes or writes")
		}
	}
	for _, f := range c.flags {
		for _, text := range []string{f.value.text} {
			if strings.Contains(f.name, "bind") || strings.Contains(f.name, "preview") {
				c.anyDestroyer([]arg{literal(text)})
			}
		}
		if _, shell, ok := strings.Cut(f.value.text, "("); ok {
			c.nested(strings.TrimSuffix(shell, ")"))
		}
		if strings.HasPrefix(f.name, "--preview") && f.value.text != "" {
			c.code(f.value)
		}
	}
}

func flockInner(c *invocation) {
	list := c.args
	for i, a := range c.args {
		if strings.HasPrefix(a.text, "-") && a.text != "-c" {
			continue
		}
		if i > 0 && (c.args[i-1].text == "-w" || c.args[i-1].text == "-E") {
			continue
		}
		list = c.args[i:]
		break
	}
	if len(list) == 0 {
		return
	}
	c.take(c.writes(c.sc, list[0]))
	if len(list) > 2 && (list[1].text == "-c" || list[1].text == "--command") {
		c.code(list[2])
		return
	}
	c.inner(list[1:])
}

// formatInPlace grades formatters that print unless a flag says otherwise.
func formatInPlace(c *invocation) {
	if c.any("-w", "-i") {
		writeAll(c)
		return
	}
	readAll(c)
}

// formatter grades formatters that write unless a flag says otherwise.
func formatter(c *invocation) {
	reads := c.any("--check", "--diff", "--list-different", "-l", "--check-only", "--list", "--dry-run", "--lint") && !c.any("-w", "--write", "-i", "--in-place", "--fix") ||
		c.name == "shfmt" && !c.any("-w", "--write") || c.name == "prettier" && !c.any("--write", "-w") || c.name == "yapf" && !c.any("-i", "--in-place")
	if (c.name == "black" || c.name == "isort") && !c.any("--check", "--diff", "--check-only") {
		reads = false
	}
	if c.name == "biome" || c.name == "sqlfluff" {
		if len(c.operands) > 0 {
			c.operands = c.operands[1:]
		}
	}
	if !reads {
		writeAll(c)
		return
	}
	if c.proven() {
		tier := change.T1
		if c.name == "prettier" {
			// Its configuration can be code.
			tier = change.T2
		}
		c.lower(tier, "checks without changing anything")
	}
	readAll(c)
}

func forgeVerb(c *invocation) {
	if len(c.operands) == 0 || !c.operands[0].known {
		c.unknown("has a verb that only run time knows")
		return
	}
	verb := c.operands[0].text
	if oneOf(verb, "deploy-key autolink env item field") && len(c.operands) > 1 {
		verb = c.operands[1].text
	}
	if destroys(verb) || verb == "archive" || verb == "transfer" || verb == "rename" && strings.HasSuffix(c.name, ":repo") || verb == "disable" {
		c.destroys("deletes or hides at the forge: " + verb)
	}
	if verb == "clone" && len(c.operands) > 2 {
		c.take(c.writes(c.sc, c.operands[2]))
	}
	if verb == "sync" && c.any("--force") || c.any("--visibility", "--cleanup-tag") {
		c.destroys("forces, or changes who can see the repository")
	}
	if verb == "download" || verb == "view" {
		for _, f := range c.flags {
			if f.name == "-D" || f.name == "--dir" {
				c.take(c.writes(c.sc, f.value))
			}
		}
	}
	if verb == "ssh" {
		destroyerAny(c)
	}
	for _, f := range c.flags {
		if f.name == "--force" || f.name == "--admin" && verb == "delete" {
			c.destroys("forces with " + f.name)
		}
	}
	if strings.HasSuffix(c.name, ":alias") && len(c.operands) > 2 {
		c.anyDestroyer(c.operands[2:])
	}
}

// gitClean grades git clean: a dry run deletes nothing, whatever else is asked.
func gitClean(c *invocation) {
	if c.any("-n", "--dry-run") && !c.any("-i", "--interactive") && c.proven() {
		c.lower(change.T1, "says what would be deleted")
	}
}

// inlineAll grades shells of another system by the words that they are given.
func inlineAll(c *invocation) {
	for _, a := range c.args {
		lower := strings.ToLower(a.text)
		if strings.HasPrefix(lower, "-enc") || strings.Contains(lower, "iex") || strings.Contains(lower, "invoke-expression") || strings.Contains(lower, "del ") {
			c.hidden("runs hidden code")
		}
		for _, w := range strings.Fields(lower) {
			if destroys(w) {
				c.destroys("runs a command that destroys: " + w)
			}
		}
	}
	if c.in.kind >= sourceDecoded {
		c.hidden("runs code from the network")
	}
}

func uninstall(c *invocation) {
	if c.any("-g", "--global") {
		c.destroys("removes what is installed outside the project")
	}
}

func manual(c *invocation) {
	if c.any("-w", "-k", "-f") && len(c.flags) == 1 {
		c.lower(change.T1, "only reads")
	}
	for _, f := range c.flags {
		if (f.name == "-H" || f.name == "--html") && f.value.text != "" {
			c.code(f.value)
		}
	}
}

func netcat(c *invocation) {
	for _, a := range c.operands {
		upper := strings.ToUpper(a.text)
		if strings.Contains(upper, "EXEC:") || strings.Contains(upper, "SYSTEM:") || strings.Contains(upper, "SHELL:") {
			c.hidden("gives a shell to a network")
		}
		for _, kind := range []string{"OPEN:", "CREATE:", "FILE:", "GOPEN:"} {
			if i := strings.Index(upper, kind); i >= 0 {
				name, _, _ := strings.Cut(a.text[i+len(kind):], ",")
				c.take(c.writes(c.sc, literal(name)))
			}
		}
	}
	for _, f := range c.flags {
		if f.name == "-e" || f.name == "-c" {
			c.hidden("gives a program to a network")
		}
	}
}

func npmConfig(c *invocation) {
	if len(c.operands) == 0 {
		return
	}
	switch c.operands[0].text {
	case "get", "list", "ls":
		for _, a := range c.operands {
			if secretKey.MatchString(a.text) {
				c.raise(change.T3, change.ProtectedTarget, "prints what may be a secret")
			}
		}
	default:
		c.outside("changes configuration outside the repository")
	}
}

func runPHP(c *invocation) {
	switch {
	case c.any("-l") && len(c.flags) == 1:
		c.lower(change.T1, "checks the syntax only")
		readAll(c)
	case (c.any("-v") || c.any("-m")) && len(c.operands) == 0 && len(c.flags) == 1:
		c.lower(change.T1, "prints the version")
	case len(c.operands) > 0 && strings.TrimPrefix(c.operands[0].text, "./") == "artisan":
		c.lower(change.T1, "")
		c.operands = c.operands[1:]
		manageVerb(c)
	case len(c.operands) > 0 && strings.HasPrefix(c.operands[0].text, "vendor/bin/"):
		c.lower(change.T2, "runs a tool of the project")
		c.run(c.sc, c.operands, c.in)
	default:
		interpret(c)
	}
}

func printVariable(c *invocation) {
	if len(c.operands) == 0 {
		c.raise(change.T3, change.ProtectedTarget, "prints all variables, which may hold secrets")
	}
	for _, a := range c.operands {
		if !a.known || secretName(a.text) {
			c.raise(change.T3, change.ProtectedTarget, "prints a variable that may be a secret")
		}
	}
}

func rollout(c *invocation) {
	if len(c.operands) > 0 && oneOf(c.operands[0].text, "undo restart") {
		c.destroys("ends what runs: " + c.operands[0].text)
	}
}

// scale grades changing a number of replicas: to none stops the service.
func scale(c *invocation) {
	if f, ok := c.has("--replicas"); ok && f.value.known && isNumber(f.value.text) && strings.Trim(f.value.text, "0") != "" {
		c.lower(change.T3, "changes a remote service")
	}
}

func recordSession(c *invocation) {
	for _, a := range c.operands {
		c.take(c.writes(c.sc, a))
	}
	if len(c.operands) == 0 {
		c.take(c.writes(c.sc, literal("typescript")))
	}
}

// splitFile grades split, whose second operand begins the names of what it writes.
func splitFile(c *invocation) {
	for i, a := range c.operands {
		if i == 0 && a.text != "-" {
			c.take(c.reads(c.sc, a))
		}
		if i == 1 && c.name == "split" {
			c.take(c.writes(c.sc, a))
		}
	}
	c.take(c.writes(c.sc, literal("xaa")))
}

func makeKey(c *invocation) {
	switch f, ok := c.has("-f"); {
	case c.any("-l", "-F"):
		if ok {
			c.take(c.reads(c.sc, f.value))
		}
	case ok && c.any("-t") && c.writes(c.sc, f.value).tier <= change.T2 && !c.any("-R"):
		c.lower(change.T2, "makes a key")
	}
}

func terraformState(c *invocation) {
	if len(c.operands) > 0 && oneOf(c.operands[0].text, "list show pull") {
		c.lower(change.T3, "reads a remote state")
	}
}

// runTasks grades build tools that are given the names of tasks.
func runTasks(c *invocation) {
	list := c.operands
	if len(list) == 0 {
		return
	}
	c.lowerTasks()
	c.scan(c.entry, c.args, false)
	c.effects(c.flags)
	for i, a := range c.operands {
		if strings.HasPrefix(a.text, "-") || strings.Contains(a.text, "=") {
			continue
		}
		if (strings.HasPrefix(a.text, "/") || strings.HasPrefix(a.text, "../")) && !strings.HasPrefix(a.text, "//") && !strings.Contains(a.text, ":") {
			c.take(c.ours(c.sc, a))
		}
		name := a.text[strings.LastIndexAny(a.text, ":")+1:]
		if i > 0 && (strings.Contains(a.text, "/") || c.part.Tier == change.T2 && fileLike.MatchString(a.text)) {
			continue
		}
		switch {
		case c.ownClean() && name == "clean":
			c.raise(change.T2, "", "cleans the tool's own output")
		case !a.known:
			c.hidden("runs a task that only run time knows")
		default:
			f := scriptTier(name)
			if f.tier == change.T3 && (taskVerbs[name] || variantTask(name)) {
				f = finding{tier: change.T2, why: "builds, tests or checks the project"}
			}
			c.judge(f)
		}
	}
}

func (c *invocation) lowerTasks() {
	if c.proven() {
		c.lower(change.T2, "builds, tests or checks the project")
	}
}

// ownClean reports whether the tool's task clean deletes nothing but its own output.
func (c *invocation) ownClean() bool {
	return oneOf(c.name, "mvn mvnw gradle gradlew sbt dotnet mix cabal stack dune lein mill bazel flutter xcodebuild ant")
}

var taskVerbs = set(`compileJava compileTestJava compileKotlin testClasses bootJar shadowJar war install-not build-all restore run-many affected ktlintCheck spotlessCheck spotlessApply detekt checkstyleMain
	test-compile validate-pom analyze query cquery info dependencies dependencyTree tasks projects properties help deps.get format deps get pub gen-l10n`)

// toolTask grades linters and bundlers, some of whose verbs serve or publish.
func toolTask(c *invocation) {
	for _, f := range c.flags {
		if oneOf(f.name, "--watch --watchAll -w --serve --open --fix-dry-run-not --init --deploy --liveReload") {
			c.unknown("runs until it is stopped, or serves")
		}
	}
	if len(c.operands) > 0 && oneOf(c.operands[0].text, "dev serve server start preview deploy publish gh-deploy export login upload install add update autoupdate watch") {
		c.unknown("serves, publishes or fetches: " + c.operands[0].text)
	}
	if len(c.operands) == 0 && oneOf(c.name, "vite astro storybook svelte-kit") {
		c.unknown("serves until it is stopped")
	}
	for i, a := range c.operands {
		if i < 2 && oneOf(a.text, "clean gc uninstall remove reset") && (i == 0 || c.operands[0].text == "cache") {
			c.destroys("removes things: " + a.text)
		}
	}
	c.oursAll()
	for _, f := range c.flags {
		if f.spec.effect == 'p' {
			c.inline(f.value)
		}
	}
}

func unpackUnknown(c *invocation) {
	c.hidden("unpacks or packs, in a way that is not looked into")
	if len(c.args) > 0 && oneOf(c.args[0].text, "l t -t lb vb -l") {
		c.lower(change.T1, "lists an archive")
		for _, a := range c.args[1:] {
			c.take(c.reads(c.sc, a))
		}
	}
	if len(c.args) > 0 && oneOf(c.args[0].text, "a u cr rcs rc r") && len(c.operands) > 1 {
		c.lower(change.T2, "writes an archive")
		i := 0
		if !strings.HasPrefix(c.args[0].text, "-") {
			i = 1
		}
		c.take(c.writes(c.sc, c.operands[i]))
	}
}

func uvRun(c *invocation) {
	if len(c.operands) == 0 {
		return
	}
	name := alias(c.operands[0].text)
	if pythonTools[name] && name != "pip" && name != "uv" && c.part.Reason != change.Unclassified && !c.any("--with") {
		c.lower(change.T2, "runs a tool in the project's environment")
	}
	if name == "pip" {
		return
	}
	c.run(c.sc, c.operands, c.in)
}

func watchRun(c *invocation) {
	c.unknown("runs a command until it is stopped")
	var text []string
	known := true
	for _, a := range c.operands {
		text, known = append(text, a.text), known && a.known
	}
	c.code(arg{text: strings.Join(text, " "), known: known})
}

func yarnAlone(c *invocation) {}

// yarnScript grades a verb of yarn, pnpm or bun that is none of its own: the name of a script, or of a tool.
func yarnScript(c *invocation) {
	c.unknown("runs a script of the project")
	if len(c.operands) == 0 {
		return
	}
	name := c.operands[0]
	f := scriptTier(name.text)
	e := programs()[name.text]
	switch {
	case !name.known:
		c.hidden("runs a script that only run time knows")
	case f.tier == change.T4:
		c.judge(f)
	case f.tier == change.T2, localTools[name.text], e != nil && (e.role == "tooltask" || e.role == "formatter"):
		c.lower(change.T2, "builds, tests or checks the project")
		if e != nil && e.role != "make" && localTools[name.text] {
			c.run(c.sc, c.operands, c.in)
		}
	}
	c.anyDestroyer(c.operands[1:])
}

func makeZip(c *invocation) {
	for i, a := range c.args {
		if strings.HasPrefix(a.text, "-") && strings.HasSuffix(a.text, "TT") && i+1 < len(c.args) {
			c.code(c.args[i+1])
		}
	}
	for i, a := range c.operands {
		if i == 0 {
			if a.text != "-" {
				c.take(c.writes(c.sc, a))
			}
			continue
		}
		c.take(c.reads(c.sc, a))
	}
}
