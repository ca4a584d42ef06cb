package command

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

// unknownVerb grades a verb that the tables do not have.
func unknownVerb(c *invocation) {
	if len(c.operands) == 0 {
		return
	}
	c.unknown("has a verb that is not known")
	for _, a := range c.operands {
		if !strings.ContainsAny(a.text, " /=") && (destroys(a.text) || a.text == "--force") {
			c.destroys("has a verb that is not known, with a word that destroys: " + a.text)
			return
		}
	}
}

// gitGlobals grades git's flags before the verb.
func gitGlobals(c *invocation) {
	for _, f := range c.flags {
		switch f.name {
		case "-c":
			key, value, ok := strings.Cut(f.value.text, "=")
			if !ok {
				value = "true"
			}
			c.gitKey(key, arg{text: value, known: f.value.known})
		case "--config-env":
			c.hidden("sets a key of git from the environment")
		case "-C", "--git-dir", "--work-tree":
			if p := c.resolve(c.sc, f.value); !c.inRoot(p) {
				c.raise(change.T3, change.OutsideRepository, "works in another repository")
			} else if f.name == "-C" {
				c.sc = c.sc.fork()
				c.sc.cwd = p
			}
		case "--exec-path":
			if f.value.text != "" {
				c.unknown("takes git's own programs from another folder")
			}
		case "-p", "--paginate":
			c.unknown("starts the pager that is configured")
		}
	}
	if c.sc.cwd != "" && c.grader.in.Root != "" && !c.inRoot(c.sc.cwd) {
		c.raise(change.T3, change.OutsideRepository, "works in another repository")
	}
}

var (
	runsKey = pattern(`(?i)^(core\.(pager|editor|fsmonitor|sshcommand|hookspath|askpass|gitproxy|worktree|alternaterefscommand|attributesfile)|sequence\.editor|pager\..*|diff\.external|diff\..*\.(command|textconv)|` +
		`merge\..*\.driver|merge(tool|)\..*cmd|difftool\..*|mergetool\..*|filter\..*|credential\..*|gpg\.(.*\.)?program|alias\..*|include\..*|includeif\..*|browser\..*|man\..*|web\.browser|` +
		`remote\..*\.(uploadpack|receivepack|proxy|vcs)|url\..*|protocol\..*|http\..*proxy.*|http\.ssl.*|init\.templatedir|submodule\..*\.update|uploadpack\.packobjectshook|sendemail\..*|interactive\.difffilter|` +
		`gc\..*|trailer\..*|instaweb\..*|ssh\.variant|safe\..*|receive\..*|clean\..*|core\.excludesfile|extensions\..*|user\.signingkey|tar\..*|notes\..*|log\.showsignature|maintenance\..*)$`)
	harmlessClean = pattern(`(?i)^(gc\.auto|credential\.username|protocol\.version|notes\.displayref|safe\.directory|maintenance\.auto|gc\.autodetach|log\.showsignature|user\.signingkey|clean\..*|core\.excludesfile)$`)
)

// gitKey grades a key that is set for one command.
func (c *invocation) gitKey(key string, value arg) {
	switch {
	case !value.known:
		c.hidden("sets a key of git that only run time knows")
	case !runsKey.MatchString(key) || harmlessClean.MatchString(key):
	case benign("PAGER", value.text) && strings.Contains(strings.ToLower(key), "pager"), strings.EqualFold(key, "core.editor") && value.text == "true",
		strings.EqualFold(key, "core.fsmonitor") && (value.text == "false" || value.text == "true"):
	default:
		c.unknown("sets a key of git that can name a program: " + key)
		text := strings.TrimPrefix(value.text, "!")
		if strings.HasPrefix(strings.ToLower(key), "alias.") && text == value.text {
			text = "git " + text
		}
		if !strings.EqualFold(key, "core.hookspath") && text != "false" && text != "true" {
			c.nested(text)
		}
	}
}

