package gate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/preflight"
)

// ProjectGrant is what became of a grant that was written into a repository's file.
type ProjectGrant struct {
	config.Grant
	// Trusted says that the file is trusted as it is now, so that the grant counts.
	Trusted bool
}

// AddProjectGrant writes a grant behind all that stands in .correx.toml, every byte of which stays, unless it is there. In order:
// the file is read, never through a symlink; the record that a person let these bytes in, as for a commit; the landing, with the
// grant's event for its commit point; and where the file was trusted as it was, or was not there, its new bytes are.
// A failure before the commit point leaves no grant and the file as it was, an *EditedError what somebody saved meanwhile; one
// after it leaves a grant that counts after `correx trust`.
func (g *Gate) AddProjectGrant(ctx context.Context, o GrantOptions, store config.TrustStore) (ProjectGrant, error) {
	out := ProjectGrant{}
	if _, err := o.check(); err != nil {
		return out, err
	}
	err := g.editConfig(ctx, edit{file: config.RepositoryFile, store: store, change: func(was config.Source) ([]byte, error) {
		data, made, err := config.AppendGrant(was, config.Table{Ops: o.Ops, Paths: o.Paths, Exact: o.Exact, Expires: o.Expires})
		out.Grant = made
		return data, err
	}, by: o.Person, message: "written by correx grant", trusted: &out.Trusted, event: func(landing string) (ledger.Type, any) {
		stored := grants.Grant{ID: out.ID, Scope: grants.Project, Ops: out.Ops, Paths: out.Texts, Exact: out.Exact, Expires: out.Expires}
		return ledger.GrantLoadedFromProject, projection.GrantLoaded{Grant: stored, File: config.RepositoryFile, Set: o.Set, How: o.How, Landing: landing}
	}})
	return out, err
}

// RevokeProjectGrant takes every table of a grant out of the repository's files; every other byte stays. The steps are those
// of AddProjectGrant.
func (g *Gate) RevokeProjectGrant(ctx context.Context, id string, by Person, store config.TrustStore) error {
	found := 0
	for _, file := range []string{config.RepositoryFile, config.LocalFile} {
		n := 0
		err := g.editConfig(ctx, edit{file: file, store: store, change: func(was config.Source) (data []byte, err error) {
			data, n, err = config.RemoveGrants(was, id)
			if n == 0 {
				data = nil
			}
			return data, err
		}, by: by, message: "written by correx grant", event: func(landing string) (ledger.Type, any) {
			return ledger.GrantRevoked, projection.GrantRevoked{Grant: id, Scope: grants.Project, How: by.How, Landing: landing}
		}})
		if err != nil {
			return err
		}
		found += n
	}
	if found == 0 {
		return &UnknownGrantError{ID: id}
	}
	return nil
}

// edit is what goes with the edit of a repository's file.
type edit struct {
	file string
	// change returns the new content, or nil to leave the file alone.
	change  func(config.Source) ([]byte, error)
	store   config.TrustStore
	by      Person
	message string
	// event returns the event of the edit, given the id of its landing.
	event func(landing string) (ledger.Type, any)
	// trusted, where it is not nil, is told whether the file is trusted afterwards.
	trusted *bool
}

