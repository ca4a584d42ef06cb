package commands

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/review"
)

type whatIfJSON struct {
	Config    string           `json:"config"`
	Since     string           `json:"since"`
	Judged    int              `json:"judged"`
	Different []differenceJSON `json:"different"`
	// NotJudged are sets whose verdicts were recorded without what they were made from.
	NotJudged []int `json:"not_judged"`
	// ModeSet counts the judged sets at whose time a mode set by correx mode was in force, which counted again.
	ModeSet int        `json:"mode_set"`
	Asks    []asksJSON `json:"asks"`
}

type differenceJSON struct {
	ID       int             `json:"id"`
	Files    []explainedFile `json:"files"`
	Recorded outcomeJSON     `json:"recorded"`
	Would    outcomeJSON     `json:"would"`
}

type outcomeJSON struct {
	Verdict   change.Outcome  `json:"verdict"`
	SettledBy string          `json:"settled_by"`
	Tier      change.Tier     `json:"tier"`
	Reasons   []change.Reason `json:"reasons"`
	Why       []string        `json:"why"`
}

type asksJSON struct {
	SettledBy string `json:"settled_by"`
	Recorded  int    `json:"recorded"`
	Would     int    `json:"would"`
}

// explainWhatIf tells what recorded change sets would have come to by the configuration in a file.
func explainWhatIf(ctx context.Context, c call) (*reply, error) {
	const usage = "correx explain --since 7d --config FILE"
	switch {
	case c.NArg() > 0 || c.IsSet("op") || c.Bool("batch"):
		return nil, &gate.UsageError{Problem: "--since and --config are about recorded change sets: leave all else out", Hint: usage}
	case c.String("since") == "" || c.String("config") == "":
		return nil, &gate.UsageError{Problem: "--since and --config go together", Hint: usage}
	}
	span, err := spanOf(c.String("since"))
	if err != nil {
		return nil, err
	}
	path := c.String("config")
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.dir, path)
	}
	source, err := config.ReadPolicy(c.String("config"), path)
	if err != nil {
		return nil, err
	}
	conf, notices, err := config.LoadOne(source)
	if err != nil {
		return nil, err
	}
	s, err := locate(ctx, c)
	if err != nil {
		return nil, err
	}
	since := c.env.Clock().Add(-span)
	found, err := gate.TryPolicy(s.repo, ledger.Options{Clock: c.env.Clock, Rand: c.env.Rand, Holder: c.env.holder("explain")}, conf, since)
	if err != nil {
		return nil, err
	}
	r := &reply{json: whatIfOf(found, source.Name, since), verbatim: true, text: func(w io.Writer) { writeWhatIf(w, found, source.Name, since) }}
	for _, n := range notices {
		r.notices = append(r.notices, n.String())
	}
	return r, nil
}

// longestSpan keeps what a span leads back to a time that can be written down.
const longestSpan = 100 * 365 * 24 * time.Hour

// spanOf reads how far back to look: a duration, or days.
func spanOf(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 15)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 || d > longestSpan {
		return 0, &gate.UsageError{Problem: fmt.Sprintf("--since %q is not a time to look back like 90m, 12h or 30d", text), Hint: "correx explain --help"}
	}
	return d, nil
}

func whatIfOf(found gate.WhatIf, name string, since time.Time) whatIfJSON {
	j := whatIfJSON{
		Config: name, Since: timeJSON(since), Judged: found.Judged, ModeSet: found.ModeSet,
		Different: []differenceJSON{}, NotJudged: append([]int{}, found.Unjudged...), Asks: []asksJSON{},
	}
	for _, d := range found.Different {
		one := differenceJSON{ID: d.Set.ID, Recorded: outcomeOf(d.Recorded), Would: outcomeOf(d.Would)}
		for _, f := range d.Set.Files {
			file := explainedFile{Op: f.Op}
			file.Path, file.PathB64 = pathJSON(f.Path)
			one.Files = append(one.Files, file)
		}
		j.Different = append(j.Different, one)
	}
	for _, a := range found.Asks {
		j.Asks = append(j.Asks, asksJSON{SettledBy: a.SettledBy, Recorded: a.Recorded, Would: a.Would})
	}
	return j
}

func outcomeOf(v change.Verdict) outcomeJSON {
	return outcomeJSON{
		Verdict: v.Outcome, SettledBy: v.SettledBy, Tier: v.Tier,
		Reasons: append([]change.Reason{}, v.Reasons...), Why: append([]string{}, v.Why...),
	}
}

func writeWhatIf(w io.Writer, found gate.WhatIf, name string, since time.Time) {
	fmt.Fprintf(w, "%s since %s, judged by %s: ", count(found.Judged, "change set"), since.Local().Format("2006-01-02 15:04"), visible(name))
	if len(found.Different) == 0 {
		fmt.Fprintln(w, "nothing would have come out otherwise")
	} else {
		fmt.Fprintf(w, "%d would have come out otherwise\n", len(found.Different))
	}
	for _, d := range found.Different {
		fmt.Fprintf(w, "%s\n", review.SetLine(review.SetSummary{
			ID: d.Set.ID, State: wasWord(d.Recorded.Outcome) + ", would have " + wouldWord(d.Would.Outcome), Files: d.Set.Files,
			Agent: d.Set.Agent, Session: d.Set.Session, Origin: d.Set.Origin,
		}))
		fmt.Fprintf(w, "  settled by %s, then by %s\n", visible(d.Recorded.SettledBy), visible(d.Would.SettledBy))
		for _, why := range d.Would.Why {
			fmt.Fprintf(w, "  why: %s\n", visible(why))
		}
	}
	if len(found.Asks) > 0 {
		fmt.Fprintf(w, "asks, by what settled them:\n%9s %9s\n", "recorded", "then")
		for _, a := range found.Asks {
			fmt.Fprintf(w, "%9d %9d  %s\n", a.Recorded, a.Would, visible(a.SettledBy))
		}
	}
	if found.ModeSet > 0 {
		fmt.Fprintf(w, "for %d of them a mode set by correx mode was in force; it counts, whatever mode %s names\n", found.ModeSet, visible(name))
	}
	if len(found.Unjudged) > 0 {
		var list []string
		for _, id := range found.Unjudged {
			list = append(list, fmt.Sprintf("#%d", id))
		}
		fmt.Fprintf(w, "not judged, since their verdicts were recorded without what they were made from: %s\n", strings.Join(list, ", "))
	}
}

// wasWord says what became of a set by its verdict, and wouldWord what would have.
func wasWord(o change.Outcome) string {
	switch o {
	case change.Auto:
		return "passed"
	case change.Ask:
		return "asked"
	}
	return "was denied"
}

func wouldWord(o change.Outcome) string {
	switch o {
	case change.Auto:
		return "passed"
	case change.Ask:
		return "asked"
	}
	return "been denied"
}
