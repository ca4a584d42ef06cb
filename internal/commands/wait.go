package commands

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
)

func (a *application) waitCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "wait", Category: groupAgents, ArgsUsage: "ID…", Usage: "wait until change sets are decided",
		Description: "Answers with what was decided: landed (0; of a part the rest waits under its\nown number), rejected or skipped (4), not allowed or timed out (5), superseded or stale (6); nobody yet, when --timeout is over (124).\n\n" +
			"   correx wait 12\n   correx wait 12 13 --timeout 30m --json\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeRejected, codeNotAllowed, codeStale, codeCorrupt, codeTimeout, codeInterrupted),
		Flags: []cli.Flag{&cli.DurationFlag{Name: "timeout", Usage: "give up after `DUR`, with exit 124"}},
	}, runWait)
}

func runWait(ctx context.Context, c call) (*reply, error) {
	numbers, err := ids(c.Args().Slice())
	if err != nil {
		return nil, err
	}
	if c.Duration("timeout") < 0 {
		return nil, &gate.UsageError{Problem: "--timeout is negative"}
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	results := make([]gate.Result, len(numbers))
	for i, n := range numbers {
		if results[i], err = s.Result(n); err != nil {
			return nil, err
		}
	}
	err = awaitAll(ctx, s, results, c.Duration("timeout"))
	return resultsReply(s.marker.Session, results, s.words()), err
}
