package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// runner starts git processes. Its fields never change after it was made; with returns changed copies.
type runner struct {
	program program
	// dir is the folder processes start in.
	dir string
	env []string
}

// call is one git command.
type call struct {
	// args is the command and its arguments.
	args  []string
	stdin io.Reader
	// index is the index file to read instead of the worktree's own; "" for that one.
	index string
	// answers are the exit statuses besides 0 that are an answer.
	answers []int
}

// with returns a runner whose processes also get the given variables.
func (g runner) with(env ...string) runner {
	g.env = append(slices.Clone(g.env), env...)
	return g
}

// process is a git process that is running. Its output must be read before wait.
type process struct {
	ctx    context.Context
	cmd    *exec.Cmd
	out    io.ReadCloser
	stderr *headBuffer
	call   call
}

// start is the one place where git processes begin.
func (g runner) start(ctx context.Context, c call) (*process, error) {
	args := append([]string{
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit",
		"--no-pager",
	}, c.args...)
	cmd := exec.CommandContext(ctx, g.program.file, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.dir, g.env, c.stdin
	cmd.WaitDelay = 2 * time.Second
	if c.index != "" {
		cmd.Env = append(slices.Clone(g.env), "GIT_INDEX_FILE="+c.index)
	}
	p := &process{ctx: ctx, cmd: cmd, stderr: &headBuffer{most: 64 << 10}, call: c}
	cmd.Stderr = p.stderr
	var err error
	if p.out, err = cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("git %s: %w", c.args[0], err)
	}
	if g.program.executable != nil {
		err = startConfined(cmd, g.program.executable)
	} else {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", c.args[0], err)
	}
	return p, nil
}

// wait ends the process and returns its exit status if that is an answer, else an error.
func (p *process) wait() (status int, err error) {
	err = p.cmd.Wait()
	if p.ctx.Err() != nil {
		return -1, fmt.Errorf("git %s: %w", p.call.args[0], context.Cause(p.ctx))
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return -1, fmt.Errorf("git %s: %w", p.call.args[0], err)
	case slices.Contains(p.call.answers, exit.ExitCode()):
		return exit.ExitCode(), nil
	}
	said := p.stderr.String()
	if exit.ExitCode() < 0 && strings.TrimSpace(said) == "" {
		said = exit.String()
	}
	return exit.ExitCode(), &GitError{Args: p.call.args, ExitCode: exit.ExitCode(), Stderr: said}
}

// abandon stops a process whose answer is no longer wanted.
func (p *process) abandon() {
	_ = p.cmd.Process.Kill()
	_, _ = p.wait()
}

// result is what a git process said.
type result struct {
	out    []byte
	status int
	// warnings are the lines of standard error of a process that ended well.
	warnings []string
}

// run starts a git process, reads all it says and waits for its end.
func (g runner) run(ctx context.Context, c call) (result, error) {
	p, err := g.start(ctx, c)
	if err != nil {
		return result{}, err
	}
	out, readErr := io.ReadAll(p.out)
	status, err := p.wait()
	if err != nil {
		return result{}, err
	}
	if readErr != nil {
		return result{}, fmt.Errorf("git %s: %w", c.args[0], readErr)
	}
	r := result{out: out, status: status}
	for line := range strings.Lines(p.stderr.String()) {
		r.warnings = append(r.warnings, strings.TrimRight(line, "\n"))
	}
	return r, nil
}

// text is run for a command that says one value on one line.
func (g runner) text(ctx context.Context, args ...string) (string, error) {
	r, err := g.run(ctx, call{args: args})
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(r.out), "\n"), nil
}

// records cuts output whose records end in NUL. Output that breaks off inside a record is an error.
func records(command string, out []byte) ([]string, error) {
	if len(out) == 0 {
		return nil, nil
	}
	if out[len(out)-1] != 0 {
		return nil, &OutputError{Command: command, Problem: "the last record has no end: " + strconv.Quote(lastBytes(out))}
	}
	return strings.Split(string(out[:len(out)-1]), "\x00"), nil
}

func lastBytes(b []byte) string {
	if len(b) > 60 {
		b = b[len(b)-60:]
	}
	return string(b)
}

// headBuffer keeps the first bytes written to it and drops the rest. It has no other way in than Write.
type headBuffer struct {
	kept bytes.Buffer
	most int
}

func (b *headBuffer) Write(p []byte) (int, error) {
	if room := b.most - b.kept.Len(); room > 0 {
		b.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (b *headBuffer) String() string { return b.kept.String() }
