package gate

import (
	"errors"
	"testing"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
)

// TestJournalNeedsADecision: recovery believes a journal only if the landing it names was allowed, as it stands there.
func TestJournalNeedsADecision(t *testing.T) {
	allowed := unit(1, change.StateApproved, "a:1>2 b:1>2")
	allowed.Grant, allowed.Digest, allowed.Only = "e-yes", change.Digest(allowed.Files), []change.Path{"b"}
	g := &Gate{state: projection.New()}
	g.state.Sets[1] = allowed
	right := apply.Landing{ID: "e-yes", Set: 1, Digest: allowed.Digest, Steps: stepsOf(files("b:1>2"))}
	if done, err := g.committed(right); done || err != nil {
		t.Errorf("got %v, %v", done, err)
	}
	for name, forge := range map[string]func(*apply.Landing){
		"another set":       func(l *apply.Landing) { l.Set = 2 },
		"no set":            func(l *apply.Landing) { l.Set = 0 },
		"another decision":  func(l *apply.Landing) { l.ID = "e-no" },
		"no decision":       func(l *apply.Landing) { l.ID = "" },
		"another digest":    func(l *apply.Landing) { l.Digest = change.Digest(nil) },
		"more paths":        func(l *apply.Landing) { l.Steps = stepsOf(allowed.Files) },
		"no path":           func(l *apply.Landing) { l.Steps = nil },
		"another path":      func(l *apply.Landing) { l.Steps = stepsOf(files("c:1>2")) },
		"another content":   func(l *apply.Landing) { l.Steps = stepsOf(files("b:1>3")) },
		"another base":      func(l *apply.Landing) { l.Steps = stepsOf(files("b:9>2")) },
		"deleted, not made": func(l *apply.Landing) { l.Steps = stepsOf(files("b:1>")) },
	} {
		l := right
		forge(&l)
		var journal *JournalError
		if done, err := g.committed(l); done || !errors.As(err, &journal) {
			t.Errorf("%s: got %v, %v", name, done, err)
		}
	}
	allowed.Grant, right.ID = "", ""
	var journal *JournalError
	if _, err := g.committed(right); !errors.As(err, &journal) {
		t.Errorf("a set that nobody allowed: %v", err)
	}
}
