package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/undo"
)

func (a *application) undoCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "undo", Category: groupEveryday, ArgsUsage: "u-… | ID | --last", Usage: "take back exactly one landed change",
		Description: "A credential takes back what landed by itself in a session that is still open; by number or --last it is a\n" +
			"person's command. A file that is no longer what landed refuses the whole undo, and nothing is written.\n\n" +
			"   correx undo u-7k3m…\n   correx undo 12\n   correx undo --last\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeStale, codeCorrupt),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "last", Usage: "the newest landed change; again: one further back"}},
	}, runUndo)
}

func runUndo(ctx context.Context, c call) (*reply, error) {
	if c.Bool("last") == (c.NArg() == 1) || c.NArg() > 1 {
		return nil, &gate.UsageError{Problem: "name one credential or change set, or say --last", Hint: "correx status"}
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	word := c.Args().First()
	if undo.IsCredential(word) {
		return undoCredential(ctx, c, s, word)
	}
	if strings.HasPrefix(word, "u-") {
		return nil, &gate.UsageError{Problem: fmt.Sprintf("%q is not a whole credential: u- and 26 letters and digits", word), Hint: "correx undo ID"}
	}
	var numbers []int
	if !c.Bool("last") {
		if numbers, err = ids([]string{word}); err != nil {
			return nil, err
		}
	}
	who, err := s.requirePerson(c, "undo")
	if err != nil {
		return nil, err
	}
	var r gate.Result
	if c.Bool("last") {
		r, err = s.UndoLast(ctx, who)
	} else {
		r, err = s.Undo(ctx, numbers[0], who)
	}
	return undone(s, r, err)
}

// undoCredential takes back by credential; where that is a person's, the person is asked for first.
func undoCredential(ctx context.Context, c call, s *site, credential string) (*reply, error) {
	needs, err := s.NeedsPerson(credential)
	if err != nil {
		return nil, err
	}
	var by *gate.Person
	if needs {
		who, err := s.requirePerson(c, "undo of what a person let in, or of a closed session")
		if err != nil {
			return nil, err
		}
		by = &who
	}
	r, err := s.UndoCredential(ctx, credential, by)
	return undone(s, r, err)
}

func undone(s *site, r gate.Result, err error) (*reply, error) {
	if r.Entry == nil {
		return nil, err
	}
	return resultsReply("", []gate.Result{r}, s.words()), err
}
