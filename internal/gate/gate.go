// Package gate orders the steps: it is the one place where preflight, verdict, record and landing follow each other. A
// change is looked at (pins, images), planned and judged under the ledger's lock, recorded, and only then landed, under
// the worktree's landing lock. Lock order is always session, landing, ledger.
//
// The gate owns no format. What it reads and writes lies in the packages it calls: the real tree changes only through
// internal/apply, state files only through internal/durable.
package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/tiers"
	"github.com/correx/correx/undo"
)

// Options is the world that a gate works in; nothing below reads it from anywhere else.
type Options struct {
	Repo   *repo.Repo
	Config config.Config
	// Unchanged reports whether the settings on the disk still are those in Config; nil where nobody else can change them.
	Unchanged func() (bool, error)
	// ShadowHome is the folder where shadows are made.
	ShadowHome string
	// Own are the places of correx's own files, as absolute paths: the program, the user's configuration, the shadows.
	Own   []string
	Clock func() time.Time
	Rand  io.Reader
	// Holder names this process in locks.
	Holder string
	// Escalator may raise the verdict on what is submitted; nil for none.
	Escalator Escalator
	// Agent says that it is an agent's process that asks.
	Agent bool
}

// Gate is correx at work in one worktree of a repository.
type Gate struct {
	repo   *repo.Repo
	config config.Config
	home   string
	own    []change.Path
	clock  func() time.Time
	rand   io.Reader
	holder string
	// unchanged is Options.Unchanged.
	unchanged func() (bool, error)

	escalator Escalator
	agent     bool

	tree   *durable.Root
	log    *ledger.Log
	state  *projection.State
	store  *undo.Store
	engine *apply.Engine
	// notices are what happened beside what was asked for, in words for a person.
	notices []string
}

// StateDir returns the folder of correx's state in a repository, given its common git directory.
func StateDir(commonDir string) string { return filepath.Join(commonDir, "correx") }

