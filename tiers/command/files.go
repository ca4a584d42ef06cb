package command

import (
	"path"
	"strings"

	"github.com/correx/correx/internal/change"
)

// target splits the operands of cp and the like into what is read and where it goes.
func (c *invocation) target() (from []arg, to arg, ok bool) {
	if f, given := c.has("-t", "--target-directory"); given {
		return c.operands, f.value, true
	}
	if len(c.operands) < 2 {
		return c.operands, arg{}, false
	}
	last := len(c.operands) - 1
	return c.operands[:last], c.operands[last], true
}

func copyTo(c *invocation) {
	from, to, ok := c.target()
	for _, a := range from {
		c.take(c.reads(c.sc, a))
	}
	if !ok {
		return
	}
	c.writeInto(from, to)
	if len(from) == 1 && c.resolve(c.sc, from[0]) == "/dev/null" {
		c.destroys("empties a file")
	}
}

// writeInto grades files that go to a folder, or to a path, under the names that they have.
func (c *invocation) writeInto(from []arg, to arg) {
	f := c.writes(c.sc, to)
	c.take(f)
	if to.glob {
		c.hidden("writes to whatever fits a pattern")
	}
	if p := c.resolve(c.sc, to); f.tier == change.T2 && p != "" {
		for _, a := range from {
			if a.known && !a.glob {
				c.take(c.writes(c.sc, literal(path.Join(p, path.Base(a.text)))))
			}
		}
	}
}

func moveTo(c *invocation) {
	from, to, ok := c.target()
	for _, a := range from {
		f := c.writes(c.sc, a)
		if f.tier >= change.T3 {
			c.raise(change.T4, f.reason, "moves away what is not the repository's own, or a protected name")
		}
		if p := c.resolve(c.sc, a); p != "" && p == path.Clean(c.grader.in.Root) {
			c.destroys("moves the repository away")
		}
	}
	if !ok {
		return
	}
	if device(c.resolve(c.sc, to)) {
		c.destroys("moves files into nothing")
	}
	c.writeInto(from, to)
}

func linkTo(c *invocation) {
	from, to, ok := c.target()
	_, symbolic := c.has("-s", "--symbolic")
	if _, forced := c.has("-f", "--force"); forced {
		c.destroys("replaces a file by a link")
	}
	sc := c.sc
	if !ok {
		to = literal(".")
	} else {
		f := c.writes(c.sc, to)
		if f.reason == change.OutsideRepository {
			f = finding{change.T3, change.OutsideRepository, "creates something outside the repository"}
		}
		c.take(f)
		if p := c.resolve(c.sc, to); symbolic && p != "" && !strings.HasSuffix(to.text, "/") && to.text != "." {
			// What a symbolic link names counts from where the link is.
			sc = c.sc.fork()
			sc.cwd = path.Dir(p)
		}
	}
	for _, a := range from {
		if p := c.resolve(sc, a); !c.inRoot(p) && !within(p, "/tmp") {
			c.raise(change.T3, change.OutsideRepository, "makes a link that leaves the repository")
		}
	}
}

func copyBlocks(c *invocation) {
	empty := false
	for _, a := range c.args {
		name, value, ok := strings.Cut(a.text, "=")
		if !ok {
			if !a.known {
				c.hidden("has operands that only run time knows")
			}
			continue
		}
		v := arg{text: value, known: a.known, glob: a.glob}
		switch name {
		case "if":
			c.take(c.reads(c.sc, v))
			empty = empty || value == "/dev/null"
		case "of":
			c.take(c.writes(c.sc, v))
			if strings.HasPrefix(value, "/dev/") && !device(value) {
				c.destroys("writes to a device")
			}
		case "count":
			empty = empty || value == "0"
		}
	}
	if empty && c.part.Tier >= change.T2 {
		c.destroys("empties a file")
	}
}

func changeMode(c *invocation) {
	if _, deep := c.has("-R", "--recursive"); deep {
		c.destroys("changes modes that nobody has recorded, of all files below a folder")
	}
	files := c.operands
	// A mode that takes rights away looks like a flag.
	if !c.any("--reference", "-r", "-w", "-x", "-X", "-s", "-t") && len(files) > 0 {
		files = files[1:]
	}
	for _, a := range files {
		c.take(c.writes(c.sc, a))
	}
}

// truncate grades making files shorter: only growing is no loss.
func truncate(c *invocation) {
	f, ok := c.has("-s", "--size")
	if ok && f.value.known && strings.HasPrefix(f.value.text, "+") {
		c.part.Tier, c.part.Reason, c.part.Why = change.T2, "", "makes files longer"
		writeAll(c)
	}
}

