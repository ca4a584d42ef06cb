package gate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/undo"
)

// modelPaths are the paths of the model. No content occurs at two of them, so that nothing is a rename or a copy.
func modelPaths() []string { return []string{"a", "b", "c", "d/e", "f/g/h"} }

// textOf is one of sixteen contents of a path. Two of them differ in its first line, its last, or both, which are two hunks.
func textOf(p string, n int) string { return fmt.Sprintf("%s%d\n%s=\n%s%d", p, n%4, p, p, n/4) }

// committedFiles are those of the repository's one commit.
func committedFiles() map[string]string {
	return map[string]string{"a": textOf("a", 0), "b": textOf("b", 0), "d/e": textOf("d/e", 0)}
}

// someText draws what a path may hold; the first is the base.
func (m *model) someText(p string) string {
	return textOf(p, pick(m.rt, "content", []int{0, 1, 2, 4, 5, 6, 9, 10}))
}

// step is one path of a set going from one content to another; "" is nothing.
type step struct{ path, from, to string }

// modelSet is a change set as the model sees it.
type modelSet struct {
	session int
	state   change.State
	steps   []step // what the set proposes, or what of it landed
	reverts int
	// alone: the set landed without a person.
	alone      bool
	landedAs   change.State
	credential string
	// landing counts the landings up to this one.
	landing int
}

// agentSide is a session: what its shadow holds, and what it last saw of the real tree.
type agentSide struct {
	id, tree   string
	held, base map[string]string
}

// model is the whole of what should be so, in maps.
type model struct {
	*world
	rt       *rapid.T
	real     map[string]string
	sessions []*agentSide
	sets     map[int]*modelSet
	refused  map[string]bool
	last     int
	landings int
}

func (m *model) key(s step) string { return fmt.Sprintf("%q", s) }

func TestModel(t *testing.T) {
	checks(t, 25)
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "model")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := &model{
			rt: rt, real: committedFiles(), sets: map[int]*modelSet{}, refused: map[string]bool{},
		}
		m.world = newWorld(rt, dir, m.real)
		m.config.Policy.SessionFiles = 1 << 20
		for range 2 {
			m.openShadow()
		}
		m.check()
		for range rapid.IntRange(10, 40).Draw(rt, "steps") {
			m.act()
			m.check()
		}
		m.fsck()
	})
}

func (m *model) openShadow() {
	g := m.open()
	defer g.Close()
	ses, _, err := g.OpenShadow(context.Background(), gate.ShadowOptions{Backend: "copy"})
	if err != nil {
		m.rt.Fatal(err)
	}
	s := &agentSide{id: ses.Session, tree: ses.Tree, held: map[string]string{}, base: map[string]string{}}
	for p, text := range m.real {
		s.held[p], s.base[p] = text, text
	}
	m.sessions = append(m.sessions, s)
}

// act does one thing that an agent or a person could do.
func (m *model) act() {
	switch pick(m.rt, "action", m.actions()) {
	case "write":
		m.agentWrites(pick(m.rt, "session", []int{0, 1}))
	case "save":
		p := m.somePath()
		// A save where something waits or has landed is the one that matters.
		if id := m.some(func(s *modelSet) bool { return s.state.Waits() || s.state.Landed() }); id > 0 {
			p = m.sets[id].steps[0].path
		}
		text := m.someText(p)
		m.write(m.root(), p, text)
		m.real[p] = text
	case "submit":
		n := pick(m.rt, "session", []int{0, 1})
		for range pick(m.rt, "writes before", []int{0, 1, 2, 3}) {
			m.agentWrites(n)
		}
		m.submit(n)
	case "approve":
		m.approve()
	case "approve hunks":
		m.approveHunks()
	case "reject":
		m.turnDown(change.StateRejected)
	case "skip":
		m.turnDown(change.StateSkipped)
	case "undo":
		m.undo()
	case "undo alone":
		m.undoAlone()
	case "redo":
		m.redo()
	}
}

