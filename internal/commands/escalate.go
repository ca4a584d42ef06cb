package commands

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/escalate"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger/projection"
)

// escalateLimit is how long the user's program may look at one change set.
const escalateLimit = 5 * time.Second

// escalateJSON is what the program gets: a change set as show --json has it, without a number, and the mode in force.
type escalateJSON struct {
	Version int         `json:"version"`
	Mode    change.Mode `json:"mode"`
	setJSON
}

// escalator returns how the program of the user's own configuration is asked, or nil where there is none. Shadows are in
// the folder shadows.
func (s *site) escalator(env Env, shadows string) gate.Escalator {
	if len(s.config.Escalate) == 0 {
		return nil
	}
	outside := append(s.repo.Folders(), shadows)
	if s.inside {
		outside = append(outside, s.marker.Tree)
	}
	p := escalate.Program{Args: s.config.Escalate, Outside: outside, Env: env.programEnviron(), Limit: escalateLimit}
	return func(ctx context.Context, set change.Set, v change.Verdict, m change.Mode) (change.Outcome, string, error) {
		facts := escalateJSON{Version: 1, Mode: m, setJSON: setOf(&projection.Entry{Set: set, State: change.StateStaged, Verdict: v})}
		var b bytes.Buffer
		writeJSON(&b, facts)
		a, err := p.Ask(ctx, b.Bytes())
		if err != nil {
			return "", "", errors.New(escalate.Shorten(err.Error()))
		}
		switch a.Verdict {
		case "ask":
			return change.Ask, a.Reason, nil
		case "deny":
			return change.Deny, a.Reason, nil
		}
		return "", "", nil
	}
}
