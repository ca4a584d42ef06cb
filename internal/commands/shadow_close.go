package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

func (a *application) shadowCloseCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "close", Usage: "end a session and remove its shadow",
		Description: "What waits stays decidable. Closing the shadow one stands in is anyone's; closing another is a person's command.\n\n" +
			"   correx shadow close\n   correx shadow close --session fmt\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeCorrupt),
		Flags: []cli.Flag{&cli.StringFlag{Name: "session", Usage: "the session's id or name, outside its shadow"}},
	}, runShadowClose)
}

func runShadowClose(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	s, session, err := openSession(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if !s.inside || s.marker.Session != session {
		if _, err := s.requirePerson(c, "closing another session's shadow"); err != nil {
			return nil, err
		}
	}
	ses := s.State().Sessions[session]
	if err := s.CloseShadow(ctx, session); err != nil {
		return nil, err
	}
	waiting := 0
	for _, e := range s.State().Waiting(s.Worktree()) {
		if e.Session == session {
			waiting++
		}
	}
	return &reply{json: sessionOf(ses, waiting), notices: s.words(), text: func(w io.Writer) {
		fmt.Fprintf(w, "closed %s; %s\n", session, waitingWords(waiting))
	}}, nil
}
