package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/gate"
)

func (a *application) trustCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "trust", Category: groupDeciding, Usage: "let this repository's settings loosen what they loosen",
		Description: "A person's command. It shows, line by line, what .correx.toml and .correx.local.toml let pass that would ask without\n" +
			"them, asks for a typed word (or takes --yes), and trusts exactly these bytes, outside the repository. Any edit\n" +
			"withdraws that: then only what is stricter counts, of the file and of what was trusted last.\n\n" +
			"   correx trust\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeCorrupt),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "trust without being asked"}},
	}, runTrust)
}

type trustJSON struct {
	Files []trustedFile `json:"files"`
}

type trustedFile struct {
	File string `json:"file"`
	// SHA256 is that of the bytes trusted; empty where the file is not there.
	SHA256  string        `json:"sha256"`
	Loosens []loosensJSON `json:"loosens"`
	// Drops are what made it stricter when it was trusted and does not any more, with the lines of those bytes.
	Drops    []loosensJSON `json:"drops"`
	Before   bool          `json:"trusted_before"`
	data     []byte
	lines    []string
	oldLines []string
}

type loosensJSON struct {
	Line int    `json:"line"`
	Last int    `json:"last_line"`
	Key  string `json:"key"`
	Text string `json:"text"`
}

func runTrust(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	who, err := s.requirePerson(c, "trust")
	if err != nil {
		return nil, err
	}
	j := trustJSON{Files: []trustedFile{}}
	for _, source := range []config.Source{s.sources.Repository, s.sources.Local} {
		f, there, err := s.toTrust(source)
		if err != nil {
			return nil, err
		}
		if there {
			j.Files = append(j.Files, f)
		}
	}
	todo := 0
	for _, f := range j.Files {
		if !f.Before {
			todo++
		}
	}
	if todo > 0 {
		if err := j.ask(ctx, c, who); err != nil {
			return nil, err
		}
	}
	for _, f := range j.Files {
		if f.Before {
			continue
		}
		if err := s.Trust(ctx, config.Trusted{File: f.File, Data: f.data}, who, s.trusts); err != nil {
			return nil, err
		}
	}
	return &reply{json: j, text: func(w io.Writer) { j.done(w) }}, nil
}

// toTrust looks at one of the repository's files as it was read. There is false for one that neither is there nor was trusted.
func (s *site) toTrust(source config.Source) (trustedFile, bool, error) {
	f := trustedFile{File: source.Name, Loosens: []loosensJSON{}, Drops: []loosensJSON{}, data: source.Data}
	was := false
	for _, t := range s.sources.Trusted {
		if t.File == f.File {
			was = true
			f.Before = source.Data != nil && config.Digest(t.Data) == config.Digest(source.Data)
			gone, err := config.Drops(s.sources.User, source, t.Data)
			if err != nil {
				return f, true, err
			}
			for _, x := range gone {
				f.Drops = append(f.Drops, loosensJSON{x.Line, x.Last, x.Key, x.Text})
			}
			f.oldLines = strings.Split(string(t.Data), "\n")
		}
	}
	if source.Data == nil {
		return f, was, nil
	}
	f.SHA256 = config.Digest(source.Data)
	f.lines = strings.Split(string(source.Data), "\n")
	rest, err := config.Loosens(s.sources.User, source)
	for _, x := range rest {
		f.Loosens = append(f.Loosens, loosensJSON{x.Line, x.Last, x.Key, x.Text})
	}
	return f, true, err
}

// ask shows what would be trusted, and asks for a word.
func (j trustJSON) ask(ctx context.Context, c call, who gate.Person) error {
	for _, f := range j.Files {
		f.show(c.env.Stderr)
	}
	if c.Bool("yes") {
		return nil
	}
	if who.How != "terminal" {
		return &gate.UsageError{Problem: "trust needs --yes without a terminal", Hint: "correx trust --yes"}
	}
	yes, err := c.env.confirmWord(ctx, "exactly these bytes will be trusted, until the next edit", "trust")
	if err != nil || !yes {
		return &exitError{code: codeFailed, text: "nothing was trusted"}
	}
	return nil
}

// show writes what one file loosens, line by line and escaped.
func (f trustedFile) show(w io.Writer) {
	switch {
	case f.data == nil:
		fmt.Fprintf(w, "%s is not there: what it tightened when it was trusted will not hold any more\n", f.File)
		showLines(w, f.Drops, f.oldLines)
		return
	case f.Before:
		fmt.Fprintf(w, "%s is trusted as it is\n", f.File)
		return
	case len(f.Loosens)+len(f.Drops) == 0:
		fmt.Fprintf(w, "%s (sha256 %.12s) loosens nothing\n", f.File, f.SHA256)
		return
	}
	if len(f.Loosens) > 0 {
		fmt.Fprintf(w, "%s (sha256 %.12s) loosens:\n", f.File, f.SHA256)
		showLines(w, f.Loosens, f.lines)
	}
	if len(f.Drops) > 0 {
		fmt.Fprintf(w, "%s (sha256 %.12s) takes back what made it stricter when it was trusted:\n", f.File, f.SHA256)
		showLines(w, f.Drops, f.oldLines)
	}
}

// showLines writes settings with the lines that they stand in.
func showLines(w io.Writer, list []loosensJSON, lines []string) {
	for _, x := range list {
		fmt.Fprintf(w, "  %s: %s\n", visible(x.Key), visible(x.Text))
		for n := x.Line; n <= x.Last && n <= len(lines); n++ {
			fmt.Fprintf(w, "  %5d | %s\n", n, visible(strings.TrimSuffix(lines[n-1], "\r")))
		}
	}
}

// done says what came of it.
func (j trustJSON) done(w io.Writer) {
	for _, f := range j.Files {
		switch {
		case f.Before:
			fmt.Fprintf(w, "%s is trusted as it is\n", f.File)
		case f.data == nil:
			fmt.Fprintf(w, "%s: what was trusted of it is forgotten\n", f.File)
		default:
			fmt.Fprintf(w, "%s is trusted: %s\n", f.File, count(len(f.Loosens)+len(f.Drops), "setting")+" loosened")
		}
	}
	if len(j.Files) == 0 {
		fmt.Fprintln(w, "this repository has no settings of its own")
	}
}
