package commands

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
)

// maxStageName is how many bytes the name of a stage has at most.
const maxStageName = 64

func (a *application) stageCommand() *cli.Command {
	session := func() cli.Flag {
		return &cli.StringFlag{Name: "session", Usage: "the session's id or name, outside its shadow"}
	}
	exits := exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeCorrupt)
	return a.group(&cli.Command{
		Name: "stage", Category: groupAgents, Usage: "named phases of a session: begin, end",
		Description: "In a shadow they are anyone's; for another session they are a person's. What is submitted meanwhile carries the\n" +
			"stage's name, and a grant for the stage ends with it: a later stage of the same name is another.\n\n" + exits,
		Subcommands: []*cli.Command{
			a.define(&cli.Command{
				Name: "begin", ArgsUsage: "NAME", Usage: "begin a stage", Description: "   correx stage begin refactor\n\n" + exits, Flags: []cli.Flag{session()},
			}, func(ctx context.Context, c call) (*reply, error) {
				name := c.Args().First()
				if c.NArg() != 1 || strings.TrimSpace(name) == "" || len(name) > maxStageName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
					return nil, &gate.UsageError{Problem: fmt.Sprintf("name the stage, in at most %d printable letters", maxStageName), Hint: "correx stage begin NAME"}
				}
				return turnStage(ctx, c, name)
			}),
			a.define(&cli.Command{
				Name: "end", Usage: "end the stage that the session is in", Description: "   correx stage end\n\n" + exits, Flags: []cli.Flag{session()},
			}, func(ctx context.Context, c call) (*reply, error) {
				if err := noArgs(c); err != nil {
					return nil, err
				}
				return turnStage(ctx, c, "")
			}),
		},
	})
}

// turnStage begins the stage with a name, or with none ends the one there is.
func turnStage(ctx context.Context, c call, name string) (*reply, error) {
	s, session, err := openSession(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	actor := "session:" + session
	if !s.inside || s.marker.Session != session {
		who, err := s.requirePerson(c, "a stage of another session")
		if err != nil {
			return nil, err
		}
		actor = "person:" + who.Name
	}
	word := "began"
	if name == "" {
		word = "ended"
	}
	stage, err := s.TurnStage(ctx, session, name, actor)
	if err != nil {
		return nil, err
	}
	return &reply{json: struct {
		Session string `json:"session"`
		Stage   string `json:"stage"`
		Open    bool   `json:"open"`
	}{session, stage, name != ""}, notices: s.words(), text: func(w io.Writer) { fmt.Fprintf(w, "stage %q of %s %s\n", stage, session, word) }}, nil
}
