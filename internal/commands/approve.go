package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

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
			"With --only or --hunks a part lands and the rest waits under the next number. Hunks are numbered as `correx show`\n" +
			"does: --hunks 1,3 or --hunks 2-4 chooses some of one text file, whose mode then stays as it is; all of them are the\n" +
			"whole file.\n\n" +
			"With --always a grant is made as well, for just these ops and paths (--exact: for exactly this change); it is shown\n" +
			"before the question and printed with the command that takes it back.\n\n" +
			"   correx approve 12\n   correx approve 12 --always session\n   correx approve 12 --only src/parse.go --only 'glob:docs/**'\n" +
			"   correx approve 12 --only src/parse.go --hunks 1,3-4\n   correx approve --staged\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeWaiting, codeNotAllowed, codeStale, codeCorrupt, codeInterrupted),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "staged", Usage: "approve what is staged for the next commit"},
			&cli.StringSliceFlag{Name: "only", Usage: "only this `PATH`: a file, a folder, or glob:PATTERN (repeatable)"},
			&cli.StringSliceFlag{Name: "hunks", Usage: "only the hunks of this `LIST`, of the one file that is chosen: 1,3 or 2-4"},
			&cli.StringFlag{Name: "always", Usage: "let the same pass from now on, for this `SCOPE`: session, stage or project"},
			&cli.BoolFlag{Name: "exact", Usage: "with --always: only exactly this change"},
			&cli.StringFlag{Name: "expires", Usage: "with --always: for how long, `DUR` such as 12h or 30d"},
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
	if flag := partFlag(c); len(numbers) > 1 && flag != "" {
		return nil, &gate.UsageError{Problem: flag + " needs exactly one change set"}
	}
	always, err := alwaysFlags(c, len(numbers))
	if err != nil {
		return nil, err
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
	if always != nil {
		always.Person = who
		return approveAlways(ctx, c, s, *always, numbers[0])
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

// partFlag names a flag that chooses a part, if one was given.
func partFlag(c call) string {
	for _, name := range []string{"hunks", "only"} {
		if c.IsSet(name) {
			return "--" + name
		}
	}
	return ""
}

// partly reports what was done before an error, or nothing.
func partly(done []gate.Result, s *site) *reply {
	if len(done) == 0 {
		return nil
	}
	return resultsReply("", done, s.words())
}

// request is one set about to be approved, as far as the flags choose of it.
type request struct {
	gate.DecideOptions
	entry *projection.Entry
	// grant says what is granted with a yes; empty for nothing.
	grant string
}

// approveOne shows one set, asks, and lands it.
func approveOne(ctx context.Context, c call, s *site, who gate.Person, id int) (gate.Result, error) {
	asked, err := chosen(ctx, c, s, who, id)
	if err != nil {
		return gate.Result{}, err
	}
	return asked.decide(ctx, c, s)
}

// chosen finds what the flags choose of a set that waits.
func chosen(ctx context.Context, c call, s *site, who gate.Person, id int) (request, error) {
	e, err := s.Set(id)
	if err != nil {
		return request{}, err
	}
	if !e.State.Waits() {
		return request{}, &gate.StateError{ID: id, State: e.State, By: e.SupersededBy, Want: "no longer waits"}
	}
	o := gate.DecideOptions{Person: who, Digest: e.Digest, Steering: c.String("steer")}
	if words := c.StringSlice("only"); len(words) > 0 {
		if o.Only, err = gate.Choose(e.Files, words, matchGlob); err != nil {
			return request{}, err
		}
	}
	if c.IsSet("hunks") {
		if o.Hunks, err = s.ChooseHunks(ctx, e, o.Only, strings.Join(c.StringSlice("hunks"), ",")); err != nil {
			return request{}, err
		}
	}
	return request{DecideOptions: o, entry: e}, nil
}

// decide asks at a terminal, and lands what was asked about.
func (q request) decide(ctx context.Context, c call, s *site) (gate.Result, error) {
	if q.How == "terminal" {
		if err := s.CheckImages(q.entry); err != nil {
			return gate.Result{}, err
		}
		if err := s.CheckFresh(ctx, q.entry, q.Landing(q.entry)); err != nil {
			return gate.Result{}, err
		}
		if err := showAndAsk(ctx, c, s, q); err != nil {
			return gate.Result{}, err
		}
	}
	return s.Approve(ctx, q.entry.ID, q.DecideOptions)
}

// showAndAsk shows the card of what would land and asks. A card that could not show everything needs a typed word. No is
// exit 4's business only when it is a decision: leaving the question is not one, so the set goes on waiting.
func showAndAsk(ctx context.Context, c call, s *site, q request) error {
	e := q.entry
	v, err := landing(s, e, q.DecideOptions)
	if err != nil {
		return err
	}
	v.to = c.env.Stderr
	shown, err := renderCard(ctx, c, s, v)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c.env.Stderr, shown.text); err != nil {
		return err
	}
	if q.grant != "" && !shown.whole {
		return &gate.GrantError{Why: "not everything of the change could be shown"}
	}
	if q.grant != "" {
		if _, err := fmt.Fprintln(c.env.Stderr, q.grant); err != nil {
			return err
		}
	}
	question := fmt.Sprintf("approve #%d", e.ID)
	switch {
	case v.hunks != nil:
		question = fmt.Sprintf("approve %s, of #%d", hunkWords(v.hunks.Chosen()), e.ID)
	case v.part:
		these := "this 1"
		if len(v.Files) > 1 {
			these = fmt.Sprintf("these %d", len(v.Files))
		}
		question = fmt.Sprintf("approve %s of %d files of #%d", these, len(e.Files), e.ID)
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
	if !yes && e.State == change.StateApproved {
		return &exitError{code: codeWaiting, text: fmt.Sprintf("nothing was landed: #%d stays approved", e.ID), hint: fmt.Sprintf("correx approve %d", e.ID)}
	}
	if !yes {
		return &exitError{code: codeWaiting, text: fmt.Sprintf("nothing was decided: #%d goes on waiting", e.ID), hint: fmt.Sprintf("correx reject %d --reason TEXT", e.ID)}
	}
	return nil
}

// landing is the view of what a yes would land.
func landing(s *site, e *projection.Entry, o gate.DecideOptions) (view, error) {
	hunks := o.Hunks
	if e.State == change.StateApproved {
		var err error
		if hunks, err = s.RecordedHunks(e); err != nil {
			return view{}, err
		}
	}
	files := o.Landing(e)
	v := view{Entry: e, hunks: hunks, part: hunks != nil || len(files) < len(e.Files)}
	if v.part {
		part := *e
		part.Files, part.Outcomes = files, nil
		v.Entry = &part
	}
	return v, nil
}

// approveStaged approves what is staged and not yet approved: the index is read once, that is shown, that is approved.
func approveStaged(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	if flag := partFlag(c); flag != "" {
		return nil, &gate.UsageError{Problem: "--staged takes all that is staged: leave " + flag + " out"}
	}
	if _, err := alwaysFlags(c, 0); err != nil {
		return nil, err
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
	s.notices = append(s.notices, unmergedWords(check)...)
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
