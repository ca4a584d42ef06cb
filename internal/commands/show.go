package commands

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/review"
	"github.com/correx/correx/internal/textdiff"
	"github.com/correx/correx/preflight"
)

func (a *application) showCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "show", Category: groupEveryday, ArgsUsage: "ID", Usage: "show one change set with its diff and what was decided",
		Description: "   correx show 12\n   correx show 12 --json\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
	}, runShow)
}

func runShow(ctx context.Context, c call) (*reply, error) {
	s, e, err := oneSet(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	card, err := renderCard(ctx, c, s, e, c.env.Stdout)
	if err != nil {
		return nil, err
	}
	whole, err := s.Result(e.ID)
	if err != nil {
		return nil, err
	}
	return &reply{json: resultOf(whole), notices: s.words(), verbatim: true, text: func(w io.Writer) { _, _ = io.WriteString(w, card.text) }}, nil
}

// oneSet opens the site and the one change set that the arguments name, whose content is there and is what it was.
func oneSet(ctx context.Context, c call) (*site, *projection.Entry, error) {
	numbers, err := ids(c.Args().Slice())
	if err != nil {
		return nil, nil, err
	}
	if len(numbers) > 1 {
		return nil, nil, &gate.UsageError{Problem: "name one change set"}
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	e, err := s.Set(numbers[0])
	if err == nil {
		err = checkImages(s, e)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, e, nil
}

// checkImages makes sure that what is about to be shown is there and is what it was.
func checkImages(s *site, e *projection.Entry) error {
	for _, f := range e.Files {
		for _, p := range []change.Pin{f.Base, f.Proposed} {
			if p.Kind != change.KindFile && p.Kind != change.KindSymlink {
				continue
			}
			if err := s.Images().Check(p.SHA256); err != nil {
				return &gate.ImageError{ID: e.ID, Path: f.Path, Cause: err}
			}
		}
	}
	return nil
}

// card is an approval card as it is shown.
type card struct {
	text string
	// whole says that nothing was cut.
	whole bool
}

// renderCard draws the approval card of a set for output to f.
func renderCard(ctx context.Context, c call, s *site, e *projection.Entry, f fder) (card, error) {
	var b writerString
	in := review.CardInput{
		ID: e.ID, State: stateWord(e), Verdict: e.Verdict, Files: e.Files, Agent: e.Agent, Session: e.Session,
		Message: e.Message, Age: c.env.Clock().Sub(e.CreatedAt), Fresh: s.Fresh(ctx, e), Origin: e.Origin,
		Width: c.env.width(), Decision: e.Decision, History: history(s, e),
		Reasons: reasonsOf(e), Worktree: e.Worktree,
		Diff: func(w io.Writer) error { return s.writePatch(w, e) },
	}
	in.Colour = c.env.colour(f)
	res, err := review.Card(&b, in)
	return card{text: b.String(), whole: res.FullyShown}, err
}

// writePatch writes the exact git patch of a set, from the stored images alone.
func (s *site) writePatch(w io.Writer, e *projection.Entry) error {
	return preflight.WritePatchAs(w, s.Images(), e.Files, textdiff.ObjectFormat(s.repo.ObjectFormat()))
}

// reasonsOf lists policy's reasons for each file of a set.
func reasonsOf(e *projection.Entry) [][]change.Reason {
	var list [][]change.Reason
	for _, o := range e.Outcomes {
		list = append(list, o.Reasons)
	}
	return list
}

// history lists earlier tries on the same paths and what was answered then.
func history(s *site, e *projection.Entry) []review.Earlier {
	var list []review.Earlier
	for _, old := range s.State().Ordered(s.Worktree()) {
		if old.ID >= e.ID || old.Decision == nil || old.Decision.By == "correx" || !sharesPath(old, e) {
			continue
		}
		list = append(list, review.Earlier{ID: old.ID, State: stateWord(old), Reason: old.Decision.Reason})
	}
	return list
}

func sharesPath(a, b *projection.Entry) bool {
	for _, f := range a.Files {
		for _, g := range b.Files {
			if f.Path == g.Path {
				return true
			}
		}
	}
	return false
}
