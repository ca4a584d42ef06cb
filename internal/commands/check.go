package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/review"
)

func (a *application) checkCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "check", Category: groupRepo, Usage: "judge what is staged, as the commit hook does",
		Description: "Writes nothing.\n\n   correx check --staged\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeWaiting, codeRejected, codeNotAllowed, codeCorrupt),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "staged", Usage: "what is staged for the next commit"}},
	}, func(ctx context.Context, c call) (*reply, error) {
		if err := noArgs(c); err != nil {
			return nil, err
		}
		if !c.Bool("staged") {
			return nil, &gate.UsageError{Problem: "say what to check", Hint: "correx check --staged"}
		}
		s, err := open(ctx, c)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		check, err := s.CheckStaged(ctx, gate.RecordNone)
		if err != nil {
			return nil, err
		}
		return &reply{json: checkOf(check), notices: append(s.words(), unmergedWords(check)...), code: codeOfCheck(check), text: func(w io.Writer) {
			if check.Passed() {
				fmt.Fprintf(w, "%s, all may be committed\n", count(check.Staged, "staged path"))
				return
			}
			fmt.Fprint(w, blockMessage(s, check))
		}}, nil
	})
}

// unmergedWords says which paths nothing was judged for.
func unmergedWords(check *gate.StagedCheck) []string {
	var list []string
	for _, p := range check.Unmerged {
		list = append(list, fmt.Sprintf("%q is in conflict and not judged: git commits nothing until it is resolved and staged", p))
	}
	return list
}

type checkJSON struct {
	Staged  int           `json:"staged"`
	Blocked []blockedJSON `json:"blocked"`
	Set     int           `json:"change_set,omitempty"`
	// Unmerged are the paths in conflict, which are not staged.
	Unmerged []unmergedJSON `json:"unmerged,omitempty"`
}

type unmergedJSON struct {
	Path    string `json:"path"`
	PathB64 []byte `json:"path_b64,omitempty"`
}

type blockedJSON struct {
	Path    string          `json:"path"`
	PathB64 []byte          `json:"path_b64,omitempty"`
	Op      change.Op       `json:"op"`
	Verdict change.Outcome  `json:"verdict"`
	Reasons []change.Reason `json:"reasons"`
	Why     []string        `json:"why"`
	Set     int             `json:"change_set,omitempty"`
	State   change.State    `json:"state,omitempty"`
}

func checkOf(check *gate.StagedCheck) checkJSON {
	j := checkJSON{Staged: check.Staged, Blocked: []blockedJSON{}, Set: check.Set}
	for _, b := range check.Blocked {
		x := blockedJSON{Op: b.File.Op, Verdict: b.Verdict.Outcome, Reasons: b.Verdict.Reasons, Why: b.Verdict.Why, Set: b.Set, State: b.State}
		x.Path, x.PathB64 = pathJSON(b.File.Path)
		j.Blocked = append(j.Blocked, x)
	}
	for _, p := range check.Unmerged {
		var x unmergedJSON
		x.Path, x.PathB64 = pathJSON(p)
		j.Unmerged = append(j.Unmerged, x)
	}
	return j
}

// codeOfCheck is what blocks the commit: policy, a person's no, or an answer that is still to come.
func codeOfCheck(check *gate.StagedCheck) int {
	code := codeDone
	for _, b := range check.Blocked {
		switch {
		case b.State == change.StateRejected:
			code = worse(code, codeRejected)
		case b.Verdict.Outcome == change.Deny:
			code = worse(code, codeNotAllowed)
		default:
			code = worse(code, codeWaiting)
		}
	}
	return code
}

// blockMessage is what the hook prints when it stops a commit.
func blockMessage(s *site, check *gate.StagedCheck) string {
	in := review.HookInput{Staged: check.Staged, Set: check.Set, Temporary: !s.repo.OwnIndex(), Exit: codeOfCheck(check)}
	for _, b := range check.Blocked {
		in.Blocked = append(in.Blocked, review.HookPath{
			File: b.File, Verdict: b.Verdict, Set: b.Set, State: b.State, Reason: b.Reason, By: b.By,
		})
	}
	return review.HookMessage(in)
}
