package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/tiers"
	grading "github.com/correx/correx/tiers/command"
)

func (a *application) explainCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "explain", Category: groupEveryday, ArgsUsage: "PATH | ID | -- CMD…", Usage: "say what policy makes of a path, a change set or a shell command, and why",
		Description: "A path is judged as if its file were edited, or created, by no byte; a number is a change set. Every rule and limit\n" +
			"is listed in the order in which they count, with file and line, and which settled it.\n" +
			"One word behind -- is read as a line for bash, several are the words of one command. Each part that may run is\n" +
			"graded; the highest tier counts. What is not known, or not readable, always asks. A rule of [commands] in the\n" +
			"configuration that gave a part its tier is named, with file and line.\n" +
			"--batch reads a JSON object a line, {\"command\":…,\"root\":…,\"cwd\":…,\"home\":…} (only command is required),\n" +
			"and answers an object a line. A line that is no such object is answered with an error, and the exit status is 2.\n" +
			"Runs and writes nothing.\n\n" +
			"--since with --config judges the change sets since then anew, as if FILE were all the configuration there is, and says\n" +
			"which would have passed, asked or been denied instead. It reads the ledger alone: what was known of each set then, and\n" +
			"the budget as it would have been used.\n\n" +
			"   correx explain --op delete src/main.go\n   correx explain 12\n   correx explain -- 'git status && rm -rf build'\n" +
			"   correx explain --batch < commands.jsonl\n   correx explain --since 30d --config stricter.toml\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "op", Usage: "judge `OP`: create, edit, overwrite, delete or chmod"},
			&cli.StringFlag{Name: "since", Usage: "judge what was submitted in the last `DUR` anew: 12h, 30d"},
			&cli.StringFlag{Name: "config", Usage: "the `FILE` of settings to judge it by"},
			&cli.BoolFlag{Name: "batch", Usage: "grade the commands on standard input, a JSON object a line"},
		},
	}, runExplain)
}

func runExplain(ctx context.Context, c call) (*reply, error) {
	isCommand := slices.Contains(c.env.Args, "--")
	if (isCommand || c.Bool("batch")) && c.IsSet("op") {
		return nil, &gate.UsageError{Problem: "--op goes with a path", Hint: "correx explain --help"}
	}
	switch {
	case c.IsSet("since") || c.IsSet("config"):
		return explainWhatIf(ctx, c)
	case c.Bool("batch") && c.NArg() > 0:
		return nil, &gate.UsageError{Problem: "--batch takes its commands from standard input", Hint: "correx explain --batch < commands.jsonl"}
	case c.Bool("batch"):
		return explainEach(ctx, c)
	case isCommand:
		return explainLine(ctx, c)
	case c.NArg() != 1:
		return nil, &gate.UsageError{Problem: "name one path, one change set, or one command behind --", Hint: "correx explain --help"}
	}
	return explainChange(ctx, c)
}

// explainLine explains the command behind --.
func explainLine(ctx context.Context, c call) (*reply, error) {
	if c.NArg() == 0 {
		return nil, &gate.UsageError{Problem: "say which command, behind --", Hint: "correx explain -- 'git status'"}
	}
	in, mode, words, err := surroundings(ctx, c, true)
	if err != nil {
		return nil, err
	}
	text := grading.Join(c.Args().Slice())
	r := grading.Grade(text, in)
	j := gradeOf(text, r)
	j.Mode = mode
	j.Verdict, j.SettledBy = r.Verdict(mode)
	return &reply{json: j, notices: words, text: func(w io.Writer) { writeGrade(w, j) }}, nil
}

// surroundings returns where a command would run: in the repository, or the shadow, that the folder belongs to, and else
// in the folder itself. With judged it also says which mode holds there.
func surroundings(ctx context.Context, c call, judged bool) (grading.Context, change.Mode, []string, error) {
	home, _ := c.env.home()
	in := grading.Context{Root: c.dir, Cwd: c.dir, Home: home}
	mode := tiers.Default().Mode
	s, err := locateConfigured(ctx, c)
	if errors.Is(err, repo.ErrNotRepository) {
		return in, mode, nil, nil
	}
	if err != nil {
		return in, mode, nil, err
	}
	in.Root, in.Commands = s.repo.Root(), s.config.Commands
	if s.inside {
		in.Root = s.marker.Tree
	}
	if real, err := filepath.EvalSymlinks(c.dir); err == nil {
		in.Cwd = real
	}
	if real, err := filepath.EvalSymlinks(in.Root); err == nil {
		in.Root = real
	}
	in.Root, in.Cwd, in.Home = filepath.ToSlash(in.Root), filepath.ToSlash(in.Cwd), filepath.ToSlash(in.Home)
	if !judged {
		return in, mode, s.notices, nil
	}
	if err := s.openGate(ctx, c); err != nil {
		return in, mode, nil, err
	}
	defer s.Close()
	return in, s.Mode(), s.words(), nil
}

