package gate

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
)

// newConfigPerm is what a file of settings that correx writes whole may be done with, less the umask.
const newConfigPerm = 0o644

// ProjectGrant is what became of a grant that was written into a repository's file.
type ProjectGrant struct {
	config.Grant
	// Trusted says that the file is trusted as it is now, so that the grant counts.
	Trusted bool
}

// AddProjectGrant writes a grant behind all that stands in .correx.toml, every byte of which stays, unless it is there. In order, under a lock:
// the file is read, never through a symlink; the record that a person let these bytes in, as for a commit; the file is
// replaced, flushed; the event; and where the file was trusted as it was, or was not there, its new bytes are.
// A failure before the file is replaced leaves no grant; one after it leaves a grant that counts after `correx trust`.
func (g *Gate) AddProjectGrant(ctx context.Context, o GrantOptions, store config.TrustStore) (ProjectGrant, error) {
	out := ProjectGrant{}
	if _, err := o.check(); err != nil {
		return out, err
	}
	err := g.editConfig(ctx, edit{file: config.RepositoryFile, store: store, change: func(was config.Source) ([]byte, error) {
		data, made, err := config.AppendGrant(was, config.Table{Ops: o.Ops, Paths: o.Paths, Exact: o.Exact, Expires: o.Expires})
		out.Grant = made
		return data, err
	}, by: o.Person, message: "written by correx grant", trusted: &out.Trusted, event: func(b *batch) {
		stored := grants.Grant{ID: out.ID, Scope: grants.Project, Ops: out.Ops, Paths: out.Texts, Exact: out.Exact, Expires: out.Expires}
		b.add(ledger.GrantLoadedFromProject, "", projection.GrantLoaded{Grant: stored, File: config.RepositoryFile, Set: o.Set, How: o.How})
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
		}, by: by, message: "written by correx grant", event: func(b *batch) {
			b.add(ledger.GrantRevoked, "", projection.GrantRevoked{Grant: id, Scope: grants.Project, How: by.How})
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
	// event adds the event of the edit.
	event func(*batch)
	// trusted, where it is not nil, is told whether the file is trusted afterwards.
	trusted *bool
}

// editConfig carries out an edit.
func (g *Gate) editConfig(ctx context.Context, e edit) (err error) {
	dir := StateDir(g.repo.CommonDir())
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	unlock, err := durable.Lock(ctx, filepath.Join(dir, "config.lock"), g.holder)
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
	if data == nil {
		if e.trusted != nil {
			*e.trusted = keeps
		}
		return nil
	}
	if err := g.ApproveOwn(ctx, []OwnFile{{Path: change.Path(e.file), Before: was.Data, Content: data}}, e.by, e.message); err != nil {
		return err
	}
	if err := g.replaceConfig(was, data); err != nil {
		return err
	}
	if err := g.update(ctx, func() ([]ledger.Draft, error) {
		b := &batch{gate: g, actor: e.by.actor()}
		e.event(b)
		return b.drafts, nil
	}); err != nil || !keeps {
		return err
	}
	if err := g.Trust(ctx, config.Trusted{File: e.file, Data: data}, e.by, e.store); err != nil {
		return err
	}
	if e.trusted != nil {
		*e.trusted = true
	}
	return nil
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

// replaceConfig puts data in the place of what was read, unless somebody has saved something else since.
func (g *Gate) replaceConfig(was config.Source, data []byte) error {
	file := was.Name
	at := filepath.Join(g.repo.Root(), file)
	// What a killed process left beside it goes first.
	if _, err := durable.SweepAbandoned(g.repo.Root()); err != nil {
		return err
	}
	if was.Data == nil {
		return durable.WriteNew(at, data, newConfigPerm)
	}
	info, err := os.Lstat(at)
	if err != nil {
		return err
	}
	now, err := g.readConfig(file)
	if err != nil {
		return err
	}
	if string(now.Data) != string(was.Data) {
		return &UsageError{Problem: file + " was changed meanwhile: nothing was written", Hint: "the same command again"}
	}
	return durable.WriteFile(at, data, info.Mode().Perm())
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
