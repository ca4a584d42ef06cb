package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/review"
)

type stepJSON struct {
	Name    string `json:"name"`
	Source  string `json:"source,omitempty"`
	Says    string `json:"says"`
	Result  string `json:"result"`
	Settled bool   `json:"settled"`
}

type explainJSON struct {
	ID        int             `json:"id,omitempty"`
	Verdict   change.Outcome  `json:"verdict"`
	Tier      change.Tier     `json:"tier"`
	Risk      change.Risk     `json:"risk"`
	Reasons   []change.Reason `json:"reasons"`
	Why       []string        `json:"why"`
	SettledBy string          `json:"settled_by"`
	Files     []explainedFile `json:"files"`
	// Recorded is the verdict that the ledger has for a change set.
	Recorded *change.Verdict `json:"recorded,omitempty"`
	Steps    []stepJSON      `json:"steps"`
}

type explainedFile struct {
	Path    string    `json:"path"`
	PathB64 []byte    `json:"path_b64,omitempty"`
	Op      change.Op `json:"op"`
}

// explainChange explains the one path, or the one change set, that the argument names.
func explainChange(ctx context.Context, c call) (*reply, error) {
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var x gate.Explanation
	j := explainJSON{}
	if arg := c.Args().First(); isNumber(arg) {
		if c.IsSet("op") {
			return nil, &gate.UsageError{Problem: "--op goes with a path; a change set has its own ops", Hint: "correx explain " + arg}
		}
		j.ID, x, err = explainSet(ctx, s, arg)
	} else {
		x, err = explainPath(ctx, s, arg, change.Op(c.String("op")))
	}
	if err != nil {
		return nil, err
	}
	if j.ID > 0 {
		if e := s.State().Sets[j.ID]; e.Verdict.Outcome != "" {
			j.Recorded = &e.Verdict
		}
	}
	j.fill(x)
	return &reply{json: j, notices: s.words(), verbatim: true, text: func(w io.Writer) { j.write(w, x) }}, nil
}

// isNumber reports whether an argument is a change set's number and no path; "./12" is a path.
func isNumber(arg string) bool {
	digits := strings.TrimPrefix(arg, "#")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

func explainSet(ctx context.Context, s *site, arg string) (int, gate.Explanation, error) {
	numbers, err := ids([]string{arg})
	if err != nil {
		return 0, gate.Explanation{}, err
	}
	x, err := s.ExplainSet(ctx, numbers[0])
	return numbers[0], x, err
}

func explainPath(ctx context.Context, s *site, arg string, op change.Op) (gate.Explanation, error) {
	paths, err := s.paths([]string{arg})
	if err != nil {
		return gate.Explanation{}, err
	}
	if len(paths) == 0 {
		return gate.Explanation{}, &gate.UsageError{Problem: "the whole repository is no path: name a file in it"}
	}
	session := ""
	if list := s.State().OpenSessions(s.Worktree()); s.inside {
		session = s.marker.Session
	} else if len(list) == 1 {
		session = list[0].Session
	}
	return s.ExplainPath(ctx, paths[0], op, session)
}

// fill takes over what was explained.
func (j *explainJSON) fill(x gate.Explanation) {
	j.Verdict, j.Tier, j.Risk, j.Reasons, j.SettledBy = x.Outcome, x.Tier, x.Risk, x.Reasons, x.SettledBy
	j.Why = append([]string{}, x.Why...)
	for _, f := range x.Files {
		one := explainedFile{Op: f.Op}
		one.Path, one.PathB64 = pathJSON(f.Path)
		j.Files = append(j.Files, one)
	}
	for _, st := range x.Steps {
		j.Steps = append(j.Steps, stepJSON{Name: st.Name, Source: st.Source, Says: st.Says, Result: st.Result, Settled: st.Settled})
	}
}

// write prints the explanation for a person: the verdict, then each step, the decisive one marked.
func (j *explainJSON) write(w io.Writer, x gate.Explanation) {
	safe := func(text string) string { visible, _ := review.Escape(text); return visible }
	what := fmt.Sprintf("#%d", j.ID)
	if j.ID == 0 {
		path, _ := review.EscapePath(x.Files[0].Path)
		what = fmt.Sprintf("%s of %s", x.Files[0].Op, path)
	}
	fmt.Fprintf(w, "%s: %s, %s, %s risk, settled by %s\n", what, j.Verdict, j.Tier, j.Risk, safe(j.SettledBy))
	for _, why := range j.Why {
		fmt.Fprintf(w, "  why: %s\n", safe(why))
	}
	if r := j.Recorded; r != nil {
		fmt.Fprintf(w, "  recorded when it was submitted: %s, %s, settled by %s\n", r.Outcome, r.Tier, safe(r.SettledBy))
	}
	fmt.Fprintln(w, "looked at, in this order:")
	for _, st := range j.Steps {
		mark, at := " ", ""
		if st.Settled {
			mark = ">"
		}
		if st.Source != "" && !strings.Contains(st.Says, st.Source) {
			at = " (" + safe(st.Source) + ")"
		}
		fmt.Fprintf(w, "%s %-12s %s: %s%s\n", mark, st.Result, safe(strings.TrimSuffix(st.Name, ":"+st.Source)), safe(st.Says), at)
	}
}
