package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/review"
)

func (a *application) statusCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "status", Category: groupEveryday, Usage: "show what waits, and which shadows are open",
		Description: "   correx status\n   correx status --json\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
	}, runStatus)
}

func runStatus(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	j := statusJSON{Mode: s.Mode(), Enforced: "none", Sessions: sessionsOf(s), Pending: []setJSON{}}
	waiting := s.State().Waiting(s.Worktree())
	fresh := map[int]bool{}
	for _, e := range waiting {
		fresh[e.ID] = s.Fresh(ctx, e)
		set := setOf(e)
		is := fresh[e.ID]
		set.Fresh = &is
		j.Pending = append(j.Pending, set)
	}
	recent := recentlyLanded(s, 5)
	counting := 0
	for _, g := range s.Grants() {
		if g.Void == "" {
			counting++
		}
	}
	j.Grants = counting
	now := c.env.Clock()
	return &reply{json: j, notices: s.words(), text: func(w io.Writer) {
		fmt.Fprintf(w, "mode %s, %s open, %s\n", j.Mode, count(len(j.Sessions), "shadow"), waitingWords(len(waiting)))
		for _, x := range j.Sessions {
			stage := ""
			if x.Stage != "" {
				stage = fmt.Sprintf(" in stage %q", x.Stage)
			}
			fmt.Fprintf(w, "  shadow %s%s%s  %s\n", x.Session, sessionWords(x.Name, x.Agent), stage, visible(x.Path))
		}
		for _, e := range waiting {
			fmt.Fprintf(w, "%s, %s\n", summary(e), review.Age(now.Sub(e.CreatedAt)))
			fmt.Fprintf(w, "  why: %s\n", visible(why(e)))
			if !fresh[e.ID] {
				fmt.Fprintln(w, "  no longer fresh: a file it is based on has changed since")
			}
			if words := expiryWords(e, now); words != "" {
				fmt.Fprintf(w, "  expires: %s\n", words)
			}
			// In mode deny a yes is refused.
			if hint := decideHint(e, fresh[e.ID] && j.Mode != change.ModeDeny); hint != "" && !e.Expired(now) {
				fmt.Fprintf(w, "  person: %s\n", hint)
			}
		}
		if counting > 0 {
			fmt.Fprintf(w, "%s: correx grant list\n", count(counting, "grant"))
		}
		if len(recent) > 0 {
			fmt.Fprintln(w, "newest landed:")
		}
		for _, e := range recent {
			fmt.Fprintln(w, summary(e))
			grantLine(w, e)
			fmt.Fprintf(w, "  undo: correx undo %d\n", e.ID)
		}
	}}, nil
}

// decideHint names the commands that a person can give about a set that waits: what was approved is not rejected any more,
// and what is based on other files does not land. It is "" where none would do anything.
func decideHint(e *projection.Entry, fresh bool) string {
	var list []string
	if fresh {
		list = append(list, fmt.Sprintf("correx approve %d", e.ID))
	}
	if e.State == change.StatePending {
		list = append(list, fmt.Sprintf("correx reject %d --reason TEXT", e.ID))
	}
	return strings.Join(list, ", or ")
}

// recentlyLanded returns the newest landed sets that are not undos, newest first.
func recentlyLanded(s *site, most int) []*projection.Entry {
	var out []*projection.Entry
	for _, e := range slices.Backward(s.State().Landed(s.Worktree())) {
		if e.Origin != change.OriginUndo && len(out) < most {
			out = append(out, e)
		}
	}
	return out
}

// sessionWords adds a session's name and agent to its id.
func sessionWords(name, agent string) string {
	out := ""
	if name != "" {
		out += fmt.Sprintf(" %q", name)
	}
	if agent != "" {
		out += " (agent " + visible(agent) + ")"
	}
	return out
}

func waitingWords(n int) string {
	switch n {
	case 0:
		return "nothing waits"
	case 1:
		return "1 change set waits"
	}
	return fmt.Sprintf("%d change sets wait", n)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
