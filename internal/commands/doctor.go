package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/hooks"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
)

func (a *application) doctorCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "doctor", Category: groupRepo, Usage: "check that the guard is in place and works",
		Description: "git, the hooks in effect, the file system, configuration, ledger, leftovers of a crash; a line each with what to\n" +
			"do. Exit 1 when a gate is gone or broken.\n\n   correx doctor\n   correx doctor --json\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage),
	}, runDoctor)
}

// The marks of a doctor's line.
const (
	markOK   = "ok"
	markWarn = "warn"
	markFail = "fail"
)

// checkup is one line: what was looked at, what was found, what to do.
type checkup struct {
	Check string `json:"check"`
	Mark  string `json:"state"`
	Text  string `json:"text"`
	Try   string `json:"try,omitempty"`
}

func runDoctor(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	s, err := locate(ctx, c)
	if err != nil {
		return nil, err
	}
	// What is wrong with the settings is one of the findings; the rest is looked at on the defaults.
	s.config = config.Default()
	confErr := s.configure(c)
	list := []checkup{checkGit(ctx, s)}
	list = append(list, checkHooks(ctx, c, s)...)
	list = append(list, checkDisk(s)...)
	list = append(list, checkConfig(ctx, c, s, confErr)...)
	list = append(list, checkLedger(s))
	list = append(list, checkLeftovers(ctx, c, s)...)
	r := &reply{json: struct {
		Checks []checkup `json:"checks"`
	}{list}, text: func(w io.Writer) {
		for _, x := range list {
			fmt.Fprintf(w, "%-4s  %s: %s\n", x.Mark, x.Check, visible(x.Text))
			if x.Try != "" {
				fmt.Fprintf(w, "      try: %s\n", visible(x.Try))
			}
		}
	}}
	for _, x := range list {
		if x.Mark == markFail {
			r.code = codeFailed
		}
	}
	return r, nil
}

func checkGit(ctx context.Context, s *site) checkup {
	v, err := s.repo.GitVersion(ctx)
	if err != nil {
		return checkup{"git", markFail, err.Error(), "install git 2.31 or newer"}
	}
	text := fmt.Sprintf("%s, %s repository at %s", v, s.repo.ObjectFormat(), s.repo.Root())
	if ok, why := s.repo.Confined(); !ok {
		return checkup{"git", markWarn, text + "; git runs without a kernel limit on what it may start: " + why, ""}
	}
	return checkup{"git", markOK, text, ""}
}

// checkHooks looks at every hook that correx would install, where git looks for it.
func checkHooks(ctx context.Context, c call, s *site) []checkup {
	o, err := hookOptions(ctx, c.env, s)
	if err != nil {
		return []checkup{{"hooks", markFail, err.Error(), ""}}
	}
	list, err := hooks.Inspect(o)
	if err != nil {
		return []checkup{{"hooks", markFail, err.Error(), ""}}
	}
	var out []checkup
	for _, h := range list {
		x := checkup{"hook " + h.Hook, markOK, fmt.Sprintf("%s, %s", hookWord(h), h.Path), ""}
		for _, p := range h.Problems {
			x.Mark, x.Text, x.Try = markFail, x.Text+"; "+p, "correx hooks install"
		}
		out = append(out, x)
	}
	return out
}

// checkDisk tries what a landing needs of the file system, in correx's own folder.
func checkDisk(s *site) []checkup {
	dir := gate.StateDir(s.repo.CommonDir())
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return []checkup{{"state", markWarn, "correx was not used here yet", "correx init"}}
	}
	if err := durable.CheckPrivate(dir); err != nil {
		return []checkup{{"state", markFail, err.Error(), "chmod 700 " + dir}}
	}
	p, err := durable.Probe(dir)
	if err != nil {
		return []checkup{{"file system", markFail, err.Error(), ""}}
	}
	x := checkup{"file system", markOK, fmt.Sprintf("atomic exchange %s, reflinks %s, case %s", yesNo(p.Exchange), yesNo(p.Reflink), caseWord(p.FoldsCase)), ""}
	if !p.Exchange {
		x.Mark, x.Text = markWarn, x.Text+"; a file that lands is absent for an instant"
	}
	return []checkup{{"state", markOK, dir, ""}, x}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func caseWord(folds bool) string {
	if folds {
		return "folded"
	}
	return "kept apart"
}

