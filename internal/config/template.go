package config

import (
	"fmt"
	"strings"
)

// Template returns the .correx.toml that a repository starts with: every setting there is, commented out, with its
// default and what it does. It loads, and changes nothing.
func Template() []byte {
	var b strings.Builder
	b.WriteString(`# What correx lets land in this repository without a person. "correx doctor" says what is in force.
#
# This file comes with the repository, so it makes correx stricter than it is on a person's machine. What it loosens counts
# only once that person has run "correx trust".
# What it leaves out keeps its default, which stands behind the "=" below.
`)
	table := ""
	own := false
	for _, k := range keys() {
		in, name, ok := strings.Cut(k.name, ".")
		if !ok {
			in, name = "", k.name
		}
		if k.own && !own {
			own = true
			b.WriteString(ruleTemplate + grantTemplate)
			b.WriteString(`
# The settings below count only in your own file, $XDG_CONFIG_HOME/correx/config.toml, never in a repository.
`)
		}
		mark := ""
		if k.own {
			mark = "# "
		}
		if in != table {
			table = in
			fmt.Fprintf(&b, "\n%s[%s]\n", mark, table)
		} else if in == "" {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "# %s\n# %s = %s\n", k.doc, name, k.def)
	}
	return []byte(b.String())
}

// ruleTemplate explains rules. No rule is a default, so it shows one that could be.
const ruleTemplate = `
# Rules about single paths and ops, as many as are wanted, each below a line of its own. A rule that denies always counts;
# of the others the last one that matches. "allow" counts in your own file, and here once the file is trusted.
#   [[rule]]
#   paths = ["docs/", "*.md"]
#   ops = ["delete", "rename"]
#   action = "ask"
#   when = "mon-fri 22:00-06:00, sat-sun"
# Ops: create edit overwrite delete rename copy chmod symlink retype; without ops a rule is about all of them,
# and without when it holds at all times.
`

// grantTemplate explains grants.
const grantTemplate = `
# Grants: lasting yeses of a person to ops on paths, best written by "correx grant add". They count once the file is trusted.
#   [[grant]]
#   ops = ["create", "edit"]
#   paths = ["docs/*.md"]
#   expires = "2030-01-01T00:00:00Z"
`
