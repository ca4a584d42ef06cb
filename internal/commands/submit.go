package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/review"
)

func (a *application) submitCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "submit", Category: groupAgents, ArgsUsage: "[PATH…]",
		Usage: "propose what changed in the shadow",
		Description: "Inside a shadow it knows its session. What is small, scoped and undoable lands by itself and answers with\n" +
			"an undo credential; everything else waits for a person, and the command exits 3.\n\n" +
			"   correx submit -m \"fix the parser\"\n   correx submit src/parse.go --wait=30m\n   correx submit --each --json\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeWaiting, codeRejected, codeNotAllowed, codeStale, codeCorrupt, codeTimeout),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "what the change is for, in `TEXT`"},
			&cli.BoolFlag{Name: "each", Usage: "one change set for every file that does not depend on another"},
			&cli.StringFlag{Name: "wait", Usage: "wait for the decision; at most `=DUR`, for ever without"},
			&cli.BoolFlag{Name: "diff", Usage: "show the diff of what was proposed"},
			&cli.StringFlag{Name: "session", Usage: "the session's id or name, outside its shadow"},
		},
	}, runSubmit)
}

// maxMessage bounds the text an agent may attach to a change set, in bytes.
const maxMessage = 4 << 10

func runSubmit(ctx context.Context, c call) (*reply, error) {
	limit, waits, err := waitFlag(c)
	if err != nil {
		return nil, err
	}
	if len(c.String("message")) > maxMessage {
		return nil, &gate.UsageError{Problem: fmt.Sprintf("the message has %d bytes, at most %d are kept", len(c.String("message")), maxMessage)}
	}
	s, session, err := openSession(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	paths, err := s.paths(c.Args().Slice())
	if err != nil {
		return nil, err
	}
	done, err := s.Submit(ctx, gate.SubmitOptions{Session: session, Paths: paths, Message: c.String("message"), Each: c.Bool("each")})
	if err != nil {
		return nil, err
	}
	r := resultsReply(session, done.Sets, append(s.words(), done.Notices...))
	if waits && anyWaits(done.Sets) {
		err := awaitAll(ctx, s, done.Sets, limit)
		r = resultsReply(session, done.Sets, r.notices)
		if err != nil {
			return r, err
		}
	} else {
		r.code = codeOfSubmission(done.Sets)
	}
	if len(done.Sets) == 0 {
		r.text = func(w io.Writer) { fmt.Fprintln(w, "nothing to submit") }
	}
	if c.Bool("diff") {
		r.text, r.verbatim = withDiff(s, r.text, done.Sets), true
	}
	return r, nil
}

// anyWaits reports whether a person is still to decide on one of the sets.
func anyWaits(sets []gate.Result) bool {
	for _, x := range sets {
		if codeOfResult(x) == codeWaiting {
			return true
		}
	}
	return false
}

// codeOfSubmission is what a submission came to. A set that was there before and still waits, or was said no to, counts
// only when nothing else was proposed.
func codeOfSubmission(sets []gate.Result) int {
	code, before, made := codeDone, codeDone, false
	for _, x := range sets {
		c := codeOfResult(x)
		before = worse(before, c)
		switch {
		case !x.Before:
			made = true
			code = worse(code, c)
		case c != codeWaiting && c != codeRejected && c != codeNotAllowed:
			code = worse(code, c)
		}
	}
	if !made {
		return before
	}
	return code
}

// waitFlag reads --wait: whether to wait, and how long at most (0: for ever).
func waitFlag(c call) (time.Duration, bool, error) {
	word := c.String("wait")
	switch word {
	case "":
		return 0, false, nil
	case waitForever:
		return 0, true, nil
	}
	d, err := time.ParseDuration(word)
	if err != nil || d <= 0 {
		return 0, false, &gate.UsageError{Problem: fmt.Sprintf("--wait=%q is not a duration like 90s, 10m or 2h", word)}
	}
	return d, true, nil
}

// awaitAll waits until every set is decided and puts its state into results.
func awaitAll(ctx context.Context, s *site, results []gate.Result, limit time.Duration) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	var numbers []int
	list := ""
	for _, r := range results {
		numbers = append(numbers, r.ID)
		list += fmt.Sprintf(" %d", r.ID)
	}
	now, err := s.Wait(ctx, numbers)
	for i := range now {
		results[i].Entry, results[i].Rest = now[i].Entry, now[i].Rest
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &exitError{code: codeTimeout, text: fmt.Sprintf("waiting timed out after %s: nobody decided yet", limit), hint: "correx wait" + list}
	}
	return err
}

// withDiff prints the diff of each set after its lines.
func withDiff(s *site, text func(io.Writer), sets []gate.Result) func(io.Writer) {
	return func(w io.Writer) {
		text(w)
		for _, x := range sets {
			pr, pw := io.Pipe()
			go func() { pw.CloseWithError(s.writePatch(pw, x.Entry)) }()
			if err := review.Diff(w, pr, review.DiffOptions{}); err != nil {
				fmt.Fprintf(w, "correx: diff of #%d: %v\n", x.ID, err)
			}
		}
	}
}
