package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
)

func (a *application) logCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "log", Category: groupEveryday, ArgsUsage: "[ID]", Usage: "show what was proposed and decided, newest first",
		Description: "One line a change set; with a number, its events from staged on. --json prints an event a line, oldest first,\neach one JSON object.\n\n" +
			"   correx log\n   correx log 12\n   correx log --json\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
	}, runLog)
}

func runLog(ctx context.Context, c call) (*reply, error) {
	if c.NArg() > 1 {
		return nil, &gate.UsageError{Problem: "name at most one change set", Hint: "correx log ID"}
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	id := 0
	if c.NArg() == 1 {
		numbers, err := ids(c.Args().Slice())
		if err != nil {
			return nil, err
		}
		id = numbers[0]
		if _, err := s.Set(id); err != nil {
			return nil, err
		}
	}
	if c.Bool("json") || id != 0 {
		return logEvents(c, s, id)
	}
	list := s.State().Ordered(s.Worktree())
	return &reply{notices: s.words(), text: func(w io.Writer) {
		for i := len(list) - 1; i >= 0; i-- {
			e := list[i]
			fmt.Fprintf(w, "%s  %s\n", e.CreatedAt.Local().Format("2006-01-02 15:04"), summary(e))
			grantLine(w, e)
			if e.Decision != nil && e.Decision.Reason != "" {
				fmt.Fprintf(w, "    reason: %s\n", visible(e.Decision.Reason))
			}
		}
		if len(list) == 0 {
			fmt.Fprintln(w, "nothing was submitted yet")
		}
	}}, nil
}

// logEvents prints events: all as JSON lines, or those of one set with their causes.
func logEvents(c call, s *site, id int) (*reply, error) {
	events, err := s.Events(id)
	if err != nil {
		return nil, err
	}
	asJSON := c.Bool("json")
	write := func(w io.Writer) {
		for _, e := range events {
			if asJSON {
				writeJSON(w, eventOf(e))
				continue
			}
			fmt.Fprintf(w, "%6d  %s  %-20s %s%s\n", e.Seq, e.At.Local().Format("2006-01-02 15:04:05"), e.Type, visible(e.Actor), hitWords(e)+eventNote(e))
		}
	}
	// Lines of JSON are written here and not as one document.
	r := &reply{notices: s.words(), text: write}
	if asJSON {
		write(c.env.Stdout)
		r.text = nil
	}
	return r, nil
}

// hitWords names the grant that an event reused.
func hitWords(e ledger.Event) string {
	var d projection.Decided
	if e.Type != ledger.ApprovalReused || json.Unmarshal(e.Data, &d) != nil {
		return ""
	}
	return " grant " + visible(d.GrantHit)
}

func eventOf(e ledger.Event) eventJSON {
	return eventJSON{
		Seq: e.Seq, At: timeJSON(e.At), Type: e.Type, ID: e.ID, Cause: e.Cause, Actor: e.Actor, Data: e.Data, Prev: e.Prev, Hash: e.Hash,
	}
}
