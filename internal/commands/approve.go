package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/tiers"
)

func (a *application) approveCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "approve", Category: groupDeciding, ArgsUsage: "ID… | --staged", Usage: "let a change set land, after showing it",
		Description: "A person's command: it shows the card at a terminal and asks; only y and yes are yes.\n\n" +
			"   correx approve 12\n   correx approve 12 --only src/parse.go --only 'glob:docs/**'\n   correx approve --staged\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeWaiting, codeNotAllowed, codeStale, codeCorrupt, codeInterrupted),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "staged", Usage: "approve what is staged for the next commit"},
			&cli.StringSliceFlag{Name: "only", Usage: "only this `PATH`: a file, a folder, or glob:PATTERN (repeatable)"},
			&cli.StringFlag{Name: "steer", Usage: "a `TEXT` that reaches the agent with the answer"},
		},
	}, runApprove)
}

func runApprove(ctx context.Context, c call) (*reply, error) {
	if c.Bool("staged") {
		return approveStaged(ctx, c)
	}
	numbers, err := ids(c.Args().Slice())
	if err != nil {
		return nil, err
	}
	if len(numbers) > 1 && len(c.StringSlice("only")) > 0 {
		return nil, &gate.UsageError{Problem: "--only needs exactly one change set"}
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	who, err := s.requirePerson(c, "approve")
	if err != nil {
		return nil, err
	}
	var done []gate.Result
	for _, n := range numbers {
		r, err := approveOne(ctx, c, s, who, n)
		if err != nil {
			return partly(done, s), err
		}
		done = append(done, r)
	}
	return resultsReply("", done, s.words()), nil
}

// partly reports what was done before an error, or nothing.
func partly(done []gate.Result, s *site) *reply {
	if len(done) == 0 {
		return nil
	}
	return resultsReply("", done, s.words())
}

// approveOne shows one set, asks, and lands it.
func approveOne(ctx context.Context, c call, s *site, who gate.Person, id int) (gate.Result, error) {
	e, err := s.Set(id)
	if err != nil {
		return gate.Result{}, err
	}
	if !e.State.Waits() {
		return gate.Result{}, &gate.StateError{ID: id, State: e.State, By: e.SupersededBy, Want: "no longer waits"}
	}
	o := gate.DecideOptions{Person: who, Digest: e.Digest, Steering: c.String("steer")}
	if words := c.StringSlice("only"); len(words) > 0 {
		if o.Only, err = gate.Choose(e.Files, words, matchGlob); err != nil {
			return gate.Result{}, err
		}
	}
	if err := checkImages(s, e); err != nil {
		return gate.Result{}, err
	}
	if who.How == "terminal" {
		if err := s.CheckFresh(ctx, e, o.Only); err != nil {
			return gate.Result{}, err
		}
		if err := showAndAsk(ctx, c, s, e, o.Only); err != nil {
			return gate.Result{}, err
		}
	}
	return s.Approve(ctx, id, o)
}

// showAndAsk shows the card and asks. A card that could not show everything needs a typed word. No is exit 4's business
// only when it is a decision: leaving the question is not one, so the set goes on waiting.
func showAndAsk(ctx context.Context, c call, s *site, e *projection.Entry, only []change.Path) error {
	all := len(e.Files)
	if len(only) > 0 {
		part := *e
		part.Only = only
		part.Files, part.Outcomes = part.Chosen(), nil
		e = &part
	}
	shown, err := renderCard(ctx, c, s, e, c.env.Stderr)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c.env.Stderr, shown.text); err != nil {
		return err
	}
	question := fmt.Sprintf("approve #%d", e.ID)
	if len(only) > 0 {
		question = fmt.Sprintf("approve these %d of %d files of #%d", len(only), all, e.ID)
	}
	yes := false
	if shown.whole {
		yes, err = c.env.confirm(ctx, question+"?")
	} else {
		yes, err = c.env.confirmWord(ctx, "not everything could be shown", fmt.Sprintf("approve %d unseen", e.ID))
	}
	if err != nil {
		return err
	}
	if !yes {
		return &exitError{code: codeWaiting, text: fmt.Sprintf("nothing was decided: #%d goes on waiting", e.ID), hint: fmt.Sprintf("correx reject %d --reason TEXT", e.ID)}
	}
	return nil
}

// approveStaged approves what is staged and not yet approved: the index is read once, that is shown, that is approved.
func approveStaged(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	if len(c.StringSlice("only")) > 0 {
		return nil, &gate.UsageError{Problem: "--staged takes all that is staged: leave --only out"}
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	who, err := s.requirePerson(c, "approve --staged")
	if err != nil {
		return nil, err
	}
	check, err := s.CheckStaged(ctx, gate.RecordAll)
	if err != nil {
		return nil, err
	}
	if check.Set == 0 {
		return &reply{json: submissionJSON{Sets: []setJSON{}}, notices: s.words(), text: func(w io.Writer) {
			fmt.Fprintln(w, "nothing to approve: what is staged passes")
			for _, e := range s.State().Waiting(s.Worktree()) {
				if e.Origin == change.OriginCommit {
					fmt.Fprintf(w, "  #%d waits from a commit that did not leave it staged: correx approve %d\n", e.ID, e.ID)
				}
			}
		}}, nil
	}
	e, err := s.Set(check.Set)
	if err != nil {
		return nil, err
	}
	if e.State == change.StateDenied {
		return nil, &gate.DeniedError{ID: e.ID, Why: why(e)}
	}
	r, err := approveOne(ctx, c, s, who, check.Set)
	if err != nil {
		return nil, err
	}
	return resultsReply("", []gate.Result{r}, s.words()), nil
}

// matchGlob is the pattern dialect of the configuration.
func matchGlob(pattern string, p change.Path) (bool, error) {
	parsed, err := tiers.ParsePattern(pattern)
	if err != nil {
		return false, err
	}
	return parsed.Match(p), nil
}
