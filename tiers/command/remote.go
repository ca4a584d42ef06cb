package command

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

// remoteVerb grades tools whose verbs reach a service: one that destroys is T4, any other T3.
func remoteVerb(c *invocation) {
	if f, ok := c.has("--help"); ok && f.value.text == "" && len(c.args) > 0 && c.args[len(c.args)-1].text == "--help" {
		c.part.Tier, c.part.Reason, c.part.Why = max(change.T1, c.sc.lowest), "", "prints help"
		return
	}
	for i, a := range c.operands {
		if i > 4 || i > 2 && c.entry.role != "cloud" {
			break
		}
		if !a.known && i < 2 {
			c.unknown("has a word that only run time knows")
		}
		if strings.ContainsAny(a.text, " ") || strings.HasPrefix(a.text, "s3://") || strings.HasPrefix(a.text, "gs://") || strings.Contains(a.text, "/") {
			continue
		}
		first, _, _ := strings.Cut(a.text, "-")
		if i > 2 && first != a.text && !oneOf(first, "delete remove terminate purge reset stop") {
			continue
		}
		if destroys(a.text) || stops(a.text) || i == 1 && (a.text == "mv" || first == "release" && first != a.text) {
			c.destroys("has a verb that destroys or stops: " + a.text)
		}
	}
	c.runsThere()
	if c.name == "gsutil" && c.any("-d") && len(c.operands) > 0 && c.operands[0].text == "rsync" {
		c.destroys("deletes what the source does not have")
	}
	for _, f := range c.flags {
		switch name, _, _ := strings.Cut(strings.TrimLeft(f.name, "-"), "-"); "--" + name {
		case "--delete", "--purge", "--prune":
			c.destroys("forces or deletes with " + f.name)
		}
		switch f.name {
		case "--force", "--delete", "--prune", "--purge", "--remove", "--force-delete", "--all-collections", "--delete-branch", "--overwrite-existing":
			c.destroys("forces or deletes with " + f.name)
		}
	}
	for _, a := range c.operands {
		if sqlDestroys.MatchString(a.text) && strings.Contains(a.text, " ") {
			c.destroys("hands on a statement that destroys")
		}
	}
	for _, f := range c.flags {
		if strings.Contains(f.value.text, " ") && (f.name == "--command" || f.name == "--query" || f.name == "--sql" || f.name == "-c") && sqlDestroys.MatchString(f.value.text) {
			c.destroys("hands on a statement that destroys")
		}
	}
}

// stops reports whether a word, or a part of it, is a verb that ends what runs.
func stops(word string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return strings.ContainsRune("-:", r) }) {
		if oneOf(w, "stop kill rb down restart deallocate suspend disable invalidate pause leave") {
			return true
		}
	}
	return false
}

// runElsewhere grades ssh: its own flags, then a command for another machine.
func runElsewhere(c *invocation) {
	for _, f := range c.flags {
		if f.name != "-o" {
			continue
		}
		name, _, _ := strings.Cut(strings.ReplaceAll(f.value.text, " ", "="), "=")
		switch strings.ToLower(name) {
		case "proxycommand", "localcommand", "knownhostscommand", "match":
			_, value, _ := strings.Cut(f.value.text, "=")
			c.steers(arg{text: value, known: f.value.known}, "-o "+name)
		case "permitlocalcommand", "proxyusefdpass":
		}
	}
	if len(c.operands) < 2 {
		if c.in.kind > sourceNone && len(c.operands) == 1 && c.in.kind != sourceText {
			c.hidden("runs text that only run time knows on another machine")
		}
		if c.in.kind == sourceText {
			c.elsewhere(literal(c.in.text))
		}
		return
	}
	// Flags may also stand behind the host.
	flags, rest := c.flags, c.operands[1:]
	c.scan(c.entry, rest, true)
	c.effects(c.flags)
	if c.flags, rest = flags, c.operands; len(rest) == 0 {
		return
	}
	var text []string
	known := true
	for _, a := range rest {
		text = append(text, a.text)
		known = known && a.known
	}
	if text[0] == "--" {
		text = text[1:]
	}
	c.elsewhere(arg{text: strings.Join(text, " "), known: known})
}

// elsewhere grades a command that runs on another machine, as if it ran here, and T3 at least.
func (c *invocation) elsewhere(a arg) {
	if !a.known {
		c.hidden("runs text that only run time knows on another machine")
		return
	}
	sc := c.sc.fork()
	sc.cwd, sc.lowest = "", change.T3
	sc.funcs = map[string]bool{}
	in := c.in
	if c.in.kind == sourceText && a.text == c.in.text {
		// What was fed is the text itself.
		in = source{}
	}
	c.script(sc, a.text, in)
}

