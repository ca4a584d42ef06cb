package commands

import (
	"fmt"
	"time"
)

// progress draws one line on a terminal's standard error while something takes longer than a moment. Elsewhere it is
// silent.
type progress struct {
	env   Env
	what  string
	begun time.Time
	shown time.Time
	on    bool
}

// quiet is how long work may take before a line appears, and redraw how often it changes.
const (
	quiet  = 400 * time.Millisecond
	redraw = 100 * time.Millisecond
)

func newProgress(env Env, what string) *progress {
	return &progress{env: env, what: what, begun: env.Clock(), on: isTerminal(env.Stderr) && env.get("TERM") != "dumb"}
}

// step reports that done of total are finished.
func (p *progress) step(done, total int) {
	if !p.on {
		return
	}
	now := p.env.Clock()
	if now.Sub(p.begun) < quiet || now.Sub(p.shown) < redraw {
		return
	}
	p.shown = now
	fmt.Fprintf(p.env.Stderr, "\r%s: %d of %d files ", p.what, done, total)
}

// done takes the line away.
func (p *progress) done() {
	if p.on && !p.shown.IsZero() {
		fmt.Fprint(p.env.Stderr, "\r\x1b[K")
	}
}
