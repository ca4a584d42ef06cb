package command

import (
	"strings"
	"unicode"

	"github.com/correx/correx/internal/change"
)

// ours says what it comes to that a tool runs, or goes by, what lies at a path: only the repository's own code is what a
// known verb may run.
func (g *grader) ours(sc *scope, a arg) finding {
	f := g.reads(sc, a)
	if f.tier == change.T1 && !a.lister && a.text != "" && !g.inRoot(g.resolve(sc, a)) {
		return finding{change.T3, change.Unclassified, "runs, or goes by, what is not the project's"}
	}
	return f
}

// oursAll grades operands that are paths of code, packages or names of tests: only paths that leave the folder say anything.
func (c *invocation) oursAll() {
	for _, a := range c.operands {
		if strings.HasPrefix(a.text, "/") || strings.HasPrefix(a.text, "..") || strings.Contains(a.text, "/../") {
			a.text, _, _ = strings.Cut(a.text, "::")
			c.take(c.ours(c.sc, arg{text: strings.TrimSuffix(a.text, "..."), known: a.known, glob: a.glob}))
		}
	}
}

// runTests grades tools that run the project's tests or checks.
func runTests(c *invocation) {
	for _, f := range c.flags {
		// A plug-in of pytest, but for one that is turned off.
		if f.name == "-p" && !strings.HasPrefix(f.value.text, "no:") {
			c.steers(f.value, f.name)
		}
	}
	c.oursAll()
}

// elsewhereBuilt raises a known verb of a build tool that is run in a folder which is not the project's.
func (c *invocation) elsewhereBuilt(e *entry) {
	if !e.runsProject || c.part.Tier != change.T2 || c.sc.cwd == "" || c.inRoot(c.sc.cwd) {
		return
	}
	c.unknown("runs code of a folder that is not the project's")
}

// named grades a plug-in: one that is a path is code that the flag names, another is a package of the project.
func (c *invocation) named(a arg, by string) {
	if !a.known || strings.HasPrefix(a.text, ".") || strings.HasPrefix(a.text, "/") {
		c.context = max(c.context, change.T3)
		c.unknown("names code that runs: " + by)
	}
}

// packageFlags grades flags of npm and its like that count wherever they stand before "--".
func (c *invocation) packageFlags() {
	for i, a := range c.args {
		name, value, glued := strings.Cut(a.text, "=")
		v := arg{text: value, known: a.known}
		if !glued && i+1 < len(c.args) {
			v = c.args[i+1]
		}
		switch name {
		case "--":
			return
		case "--script-shell", "--node-options":
			c.unknown("names code that runs: " + name)
			c.code(v)
		case "--prefix", "--cwd", "--dir", "-C":
			c.take(c.ours(c.sc, v))
		}
	}
}

// fedRecipes grades recipes that make reads from its standard input.
func (c *invocation) fedRecipes() {
	switch {
	case c.in.kind >= sourceDecoded, c.in.kind == sourceText && destroyWords.MatchString(c.in.text):
		c.destroys("runs recipes with a word that destroys, or from the network")
	default:
		c.unknown("runs recipes that nobody has read")
	}
}

// linkerFlags grades what go hands to the linker.
func (c *invocation) linkerFlags() {
	for _, f := range c.flags {
		if f.name == "-ldflags" && (!f.value.known || linkerRuns.MatchString(f.value.text)) {
			c.unknown("names a program that runs: -ldflags")
		}
	}
}

var linkerRuns = pattern(`-extld(=|\s|$)|-B\s*[./]|-wrapper|-specs|-fuse-ld=/|plugin`)

// buildCrates grades cargo, which hands what follows "--" to the compiler or to the program of tests.
func buildCrates(c *invocation) {
	for _, a := range c.args {
		if strings.Contains(a.text, "linker=") || strings.Contains(a.text, "codegen-backend=") || strings.Contains(a.text, "plugin") {
			c.unknown("names a program, or code, that runs: " + a.text)
		}
	}
	c.oursAll()
}

// dryRun grades verbs of git that say what they would do.
func dryRun(c *invocation) {
	if c.any("--dry-run") || c.any("-n") && !strings.HasSuffix(c.name, ":commit") {
		if c.proven() {
			c.lower(change.T1, "says what would be done")
		}
	}
	if c.name == "git:mv" {
		writeAll(c)
	}
}

// applyPatch grades git apply, which only counts lines when it is told so.
func applyPatch(c *invocation) {
	if c.any("--stat", "--numstat", "--summary") && !c.any("--apply", "--index", "--cached", "--reject", "-3", "--3way") && c.proven() {
		c.lower(change.T1, "reads a patch")
	}
	readAll(c)
}

// dryPatch grades patch: only a dry run writes nothing.
func dryPatch(c *invocation) {
	dry := false
	for _, f := range c.flags {
		switch f.name {
		case "--dry-run":
			dry = true
		case "-p", "--strip", "-i", "--input", "-N", "--forward", "-R", "--reverse", "-s", "--silent", "--quiet", "-f", "--force", "-l", "-u", "-t", "--batch", "-F", "--fuzz", "--verbose":
		default:
			return
		}
	}
	if dry && c.proven() && c.context < change.T3 {
		c.lower(change.T1, "says whether a patch would fit")
		readAll(c)
	}
}

// formatTerraform grades terraform fmt, which may be told to write nothing.
func formatTerraform(c *invocation) {
	writes := true
	for _, f := range c.flags {
		switch f.name {
		case "-check", "--check":
			writes = f.value.text == "false"
		case "-write", "--write":
			writes = f.value.text != "false"
		}
	}
	if writes {
		writeAll(c)
		return
	}
	if c.proven() {
		c.lower(change.T1, "checks without changing anything")
	}
	readAll(c)
}

// clientVersion grades "kubectl version", which asks the server but where it is told to look at itself only.
func clientVersion(c *invocation) {
	alone := false
	for _, f := range c.flags {
		switch f.name {
		case "--client":
			alone = f.value.text == "" || f.value.text == "true"
		case "-o", "--output", "--short":
		default:
			return
		}
	}
	if alone && c.proven() {
		c.lower(change.T1, "prints the version")
	}
}

// variantTask reports whether a task of gradle is one of a known verb for one variant, such as assembleDebug.
func variantTask(name string) bool {
	end := strings.IndexFunc(name, unicode.IsUpper)
	return end > 0 && oneOf(name[:end], "assemble test check compile lint") && !taskActs.MatchString(name[end:])
}

var taskActs = pattern(`Publish|Upload|Install|Deploy|Clean|Delete|Run|Release.*To|Watch|Push`)
