package gate_test

import (
	"context"
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
)

// submit proposes a shadow, or a few paths of it, and checks the answer against the maps. Then it does so once more: the
// same bytes come to the same answer and no new event.
func (m *model) submit(n int) {
	side := m.sessions[n]
	o := gate.SubmitOptions{Session: side.id, Each: pick(m.rt, "each", []bool{false, false, true})}
	if pick(m.rt, "named", []bool{false, false, true}) {
		for _, p := range modelPaths() {
			if there := side.held[p] != "" || side.base[p] != ""; there && pick(m.rt, "name "+p, []bool{true, false}) {
				o.Paths = append(o.Paths, change.Path(p))
			}
		}
	}
	g := m.open()
	defer g.Close()
	done, err := g.Submit(context.Background(), o)
	if err != nil {
		m.rt.Fatal(err)
	}
	m.answer(n, o, g, done)
	m.sameAgain(n, o)
}

// changes are the paths in scope that differ, and whether the real file of each is not what the shadow last saw.
func (m *model) changes(side *agentSide, scope []change.Path) map[string]bool {
	moved := map[string]bool{}
	for _, p := range modelPaths() {
		if len(scope) > 0 && !slices.Contains(scope, change.Path(p)) || side.held[p] == side.base[p] {
			continue
		}
		if side.held[p] == m.real[p] {
			side.base[p] = m.real[p]
			continue
		}
		moved[p] = m.real[p] != side.base[p]
	}
	return moved
}

// answer checks a submission's answer and brings the model up to it.
func (m *model) answer(n int, o gate.SubmitOptions, g *gate.Gate, done *gate.Submission) {
	side := m.sessions[n]
	moved := m.changes(side, o.Paths)
	first := m.last + 1
	m.adopt(n, g)
	seen, answered := map[string]int{}, map[string]bool{}
	for _, r := range done.Sets {
		set, steps := m.sets[r.ID], m.proposed(r.Entry.Files)
		fresh := r.ID >= first
		if r.Before && (r.State == change.StateRejected || r.State == change.StateUndone) {
			m.refusal(side, steps, moved, answered, r.ID)
			continue
		}
		stale, refused := false, true
		for _, s := range steps {
			if was, twice := seen[s.path]; twice {
				m.rt.Fatalf("%s is in #%d and in #%d", s.path, was, r.ID)
			}
			seen[s.path] = r.ID
			is, changed := moved[s.path]
			if changed && s.to != side.held[s.path] {
				m.rt.Fatalf("#%d proposes %q for %s, the shadow holds %q", r.ID, s.to, s.path, side.held[s.path])
			}
			if !changed && !(r.Before && fresh) {
				m.rt.Fatalf("#%d has %s, which is not changed or not named", r.ID, s.path)
			}
			stale = stale || is
			refused = refused && m.refused[m.key(s)]
		}
		rest := r.Before && fresh
		byItself := len(steps) == 1 && steps[0].to != "" && !rollsBack(steps[0])
		switch {
		case stale && r.State == change.StateStale:
		case rest && !m.fits(steps) && r.State == change.StateStale:
		case !fresh && r.State == change.StatePending && !stale:
		case fresh && !rest && !stale && !refused && byItself && r.State == change.StateApplied && r.Credential != "":
			if !m.fits(steps) {
				m.rt.Fatalf("#%d landed on something else", r.ID)
			}
			m.land(steps, side)
			m.landings++
			set.alone, set.landedAs, set.credential, set.landing = true, change.StateApplied, r.Credential, m.landings
		case fresh && !stale && (rest || !refused && !byItself) && r.State == change.StatePending:
		default:
			m.rt.Fatalf("#%d is %s: fresh %t, rest %t, stale %t, refused %t, steps %q", r.ID, r.State, fresh, rest, stale, refused, steps)
		}
	}
	for p := range moved {
		// Of several refusals the first is the answer.
		if said := m.refused[m.key(step{p, side.base[p], side.held[p]})] && len(done.Sets) > 0; seen[p] == 0 && !answered[p] && !said {
			m.rt.Fatalf("%s is changed and in no set", p)
		}
	}
	m.noneLeft(n, o, done)
}

