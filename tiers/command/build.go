package command

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

var knownScripts = set(`build test tests lint check fmt format all vet typecheck types compile unit integration coverage cover tsc prettier eslint ci verify bench docs doc style
	ut it spec specs assemble jar classes package dist compile_commands tidy mypy pytest jest vitest fix debug release watch-less bundle test-unit`)

// scriptTier grades the name of a recipe or a package script.
func scriptTier(name string) finding {
	if destroys(name) || destroys(strings.ReplaceAll(name, "_", "-")) {
		return finding{change.T4, change.DestructiveOperation, "runs a script that is named like one that destroys: " + name}
	}
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(":-_.", r) })
	for _, p := range parts {
		switch p {
		case "watch", "deploy", "publish", "serve", "server", "start", "dev", "e2e", "push", "upload", "install":
			return finding{change.T3, change.Unclassified, "runs a script that serves or publishes: " + name}
		}
	}
	if len(parts) > 0 && knownScripts[parts[0]] {
		return finding{tier: change.T2, why: "builds, tests or checks the project"}
	}
	return finding{change.T3, change.Unclassified, "runs a script whose name says nothing known: " + name}
}

func (c *invocation) script1(a arg) {
	if !a.known || a.glob {
		c.hidden("runs a script that only run time knows")
		return
	}
	c.judge(scriptTier(a.text))
}

// runScripts grades "npm run NAME" and its like.
func runScripts(c *invocation) {
	c.packageFlags()
	if len(c.operands) == 0 {
		c.part.Tier, c.part.Why = max(change.T1, c.sc.lowest), "lists the scripts"
		return
	}
	c.script1(c.operands[0])
	if strings.ContainsAny(c.operands[0].text, "/") || fileLike.MatchString(c.operands[0].text) {
		c.unknown("runs a script that nobody has read")
	}
}

func runMake(c *invocation) {
	for _, a := range c.operands {
		name, value, set := strings.Cut(a.text, "=")
		switch {
		case set && (steering(name, value) || name == "SHELL" || name == "MAKE") && !benign(name, value):
			c.unknown("replaces a program that the recipes run: " + name)
			if name == "SHELL" || name == "CC" {
				c.nested(value)
			}
		case set:
			if hidden(value) || strings.Contains(value, "$(shell") {
				c.hidden("hands text to the recipes that runs")
			}
		default:
			c.script1(a)
		}
	}
	for _, f := range c.flags {
		switch f.name {
		case "--eval":
			c.unknown("runs inline recipes")
			if destroyWords.MatchString(f.value.text) {
				c.destroys("runs inline recipes with a word that destroys")
			}
		case "-f", "--file", "--makefile":
			if oneOf(f.value.text, "- /dev/stdin /dev/fd/0") {
				c.fedRecipes()
			}
		}
	}
}

var destroyWords = pattern(`\b(rm|unlink|shred|mkfs|dd|sudo|curl|wget)\b`)

// nodeInstall grades restoring declared packages, or adding new ones.
func nodeInstall(c *invocation) {
	c.packageFlags()
	if c.any("-g", "--global", "--location") {
		c.outside("installs outside the project")
	}
	if c.any("--registry") {
		c.outside("takes packages from another source")
	}
	if len(c.operands) > 0 {
		c.outside("adds third-party code")
	}
}

// runPackage grades npx and the like: a package is fetched, or a tool of the project is run.
func runPackage(c *invocation) {
	if f, ok := c.has("-c", "--call"); ok {
		c.code(f.value)
		return
	}
	if len(c.operands) == 0 {
		return
	}
	name := c.operands[0]
	if !name.known {
		c.hidden("runs a package that only run time knows")
		return
	}
	if destroys(name.text) {
		c.destroys("runs a package that destroys: " + name.text)
	}
	c.unreadStatements()
	for _, a := range c.operands[1:] {
		if !strings.ContainsAny(a.text, " /=") && destroys(a.text) {
			c.destroys("runs a package with a word that destroys: " + a.text)
		}
	}
	if localTools[name.text] && !c.any("-p", "--package", "-y", "--yes") && c.name == "npx" {
		c.part.Tier, c.part.Reason, c.part.Why = max(change.T2, c.sc.lowest), "", "runs a tool of the project"
		c.run(c.sc, c.operands, c.in)
	}
}

var localTools = set("eslint prettier tsc jest vitest mocha stylelint biome")

func pipInstall(c *invocation) {
	if c.inVenv() && !strings.HasPrefix(c.name, "uv") {
		venvPip(c)
		return
	}
	c.outside("installs where no environment of the project is in sight")
	if strings.HasSuffix(c.name, ":uninstall") && !strings.HasPrefix(c.name, "uv") {
		c.destroys("removes what is installed outside the project")
	}
}

