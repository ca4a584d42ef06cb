package commands

import (
	"context"

	"github.com/urfave/cli/v2"
)

func (a *application) redoCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "redo", Category: groupEveryday, Usage: "take back the newest undo",
		Description: "A person's command. Like every landing it is refused when a file has changed since.\n\n   correx redo\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeStale, codeCorrupt),
	}, func(ctx context.Context, c call) (*reply, error) {
		if err := noArgs(c); err != nil {
			return nil, err
		}
		s, err := open(ctx, c)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		who, err := s.requirePerson(c, "redo")
		if err != nil {
			return nil, err
		}
		r, err := s.Redo(ctx, who)
		return undone(s, r, err)
	})
}