// rollsBack reports whether s puts what was committed in the place of something else, as only a shadow does that an undo
// has brought back to it while another set of its session landed.
func rollsBack(s step) bool {
	_, committed := committedFiles()[s.path]
	return committed && s.from != "" && s.to == textOf(s.path, 0)
}

// refusal takes the answer that a person said no before: it stands for the whole set while that is unchanged, and for
// those of its paths that are as they were refused.
func (m *model) refusal(side *agentSide, steps []step, moved, answered map[string]bool, id int) {
	is := func(s step) bool { _, changed := moved[s.path]; return changed && s.to == side.held[s.path] }
	whole := m.sets[id].session == m.number(side) && !slices.ContainsFunc(steps, func(s step) bool { return !is(s) || s.from != side.base[s.path] })
	stands := whole
	for _, s := range steps {
		if is(s) && (whole || m.refused[m.key(s)]) {
			stands, answered[s.path] = true, true
		}
	}
	if !stands {
		m.rt.Fatalf("#%d is the answer to nothing that is there", id)
	}
}

func (m *model) number(side *agentSide) int { return slices.Index(m.sessions, side) }

// proposed turns files into steps, in contents.
func (m *model) proposed(files []change.FileChange) []step {
	var steps []step
	for _, f := range files {
		steps = append(steps, step{string(f.Path), m.text(f.Path, f.Base), m.text(f.Path, f.Proposed)})
	}
	return steps
}

// text finds the content that a pin names: there are only a few.
func (m *model) text(p change.Path, pin change.Pin) string {
	if !pin.Exists() {
		return ""
	}
	for n := range 16 {
		text := textOf(string(p), n)
		if pin.SHA256 == digest(text) {
			return text
		}
	}
	m.rt.Fatalf("%s is pinned with a content nobody wrote", p)
	return ""
}

// adopt takes over new sets, and what became of old ones of this session that were decided on or are replaced.
func (m *model) adopt(n int, g *gate.Gate) {
	for id, e := range g.State().Sets {
		set := m.sets[id]
		if set == nil {
			m.sets[id] = &modelSet{session: n, state: e.State, steps: m.proposed(e.Files)}
			m.last = max(m.last, id)
			continue
		}
		if set.state == e.State {
			continue
		}
		replaced := e.State == change.StateSuperseded && slices.Contains([]change.State{
			change.StatePending, change.StateRejected, change.StateSkipped, change.StateStale,
		}, set.state)
		stale := e.State == change.StateStale && set.state == change.StatePending
		if set.session != n || !replaced && !stale {
			m.rt.Fatalf("#%d went from %s to %s", id, set.state, e.State)
		}
		set.state = e.State
	}
}

// noneLeft: after a whole submission every waiting set of the session holds what the shadow holds, and was reported.
func (m *model) noneLeft(n int, o gate.SubmitOptions, done *gate.Submission) {
	for id, set := range m.sets {
		if set.session != n || set.state != change.StatePending || len(o.Paths) > 0 {
			continue
		}
		if !slices.ContainsFunc(done.Sets, func(r gate.Result) bool { return r.ID == id }) {
			m.rt.Fatalf("#%d waits and was not reported", id)
		}
		for _, s := range set.steps {
			if s.to != m.sessions[n].held[s.path] {
				m.rt.Fatalf("#%d waits with %q for %s, the shadow holds %q", id, s.to, s.path, m.sessions[n].held[s.path])
			}
		}
	}
}

// sameAgain submits once more.
func (m *model) sameAgain(n int, o gate.SubmitOptions) {
	for _, p := range o.Paths {
		if side := m.sessions[n]; side.held[string(p)] == "" && side.base[string(p)] == "" {
			return // what is nowhere any more cannot be named
		}
	}
	g := m.open()
	defer g.Close()
	before := g.State().Seq
	done, err := g.Submit(context.Background(), o)
	if err != nil {
		m.rt.Fatal(err)
	}
	m.changes(m.sessions[n], o.Paths)
	if g.State().Seq != before {
		m.rt.Fatalf("the same bytes again made %d events", g.State().Seq-before)
	}
	for _, r := range done.Sets {
		if !r.Before {
			m.rt.Fatalf("the same bytes again made #%d, which is %s", r.ID, r.State)
		}
	}
}
