package commands

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/review"
)

type grantJSON struct {
	ID    string       `json:"id"`
	Scope grants.Scope `json:"scope"`
	Ops   []change.Op  `json:"ops"`
	Paths []string     `json:"paths"`
	Exact string       `json:"exact,omitempty"`
	// Expires is when it stops to count; empty for never.
	Expires string `json:"expires,omitempty"`
	Session string `json:"session,omitempty"`
	Stage   string `json:"stage,omitempty"`
	// Source is where it is written: an event, or a file and line.
	Source  string `json:"source"`
	Counts  bool   `json:"counts"`
	Why     string `json:"why,omitempty"`
	By      string `json:"by,omitempty"`
	At      string `json:"at,omitempty"`
	Set     int    `json:"change_set,omitempty"`
	Uses    int    `json:"uses"`
	LastUse string `json:"last_use,omitempty"`
	LastSet int    `json:"last_change_set,omitempty"`
}

func grantOf(v gate.GrantView) grantJSON {
	return grantJSON{
		ID: v.ID, Scope: v.Scope, Ops: v.Ops, Paths: v.Paths, Exact: v.Exact, Expires: v.Expires, Session: v.Session, Stage: v.Stage,
		Source: v.Source, Counts: v.Void == "", Why: v.Void, By: v.By, At: v.At, Set: v.Set, Uses: v.Uses, LastUse: v.LastUse, LastSet: v.LastSet,
	}
}

// words is a grant in one line.
func (j grantJSON) words() string {
	var ops, paths []string
	for _, op := range j.Ops {
		ops = append(ops, string(op))
	}
	for _, p := range j.Paths {
		shown, _ := review.Escape(p)
		paths = append(paths, `"`+shown+`"`)
	}
	text := fmt.Sprintf("%s of %s", strings.Join(ops, ", "), strings.Join(paths, ", "))
	if j.Exact != "" {
		text += fmt.Sprintf(", exactly the change %.12s", j.Exact)
	}
	switch j.Scope {
	case grants.Session:
		text += ", for this session"
	case grants.Stage:
		text += ", for this stage"
	case grants.Project:
		text += ", for the project"
	}
	if j.Expires != "" {
		text += ", until " + j.Expires
	}
	return text
}

// write says what a grant covers, how it was used and how it is taken back.
func (j grantJSON) write(w io.Writer, now time.Time) {
	fmt.Fprintf(w, "%s  %s\n", visible(j.ID), j.words())
	if !j.Counts {
		fmt.Fprintf(w, "  does not count: %s\n", visible(j.Why))
	}
	from := visible(j.Source)
	if j.Session != "" {
		from = "session " + visible(j.Session)
	}
	if j.Stage != "" {
		from += ", stage " + strconv.Quote(j.Stage)
	}
	uses := "not used yet"
	if at, err := time.Parse(projection.MomentFormat, j.LastUse); err == nil {
		uses = fmt.Sprintf("used %s, last by #%d, %s", times(j.Uses), j.LastSet, review.Age(now.Sub(at)))
	}
	fmt.Fprintf(w, "  %s; %s; to take it back: correx grant revoke %s\n", from, uses, visible(j.ID))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
