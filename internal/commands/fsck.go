package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
)

func (a *application) fsckCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "fsck", Category: groupRepo, Usage: "verify ledger, store and journal from the start",
		Description: "Every event's place in the chain, every state that follows another, every stored image that a change set needs.\n" +
			"Writes nothing.\n\n   correx fsck\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
	}, runFsck)
}

func runFsck(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	s, err := locateConfigured(ctx, c)
	if err != nil {
		return nil, err
	}
	report, err := gate.Fsck(ctx, s.repo, ledger.Options{Clock: c.env.Clock, Rand: c.env.Rand, Holder: c.env.holder("fsck")})
	if err != nil {
		return nil, err
	}
	r := &reply{json: report, notices: s.words(), text: func(w io.Writer) {
		fmt.Fprintf(w, "ledger: %d events, head %.12s; store: %d images, %d needed; journal: %s\n",
			report.Events, report.Head, report.Images, report.Needed, report.Journal)
		if report.Torn > 0 {
			fmt.Fprintf(w, "  %d bytes of an event that was never acknowledged follow; the next command that writes sets them aside\n", report.Torn)
		}
		for _, f := range report.Findings {
			fmt.Fprintf(w, "  %s: %s\n", visible(f.Where), visible(f.What))
		}
		if len(report.Findings) == 0 {
			fmt.Fprintln(w, "all verified")
		}
	}}
	if len(report.Findings) > 0 {
		r.code = codeCorrupt
	}
	return r, nil
}