// gitURL grades addresses: some of them name programs.
func gitURL(c *invocation) {
	for _, a := range c.operands {
		if strings.HasPrefix(a.text, "ext::") {
			c.unknown("names a program as an address")
			c.nested(strings.TrimPrefix(a.text, "ext::"))
		}
	}
}

func gitCheckout(c *invocation) {
	if c.any("-b", "--orphan", "-t", "--track") {
		return
	}
	separated := false
	for _, a := range c.args {
		separated = separated || a.text == "--"
	}
	switch {
	case c.any("-p", "--patch", "--ours", "--theirs", "-m", "--merge", "--conflict", "--pathspec-from-file"), separated, len(c.operands) > 1:
		c.destroys("overwrites files of the work tree")
	case len(c.operands) == 1:
		a := c.operands[0]
		switch {
		case !a.known || a.glob:
			c.hidden("takes what only run time knows for a branch, or a path")
		case a.text == "." || strings.HasPrefix(a.text, "./") || strings.HasPrefix(a.text, "../") || strings.HasPrefix(a.text, ":") || strings.HasSuffix(a.text, "/") || fileLike.MatchString(a.text):
			c.destroys("overwrites files of the work tree")
		}
	}
}

var fileLike = pattern(`\.(go|py|js|ts|tsx|jsx|rs|c|h|cc|cpp|hpp|java|kt|rb|php|md|txt|json|ya?ml|toml|sh|html|css|lock|mod|sum|xml|sql|cfg|ini|conf|env|mk|proto|cs|swift)$|^(Makefile|Dockerfile|README|LICENSE)$`)

func gitReset(c *invocation) {
	for _, a := range c.operands {
		if !a.known && a.mayBeFlag() {
			c.hidden("may turn out to throw changes away: " + a.text)
		}
	}
}

func gitPush(c *invocation) {
	gitURL(c)
	for _, a := range c.operands {
		switch {
		case !a.known && !strings.HasPrefix(a.text, "refs/") && a.mayBeFlag():
			if a.split {
				c.hidden("may turn out to force: " + a.text)
			}
		case strings.HasPrefix(a.text, "+"):
			c.destroys("forces a ref of the remote")
		case strings.HasPrefix(a.text, ":") && len(a.text) > 1:
			c.destroys("deletes a ref of the remote")
		}
	}
}

func gitFetch(c *invocation) {
	gitURL(c)
	for _, a := range c.operands {
		if strings.HasPrefix(a.text, "+") && !strings.HasSuffix(strings.TrimPrefix(a.text, "+"), ":") && strings.Contains(a.text, ":") && !strings.Contains(a.text, ":refs/remotes/") {
			c.destroys("forces a ref of this repository")
		}
	}
}

// gitConfig grades reading and setting keys.
func gitConfig(c *invocation) {
	operands := c.operands
	if len(operands) > 0 {
		switch operands[0].text {
		case "list", "get":
			return
		case "set":
			operands = operands[1:]
		case "unset", "remove-section", "rename-section", "edit":
			c.raise(change.T2, "", "changes the repository's configuration")
			operands = nil
		}
	}
	switch {
	case c.any("-e", "--edit"):
		c.unknown("opens an editor")
		return
	case c.any("--unset", "--unset-all", "--remove-section", "--rename-section"):
		c.raise(change.T2, "", "changes the repository's configuration")
		c.configPlace()
		return
	case c.any("-l", "--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color"), len(operands) < 2 && len(c.operands) == len(operands):
		if f, ok := c.has("-f", "--file"); ok {
			c.take(c.reads(c.sc, f.value))
		}
		if len(operands) > 0 && secretKey.MatchString(operands[0].text) {
			c.raise(change.T3, change.ProtectedTarget, "prints what may be a secret")
		}
		return
	case len(operands) == 0:
		c.configPlace()
		return
	}
	c.raise(change.T2, "", "changes the repository's configuration")
	c.configPlace()
	key := operands[0]
	switch {
	case !key.known:
		c.hidden("sets a key of git that only run time knows")
	case strings.HasPrefix(strings.ToLower(key.text), "alias.") && len(operands) > 1 && operands[1].known && !strings.HasPrefix(operands[1].text, "!"):
		c.nested("git " + operands[1].text)
	case strings.EqualFold(key.text, "core.editor") || runsKey.MatchString(key.text) && !harmlessClean.MatchString(key.text):
		c.hidden("plants a program in git's configuration: " + key.text)
	}
}