// editConfig carries out an edit: it lands as any change does, under the landing lock from the first look on.
func (g *Gate) editConfig(ctx context.Context, e edit) (err error) {
	unlock, err := g.lockLanding(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	was, err := g.readConfig(e.file)
	if err != nil {
		return err
	}
	data, err := e.change(was)
	if err != nil {
		return err
	}
	keeps, err := e.store.Keeps(e.file, was.Data)
	if err != nil {
		return err
	}
	if data != nil {
		if err := g.landEdit(ctx, e, was, data); err != nil {
			return err
		}
		// Only now: what did not land is never trusted.
		if keeps {
			err = g.Trust(ctx, config.Trusted{File: e.file, Data: data}, e.by, e.store)
		}
	}
	if e.trusted != nil {
		*e.trusted = keeps && err == nil
	}
	return err
}

// landEdit records that a person let the edit in, and lands it. The commit point is the append of its event. A file that is no
// longer what was read is an *EditedError; the caller holds the landing lock.
func (g *Gate) landEdit(ctx context.Context, e edit, was config.Source, data []byte) error {
	id, err := g.approveEdit(ctx, e, was, data)
	if err != nil {
		return err
	}
	set := g.state.Sets[id]
	l := g.landingOf(set)
	t, event := e.event(l.ID)
	line, err := json.Marshal(event)
	if err != nil {
		return err
	}
	if err := g.log.Reserve(roomFor(l, 0) + int64(len(line))); err != nil {
		return err
	}
	err = g.carryOut(ctx, set, l, func(apply.Landed) error {
		return g.update(ctx, func() ([]ledger.Draft, error) {
			// An event that its set's state does not allow would stop every reader of the ledger: then the landing goes back.
			if now := g.state.Sets[id]; now.State != change.StateApproved || now.Grant != l.ID {
				return nil, &StateError{ID: id, State: now.State, By: now.SupersededBy, Want: "cannot land"}
			}
			b := &batch{gate: g, actor: e.by.actor()}
			b.add(t, l.ID, event)
			return b.drafts, nil
		})
	})
	var stale *StaleError
	if errors.As(err, &stale) {
		return &EditedError{File: e.file}
	}
	return err
}

// approveEdit records the edit as approved, and returns the number of its set: both ends are stored and pinned, the mode as it
// is on the disk.
func (g *Gate) approveEdit(ctx context.Context, e edit, was config.Source, data []byte) (id int, err error) {
	unshare, err := g.store.Share(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unshare()) }()
	end := preflight.Ends{Path: change.Path(e.file)}
	end.Base, err = preflight.Take(g.tree, g.store, end.Path)
	var busy *preflight.UnsteadyError
	if errors.As(err, &busy) || err == nil && !holds(end.Base, was.Data) {
		return 0, &EditedError{File: e.file}
	}
	if err == nil {
		end.Proposed, err = g.pinBytes(data, false)
	}
	if err != nil {
		return 0, err
	}
	if end.Base.Exists() {
		end.Proposed.Perm = end.Base.Perm
	}
	return g.approveEnds(ctx, []preflight.Ends{end}, e.by, e.message)
}

// holds reports whether a pin is that of a file with these bytes, or without bytes that of none.
func holds(pin change.Pin, data []byte) bool {
	if data == nil {
		return !pin.Exists()
	}
	return pin.Kind == change.KindFile && pin.SHA256 == config.Digest(data)
}

// readConfig reads one of the repository's files. What is there and no regular file is an error.
func (g *Gate) readConfig(file string) (config.Source, error) {
	repository, local, err := config.ReadRepository(g.repo.Root())
	if err != nil {
		return config.Source{}, err
	}
	if file == config.LocalFile {
		repository = local
	}
	repository.Name = file
	return repository, nil
}

// Trust records that a person trusts these bytes of one of the repository's files, or without bytes its absence, and then keeps
// it in the store: a crash in between leaves what was trusted before.
func (g *Gate) Trust(ctx context.Context, trusted config.Trusted, by Person, store config.TrustStore) error {
	file, data := trusted.File, trusted.Data
	event := projection.ConfigTrusted{File: file, How: by.How}
	if data != nil {
		event.SHA256 = config.Digest(data)
		rest, err := config.Loosens(config.Source{}, config.Source{Name: file, Data: data})
		if err != nil {
			return err
		}
		event.Loosens = len(rest)
	}
	if err := g.update(ctx, func() ([]ledger.Draft, error) {
		b := &batch{gate: g, actor: by.actor()}
		b.add(ledger.ConfigTrusted, "", event)
		return b.drafts, nil
	}); err != nil {
		return err
	}
	if data == nil {
		return store.Forget(file)
	}
	return store.Trust(file, data)
}