func remotePath(text string) bool {
	i := strings.IndexAny(text, ":/")
	return i > 0 && text[i] == ':' || strings.HasPrefix(text, "rsync://")
}

func synchronize(c *invocation) {
	from, to, ok := c.target()
	if f, given := c.has("-e", "--rsh"); given {
		first, _, _ := strings.Cut(f.value.text, " ")
		if first != "ssh" {
			c.steers(f.value, "--rsh")
		}
	}
	remote := false
	for _, a := range from {
		if remotePath(a.text) {
			remote = true
		} else {
			c.take(c.reads(c.sc, a))
		}
	}
	if !ok {
		return
	}
	if remotePath(to.text) {
		c.outside("copies to another machine")
		return
	}
	c.take(c.writes(c.sc, to))
	if remote {
		c.outside("copies from another machine")
	}
}

func copyRemote(c *invocation) {
	c.outside("copies between machines")
	if _, to, ok := c.target(); ok && !remotePath(to.text) {
		c.take(c.writes(c.sc, to))
	}
}

// archive grades tar, whose first word may hold flags without a dash.
func archive(c *invocation) {
	if len(c.args) > 0 && c.args[0].known && c.args[0].text != "" && !strings.HasPrefix(c.args[0].text, "-") {
		rest := append([]arg{}, c.args[1:]...)
		words := []arg{}
		for _, letter := range c.args[0].text {
			words = append(words, literal("-"+string(letter)))
			if f := c.entry.short[byte(letter)]; f.value && len(rest) > 0 {
				words, rest = append(words, rest[0]), rest[1:]
			}
		}
		c.scan(c.entry, append(words, rest...), false)
		c.effects(c.flags)
	}
	file, _ := c.has("-f", "--file")
	into, folder := c.has("-C", "--directory")
	sc := c.sc.fork()
	if folder {
		sc.cwd = c.resolve(c.sc, into.value)
	}
	if f, ok := c.has("-I", "--use-compress-program"); ok && !knownCompressors[f.value.text] {
		c.steers(f.value, f.name)
	}
	if file.value.text != "" && remotePath(file.value.text) {
		c.outside("opens an archive on another machine")
	}
	switch {
	case c.any("-x", "--extract", "--get"):
		c.unpackInto(sc, folder, len(c.operands) > 0)
	case c.any("-c", "--create", "-r", "--append", "-u", "--update", "-A"):
		c.raise(change.T2, "", "writes an archive")
		if file.name != "" && file.value.text != "-" {
			c.take(c.writes(c.sc, file.value))
		}
		for _, a := range c.operands {
			c.take(c.reads(sc, a))
		}
	case c.any("-t", "--list", "-d", "--diff", "--compare"):
		if file.name != "" && file.value.text != "-" {
			c.take(c.reads(c.sc, file.value))
		}
	case c.any("--delete"):
		c.destroys("deletes from an archive")
	default:
		c.unknown("does not say what it does with the archive")
	}
}

var knownCompressors = set("gzip bzip2 xz zstd lz4 pigz lzma lzip pbzip2 pixz")

func (c *invocation) any(names ...string) bool {
	_, ok := c.has(names...)
	return ok
}

// unpackInto grades taking an archive apart: its members name their own paths.
func (c *invocation) unpackInto(sc *scope, folder, _ bool) {
	if c.any("-O", "--to-stdout") {
		return
	}
	c.raise(change.T2, "", "unpacks into a folder of its own")
	if c.any("-P", "--absolute-names") {
		c.hidden("unpacks to wherever the archive says")
	}
	if !folder || sc.cwd == "" || sc.cwd == path.Clean(c.grader.in.Root) {
		c.hidden("unpacks at the top of the repository, where the archive may hold any name")
		return
	}
	c.take(c.writes(c.sc, literal(sc.cwd)))
}

func unpack(c *invocation) {
	if c.any("-l", "-v", "-t", "-Z", "-p", "-c") {
		return
	}
	f, folder := c.has("-d", "-o")
	sc := c.sc.fork()
	if c.name == "unzip" {
		f, folder = c.has("-d")
	}
	if folder {
		sc.cwd = c.resolve(c.sc, f.value)
	}
	c.unpackInto(sc, folder, false)
}

func makeTemporary(c *invocation) {
	sc := c.sc
	for _, f := range c.flags {
		switch {
		case f.name == "-t" || f.name == "--tmpdir" && f.value.text == "" && f.value.known:
			f.value = literal("/tmp")
		case f.name != "-p" && f.name != "--tmpdir":
			continue
		}
		c.take(c.creates(sc, f.value))
		sc = c.sc.fork()
		sc.cwd = c.resolve(c.sc, f.value)
	}
	for _, a := range c.operands {
		c.take(c.creates(sc, a))
	}
}
