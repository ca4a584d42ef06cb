package command

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

// findFiles grades find, whose operands are paths and then an expression.
func findFiles(c *invocation) {
	i := 0
	for i < len(c.args) && findOptions[c.args[i].text] {
		i++
	}
	for ; i < len(c.args); i++ {
		a := c.args[i]
		if strings.HasPrefix(a.text, "-") || a.text == "(" || a.text == "!" {
			break
		}
		if a.mayBeFlag() {
			c.unknown("has a word that may turn out to be an action: " + a.text)
		}
		c.take(c.reads(c.sc, a))
	}
	for ; i < len(c.args); i++ {
		i += c.predicate(c.args[i], c.args[i+1:])
	}
}

var (
	findOptions = set("-H -L -P -O0 -O1 -O2 -O3")
	findTests   = set(`( ) ! , -a -and -o -or -not -true -false -daystart -depth -d -mount -xdev -noleaf -follow -ignore_readdir_race -noignore_readdir_race -warn -nowarn
		-empty -executable -readable -writable -nouser -nogroup -print -print0 -prune -quit -ls -help --help -version --version`)
	findValues = set(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin
		-user -group -uid -gid -perm -links -inum -lname -ilname -fstype -used -context -printf`)
	findFilesOf = set("-newer -anewer -cnewer -samefile")
	findWrites  = set("-fprint -fprint0 -fls -fprintf")
	findRuns    = set("-exec -execdir -ok -okdir")
)

// predicate grades one predicate of find and returns how many words behind it are its own.
func (c *invocation) predicate(a arg, rest []arg) int {
	value := func() arg {
		if len(rest) > 0 {
			return rest[0]
		}
		return arg{}
	}
	switch {
	case !a.known || a.glob && strings.HasPrefix(a.text, "-"):
		c.unknown("has a predicate that only run time knows")
	case findTests[a.text]:
	case findValues[a.text]:
		if value().split {
			c.unknown("has a word that may turn out to be an action: " + value().text)
		}
		return 1
	case findFilesOf[a.text] || strings.HasPrefix(a.text, "-newer"), a.text == "-files0-from":
		c.take(c.reads(c.sc, value()))
		return 1
	case a.text == "-delete":
		c.destroys("deletes what it finds")
	case findWrites[a.text]:
		c.take(c.writes(c.sc, value()))
		if a.text == "-fprintf" {
			return 2
		}
		return 1
	case findRuns[a.text]:
		n := 0
		for n < len(rest) && rest[n].text != ";" && (rest[n].text != "+" || n == 0 || rest[n-1].text != "{}") {
			n++
		}
		c.forEach(rest[:n])
		return n + 1
	default:
		c.unknown("has a predicate that is not known: " + a.text)
	}
	return 0
}

// forEach grades the command that find runs on what it finds.
func (c *invocation) forEach(list []arg) {
	inside := true
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "-") || a.text == "(" || a.text == "!" {
			break
		}
		inside = inside && c.inRoot(c.resolve(c.sc, a))
	}
	for i, a := range c.args[:len(c.args)-1] {
		if oneOf(a.text, "-name -iname -path -ipath -wholename -regex") && len(list) > 0 && secretFile(c.args[i+1].text) && !oneOf(list[0].text, "stat ls echo printf chmod test") {
			c.raise(change.T3, change.ProtectedTarget, "hands on files that may hold secrets")
		}
	}
	inner := make([]arg, len(list))
	for i, a := range list {
		inner[i] = a
		if strings.Contains(a.text, "{}") {
			if i == 0 {
				c.hidden("runs what it finds")
				return
			}
			found := arg{text: a.text, lister: inside && a.text == "{}"}
			if shellNames[list[0].text] && i > 0 && list[i-1].text == "-c" {
				// The name of a file becomes a part of the text that the shell runs.
				found.lister = false
			}
			inner[i] = found
		}
	}
	if len(inner) > 0 && inner[0].text == "chmod" {
		c.destroys("changes modes that nobody has recorded, of all that it finds")
	}
	c.run(c.sc, inner, source{kind: sourceUnknown})
}

var shellNames = set("sh bash dash zsh ksh ash fish eval")

// findNames grades fd.
func findNames(c *invocation) {
	for i, a := range c.args {
		run := a.text == "--exec" || a.text == "--exec-batch" || a.text == "-x" || a.text == "-X"
		cluster := strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && (strings.HasSuffix(a.text, "x") || strings.HasSuffix(a.text, "X"))
		if run || cluster || strings.HasPrefix(a.text, "--exec") {
			list := append([]arg{}, c.args[i+1:]...)
			if _, program, ok := strings.Cut(a.text, "="); ok {
				list = append([]arg{literal(program)}, list...)
			}
			for j := range list {
				if strings.Contains(list[j].text, "{") {
					list[j].known = false
					list[j].lister = list[j].text == "{}"
				}
			}
			c.part.Tier, c.part.Reason, c.part.Why = c.sc.lowest, "", "runs a program on what it finds"
			c.run(c.sc, append(list, arg{text: "{}", lister: true}), source{kind: sourceUnknown})
			return
		}
	}
	for i, a := range c.operands {
		if i > 0 {
			c.take(c.reads(c.sc, a))
		}
	}
}

// feedArguments grades xargs.
func feedArguments(c *invocation) {
	list := append([]arg{}, c.operands...)
	if c.part.Reason == change.Unclassified {
		c.anyDestroyer(list)
	}
	if len(list) == 0 {
		return
	}
	fed := arg{text: "{}", split: true}
	switch c.in.kind {
	case sourceLister:
		fed.lister = true
	case sourceText:
		fed = literal(strings.TrimSpace(c.in.text))
		if strings.HasPrefix(fed.text, "-") || strings.ContainsAny(fed.text, " \n\t'\"") {
			fed = arg{text: fed.text, split: true}
		}
	}
	replace, replaced := "", false
	if f, ok := c.has("-I", "-i", "--replace"); ok {
		if replace = f.value.text; replace == "" {
			replace = "{}"
		}
		for i := range list {
			if strings.Contains(list[i].text, replace) {
				replaced = true
				whole := list[i].text == replace
				list[i] = arg{text: list[i].text, split: false, lister: fed.lister && whole}
				if whole && fed.known {
					list[i] = fed
				}
			}
		}
	}
	if !replaced && replace == "" {
		list = append(list, fed)
	}
	if shellNames[list[0].text] && (replaced || replace == "") {
		c.fedShell(list)
		return
	}
	c.part.Why = "runs a program on what it is fed"
	c.run(c.sc, list, source{kind: sourceUnknown})
}

// fedShell grades a shell whose arguments come from data: they may be its text, or only its parameters.
func (c *invocation) fedShell(list []arg) {
	for i, a := range list {
		if strings.HasPrefix(a.text, "-") && strings.HasSuffix(a.text, "c") && i+1 < len(list) && list[i+1].known && i+2 < len(list) {
			c.run(c.sc, list, source{kind: sourceUnknown})
			return
		}
	}
	c.hidden("lets data become code")
}

// feedParallel grades GNU parallel: a command, then lists behind ":::".
func feedParallel(c *invocation) {
	var command []arg
	for i, a := range c.operands {
		if strings.HasPrefix(a.text, ":::") {
			var values []arg
			for _, v := range c.operands[i+1:] {
				if !strings.HasPrefix(v.text, ":::") {
					values = append(values, v)
				}
			}
			c.parallelOver(command, values)
			return
		}
		command = append(command, a)
	}
	if len(command) == 0 || c.in.kind != sourceLister {
		c.hidden("runs what it is fed")
		return
	}
	c.parallelOver(command, []arg{{text: "{}", lister: true}})
}

func (c *invocation) parallelOver(command, values []arg) {
	if len(command) == 0 || shellNames[command[0].text] {
		for _, v := range values {
			c.code(v)
		}
		if len(values) == 0 {
			c.hidden("runs what it is fed")
		}
		return
	}
	if len(command) == 1 && strings.Contains(command[0].text, " ") {
		c.code(command[0])
		return
	}
	c.part.Why = "runs a program on each word"
	for _, a := range command {
		if strings.Contains(a.text, "{") {
			c.run(c.sc, command, source{kind: sourceUnknown})
			return
		}
	}
	c.run(c.sc, append(append([]arg{}, command...), values...), source{kind: sourceUnknown})
}
