package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/hooks"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/internal/review"
	"github.com/correx/correx/shadow"
)

func (a *application) hookCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "hook", Category: groupRepo, ArgsUsage: "pre-commit", Usage: "the entry that git's hooks call",
		Description: "Says nothing when the commit may be made; else says on standard error what stops it. It never asks and never\n" +
			"waits.\n\n   correx hook pre-commit\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeWaiting, codeRejected, codeNotAllowed, codeCorrupt),
	}, runHook)
}

// runHook judges and, where the hook's lines ask for it, says on standard output that it did: whatever else stands at the
// program's name by then cannot say that.
func runHook(ctx context.Context, c call) (*reply, error) {
	r, err := judgeForHook(ctx, c)
	if run := c.env.get(hooks.RunVariable); err == nil && run != "" {
		_, err = fmt.Fprintln(c.env.Stdout, hooks.Answer(c.Args().First(), run))
	}
	return r, err
}

// judgeForHook judges the index that git is about to commit: the one that GIT_INDEX_FILE names, which for a partial commit is
// not the repository's own.
func judgeForHook(ctx context.Context, c call) (*reply, error) {
	if name := c.Args().First(); name != "pre-commit" {
		return nil, &gate.UsageError{Problem: fmt.Sprintf("unknown hook %q: this version knows pre-commit", name), Hint: "correx hooks status"}
	}
	if _, inside, err := shadow.Locate(c.dir); inside && err == nil {
		// Commits in a shadow are the agent's own business: nothing leaves by them.
		return &reply{}, nil
	}
	r, err := openForHook(ctx, c)
	if err != nil {
		return broken(c, err)
	}
	s := &site{repo: r, dir: c.dir}
	if err := s.configure(c); err != nil {
		return broken(c, err)
	}
	if s.config.Gate == "agents" && !c.env.agent() && terminalThere() {
		return &reply{}, nil
	}
	s.Gate, err = gate.Open(ctx, gate.Options{
		Repo: r, Config: s.config, Unchanged: s.unchanged(c), Own: c.env.own(), Clock: c.env.Clock, Rand: c.env.Rand, Holder: c.env.holder("hook"),
		Agent: c.env.agent(),
	})
	if err != nil {
		return broken(c, err)
	}
	defer s.Close()
	check, err := s.CheckStaged(ctx, gate.RecordUnasked)
	if err != nil {
		return broken(c, err)
	}
	if check.Passed() {
		return &reply{}, nil
	}
	if _, err := io.WriteString(c.env.Stderr, blockMessage(s, check)); err != nil {
		return nil, err
	}
	return &reply{json: checkOf(check), code: codeOfCheck(check)}, nil
}

// broken says that the commit stops because correx cannot look, not because of what is in it.
func broken(c call, err error) (*reply, error) {
	code := codeOf(err)
	_, werr := io.WriteString(c.env.Stderr, review.HookBroken(err.Error(), code))
	return &reply{code: code}, werr
}

func openForHook(ctx context.Context, c call) (*repo.Repo, error) {
	index := c.env.get("GIT_INDEX_FILE")
	if index != "" && !filepath.IsAbs(index) {
		index = filepath.Join(c.dir, index)
	}
	return repo.OpenFast(ctx, repo.Options{Dir: c.dir, Environ: c.env.Environ, IndexFile: index})
}

// terminalThere reports whether a person could be at a terminal. Git gives a hook no terminal as standard input.
func terminalThere() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
