package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/durable"
)

func (a *application) demoCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "demo", Category: groupRepo, Usage: "watch the main job in a throw-away repository",
		Description: "Everything it prints is what the commands really print. Nothing stays behind, also after Ctrl-C.\n\n" +
			"   correx demo\n\n" + exitHelp(codeDone, codeFailed, codeInterrupted),
	}, runDemo)
}

func runDemo(ctx context.Context, c call) (_ *reply, err error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	top, err := durable.TempDir("correx-demo-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, durable.RemoveAll(top)) }()
	d := &demo{ctx: ctx, out: c.env.Stdout, program: c.env.Executable, top: top}
	if c.Bool("json") {
		d.out = c.env.Stderr
	}
	if err := d.prepare(c.env.get("PATH")); err != nil {
		return nil, err
	}
	for i, s := range demoSteps() {
		if err := d.play(i+1, s); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, err
		}
	}
	fmt.Fprintln(d.out, "That was all of it: the folder is removed again. To use it: correx init, then correx shadow open.")
	return &reply{json: struct {
		Steps int `json:"steps"`
	}{len(demoSteps())}}, nil
}

// demoStep is one scene: what it shows, what happens without being shown, and the commands that are.
type demoStep struct {
	title    string
	commands []demoCommand
	moral    string
}

// demoCommand is one command line: words with $shadow and $credential filled in, in the real tree or in the shadow.
type demoCommand struct {
	line   string
	shadow bool
	// exit is the code the command must have.
	exit int
	// quiet commands set the scene and are shown without their output.
	quiet bool
}

func demoSteps() []demoStep {
	return []demoStep{
		{"An agent gets a shadow: a copy of your working tree to write in", []demoCommand{
			{line: "git add -A && git commit -qm start", quiet: true},
			{line: "correx init", quiet: true},
			{line: "git add .correx.toml && git commit -qm 'set up correx'", quiet: true},
			{line: "correx shadow open --name demo --agent demo-agent"},
		}, "Whatever happens there, your tree does not change."},
		{"A small edit lands by itself, with an undo credential", []demoCommand{
			{line: `sed -i.bak "s/Hello/Hello, world/" greet.txt && rm greet.txt.bak`, shadow: true, quiet: true},
			{line: `correx submit -m "friendlier greeting"`, shadow: true},
			{line: "cat greet.txt"},
		}, "One file, a few bytes, undoable: nobody was asked."},
		{"A protected file waits for a person", []demoCommand{
			{line: `printf "on: push\n" > .github/workflows/ci.yml`, shadow: true, quiet: true},
			{line: `correx submit -m "run the tests on every push"`, shadow: true, exit: codeWaiting},
			{line: "correx approve $last"},
		}, "At a terminal, approve shows the whole change and asks; here the demo's own configuration says yes."},
		{"Deleting a file waits too, and a no reaches the agent", []demoCommand{
			{line: "rm notes.txt", shadow: true, quiet: true},
			{line: `correx submit -m "tidy up"`, shadow: true, exit: codeWaiting},
			{line: `correx reject $last --reason "these notes are still needed" --steer "leave notes.txt alone"`},
			{line: "correx submit", shadow: true, exit: codeRejected},
		}, "The same bytes are not asked about twice. The file was there all along."},
		{"What landed is taken back exactly", []demoCommand{
			{line: "correx undo $credential"},
			{line: "cat greet.txt"},
		}, "The credential reverts that one change and nothing else."},
		{"An undo that would overwrite somebody's work is refused", []demoCommand{
			{line: "correx redo", quiet: true},
			{line: `printf "my own line\n" >> greet.txt`, quiet: true},
			{line: "correx undo $credential", exit: codeStale},
			{line: "tail -n 1 greet.txt"},
		}, "It names the file and writes nothing."},
		{"A protected change made around correx does not leave in a commit", []demoCommand{
			{line: `printf "TOKEN=1\n" > .env`, quiet: true},
			{line: "git add -f .env", quiet: true},
			{line: `git commit -m "add settings"`, exit: codeFailed},
		}, "The person who made it runs `correx approve --staged`; an agent stops."},
	}
}

// demo is a running demonstration.
type demo struct {
	ctx     context.Context
	out     io.Writer
	program string
	top     string
	env     []string
	shadow  string
	last    string
	cred    string
}