type gradeJSON struct {
	Command   string         `json:"command"`
	Tier      change.Tier    `json:"tier"`
	Verdict   change.Outcome `json:"verdict,omitempty"`
	Mode      change.Mode    `json:"mode,omitempty"`
	SettledBy string         `json:"settled_by,omitempty"`
	// Unclassified: no mode passes it without a person.
	Unclassified bool       `json:"unclassified"`
	Reasons      []string   `json:"reasons"`
	Parts        []partJSON `json:"parts"`
}

type partJSON struct {
	Part   string        `json:"part"`
	Tier   change.Tier   `json:"tier"`
	Reason change.Reason `json:"reason,omitempty"`
	Why    string        `json:"why"`
	// Rule is where the rule of [commands] stands that gave the tier.
	Rule string `json:"rule,omitempty"`
}

func gradeOf(text string, r grading.Result) gradeJSON {
	j := gradeJSON{Command: text, Tier: r.Tier, Unclassified: r.Unclassified, Reasons: r.Reasons, Parts: []partJSON{}}
	for _, p := range r.Parts {
		j.Parts = append(j.Parts, partJSON{p.Text, p.Tier, p.Reason, p.Why, p.Rule})
	}
	return j
}

func writeGrade(w io.Writer, j gradeJSON) {
	fmt.Fprintf(w, "%s  %s in mode %s (settled by %s)\n", j.Tier, j.Verdict, j.Mode, j.SettledBy)
	for _, p := range j.Parts {
		reason := ""
		if p.Reason != "" {
			reason = " (" + string(p.Reason) + ")"
		}
		fmt.Fprintf(w, "  %s  %s\n        %s%s\n", p.Tier, visible(p.Part), visible(p.Why), reason)
	}
}

// question is one line of --batch.
type question struct {
	Command *string `json:"command"`
	Root    string  `json:"root"`
	Cwd     string  `json:"cwd"`
	Home    string  `json:"home"`
}

// explainEach answers line by line, since whoever asks may wait for an answer before asking again.
func explainEach(ctx context.Context, c call) (*reply, error) {
	in, _, words, err := surroundings(ctx, c, false)
	if err != nil {
		return nil, err
	}
	code := codeDone
	lines := bufio.NewReader(c.env.Stdin)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		if len(line) > 0 {
			if problem := answerLine(c.env.Stdout, line, in); problem != nil {
				code = codeUsage
				fail := &gate.UsageError{Problem: fmt.Sprintf("line %d: %v", n, problem)}
				writeJSON(c.env.Stdout, failureJSON(fail, codeUsage, ""))
				fmt.Fprintf(c.env.Stderr, "correx: %s\n", visible(fail.Error()))
			}
		}
		if err != nil || ctx.Err() != nil {
			return &reply{code: code, notices: words}, ctx.Err()
		}
	}
}

// answerLine grades the command of one line.
func answerLine(w io.Writer, line []byte, in grading.Context) error {
	var q question
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return fmt.Errorf("is no object with a command: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("has something behind its object")
	}
	if q.Command == nil {
		return errors.New(`has no "command"`)
	}
	for _, p := range []string{q.Root, q.Cwd, q.Home} {
		if p != "" && !filepath.IsAbs(p) {
			return fmt.Errorf("names the folder %q, which is not absolute", p)
		}
	}
	if q.Root != "" {
		in.Root, in.Cwd = q.Root, q.Root
	}
	if q.Cwd != "" {
		in.Cwd = q.Cwd
	}
	if q.Home != "" {
		in.Home = q.Home
	}
	writeJSON(w, gradeOf(*q.Command, grading.Grade(*q.Command, in)))
	return nil
}