// Open reads the ledger, puts right what an interrupted landing left, and ends requests whose time is over. A repository where correx was never used is
// opened with an empty ledger; nothing is made on disk. A state folder that others can write to is refused.
func Open(ctx context.Context, o Options) (*Gate, error) {
	dir := StateDir(o.Repo.CommonDir())
	if err := durable.CheckPrivate(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	g := &Gate{
		repo: o.Repo, config: o.Config, home: o.ShadowHome, clock: o.Clock, rand: o.Rand, holder: o.Holder, escalator: o.Escalator, agent: o.Agent,
		state: projection.New(), store: undo.OpenStore(filepath.Join(dir, "store")),
	}
	if g.unchanged = o.Unchanged; g.unchanged == nil {
		g.unchanged = func() (bool, error) { return true, nil }
	}
	for _, p := range append(o.Own, o.ShadowHome) {
		if in, ok := g.InTree(p); ok {
			g.own = append(g.own, in)
		}
	}
	var err error
	if g.tree, err = durable.OpenRoot(o.Repo.Root()); err != nil {
		return nil, err
	}
	if g.engine, err = apply.Open(o.Repo.Root(), g.worktreeDir(), g.store); err != nil {
		return nil, errors.Join(err, g.tree.Close())
	}
	g.engine.Holder = o.Holder
	if g.log, err = ledger.Open(filepath.Join(dir, "ledger"), ledger.Options{Clock: o.Clock, Rand: o.Rand, Holder: o.Holder}); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	if err := g.refresh(); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	if err := g.recover(ctx); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	if err := g.endExpired(ctx); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// Close lets go of what the gate holds open.
func (g *Gate) Close() error {
	var errs []error
	if g.engine != nil {
		errs = append(errs, g.engine.Close())
	}
	return errors.Join(append(errs, g.tree.Close())...)
}

// State returns the ledger's view as of the last refresh. It must not be changed.
func (g *Gate) State() *projection.State { return g.state }

// Worktree returns the id of the worktree this gate works in.
func (g *Gate) Worktree() string { return g.worktree() }

// Config returns the configuration in force.
func (g *Gate) Config() config.Config { return g.config }

// Notices returns what happened beside what was asked for, in words for a person.
func (g *Gate) Notices() []string { return g.notices }

// Images returns the store of pre- and post-images.
func (g *Gate) Images() *undo.Store { return g.store }

// Set returns the change set with the given number, which must belong to this worktree.
func (g *Gate) Set(id int) (*projection.Entry, error) {
	e, ok := g.state.Sets[id]
	switch {
	case !ok:
		return nil, &UnknownSetError{ID: id, Last: g.state.Last}
	case e.Worktree != g.worktree():
		return nil, &WorktreeError{ID: id, Worktree: e.Worktree, Here: g.worktree()}
	}
	return e, nil
}

// Mode returns the mode in force: what a person set in the ledger, else the configuration's; never a looser one than the
// repository's files ask for.
func (g *Gate) Mode() change.Mode { return g.policy().Mode }

func (g *Gate) policy() tiers.Policy { return policyOf(g.config, g.state.Mode) }

// policyOf is the policy of a configuration where a person has set the mode, or none ("").
func policyOf(c config.Config, mode change.Mode) tiers.Policy {
	p := inMode(c, c.Policy, mode)
	if p.Untrusted != nil {
		trusting := inMode(c, *p.Untrusted, mode)
		p.Untrusted = &trusting
	}
	return p
}

// inMode returns p with the mode that a person set, if one did.
func inMode(c config.Config, p tiers.Policy, mode change.Mode) tiers.Policy {
	if mode == "" {
		return p
	}
	source := "set by correx mode"
	p.Mode = mode
	if floor := c.Floor; floor != "" && floor.StricterThan(p.Mode) {
		p.Mode, source = floor, c.FloorSource
	}
	p.Source = maps.Clone(p.Source)
	if p.Source == nil {
		p.Source = map[string]string{}
	}
	p.Source["mode"] = source
	return p
}

func (g *Gate) worktree() string { return g.repo.WorktreeID() }

func (g *Gate) worktreeDir() string {
	return filepath.Join(StateDir(g.repo.CommonDir()), "worktrees", filepath.FromSlash(g.worktree()))
}

// refresh folds in the events that were written since the last look.
func (g *Gate) refresh() error {
	events, err := g.log.Refresh()
	if err != nil {
		return err
	}
	return g.state.Fold(events)
}

// update appends the events that decide returns, which sees the state as of every event before them. The state has them
// folded in afterwards.
func (g *Gate) update(ctx context.Context, decide func() ([]ledger.Draft, error)) error {
	appended, err := g.log.Update(ctx, func(fresh []ledger.Event) ([]ledger.Draft, error) {
		if err := g.state.Fold(fresh); err != nil {
			return nil, err
		}
		return decide()
	})
	if err != nil {
		return err
	}
	if err := g.state.Fold(appended); err != nil {
		// The events are on the disk, whatever this process makes of them: nobody may act as if they were not.
		return fmt.Errorf("%w: %w", durable.ErrFlush, err)
	}
	return nil
}

// lockLanding takes the worktree's landing lock and recovers what an interrupted landing left.
func (g *Gate) lockLanding(ctx context.Context) (func() error, error) {
	if err := durable.MkdirAll(g.worktreeDir(), 0o700); err != nil {
		return nil, err
	}
	unlock, err := g.engine.Lock(ctx)
	if err != nil {
		return nil, err
	}
	if err := g.recoverLocked(ctx); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

func (g *Gate) lockSession(ctx context.Context, session string) (func() error, error) {
	dir := g.sessionDir(session)
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return durable.Lock(ctx, filepath.Join(dir, "lock"), g.holder)
}

func (g *Gate) sessionDir(session string) string {
	return filepath.Join(StateDir(g.repo.CommonDir()), "shadows", session)
}

// whyWords joins what a verdict says for a person.
func whyWords(v change.Verdict) string {
	out := ""
	for i, w := range v.Why {
		if i > 0 {
			out += "; "
		}
		out += w
	}
	if out == "" {
		return fmt.Sprintf("settled by %s", v.SettledBy)
	}
	return out
}

// asError is errors.As for the cases where the error may be nil.
func asError[T error](err error, target *T) bool { return err != nil && errors.As(err, target) }
