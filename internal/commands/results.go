package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/review"
)

// visible makes text from outside safe to print on one line.
func visible(s string) string {
	text, _ := review.Escape(s)
	return text
}

// resultLines says what became of one change set, and what can be done next, in at most four lines.
func resultLines(w io.Writer, r gate.Result) {
	fmt.Fprintln(w, summary(r.Entry))
	switch e := r.Entry; e.State {
	case change.StateApplied, change.StatePartiallyAccepted:
		if e.Reverts != 0 {
			fmt.Fprintf(w, "  took back #%d\n", e.Reverts)
		}
		grantLine(w, e)
		if r.Credential != "" {
			fmt.Fprintf(w, "  undo: correx undo %s\n", r.Credential)
		}
		switch {
		case e.State != change.StatePartiallyAccepted:
		case e.Hunks != nil:
			fmt.Fprintf(w, "  %s landed; the rest is #%d\n", hunkWords(e.Hunks), r.Rest)
		default:
			fmt.Fprintf(w, "  %d of %d files landed; the rest is #%d\n", len(e.Chosen()), len(e.Files), r.Rest)
		}
		if d := e.Decision; d.Steering != "" {
			fmt.Fprintf(w, "  steering: %s\n", visible(d.Steering))
		}
	case change.StatePending:
		fmt.Fprintf(w, "  why: %s\n", visible(why(e)))
		if e.Origin == change.OriginCommit {
			fmt.Fprintf(w, "  person: correx approve %d\n", e.ID)
		} else {
			fmt.Fprintf(w, "  person: correx approve %d    agent: correx wait %d, meanwhile go on with other files\n", e.ID, e.ID)
		}
		if at, ok := e.Expires(); ok {
			fmt.Fprintf(w, "  waits until %s\n", at.Local().Format("2006-01-02 15:04:05"))
		}
	case change.StateApproved:
		if e.Origin != change.OriginCommit {
			fmt.Fprintf(w, "  approved, not landed; to land it: correx approve %d\n", e.ID)
		}
	case change.StateDenied:
		fmt.Fprintf(w, "  why: %s\n", visible(why(e)))
	case change.StateRejected, change.StateSkipped, change.StateUndone:
		answerLines(w, e, true)
	case change.StateTimedOut:
		timedOutLines(w, e)
	case change.StateStale:
		for _, p := range e.Stale {
			path, _ := review.EscapePath(p.Path)
			fmt.Fprintf(w, "  changed in the real tree meanwhile: %s\n", path)
		}
		fmt.Fprintln(w, "  nothing was written; agent: keep what you need of the shadow's files, bring them to the real tree's content")
		fmt.Fprintln(w, "  with correx shadow reset PATH (their edits are given up), make the change again and submit")
	}
	if r.Err != nil {
		fmt.Fprintf(w, "  not landed: %s\n", visible(r.Err.Error()))
	}
}

// grantLine names the grants that let a set in.
func grantLine(w io.Writer, e *projection.Entry) {
	if len(e.GrantHits) > 0 {
		fmt.Fprintf(w, "  let in by grant %s\n", visible(strings.Join(e.GrantHits, ", ")))
	}
}

// timedOutLines says that nobody answered, which is no person's no.
func timedOutLines(w io.Writer, e *projection.Entry) {
	if e.Decision != nil {
		fmt.Fprintf(w, "  reason: %s\n", visible(e.Decision.Reason))
	}
	if e.Pending.Then == string(config.ExpiryDeny) {
		fmt.Fprintln(w, "  no person said no, and none said yes; agent: go on without it, and submit it again only if a person asks for it")
		return
	}
	fmt.Fprintln(w, "  no person said no; submitting the same bytes again asks again")
}

// answerLines gives a person's answer as an answer, not as a failure.
func answerLines(w io.Writer, e *projection.Entry, toAgent bool) {
	d := e.Decision
	if e.State == change.StateUndone {
		fmt.Fprintf(w, "  taken back by #%d; the same bytes are not asked about again\n", e.UndoneBy)
		return
	}
	if d == nil {
		return
	}
	if d.Reason != "" {
		fmt.Fprintf(w, "  reason: %s\n", visible(d.Reason))
	}
	if d.Steering != "" {
		fmt.Fprintf(w, "  steering: %s\n", visible(d.Steering))
	}
	if e.State == change.StateRejected && toAgent {
		fmt.Fprintln(w, "  this is a person's answer, not a failure: the same bytes are refused without asking again")
	}
}

// summary is one line about a change set.
func summary(e *projection.Entry) string {
	in := review.SetSummary{ID: e.ID, State: stateWord(e), Files: e.Chosen(), Agent: e.Agent, Session: e.Session, Origin: e.Origin}
	if e.Origin == change.OriginUndo {
		// Who wrote what is taken back is the other set's business.
		in.Agent = ""
	}
	return review.SetLine(in)
}

// stateWord is the state as a person reads it.
func stateWord(e *projection.Entry) string {
	switch e.State {
	case change.StatePending:
		return "waiting"
	case change.StateApplied:
		return "applied"
	case change.StateApproved:
		if e.Origin != change.OriginCommit {
			return "approved, not landed"
		}
	case change.StateSuperseded:
		if e.SupersededBy != 0 {
			return fmt.Sprintf("superseded by #%d", e.SupersededBy)
		}
		return "withdrawn"
	case change.StateUndone:
		return fmt.Sprintf("undone by #%d", e.UndoneBy)
	case change.StatePartiallyAccepted:
		return "partially accepted"
	case change.StateTimedOut:
		return "timed out"
	}
	return string(e.State)
}

func why(e *projection.Entry) string {
	out := ""
	for i, s := range e.Verdict.Why {
		if i > 0 {
			out += "; "
		}
		out += s
	}
	if out == "" {
		return "settled by " + e.Verdict.SettledBy
	}
	return out
}

// resultsReply renders results as text and JSON with the code that counts for all of them.
func resultsReply(session string, results []gate.Result, notices []string) *reply {
	j := submissionJSON{Session: session, Sets: []setJSON{}, Notices: notices}
	r := &reply{notices: notices}
	for _, x := range results {
		j.Sets = append(j.Sets, resultOf(x))
		r.code = worse(r.code, codeOfResult(x))
	}
	r.json = j
	r.text = func(w io.Writer) {
		for _, x := range results {
			resultLines(w, x)
		}
	}
	return r
}

// codeOfResult is what one result means for the exit code: why it did not land, else its state.
func codeOfResult(r gate.Result) int {
	if r.Err != nil {
		return codeOf(r.Err)
	}
	return codeOfState(r.Entry)
}
