package commands

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/review"
)

func (a *application) diffCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "diff", Category: groupEveryday, ArgsUsage: "ID", Usage: "show the diff of a change set",
		Description: "Safe to look at: what could fool a terminal or an eye is escaped, on a pipe too. With --patch it is the exact\n" +
			"git patch, which `git apply` turns into exactly the proposed bytes.\n\n" +
			"   correx diff 12\n   correx diff 12 --patch | git apply --check\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "patch", Usage: "the exact git patch, unescaped"}},
	}, runDiff)
}

func runDiff(ctx context.Context, c call) (*reply, error) {
	s, e, err := oneSet(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var b writerString
	if err := s.writePatch(&b, e); err != nil {
		return nil, err
	}
	r := &reply{json: struct {
		ID    int    `json:"id"`
		Patch []byte `json:"patch_b64"`
	}{e.ID, b.Bytes()}, notices: s.words(), verbatim: true}
	r.text = func(w io.Writer) { _, _ = w.Write(b.Bytes()) }
	if !c.Bool("patch") {
		var safe writerString
		if err := review.Diff(&safe, &b, review.DiffOptions{Colour: c.env.colour(c.env.Stdout)}); err != nil {
			return nil, err
		}
		r.text = func(w io.Writer) { _, _ = w.Write(safe.Bytes()) }
	}
	return r, nil
}