// actions are those that can come to something.
func (m *model) actions() []string {
	list := []string{"write", "save", "submit", "submit", "submit"}
	for _, s := range m.sets {
		if s.state == change.StatePending {
			list = append(list, "approve", "approve", "reject", "skip")
			break
		}
	}
	if len(m.withHunks()) > 0 {
		list = append(list, "approve hunks", "approve hunks", "approve hunks", "approve hunks")
	}
	for _, s := range m.sets {
		if s.state.Landed() {
			return append(list, "undo", "undo alone", "redo")
		}
	}
	return list
}

// agentWrites changes, makes or deletes a file of a shadow.
func (m *model) agentWrites(n int) {
	s, p, text := m.sessions[n], m.somePath(), ""
	if pick(m.rt, "keep", []bool{true, true, true, false}) {
		text = m.someText(p)
	}
	m.write(s.tree, p, text)
	s.held[p] = text
}

// pick draws one of list, each as likely as the others: what the library draws by itself leans to the front.
func pick[T any](rt *rapid.T, label string, list []T) T {
	return rapid.Permutation(list).Draw(rt, label)[0]
}

func (m *model) somePath() string { return pick(m.rt, "path", modelPaths()) }

// some draws the number of a set that passes want, or 0 when there is none.
func (m *model) some(want func(*modelSet) bool) int {
	var list []int
	for id, s := range m.sets {
		if want(s) {
			list = append(list, id)
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return pick(m.rt, "set", list)
}

// check compares the model with the disk and with what a new process reads in the ledger.
func (m *model) check() {
	m.compare("the real tree", m.root(), m.real)
	for _, s := range m.sessions {
		m.compare("shadow "+s.id, s.tree, s.held)
	}
	g := m.open()
	defer g.Close()
	for id := 1; id <= g.State().Last; id++ {
		e := g.State().Sets[id]
		if m.sets[id] == nil || e.State != m.sets[id].state {
			m.rt.Fatalf("#%d is %s, the model has %+v", id, e.State, m.sets[id])
		}
	}
	if g.State().Last != m.last {
		m.rt.Fatalf("%d sets, the model has %d", g.State().Last, m.last)
	}
}

func (m *model) compare(what, root string, want map[string]string) {
	for _, p := range modelPaths() {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			m.rt.Fatal(err)
		}
		if string(b) != want[p] {
			m.rt.Fatalf("%s: %s holds %q, the model has %q", what, p, b, want[p])
		}
	}
}

// fits reports whether the real tree holds what every step starts from.
func (m *model) fits(steps []step) bool {
	for _, s := range steps {
		if m.real[s.path] != s.from {
			return false
		}
	}
	return true
}

// land switches steps in the model; of is the session whose shadow proposed them, or nil.
func (m *model) land(steps []step, of *agentSide) {
	for _, s := range steps {
		m.real[s.path] = s.to
		delete(m.refused, m.key(s))
		if of != nil {
			of.base[s.path] = s.to
		}
	}
}

func person() gate.Person { return gate.Person{Name: "dev", How: "terminal"} }

func (m *model) turnDown(to change.State) {
	id := m.some(func(s *modelSet) bool { return s.state == change.StatePending })
	if id == 0 {
		return
	}
	g := m.open()
	defer g.Close()
	var err error
	if to == change.StateRejected {
		_, err = g.Reject(context.Background(), id, gate.DecideOptions{Person: person(), Reason: "no"})
		for _, s := range m.sets[id].steps {
			m.refused[m.key(s)] = true
		}
	} else {
		_, err = g.Skip(context.Background(), id, gate.DecideOptions{Person: person()})
	}
	if err != nil {
		m.rt.Fatal(err)
	}
	m.sets[id].state = to
}

func (m *model) approve() {
	id := m.some(func(s *modelSet) bool { return s.state == change.StatePending })
	if id == 0 {
		return
	}
	set := m.sets[id]
	var only []change.Path
	var taken, rest []step
	for _, s := range set.steps {
		if len(set.steps) > 1 && pick(m.rt, "leave out", []bool{true, false}) {
			rest = append(rest, s)
			continue
		}
		taken = append(taken, s)
		only = append(only, change.Path(s.path))
	}
	if len(taken) == 0 || len(rest) == 0 {
		taken, rest, only = set.steps, nil, nil
	}
	m.landed(id, taken, rest, func(g *gate.Gate) error {
		_, err := g.Approve(context.Background(), id, gate.DecideOptions{Person: person(), Only: only})
		return err
	})
}

// approveHunks lets one of the two hunks of a waiting edit land.
func (m *model) approveHunks() {
	id := pick(m.rt, "set", m.withHunks())
	var edits []step
	for _, s := range m.sets[id].steps {
		if halves(s) != nil {
			edits = append(edits, s)
		}
	}
	edit := pick(m.rt, "edit", edits)
	hunk := pick(m.rt, "hunk", []int{1, 2})
	half := halves(edit)[hunk-1]
	rest := slices.Clone(m.sets[id].steps)
	rest[slices.Index(rest, edit)].from = half
	m.landed(id, []step{{edit.path, edit.from, half}}, rest, func(g *gate.Gate) error {
		e := g.State().Sets[id]
		only := []change.Path{change.Path(edit.path)}
		hunks, err := g.ChooseHunks(context.Background(), e, only, fmt.Sprint(hunk))
		if err != nil || hunks == nil {
			m.rt.Fatalf("hunk %d of %q: %v, %v", hunk, edit, hunks, err)
		}
		_, err = g.Approve(context.Background(), id, gate.DecideOptions{Person: person(), Only: only, Hunks: hunks})
		return err
	})
}

// withHunks are the waiting sets with an edit that has two hunks.
func (m *model) withHunks() []int {
	var list []int
	for id, s := range m.sets {
		if s.state == change.StatePending && slices.ContainsFunc(s.steps, func(s step) bool { return halves(s) != nil }) {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// halves are what each hunk of an edit comes to by itself, where there are two.
func halves(s step) []string {
	if s.from == "" || s.to == "" {
		return nil
	}
	old, new := strings.SplitAfter(s.from, "\n"), strings.SplitAfter(s.to, "\n")
	first, last := new[0]+old[1]+old[2], old[0]+old[1]+new[2]
	if first == s.from || first == s.to {
		return nil
	}
	return []string{first, last}
}

// landed runs an approval by which taken lands of a set, and rest is left to wait.
func (m *model) landed(id int, taken, rest []step, run func(*gate.Gate) error) {
	g := m.open()
	defer g.Close()
	err := run(g)
	set := m.sets[id]
	var stale *gate.StaleError
	switch fits := m.fits(taken); {
	case !fits && errors.As(err, &stale):
		set.state = change.StateStale
		return
	case !fits || err != nil:
		m.rt.Fatalf("approve %q of #%d: fits %t, got %v", taken, id, fits, err)
	}
	m.land(taken, m.sessions[set.session])
	set.state, set.steps = change.StateApplied, taken
	if len(rest) > 0 {
		set.state = change.StatePartiallyAccepted
		m.last++
		if left := m.proposed(g.State().Sets[m.last].Files); !slices.Equal(left, rest) || g.State().Sets[m.last].Parent != id {
			m.rt.Fatalf("#%d is what is left of #%d: %q, the model has %q", m.last, id, left, rest)
		}
		m.sets[m.last] = &modelSet{session: set.session, state: change.StatePending, steps: rest}
	}
	set.landedAs = set.state
	m.landings++
	set.landing = m.landings
}

func (m *model) undo() {
	if rapid.Bool().Draw(m.rt, "last") {
		id := m.newest(func(s *modelSet) bool { return s.reverts == 0 })
		m.revert(id, false, func(g *gate.Gate) (gate.Result, error) { return g.UndoLast(context.Background(), person()) })
		return
	}
	id := m.some(func(s *modelSet) bool { return s.state.Landed() })
	if id > 0 {
		m.revert(id, false, func(g *gate.Gate) (gate.Result, error) { return g.Undo(context.Background(), id, person()) })
	}
}

// newest is the number of the set that landed last of those that are landed and wanted, 0 for none.
func (m *model) newest(want func(*modelSet) bool) int {
	id := 0
	for i, s := range m.sets {
		if s != nil && s.state.Landed() && want(s) && (id == 0 || s.landing > m.sets[id].landing) {
			id = i
		}
	}
	return id
}

func (m *model) redo() {
	id := m.newest(func(s *modelSet) bool { return s.reverts != 0 && m.sets[s.reverts].reverts == 0 })
	m.revert(id, false, func(g *gate.Gate) (gate.Result, error) { return g.Redo(context.Background(), person()) })
}

// undoAlone takes a set back by its credential as an agent would: only what landed by itself.
func (m *model) undoAlone() {
	id := m.some(func(s *modelSet) bool { return s.credential != "" && s.state.Landed() })
	if id == 0 {
		return
	}
	if credential := m.sets[id].credential; m.sets[id].alone {
		m.revert(id, true, func(g *gate.Gate) (gate.Result, error) {
			return g.UndoCredential(context.Background(), credential, nil)
		})
		return
	}
	g := m.open()
	defer g.Close()
	_, err := g.UndoCredential(context.Background(), m.sets[id].credential, nil)
	var refused *gate.PersonError
	if !errors.As(err, &refused) {
		m.rt.Fatalf("an agent takes back what a person let in: %v", err)
	}
}

// revert runs an undo that should take back set id (0: there is nothing to take back).
func (m *model) revert(id int, alone bool, run func(*gate.Gate) (gate.Result, error)) {
	g := m.open()
	defer g.Close()
	r, err := run(g)
	var usage *gate.UsageError
	if id == 0 {
		if !errors.As(err, &usage) {
			m.rt.Fatalf("nothing to take back, got %v", err)
		}
		return
	}
	set := m.sets[id]
	var back []step
	for _, s := range set.steps {
		back = append(back, step{s.path, s.to, s.from})
	}
	var stale *gate.StaleError
	switch fits := m.fits(back); {
	case !fits && errors.As(err, &stale):
		return
	case !fits || err != nil:
		m.rt.Fatalf("undo of #%d: fits %t, got %v", id, fits, err)
	}
	m.last++
	m.landings++
	by := &modelSet{landing: m.landings, session: set.session, state: change.StateApplied, landedAs: change.StateApplied, steps: back, reverts: id, alone: alone, credential: r.Credential}
	m.sets[m.last] = by
	m.land(back, nil)
	m.turn(set, by, false)
	side := m.sessions[set.session]
	for _, s := range back {
		switch side.held[s.path] {
		case s.from:
			side.held[s.path], side.base[s.path] = s.to, s.to
		case s.to:
			side.base[s.path] = s.to
		}
	}
	if undo.CredentialDigest(r.Credential) != r.Entry.Credential {
		m.rt.Fatalf("undo of #%d: credential %q", id, r.Credential)
	}
}

// turn marks set as taken back by another, or as landed again, and what it had taken back the other way round.
func (m *model) turn(set, by *modelSet, landed bool) {
	for _, s := range set.steps {
		switch {
		case landed:
			delete(m.refused, m.key(s))
		case set.reverts == 0 && !by.alone:
			m.refused[m.key(s)] = true
		}
	}
	set.state = change.StateUndone
	if landed {
		set.state = set.landedAs
	}
	if set.reverts != 0 {
		m.turn(m.sets[set.reverts], by, !landed)
	}
}