// venvPip grades pip in an environment of the project.
func venvPip(c *invocation) {
	verb := ""
	if len(c.operands) > 0 {
		verb = c.operands[0].text
	}
	_, inner, _ := strings.Cut(c.name, ":")
	if inner != "" {
		verb = inner
	}
	switch verb {
	case "install", "uninstall", "download", "wheel":
		c.raise(change.T2, "", "changes the project's own environment")
		if c.any("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--target", "-t", "--prefix", "--root", "--user") {
			c.outside("takes packages from another source, or puts them elsewhere")
		}
		for _, a := range c.operands {
			if strings.Contains(a.text, "://") || strings.HasPrefix(a.text, "git+") || !a.known {
				c.outside("installs from an address")
			}
		}
	case "list", "show", "freeze", "check", "--version", "":
	default:
		c.unknown("has a verb that is not known")
	}
}

// goBuild grades go build, test and vet: packages are operands, and some flags name programs.
func goBuild(c *invocation) {
	if f, ok := c.has("-C"); ok {
		c.take(c.ours(c.sc, f.value))
	}
	for _, a := range c.operands {
		if a.split {
			c.unknown("has a word that may turn out to be a flag: " + a.text)
		}
	}
	c.linkerFlags()
	c.oursAll()
}

// projectRunner grades "poetry run CMD" and the like: what follows runs in the project's environment.
func projectRunner(c *invocation) {
	if len(c.operands) == 0 {
		c.unknown("is an interactive shell")
		return
	}
	c.part.Why = "runs a program in the project's environment"
	c.raise(change.T2, "", c.part.Why)
	list := c.operands
	first := list[0].text
	if fileLike.MatchString(first) {
		c.scriptFile(list[0], list[1:])
		return
	}
	if alias(first) == "pip" {
		list = append([]arg{literal("venv-pip")}, list[1:]...)
	}
	c.run(c.sc, list, c.in)
}

// manageVerb grades tools of a web framework by their verb, such as rails, artisan and manage.py.
func manageVerb(c *invocation) {
	if len(c.operands) == 0 {
		c.raise(change.T1, "", "prints help")
		return
	}
	verb := c.operands[0]
	switch {
	case !verb.known:
		c.hidden("has a verb that only run time knows")
	case destroys(strings.ReplaceAll(verb.text, "_", "-")) || strings.Contains(verb.text, "downgrade"):
		c.destroys("has a verb that destroys: " + verb.text)
	case managed[verb.text]:
		c.raise(change.T2, "", "builds, tests or checks the project")
	default:
		c.unknown("runs a verb of the project's framework: " + verb.text)
	}
	c.unreadStatements()
	for _, a := range c.operands[1:] {
		if (destroys(a.text) || a.text == "zero") && !strings.ContainsAny(a.text, " /") {
			c.destroys("has a word that destroys: " + a.text)
		}
	}
}

var managed = set("test check makemigrations test:models test:system spec about routes lint")

func cmakeTool(c *invocation) {
	if !c.any("-E", "-P") {
		c.oursAll()
	}
	for _, f := range c.flags {
		switch f.name {
		case "-E":
			list := append([]arg{f.value}, c.operands...)
			switch f.value.text {
			case "make_directory", "touch", "echo", "copy", "copy_if_different", "copy_directory", "rename", "cat":
				c.raise(change.T2, "", "changes files")
				for _, a := range c.operands {
					c.take(c.writes(c.sc, a))
				}
			case "env", "time", "chdir":
				c.anyDestroyer(list[1:])
				c.unknown("runs another program")
			default:
				c.unknown("has a verb that is not known")
				c.anyDestroyer(list)
			}
		case "-D":
			if swapsProgram.MatchString(f.value.text) {
				c.unknown("names a program that runs: " + f.value.text)
			}
		case "--target":
			c.judge(scriptTier(f.value.text))
		}
	}
}

func goClean(c *invocation) {
	if c.any("-i", "-r") {
		c.unknown("removes what is installed")
	}
}

func goEnv(c *invocation) {
	if !strings.HasSuffix(c.name, ":env") || !c.any("-w", "-u") {
		return
	}
	c.outside("changes configuration outside the repository")
	for _, a := range c.operands {
		name, value, _ := strings.Cut(a.text, "=")
		if c.any("-w") && (oneOf(name, "CC CXX AR FC GCCGO PKG_CONFIG GOFLAGS GOROOT GOAUTH") || strings.HasPrefix(name, "CGO_") && strings.Contains(name, "FLAGS")) && !benign(name, value) {
			c.destroys("plants a program, or flags, for every later build: " + name)
		}
	}
}

func goList(c *invocation) {
	for _, a := range c.operands {
		if strings.Contains(a.text, "@") || a.split {
			c.outside("asks the module proxy")
		}
	}
}

func goTool(c *invocation) {
	if len(c.operands) == 0 {
		c.lower(change.T1, "lists tools")
		return
	}
	switch c.operands[0].text {
	case "cover", "nm", "objdump", "vet", "buildid", "doc":
		c.lower(change.T2, "looks into what was built")
		for i, a := range c.operands {
			if (a.text == "-o") && i+1 < len(c.operands) {
				c.take(c.writes(c.sc, c.operands[i+1]))
			}
			if v, ok := strings.CutPrefix(a.text, "-o="); ok {
				c.take(c.writes(c.sc, literal(v)))
			}
		}
	case "staticcheck", "golangci-lint", "stringer", "mockgen":
		c.lower(change.T2, "runs a tool of the project")
	}
}
