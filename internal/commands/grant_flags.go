package commands

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger/projection"
)

func checkScope(scope grants.Scope, flag string) error {
	switch scope {
	case grants.Session, grants.Stage, grants.Project:
		return nil
	case "":
		return &gate.UsageError{Problem: "say for how long: " + flag + " session, stage or project", Hint: "correx grant add --help"}
	}
	return &gate.UsageError{Problem: fmt.Sprintf("unknown scope %q: there are session, stage and project", scope), Hint: "correx grant add --help"}
}

// opsOf reads lists of ops.
func opsOf(words []string) ([]change.Op, error) {
	var ops []change.Op
	for _, word := range strings.FieldsFunc(strings.Join(words, ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		known := false
		for _, op := range change.Ops() {
			if word == string(op) {
				known, ops = true, append(ops, op)
			}
		}
		if !known {
			return nil, &gate.UsageError{Problem: fmt.Sprintf("unknown op %q: there are %v", word, change.Ops()), Hint: "correx grant add --help"}
		}
	}
	return ops, nil
}

// splitPatterns splits lists of patterns at commas that stand in no braces and behind no backslash.
func splitPatterns(lists []string) []string {
	var out []string
	for _, list := range lists {
		start, depth := 0, 0
		for i := 0; i < len(list); i++ {
			switch list[i] {
			case '\\':
				i++
			case '{':
				depth++
			case '}':
				depth--
			case ',':
				if depth == 0 {
					out = append(out, list[start:i])
					start = i + 1
				}
			}
		}
		out = append(out, list[start:])
	}
	return out
}

// expiry reads --expires: a duration, also in days, from now on.
func expiry(c call) (string, error) {
	if !c.IsSet("expires") {
		return "", nil
	}
	text := c.String("expires")
	wrong := &gate.UsageError{Problem: fmt.Sprintf("--expires %q: expected how long, such as 30m, 12h or 30d", text), Hint: c.Command.HelpName + " --help"}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, nerr := strconv.Atoi(days)
		d, err = time.Duration(n)*24*time.Hour, nerr
		if n > 36500 {
			return "", wrong
		}
	}
	if err != nil || d < time.Second {
		return "", wrong
	}
	return c.env.Clock().Add(d).UTC().Format(projection.MomentFormat), nil
}

// grantAgain is the command that gives a project's grant once more, or "" for one that goes with a yes alone.
func grantAgain(c call, o gate.GrantOptions) string {
	if o.Exact != "" {
		return ""
	}
	ops := make([]string, len(o.Ops))
	for i, op := range o.Ops {
		ops[i] = string(op)
	}
	words := "correx grant add --scope project --ops " + strings.Join(ops, ",")
	for _, p := range o.Paths {
		words += " --paths " + shellQuote(p)
	}
	if c.IsSet("expires") {
		words += " --expires " + shellQuote(c.String("expires"))
	}
	return words
}

// repeated names the command to give once more where err says that somebody saved the file that it was about to edit.
func repeated(err error, command string) error {
	var edited *gate.EditedError
	if !errors.As(err, &edited) {
		return err
	}
	return &exitError{code: codeStale, text: err.Error(), hint: command, cause: err}
}

// alwaysFlags checks what goes with --always, and returns the options of the grant that is asked for, or nil.
func alwaysFlags(c call, sets int) (*gate.GrantOptions, error) {
	if !c.IsSet("always") {
		for _, name := range []string{"exact", "expires"} {
			if c.IsSet(name) {
				return nil, &gate.UsageError{Problem: "--" + name + " goes with --always", Hint: "correx approve --help"}
			}
		}
		return nil, nil
	}
	o := &gate.GrantOptions{Scope: grants.Scope(c.String("always"))}
	switch {
	case sets != 1:
		return nil, &gate.UsageError{Problem: "--always needs exactly one change set: nobody has looked at each of several", Hint: "correx approve --help"}
	case c.IsSet("hunks"):
		return nil, &gate.UsageError{Problem: "--always goes with whole files: leave --hunks out", Hint: "correx approve --help"}
	}
	var err error
	if err = checkScope(o.Scope, "--always"); err == nil {
		o.Expires, err = expiry(c)
	}
	return o, err
}
