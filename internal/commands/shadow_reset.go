package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

func (a *application) shadowResetCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "reset", ArgsUsage: "[PATH…]", Usage: "bring a shadow's files back to what the real tree holds now",
		Description: "What the shadow held at those paths is given up; change sets that were submitted keep their own copy.\n\n" +
			"   correx shadow reset src/parse.go\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
		Flags: []cli.Flag{&cli.StringFlag{Name: "session", Usage: "the session's id or name, outside its shadow"}},
	}, func(ctx context.Context, c call) (*reply, error) {
		s, session, err := openSession(ctx, c)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		paths, err := s.paths(c.Args().Slice())
		if err != nil {
			return nil, err
		}
		if err := s.ResetShadow(ctx, session, paths); err != nil {
			return nil, err
		}
		ses := s.State().Sessions[session]
		return &reply{json: sessionOf(ses, 0), notices: s.words(), text: func(w io.Writer) {
			fmt.Fprintf(w, "reset %s of %s\n", resetWords(len(paths)), session)
		}}, nil
	})
}

func resetWords(n int) string {
	if n == 0 {
		return "all"
	}
	return count(n, "path")
}