func dockerRun(c *invocation) {
	list := c.operands
	for _, f := range c.flags {
		switch f.name {
		case "-v", "--volume", "--mount":
			from, _, _ := strings.Cut(strings.TrimPrefix(f.value.text, "type=bind,source="), ":")
			p := c.resolve(c.sc, arg{text: from, known: f.value.known || strings.HasPrefix(from, "/") && !strings.Contains(from, "$")})
			if strings.Contains(from, "docker.sock") || p != "" && strings.HasPrefix(from, "/") && !c.inRoot(p) && !within(p, "/tmp") {
				c.destroys("gives a container a folder of this machine")
			}
			if !f.value.known {
				c.hidden("gives a container a folder that only run time knows")
			}
		case "--pid", "--network", "--net", "--ipc", "--userns", "--uts":
			if f.value.text == "host" && f.name != "--network" && f.name != "--net" {
				c.destroys("gives a container rights over this machine")
			}
		}
	}
	if len(list) > 1 {
		c.inContainer(list[1:])
	}
}

func dockerExec(c *invocation) {
	if len(c.operands) > 1 {
		list := c.operands[1:]
		if list[0].text == "--" {
			list = list[1:]
		}
		c.inContainer(list)
	}
}

func (c *invocation) inContainer(list []arg) {
	sc := c.sc.fork()
	sc.cwd, sc.lowest = "", change.T3
	if len(list) == 0 {
		return
	}
	for _, a := range list {
		if !a.known {
			c.unknown("runs words that only run time knows in a container")
		}
	}
	c.run(sc, list, c.in)
}

// transfer grades curl and wget.
func transfer(c *invocation) {
	for _, f := range c.flags {
		switch f.name {
		case "-X", "--request", "--method":
			if strings.EqualFold(strings.TrimSpace(f.value.text), "delete") {
				c.destroys("deletes at a remote address")
			}
			if !f.value.known {
				c.hidden("has a method that only run time knows")
			}
		case "-Q", "--quote", "--post-file":
			if destroys(f.value.text) || strings.HasPrefix(strings.ToLower(f.value.text), "dele") || strings.HasPrefix(strings.ToLower(f.value.text), "rmd") {
				c.destroys("deletes at a remote address")
			}
		case "-o", "--output", "-O", "--output-document":
			if p := c.resolve(c.sc, f.value); p != "" && f.value.text != "" {
				c.downloaded[p] = true
			}
		}
		if sqlDestroys.MatchString(f.value.text) && (strings.HasPrefix(f.name, "--data") || f.name == "-d") || graphDestroys.MatchString(f.value.text) {
			c.destroys("sends a statement that destroys")
		}
	}
	for _, a := range c.operands {
		if strings.EqualFold(a.text, "DELETE") {
			c.destroys("deletes at a remote address")
		}
		base := a.text[strings.LastIndexByte(a.text, '/')+1:]
		if base != "" && (c.any("-O", "--remote-name", "-J") || c.name == "wget") {
			c.downloaded[c.resolve(c.sc, literal(base))] = true
		}
		if strings.HasPrefix(a.text, "file:") {
			c.take(c.reads(c.sc, literal(strings.TrimPrefix(a.text, "file://"))))
		}
	}
}

var graphDestroys = pattern(`(?i)mutation[^a-z][^}]*\b(delete|remove|destroy|archive|force)`)

// forgeAPI grades a call of a forge's own interface.
func forgeAPI(c *invocation) {
	for _, f := range c.flags {
		if (f.name == "-X" || f.name == "--method") && (strings.EqualFold(f.value.text, "delete") || !f.value.known) {
			c.destroys("deletes at the forge")
		}
		if graphDestroys.MatchString(f.value.text) {
			c.destroys("sends a mutation that deletes")
		}
		if f.name == "--input" {
			c.hidden("sends a body that nobody has read")
		}
		if strings.Contains(f.value.text, "force=true") || strings.Contains(f.value.text, "visibility=") || strings.Contains(f.value.text, "private=false") {
			c.destroys("forces, or changes who can see the repository")
		}
	}
}

// runsThere grades lines that a client has run on another machine: what has spaces behind a word such as "ssh".
func (c *invocation) runsThere() {
	there := false
	for _, a := range c.args {
		_, value, glued := strings.Cut(a.text, "=")
		switch {
		case oneOf(a.text, "ssh exec run-command send-command execute-command cmd.run console shell"):
			there = true
		case there && strings.HasPrefix(a.text, "--") && glued && strings.Contains(value, " "):
			c.elsewhere(arg{text: value, known: a.known})
		case there && !strings.HasPrefix(a.text, "-") && strings.Contains(a.text, " "):
			c.elsewhere(a)
		}
	}
}
