package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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
		Description: "Where a file has several hunks, their numbers are those that correx approve --hunks takes.\n\n   correx show 12\n   correx show 12 --json\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
	}, runShow)
}

func runShow(ctx context.Context, c call) (*reply, error) {
	s, e, err := oneSet(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	card, err := renderCard(ctx, c, s, view{Entry: e, to: c.env.Stdout})
	if err != nil {
		return nil, err
	}
	whole, err := s.Result(e.ID)
	if err != nil {
		return nil, err
	}
	j := resultOf(whole)
	if c.Bool("json") {
		if err := addHunks(s, e, j.Files); err != nil {
			return nil, err
		}
	}
	return &reply{json: j, notices: s.words(), verbatim: true, text: func(w io.Writer) { _, _ = io.WriteString(w, card.text) }}, nil
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
		err = s.CheckImages(e)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, e, nil
}

// card is an approval card as it is shown.
type card struct {
	text string
	// whole says that nothing was cut.
	whole bool
}

// view is what a card shows: a set, or what would land of it.
type view struct {
	*projection.Entry
	// hunks are those shown of its one file, where that is not all of them.
	hunks *gate.Hunks
	// part says that this is less than the set.
	part bool
	to   fder
}

// renderCard draws an approval card.
func renderCard(ctx context.Context, c call, s *site, v view) (card, error) {
	var b writerString
	e := v.Entry
	in := review.CardInput{
		ID: e.ID, State: stateWord(e), Verdict: e.Verdict, Files: e.Files, Agent: e.Agent, Session: e.Session,
		Message: e.Message, Age: c.env.Clock().Sub(e.CreatedAt), Expires: expiryWords(e, c.env.Clock()), Fresh: s.Fresh(ctx, e), Origin: e.Origin,
		Width: c.env.width(), Decision: e.Decision, History: history(s, e),
		Reasons: reasonsOf(e), Worktree: e.Worktree,
		Diff: func(w io.Writer) error { return s.writePatch(w, e) },
	}
	if e.Hunks != nil {
		in.Part = hunkWords(e.Hunks)
	}
	if len(e.GrantHits) > 0 {
		in.Part = "under grant " + strings.Join(e.GrantHits, ", ")
	}
	if v.hunks != nil {
		in.Of = v.hunks.Chosen().Of
		for _, h := range v.hunks.Chosen().Chosen {
			in.Hunks = append(in.Hunks, h.Number)
		}
		in.Diff = func(w io.Writer) error { return v.hunks.WritePatch(w, textdiff.ObjectFormat(s.repo.ObjectFormat())) }
	}
	in.Colour = c.env.colour(v.to)
	res, err := review.Card(&b, in)
	return card{text: b.String(), whole: res.FullyShown}, err
}

// addHunks adds to the files of a set's JSON the hunks of those that have some.
func addHunks(s *site, e *projection.Entry, files []fileJSON) error {
	for i, f := range e.Files {
		if !f.HasHunks() {
			continue
		}
		var err error
		if files[i].Hunks, err = preflight.Hunks(s.Images(), f); err != nil {
			return err
		}
	}
	return nil
}

// hunkWords names chosen hunks: "hunks 1,3-4 of the 7 in src/a.go".
func hunkWords(h *projection.ChosenHunks) string {
	word, list := "hunk", ""
	for i := 0; i < len(h.Chosen); i++ {
		first := h.Chosen[i].Number
		for i+1 < len(h.Chosen) && h.Chosen[i+1].Number == h.Chosen[i].Number+1 {
			i++
		}
		if list != "" {
			list += ","
		}
		list += fmt.Sprint(first)
		if last := h.Chosen[i].Number; last > first {
			list += fmt.Sprintf("-%d", last)
		}
	}
	if len(h.Chosen) > 1 {
		word = "hunks"
	}
	path, _ := review.EscapePath(h.File.Path)
	return fmt.Sprintf("%s %s of the %d in %s", word, list, h.Of, path)
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
		if old.ID >= e.ID || old.Decision == nil || old.Decision.Kind == change.Approved && old.Decision.By == "correx" || !sharesPath(old, e) {
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
