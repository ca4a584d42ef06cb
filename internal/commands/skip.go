package commands

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
)

func (a *application) skipCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "skip", Category: groupDeciding, ArgsUsage: "ID…", Usage: "leave a change set undecided",
		Description: "A person's command. The set no longer waits; an explicit submission of the same bytes asks again.\n\n" +
			"   correx skip 12\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeStale, codeCorrupt),
		Flags: []cli.Flag{&cli.StringFlag{Name: "steer", Usage: "a `TEXT` that reaches the agent with the answer"}},
	}, func(ctx context.Context, c call) (*reply, error) {
		return runTurnDown(ctx, c, "skip", (*gate.Gate).Skip)
	})
}
