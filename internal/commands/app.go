package commands

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
)

// waitForever is the value of --wait without a duration.
const waitForever = "forever"

// call is one run of one command: the world, the parsed flags and the folder it works in.
type call struct {
	*cli.Context
	env Env
	dir string
}

// reply is what a command has to say: data for standard output as text or JSON, words for standard error, an exit code.
type reply struct {
	json    any
	text    func(w io.Writer)
	notices []string
	code    int
	// verbatim text is never wrapped at the terminal's width: it holds contents.
	verbatim bool
}

// command is what the run function of a command looks like. It prints nothing itself.
type command func(ctx context.Context, c call) (*reply, error)

// application is the command line of one run; code is what the run command came to.
type application struct {
	env  Env
	code int
}

// run executes env.Args and returns the exit code.
func run(ctx context.Context, env Env) int {
	a := &application{env: env}
	app := a.build()
	args, err := normalize(app, env.Args)
	if err != nil {
		return a.fail(err, wantsJSON(env.Args))
	}
	if err := app.RunContext(ctx, args); err != nil {
		return a.fail(&gate.UsageError{Problem: err.Error(), Hint: "correx --help"}, false)
	}
	return a.code
}

func wantsJSON(args []string) bool {
	for _, w := range args {
		if w == "--" {
			return false
		}
		if w == "--json" {
			return true
		}
	}
	return false
}

// build assembles the commands, in the groups that help shows.
func (a *application) build() *cli.App {
	app := cli.NewApp()
	app.Name = "correx"
	app.Usage = "a guard between coding agents and your working tree"
	app.Description = "Agents write in a shadow; small reversible changes land by themselves and can be undone;\n" +
		"larger, destructive or protected ones wait for a person.\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeWaiting, codeRejected, codeNotAllowed, codeStale, codeCorrupt, codeTimeout, codeInterrupted)
	app.Version = version()
	app.Writer, app.ErrWriter = a.env.Stdout, a.env.Stderr
	app.HideHelpCommand = true
	app.DisableSliceFlagSeparator = true
	app.EnableBashCompletion = false
	app.ExitErrHandler = func(*cli.Context, error) {}
	app.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return err }
	app.Flags = []cli.Flag{&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`"}}
	app.Commands = []*cli.Command{
		a.statusCommand(), a.showCommand(), a.diffCommand(), a.undoCommand(), a.redoCommand(), a.logCommand(), a.explainCommand(),
		a.approveCommand(), a.rejectCommand(), a.skipCommand(), a.modeCommand(), a.grantCommand(), a.trustCommand(),
		a.shadowCommand(), a.stageCommand(), a.submitCommand(), a.waitCommand(),
		a.initCommand(), a.checkCommand(), a.hooksCommand(), a.hookCommand(), a.doctorCommand(), a.fsckCommand(), a.demoCommand(),
	}
	app.Action = func(c *cli.Context) error { return cli.ShowAppHelp(c) }
	return app
}

// The groups of help. The library sorts them by name.
const (
	groupEveryday = "1. Everyday"
	groupDeciding = "2. Deciding (people)"
	groupAgents   = "3. For agents and scripts"
	groupRepo     = "4. Repository"
)

// define completes a command: it reports with --json if asked to, refuses leftover flags and runs f.
func (a *application) define(c *cli.Command, f command) *cli.Command {
	c.HideHelpCommand = true
	c.Flags = append(c.Flags, jsonFlag())
	for _, f := range c.Flags {
		switch f := f.(type) {
		case *cli.BoolFlag:
			f.DisableDefaultText = true
		case *cli.DurationFlag:
			f.DefaultText = "none"
		}
	}
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return err }
	c.Action = func(ctx *cli.Context) error {
		dir := a.env.Dir
		if to := ctx.String("C"); to != "" {
			if !filepath.IsAbs(to) {
				to = filepath.Join(dir, to)
			}
			dir = filepath.Clean(to)
		}
		r, err := f(ctx.Context, call{Context: ctx, env: a.env, dir: dir})
		if r != nil {
			a.code = r.code
			a.print(r, ctx.Bool("json"))
		}
		if err != nil {
			a.code = a.fail(err, ctx.Bool("json") && r == nil)
		}
		return nil
	}
	return c
}

// jsonFlag is the flag that every command has.
func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON document on standard output"}
}

// print writes a reply.
func (a *application) print(r *reply, asJSON bool) {
	for _, n := range r.notices {
		fmt.Fprintf(a.env.Stderr, "correx: %s\n", visible(n))
	}
	if asJSON {
		if r.json != nil {
			writeJSON(a.env.Stdout, r.json)
		}
		return
	}
	switch {
	case r.text == nil:
	case r.verbatim || !isTerminal(a.env.Stdout):
		r.text(a.env.Stdout)
	default:
		var b writerString
		r.text(&b)
		_, _ = io.WriteString(a.env.Stdout, wrap(b.String(), a.env.width()))
	}
}

// wrap breaks lines at spaces so that each fits the width where a space allows it; what is carried over stands two columns
// further in.
func wrap(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\n")
		indent := strings.Repeat(" ", len(body)-len(strings.TrimLeft(body, " "))+2)
		for utf8.RuneCountInString(body) > width {
			at := strings.LastIndex(string([]rune(body)[:width+1]), " ")
			if at <= len(indent) {
				break
			}
			b.WriteString(strings.TrimRight(body[:at], " ") + "\n")
			body = indent + strings.TrimLeft(body[at:], " ")
		}
		b.WriteString(body + line[len(strings.TrimRight(line, "\n")):])
	}
	return b.String()
}

// fail prints err and the command that helps, and returns its exit code.
func (a *application) fail(err error, asJSON bool) int {
	code, hint := codeOf(err), hintOf(err)
	if asJSON {
		writeJSON(a.env.Stdout, failureJSON(err, code, hint))
	}
	text := err.Error()
	if code == codeInterrupted {
		text = "interrupted"
	}
	for i, line := range strings.Split(text, "\n") {
		if i == 0 {
			line = "correx: " + line
		}
		fmt.Fprintln(a.env.Stderr, visible(line))
	}
	if hint != "" {
		fmt.Fprintf(a.env.Stderr, "try: %s\n", hint)
	}
	return code
}

// group makes a command that only holds others.
func (a *application) group(c *cli.Command) *cli.Command {
	c.HideHelpCommand = true
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return err }
	c.Action = nil
	return c
}

// exitHelp is the last paragraph of a command's help.
func exitHelp(codes ...int) string {
	words := map[int]string{
		codeDone: "done", codeFailed: "failed, nothing half-done", codeUsage: "wrong usage or configuration",
		codeWaiting: "waits for a person", codeRejected: "a person said no", codeNotAllowed: "not allowed",
		codeStale: "stale, nothing written", codeCorrupt: "ledger or store does not verify",
		codeTimeout: "waiting timed out", codeInterrupted: "interrupted",
	}
	var b strings.Builder
	b.WriteString("Exit status:")
	for _, c := range codes {
		fmt.Fprintf(&b, "\n   %3d  %s", c, words[c])
	}
	return b.String()
}