var secretKey = pattern(`(?i)token|password|secret|extraheader`)

func (c *invocation) configPlace() {
	if c.any("--global", "--system") {
		c.outside("changes configuration outside the repository")
	}
	if f, ok := c.has("-f", "--file"); ok {
		c.take(c.writes(c.sc, f.value))
	}
}

// gitRunsShell grades verbs that run a shell line: submodule foreach, bisect run, filter-branch, rebase --exec.
func gitRunsShell(c *invocation) {
	switch {
	case len(c.operands) == 1:
		c.code(c.operands[0])
	case len(c.operands) > 1:
		c.run(c.sc, c.operands, source{})
	}
}

func gitBranch(c *invocation) {
	if c.any("-d", "--delete") && c.any("-f", "--force") {
		c.destroys("deletes a branch that is not merged")
	}
	switch {
	case c.any("-d", "--delete", "-m", "--move", "-c", "--copy", "-u", "--set-upstream-to", "--unset-upstream", "--edit-description"):
		c.raise(change.T2, "", "changes branches, and refuses to lose any")
	case c.any("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "-r", "--remotes", "-a", "--all", "--show-current", "--points-at"):
	case len(c.operands) > 0:
		c.raise(change.T2, "", "creates a branch")
	}
	for _, a := range c.operands {
		if a.mayBeFlag() {
			c.hidden("may turn out to delete a branch: " + a.text)
		}
	}
}

func gitTag(c *invocation) {
	switch {
	case c.any("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "-n", "-v", "--verify"):
	case len(c.operands) > 0:
		c.raise(change.T2, "", "creates a tag")
	}
}

func gitStash(c *invocation) {
	if len(c.operands) > 0 {
		unknownVerb(c)
	}
}

// gitDiff grades the readers that take paths as well as commits.
func gitDiff(c *invocation) {
	outside := c.any("--no-index")
	for _, a := range c.operands {
		if outside || strings.HasPrefix(a.text, "/") || strings.HasPrefix(a.text, "../") {
			c.take(c.reads(c.sc, a))
		} else if _, file, of := strings.Cut(a.text, ":"); a.known && (secretFile(a.text) || of && secretFile(file)) {
			c.raise(change.T3, change.ProtectedTarget, "reads what may hold secrets")
		}
	}
}

func gitRemote(c *invocation) {
	gitURL(c)
	for _, a := range c.operands {
		if strings.HasPrefix(a.text, "ext::") {
			c.hidden("plants a program in git's configuration")
		}
	}
	if strings.HasSuffix(c.name, ":set-url") && c.any("--delete") {
		c.destroys("removes a remote")
	}
}

func gitRemoteShow(c *invocation) {
	if c.any("-n") || len(c.operands) == 0 {
		c.lower(change.T1, "reads the repository")
	}
}

// gitRestore grades git restore: with --staged alone only the index changes.
func gitRestore(c *invocation) {
	if c.any("-S", "--staged") && !c.any("-W", "--worktree") && len(c.flags) <= 3 {
		c.lower(change.T2, "changes the index only")
		for _, a := range c.operands {
			if a.mayBeFlag() && a.split {
				c.hidden("may turn out to overwrite files: " + a.text)
			}
		}
	}
}

func gitSymbolicRef(c *invocation) {
	if len(c.operands) < 2 && !c.any("-d", "--delete") {
		c.lower(change.T1, "reads the repository")
	}
}

func worktreeAdd(c *invocation) {
	if len(c.operands) == 0 {
		return
	}
	f := c.writes(c.sc, c.operands[0])
	if f.reason == change.OutsideRepository {
		f = finding{change.T3, change.OutsideRepository, "creates something outside the repository"}
	}
	c.take(f)
}