// checkConfig reports the layers of settings, and what is wrong with them.
func checkConfig(ctx context.Context, c call, s *site, problem error) []checkup {
	x := checkup{"config", markOK, "built-in defaults", ""}
	own, _ := c.env.userConfig()
	for _, p := range []string{own, filepath.Join(s.repo.Root(), configName), filepath.Join(s.repo.Root(), config.LocalFile)} {
		if _, err := os.Lstat(p); err == nil {
			x.Text += ", " + p
		}
	}
	if problem != nil {
		x = checkup{"config", markFail, problem.Error(), "edit that line; every other command stops with exit 2 until then"}
	}
	list := []checkup{x}
	for _, n := range s.notices {
		list = append(list, checkup{"trust", markWarn, n, ""})
	}
	inTree, err := s.repo.InTreeSettings(ctx)
	if err != nil {
		return append(list, checkup{"git config", markFail, err.Error(), ""})
	}
	for _, set := range inTree {
		list = append(list, checkup{"git config", markWarn, fmt.Sprintf("%s stands in %q, where a change could reach it; correx does not use it", set.Key, set.InTree), ""})
	}
	return list
}

func checkLedger(s *site) checkup {
	report, err := ledger.Verify(filepath.Join(gate.StateDir(s.repo.CommonDir()), "ledger"))
	switch {
	case err != nil:
		return checkup{"ledger", markFail, err.Error(), "correx fsck"}
	case report.TornTail > 0:
		return checkup{"ledger", markWarn, fmt.Sprintf("%d events; %d bytes of one that was never acknowledged follow", report.Events, report.TornTail), "correx status"}
	}
	return checkup{"ledger", markOK, fmt.Sprintf("%d events, chain verified", report.Events), ""}
}

// checkLeftovers looks for what a crash or a removed folder left behind.
func checkLeftovers(ctx context.Context, c call, s *site) []checkup {
	full := s
	if err := full.openGate(ctx, c); err != nil {
		return []checkup{{"recovery", markFail, err.Error(), "correx fsck"}}
	}
	defer full.Close()
	var list []checkup
	for _, x := range full.State().OpenSessions(full.Worktree()) {
		if _, err := os.Lstat(x.Tree); err != nil {
			list = append(list, checkup{"shadow " + x.Session, markWarn, "its folder is gone: " + x.Tree, "correx shadow close --session " + x.Session})
		}
	}
	for _, e := range full.State().Waiting(full.Worktree()) {
		if !full.Fresh(ctx, e) {
			list = append(list, checkup{fmt.Sprintf("#%d", e.ID), markWarn, "waits on a file that has changed since", fmt.Sprintf("correx show %d", e.ID)})
		}
	}
	left, err := full.Leftovers()
	if err != nil {
		list = append(list, checkup{"tree", markWarn, err.Error(), "correx fsck"})
	}
	if len(left) > 0 {
		list = append(list, checkup{
			"tree", markWarn, fmt.Sprintf("%s of landings without a journal, %q first", count(len(left), "working name"), left[0].Where), "correx fsck",
		})
	}
	orphans, err := full.Orphans()
	if err != nil {
		list = append(list, checkup{"shadows", markWarn, err.Error(), ""})
	}
	for _, dir := range orphans {
		list = append(list, checkup{"shadows", markWarn, "no open session has the shadow " + dir, "look at what is in it, then remove the folder"})
	}
	if len(list) == 0 {
		list = append(list, checkup{"leftovers", markOK, "none", ""})
	}
	return list
}
