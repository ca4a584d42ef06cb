package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
)

func (a *application) modeCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "mode", Category: groupDeciding, ArgsUsage: "[NAME]", Usage: "show or set what passes without a person",
		Description: "deny: nothing. prompt: everything asks. auto: small, scoped, undoable changes land by themselves.\nyolo: everything lands but what is denied or hard-protected; asked for by a typed word, or --yes.\n" +
			"Setting it is a person's command and is recorded. A repository's configuration may keep it stricter.\n\n" +
			"   correx mode\n   correx mode prompt\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeCorrupt),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "confirm yolo without being asked"}},
	}, runMode)
}

func runMode(ctx context.Context, c call) (*reply, error) {
	if c.NArg() > 1 {
		return nil, &gate.UsageError{Problem: "name one mode", Hint: "correx mode prompt"}
	}
	to := change.Mode(c.Args().First())
	switch to {
	case "", change.ModeDeny, change.ModePrompt, change.ModeAuto, change.ModeYolo:
	default:
		return nil, &gate.UsageError{Problem: fmt.Sprintf("unknown mode %q: there are deny, prompt, auto and yolo", to), Hint: "correx mode"}
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if to != "" {
		if err := setMode(ctx, c, s, to); err != nil {
			return nil, err
		}
	}
	now := s.Mode()
	return &reply{json: struct {
		Mode change.Mode `json:"mode"`
	}{now}, notices: s.words(), text: func(w io.Writer) {
		fmt.Fprintf(w, "mode %s\n", now)
		if to != "" && to != now {
			fmt.Fprintf(w, "  %s is recorded; a configuration in this repository keeps it at %s\n", to, now)
		}
	}}, nil
}

// setMode records a new mode. yolo lets everything pass that is not denied or hard-protected, so it is asked for by a
// typed word.
func setMode(ctx context.Context, c call, s *site, to change.Mode) error {
	who, err := s.requirePerson(c, "mode "+string(to))
	if err != nil {
		return err
	}
	if to == change.ModeYolo && !c.Bool("yes") {
		if who.How != "terminal" {
			return &gate.UsageError{Problem: "mode yolo needs --yes without a terminal", Hint: "correx mode yolo --yes"}
		}
		yes, err := c.env.confirmWord(ctx, "in yolo everything lands by itself but what is denied or hard-protected", "yolo")
		if err != nil || !yes {
			return &exitError{code: codeFailed, text: "the mode was not changed"}
		}
	}
	return s.SetMode(ctx, to, who)
}