// prepare makes the repository and a home folder that belong to the demonstration alone. The copy of correx there is
// found first on PATH.
func (d *demo) prepare(path string) error {
	bin, home, tree := filepath.Join(d.top, "bin"), filepath.Join(d.top, "home"), d.tree()
	for _, dir := range []string{bin, filepath.Join(home, ".config", "correx"), filepath.Join(tree, ".github", "workflows")} {
		if err := durable.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	files := map[string]string{
		filepath.Join(bin, "correx"):                            "#!/bin/sh\nexec " + shellQuote(d.program) + " \"$@\"\n",
		filepath.Join(home, ".config", "correx", "config.toml"): "[approve]\nrequire_tty = false\n",
		filepath.Join(tree, "greet.txt"):                        "Hello\n",
		filepath.Join(tree, "notes.txt"):                        "things to remember\n",
		filepath.Join(tree, ".github", "workflows", "ci.yml"):   "on: pull_request\n",
	}
	for name, text := range files {
		perm := os.FileMode(0o600)
		if filepath.Dir(name) == bin {
			perm = 0o700
		}
		if err := durable.WriteNew(name, []byte(text), perm); err != nil {
			return err
		}
	}
	d.env = []string{
		"PATH=" + bin + string(os.PathListSeparator) + path, "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "NO_COLOR=1",
		"GIT_AUTHOR_NAME=You", "GIT_AUTHOR_EMAIL=you@example.test", "GIT_COMMITTER_NAME=You", "GIT_COMMITTER_EMAIL=you@example.test",
	}
	_, code, err := d.shell("git init -q -b main", tree)
	if err == nil && code != 0 {
		err = errors.New("git init failed: git 2.28 or newer is needed")
	}
	return err
}

func (d *demo) tree() string { return filepath.Join(d.top, "project") }

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// shell runs one command line and returns what it printed and its exit code.
func (d *demo) shell(line, dir string) (string, int, error) {
	cmd := exec.CommandContext(d.ctx, "/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = dir, d.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && d.ctx.Err() == nil {
		return out.String(), exit.ExitCode(), nil
	}
	return out.String(), 0, errors.Join(err, d.ctx.Err())
}

// play shows one step. A command that does not end as it should ends the demonstration with what it printed.
func (d *demo) play(n int, s demoStep) error {
	fmt.Fprintf(d.out, "%d. %s\n\n", n, s.title)
	for _, c := range s.commands {
		line := strings.NewReplacer("$last", d.last, "$credential", d.cred).Replace(c.line)
		dir, where := d.tree(), "$"
		if c.shadow {
			dir, where = d.shadow, "shadow$"
		}
		text, code, err := d.shell(line, dir)
		if err != nil {
			return err
		}
		if code != c.exit {
			return fmt.Errorf("demo: %q: exit %d, expected %d: %s", line, code, c.exit, strings.TrimSpace(text))
		}
		d.note(line, text)
		fmt.Fprintf(d.out, "   %s %s\n", where, line)
		if !c.quiet {
			d.quote(text, code)
		}
	}
	fmt.Fprintf(d.out, "\n   %s\n\n", s.moral)
	return nil
}

// quote prints what a command printed, with the demonstration's own folder named shortly.
func (d *demo) quote(text string, code int) {
	text = strings.ReplaceAll(text, d.top, "…")
	for l := range strings.Lines(text) {
		fmt.Fprintf(d.out, "     %s\n", strings.TrimRight(l, "\n"))
	}
	if code != 0 {
		fmt.Fprintf(d.out, "     (exit %d)\n", code)
	}
}

// note keeps what later commands refer to: the shadow's path, the newest number, the first credential.
func (d *demo) note(line, text string) {
	if strings.HasPrefix(line, "correx shadow open") {
		d.shadow = strings.TrimSpace(text)
	}
	if m := regexp.MustCompile(`#(\d+)`).FindStringSubmatch(text); m != nil && strings.HasPrefix(line, "correx submit") {
		d.last = m[1]
	}
	if m := regexp.MustCompile(`\bu-[a-z0-9]{20,}`).FindString(text); m != "" && d.cred == "" {
		d.cred = m
	}
}
