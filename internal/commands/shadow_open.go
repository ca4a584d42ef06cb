package commands

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/shadow"
)

func (a *application) shadowOpenCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "open", Usage: "make a shadow and print its path",
		Description: "The shadow shows what your working tree shows: tracked files as they are now, and untracked ones that git does\n" +
			"not ignore. It has a git directory of its own; nothing done there touches the repository.\n\n" +
			"   dir=$(correx shadow open)\n   correx shadow open --name fmt --agent fmt-bot --backend copy\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeCorrupt),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "a `NAME` for the session; opening it again gives the same shadow"},
			&cli.StringFlag{Name: "agent", Usage: "the `NAME` of the agent that will write there"},
			&cli.StringFlag{Name: "backend", Usage: "`copy or clone` (default: clone where the file system can)"},
		},
	}, runShadowOpen)
}

func runShadowOpen(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	switch c.String("backend") {
	case "", "copy", "clone":
	default:
		return nil, &gate.UsageError{Problem: fmt.Sprintf("unknown backend %q: there are copy and clone", c.String("backend"))}
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.notInSession(c, "opening another shadow"); err != nil {
		return nil, err
	}
	if err := refuseOddPlace(c, s); err != nil {
		return nil, err
	}
	bar := newProgress(c.env, "copying")
	ses, report, err := s.OpenShadow(ctx, gate.ShadowOptions{
		Name: c.String("name"), Agent: c.String("agent"), Backend: c.String("backend"), Progress: bar.step,
	})
	bar.done()
	if err != nil {
		return nil, err
	}
	notices := s.words()
	for _, l := range report.LeftOut {
		notices = append(notices, leftOutWords(l))
	}
	return &reply{json: sessionOf(ses, 0), notices: notices, verbatim: true, text: func(w io.Writer) { fmt.Fprintln(w, ses.Tree) }}, nil
}

// leftOutWords says that the shadow does not show a path, and why.
func leftOutWords(l shadow.LeftOut) string {
	text := fmt.Sprintf("left out of the shadow: %q, %s", l.Path, l.Reason)
	if l.Detail != "" {
		text += " (" + visible(l.Detail) + ")"
	}
	return text
}

// refuseOddPlace stops a shadow of a whole home folder or of the root of the disk unless a person says so: it would copy
// everything the user has.
func refuseOddPlace(c call, s *site) error {
	home, err := c.env.home()
	root := realPath(s.repo.Root())
	if err == nil && realPath(home) != root && filepath.Dir(root) != root {
		return nil
	}
	if err != nil && filepath.Dir(root) != root {
		return nil
	}
	if !c.env.interactive() {
		return &exitError{code: codeNotAllowed, text: fmt.Sprintf("%q is a home folder or the root of a disk: a shadow would copy all of it", root), hint: "correx -C <a repository below it> shadow open"}
	}
	yes, err := c.env.confirm(c.Context.Context, fmt.Sprintf("%s is a home folder or the root of a disk. Copy all of it?", root))
	if err == nil && !yes {
		err = &exitError{code: codeFailed, text: "no shadow was made"}
	}
	return err
}
