package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
)

func (a *application) rejectCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "reject", Category: groupDeciding, ArgsUsage: "ID… --reason TEXT", Usage: "say no to a change set",
		Description: "A person's command. The reason and the steering text reach the agent; the same bytes are not asked about again.\n\n" +
			"   correx reject 12 --reason \"keep the old test\"\n   correx reject 12 --reason \"wrong layer\" --steer \"change the parser instead\"\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeStale, codeCorrupt),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "reason", Usage: "why, in `TEXT`"},
			&cli.StringFlag{Name: "steer", Usage: "what to do instead, in `TEXT`"},
		},
	}, func(ctx context.Context, c call) (*reply, error) {
		if strings.TrimSpace(c.String("reason")) == "" {
			return nil, &gate.UsageError{Problem: "a rejection needs a reason", Hint: "correx reject ID --reason TEXT"}
		}
		return runTurnDown(ctx, c, "reject", (*gate.Gate).Reject)
	})
}

// turnDown is Reject or Skip.
type turnDown func(*gate.Gate, context.Context, int, gate.DecideOptions) (gate.Result, error)

// runTurnDown gives the same answer to every set named.
func runTurnDown(ctx context.Context, c call, what string, do turnDown) (*reply, error) {
	numbers, err := ids(c.Args().Slice())
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	who, err := s.requirePerson(c, what)
	if err != nil {
		return nil, err
	}
	o := gate.DecideOptions{Person: who, Reason: c.String("reason"), Steering: c.String("steer")}
	var done []gate.Result
	for _, n := range numbers {
		r, err := do(s.Gate, ctx, n, o)
		if err != nil {
			return partly(done, s), err
		}
		done = append(done, r)
	}
	r := resultsReply("", done, s.words())
	r.code = codeDone
	r.text = func(w io.Writer) {
		for _, x := range done {
			fmt.Fprintln(w, summary(x.Entry))
			answerLines(w, x.Entry, false)
		}
	}
	return r, nil
}
