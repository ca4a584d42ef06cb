package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

func (a *application) shadowPathCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "path", Usage: "print the path of a shadow",
		Description: "   cd \"$(correx shadow path --session fmt)\"\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
		Flags:       []cli.Flag{&cli.StringFlag{Name: "session", Usage: "the session's id or name, when several are open"}},
	}, func(ctx context.Context, c call) (*reply, error) {
		if err := noArgs(c); err != nil {
			return nil, err
		}
		s, session, err := openSession(ctx, c)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		ses := s.State().Sessions[session]
		return &reply{json: sessionOf(ses, 0), notices: s.words(), verbatim: true, text: func(w io.Writer) { fmt.Fprintln(w, ses.Tree) }}, nil
	})
}
