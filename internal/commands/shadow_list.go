package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/review"
)

func (a *application) shadowListCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "list", Usage: "list the open shadows of this worktree",
		Description: "   correx shadow list --json\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
	}, func(ctx context.Context, c call) (*reply, error) {
		if err := noArgs(c); err != nil {
			return nil, err
		}
		s, err := open(ctx, c)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		list := sessionsOf(s)
		now := c.env.Clock()
		return &reply{json: struct {
			Shadows []sessionJSON `json:"shadows"`
		}{list}, notices: s.words(), text: func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "no shadow is open")
			}
			for _, x := range s.State().OpenSessions(s.Worktree()) {
				fmt.Fprintf(w, "%s%s  %s, %s  %s\n", x.Session, sessionWords(x.Name, x.Agent), x.Backend, review.Age(now.Sub(x.OpenedAt)), visible(x.Tree))
			}
		}}, nil
	})
}
