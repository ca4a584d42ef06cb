package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/hooks"
	"github.com/correx/correx/internal/gate"
)

func (a *application) hooksCommand() *cli.Command {
	one := func(name, usage, text string, f command) *cli.Command {
		return a.define(&cli.Command{
			Name: name, ArgsUsage: "[git]", Usage: usage,
			Description: text + "\n\n   correx hooks " + name + " git\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed),
		}, f)
	}
	return a.group(&cli.Command{
		Name: "hooks", Category: groupRepo, Usage: "git hooks: install, uninstall, status",
		Description: exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed),
		Subcommands: []*cli.Command{
			one("install", "install the git hooks, keeping those that are there", "Twice is the same as once.", runHooksInstall),
			one("uninstall", "take the git hooks out again, byte for byte", "A person's command.", runHooksUninstall),
			one("status", "show which hooks are in effect", "Exit 1 when one is missing or broken.", runHooksStatus),
		},
	})
}

// hooksSite finds the hooks folder that git really uses.
func hooksSite(ctx context.Context, c call) (*site, hooks.Options, error) {
	if c.NArg() > 1 {
		return nil, hooks.Options{}, &gate.UsageError{Problem: fmt.Sprintf("unexpected argument %q", c.Args().Get(1)), Hint: c.Command.HelpName + " git"}
	}
	if name := c.Args().First(); name != "" && name != "git" {
		return nil, hooks.Options{}, &gate.UsageError{Problem: fmt.Sprintf("unknown kind of hooks %q: this version knows git", name), Hint: "correx hooks " + c.Command.Name + " git"}
	}
	s, err := locateConfigured(ctx, c)
	if err != nil {
		return nil, hooks.Options{}, err
	}
	o, err := hookOptions(ctx, c.env, s)
	return s, o, err
}

func hookOptions(ctx context.Context, env Env, s *site) (hooks.Options, error) {
	dir, err := s.repo.HooksDir(ctx)
	if err != nil {
		return hooks.Options{}, err
	}
	switch {
	case dir.InTree:
		s.notices = append(s.notices, fmt.Sprintf(
			"core.hooksPath leads into the tree (%s): a hook committed there stops everybody who has no correx at %s", dir.Path, env.Executable))
	case dir.Configured && dir.Scope != "local" && dir.Scope != "worktree":
		s.notices = append(s.notices, fmt.Sprintf(
			"core.hooksPath is set for all your repositories (%s): the hook there looks at commits in every one of them", dir.Path))
	}
	return hooks.Options{Dir: dir.Path, State: gate.StateDir(s.repo.CommonDir()), Binary: env.Executable}, nil
}

func runHooksInstall(ctx context.Context, c call) (*reply, error) {
	s, o, err := hooksSite(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := s.notInSession(c, "installing hooks"); err != nil {
		return nil, err
	}
	before := readHooks(o)
	report, err := hooks.Install(o)
	if err != nil {
		return nil, err
	}
	// Opened only now: a repository where correx was never used gets its state folder with the first hook.
	full, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer full.Close()
	if err := approveWritten(ctx, c, full, ownHooks(full, o, before)); err != nil {
		return nil, err
	}
	return hooksReply(report, s), nil
}

func runHooksUninstall(ctx context.Context, c call) (*reply, error) {
	s, o, err := hooksSite(ctx, c)
	if err != nil {
		return nil, err
	}
	if _, err := s.requirePerson(c, "taking out the hooks"); err != nil {
		return nil, err
	}
	report, err := hooks.Uninstall(o)
	if err != nil {
		return nil, err
	}
	return hooksReply(report, s), nil
}

func runHooksStatus(ctx context.Context, c call) (*reply, error) {
	s, o, err := hooksSite(ctx, c)
	if err != nil {
		return nil, err
	}
	list, err := hooks.Inspect(o)
	if err != nil {
		return nil, err
	}
	report := hooks.Report{}
	problems := map[string][]string{}
	code := codeDone
	for _, h := range list {
		report.Results = append(report.Results, hooks.Result{Hook: h.Hook, Path: h.Path, Action: hooks.Action(hookWord(h))})
		if problems[h.Hook] = h.Problems; len(h.Problems) > 0 {
			code = codeFailed
		}
	}
	r := hooksReplyWith(report, problems, s)
	r.code = code
	return r, nil
}

// hookWord says in words how a hook stands.
func hookWord(h hooks.Status) string {
	switch {
	case !h.Present:
		return "missing"
	case !h.Installed:
		return "not ours"
	case h.Chained != "":
		return "in place, then runs " + h.Chained
	}
	return "in place"
}

type hookJSON struct {
	Name     string   `json:"name"`
	Path     string   `json:"path"`
	State    string   `json:"state"`
	Problems []string `json:"problems"`
}

func hooksReply(report hooks.Report, s *site) *reply { return hooksReplyWith(report, nil, s) }

func hooksReplyWith(report hooks.Report, problems map[string][]string, s *site) *reply {
	j := struct {
		Hooks []hookJSON `json:"hooks"`
	}{hooksOf(report, problems)}
	return &reply{json: j, notices: append(s.words(), hookNotes(report)...), text: func(w io.Writer) { hookLines(w, j.Hooks) }}
}

func hooksOf(report hooks.Report, problems map[string][]string) []hookJSON {
	list := []hookJSON{}
	for _, h := range report.Results {
		x := hookJSON{Name: h.Hook, Path: h.Path, State: string(h.Action), Problems: problems[h.Hook]}
		if x.Problems == nil {
			x.Problems = []string{}
		}
		list = append(list, x)
	}
	return list
}

// hookNotes are what a person should know besides.
func hookNotes(report hooks.Report) []string {
	var list []string
	for _, h := range report.Results {
		for _, n := range h.Notes {
			list = append(list, h.Hook+": "+n)
		}
	}
	return list
}

func hookLines(w io.Writer, list []hookJSON) {
	for _, h := range list {
		fmt.Fprintf(w, "hook:   %s %s (%s)\n", h.Name, visible(h.State), visible(h.Path))
		for _, p := range h.Problems {
			fmt.Fprintf(w, "  %s\n", visible(p))
		}
	}
}
