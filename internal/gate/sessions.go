package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sort"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/shadow"
	"github.com/correx/correx/tiers"
)

// ShadowOptions says what shadow to open.
type ShadowOptions struct {
	Name, Agent, Backend string
	Progress             func(done, total int)
}

// OpenShadow makes a shadow of the real tree as it is now and records its session. A name that an open session of this
// worktree has is answered with that session. After an error nothing is left behind.
func (g *Gate) OpenShadow(ctx context.Context, o ShadowOptions) (*projection.Session, shadow.Report, error) {
	if s := g.named(o.Name); s != nil {
		return s, shadow.Report{Backend: s.Backend}, nil
	}
	src, err := g.source(ctx)
	if err != nil {
		return nil, shadow.Report{}, err
	}
	id, err := newSession(g.rand)
	if err != nil {
		return nil, shadow.Report{}, err
	}
	if err := durable.MkdirAll(g.sessionDir(id), 0o700); err != nil {
		return nil, shadow.Report{}, err
	}
	backend := o.Backend
	if backend == "" {
		backend = g.config.Shadow.Backend
	}
	sh, report, err := shadow.Open(ctx, src, shadow.Options{
		Session: id, Agent: o.Agent, Name: o.Name, Parent: g.home, State: g.sessionDir(id), Worktree: g.worktree(),
		Backend: backend, MaxUntracked: g.config.Shadow.MaxUntracked, Progress: o.Progress, Seq: g.state.Seq, Holder: g.holder,
	})
	if err != nil {
		return nil, report, errors.Join(err, durable.RemoveAll(g.sessionDir(id)))
	}
	var faster *projection.Session
	err = g.update(ctx, func() ([]ledger.Draft, error) {
		if faster = g.named(o.Name); faster != nil {
			return nil, nil
		}
		b := &batch{gate: g, actor: "session:" + id}
		b.add(ledger.SessionOpened, "", projection.SessionOpened{
			Session: id, Name: o.Name, Agent: o.Agent, Worktree: g.worktree(), Backend: report.Backend, Tree: sh.Tree(), Enforced: "none",
		})
		return b.drafts, nil
	})
	if err != nil || faster != nil {
		return faster, report, errors.Join(err, sh.Close(ctx), durable.RemoveAll(g.sessionDir(id)))
	}
	return g.state.Sessions[id], report, nil
}

// named returns the open session of this worktree with a name, or nil.
func (g *Gate) named(name string) *projection.Session {
	for _, s := range g.state.OpenSessions(g.worktree()) {
		if name != "" && s.Name == name {
			return s
		}
	}
	return nil
}

// newSession makes a session id: "s-" and eight characters.
func newSession(rand io.Reader) (string, error) {
	const letters = "abcdefghjkmnpqrstvwxyz0123456789"
	var b [8]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", err
	}
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return "s-" + string(b[:]), nil
}

// source describes the repository to a new shadow: what git tracks as it is now, what is untracked and not ignored, and
// what a git directory of its own needs.
func (g *Gate) source(ctx context.Context) (shadow.Source, error) {
	seed, err := g.repo.ShadowSeed(ctx)
	if err != nil {
		return shadow.Source{}, err
	}
	list, err := g.repo.Files(ctx)
	if err != nil {
		return shadow.Source{}, err
	}
	for _, w := range list.Warnings {
		g.notices = append(g.notices, "left out of the shadow: "+w)
	}
	src := sourceOf(g.repo, seed, list)
	included, err := g.included(ctx)
	if err != nil {
		return src, err
	}
	special, err := g.specials(ctx, list)
	src.Files = append(append(src.Files, included...), special...)
	return src, err
}

// included are the ignored files that the user's configuration shows in shadows all the same.
func (g *Gate) included(ctx context.Context) ([]shadow.SourceFile, error) {
	if len(g.config.Shadow.Include) == 0 {
		return nil, nil
	}
	ignored, err := g.repo.IgnoredFiles(ctx)
	if err != nil {
		return nil, err
	}
	var files []shadow.SourceFile
	for _, word := range g.config.Shadow.Include {
		pattern, err := tiers.ParsePattern(word)
		if err != nil {
			return nil, err
		}
		for _, p := range ignored {
			if pattern.Match(p) {
				files = append(files, shadow.SourceFile{Path: p, Untracked: true})
			}
		}
	}
	return files, nil
}

// CloseShadow ends a session and removes its shadow. What waits stays decidable.
func (g *Gate) CloseShadow(ctx context.Context, session string) error {
	ses, ok := g.state.Sessions[session]
	if !ok || ses.Closed {
		return &UsageError{Problem: fmt.Sprintf("session %q is not open", session), Hint: "correx shadow list"}
	}
	unlock, err := g.lockSession(ctx, session)
	if err != nil {
		return err
	}
	sh, err := g.loadShadow(session)
	if err == nil {
		err = sh.Close(ctx)
	} else {
		// A shadow that cannot be read any more is taken away as far as it is there.
		err = shadow.Discard(session, filepath.Dir(ses.Tree), g.sessionDir(session))
	}
	if err == nil {
		err = g.update(ctx, func() ([]ledger.Draft, error) {
			b := &batch{gate: g, actor: actorOf(ses)}
			b.add(ledger.SessionClosed, ses.Event, projection.SessionClosed{Session: session})
			return b.drafts, nil
		})
	}
	return errors.Join(err, unlock())
}

// ResetShadow brings the named paths of a shadow, or all of it, back to what the real tree holds now.
func (g *Gate) ResetShadow(ctx context.Context, session string, paths []change.Path) (err error) {
	sh, release, err := g.useShadow(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	if len(paths) > 0 {
		found, err := sh.Scan(ctx, shadow.ScanOptions{Paths: paths, Ignored: g.repo.Ignored})
		if err != nil {
			return err
		}
		for _, p := range found.Unmatched {
			if _, err := g.tree.Lstat(p); err != nil {
				return &UsageError{Problem: fmt.Sprintf("%q is neither in the shadow nor in the real tree", p)}
			}
		}
	}
	// What is brought in is never half of a landing.
	unlock, err := g.lockLanding(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := g.catchUp(ctx, sh); err != nil {
		return err
	}
	src, err := g.source(ctx)
	if err != nil {
		return err
	}
	_, err = sh.Reset(ctx, src, shadow.ResetOptions{
		Paths: paths, Ignored: g.repo.Ignored, MaxUntracked: g.config.Shadow.MaxUntracked, Seq: g.state.Seq,
	})
	return err
}

func (g *Gate) loadShadow(session string) (*shadow.Shadow, error) {
	return shadow.Load(shadow.LoadOptions{State: g.sessionDir(session), Root: g.repo.Root(), Holder: g.holder})
}

// foldSession brings the manifest of a session's shadow up to the ledger, if the shadow is open. What landed has landed:
// a shadow that cannot be brought up now is a notice, and is brought up by its next submission.
func (g *Gate) foldSession(ctx context.Context, session string) {
	ses, ok := g.state.Sessions[session]
	if !ok || ses.Closed {
		return
	}
	unlock, err := g.lockSession(ctx, session)
	if err == nil {
		var sh *shadow.Shadow
		if sh, err = g.loadShadow(session); err == nil {
			err = errors.Join(g.foldInto(ctx, sh), sh.Release())
		}
		err = errors.Join(err, unlock())
	}
	if err != nil {
		g.notices = append(g.notices, fmt.Sprintf("the shadow of %s does not reflect this yet: %v", session, err))
	}
}

// foldInto brings a shadow's manifest up to the ledger. What landed from the shadow's own files is its new base. What was
// taken back is brought into the shadow file if that still holds what had landed; else the base stays, and the next
// submission of that path is stale.
func (g *Gate) foldInto(ctx context.Context, sh *shadow.Shadow) error {
	bases := map[change.Path]change.Pin{}
	last := sh.Seq()
	for _, e := range g.landingsSince(sh) {
		own := e.Origin == change.OriginShadow && e.Session == sh.Info().Session
		for _, st := range goingFirst(e.Landed) {
			base, err := g.foldStep(ctx, sh, e, st, own)
			if err != nil {
				return err
			}
			if base != nil {
				bases[st.Path] = *base
			}
		}
		last = max(last, e.AppliedSeq)
	}
	if last == sh.Seq() && len(bases) == 0 {
		return nil
	}
	return sh.SetBase(ctx, bases, last)
}

// goingFirst orders steps so that what goes makes room for what comes: a file in the place of a folder, or below it.
func goingFirst(steps []change.Step) []change.Step {
	list := slices.Clone(steps)
	slices.SortStableFunc(list, func(a, b change.Step) int {
		switch gone := !a.Result.Exists(); {
		case gone == b.Result.Exists():
			if gone {
				return -1
			}
			return 1
		case gone:
			return cmp.Compare(b.Path, a.Path)
		}
		return cmp.Compare(a.Path, b.Path)
	})
	return list
}

// landingsSince are the landings of the shadow's session that its manifest does not reflect, in ledger order.
func (g *Gate) landingsSince(sh *shadow.Shadow) []*projection.Entry {
	var list []*projection.Entry
	for _, e := range g.state.Ordered(g.worktree()) {
		if e.AppliedSeq > sh.Seq() && e.Session == sh.Info().Session {
			list = append(list, e)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].AppliedSeq < list[j].AppliedSeq })
	return list
}

// foldStep returns the new base of one path, or nil where it stays.
func (g *Gate) foldStep(ctx context.Context, sh *shadow.Shadow, e *projection.Entry, st change.Step, own bool) (*change.Pin, error) {
	if own {
		return &st.Result, nil
	}
	tree, err := sh.Root()
	if err != nil {
		return nil, err
	}
	now, err := tree.Pin(st.Path, nil)
	if err != nil {
		return nil, err
	}
	switch {
	case now.SameForGit(st.Result):
		return &st.Result, nil
	case !now.SameForGit(st.Base):
		return nil, nil
	}
	var content io.ReadCloser
	if st.Result.Exists() {
		if content, err = g.store.Open(st.Result.SHA256); err != nil {
			return nil, err
		}
		defer content.Close()
	}
	err = sh.Write(ctx, st.Path, now, st.Result, content)
	var changed *shadow.ChangedError
	if errors.As(err, &changed) {
		return nil, nil
	}
	return &st.Result, err
}

// FollowMove tells the open shadows of this worktree where the repository is now, if it was moved since they were opened. A
// shadow that cannot be told is a notice.
func (g *Gate) FollowMove(ctx context.Context) {
	for _, ses := range g.state.OpenSessions(g.worktree()) {
		m, err := shadow.Of(ses.Tree)
		if err != nil || m.Root == g.repo.Root() && m.CommonDir == g.repo.CommonDir() {
			continue
		}
		m.Root, m.GitDir, m.CommonDir, m.State = g.repo.Root(), g.repo.GitDir(), g.repo.CommonDir(), g.sessionDir(ses.Session)
		seed, err := g.repo.ShadowSeed(ctx)
		if err == nil {
			err = shadow.Repoint(m, []string{seed.ObjectDir})
		}
		if err != nil {
			g.notices = append(g.notices, fmt.Sprintf("the shadow of %s does not know where the repository is now: %v", ses.Session, err))
		}
	}
}

// Orphans are shadows of this repository on the disk whose session is not open: what a crash left of one.
func (g *Gate) Orphans() ([]string, error) {
	list, err := shadow.List(g.home)
	if err != nil {
		return nil, err
	}
	var orphans []string
	for _, m := range list {
		ses, ok := g.state.Sessions[m.Session]
		if m.CommonDir == g.repo.CommonDir() && (!ok || ses.Closed) {
			orphans = append(orphans, filepath.Dir(m.Tree))
		}
	}
	return orphans, nil
}

// sourceOf puts together what a shadow needs to know of the repository.
func sourceOf(r *repo.Repo, seed repo.Seed, list repo.Listing) shadow.Source {
	src := shadow.Source{
		Root: r.Root(), GitDir: r.GitDir(), CommonDir: r.CommonDir(), ObjectFormat: r.ObjectFormat(),
		ObjectDirs: []string{seed.ObjectDir}, CopyFiles: copyFiles(seed), Files: sourceFiles(list),
		Head: shadow.Head{Ref: seed.Head.Ref, OID: seed.Head.OID, Unborn: seed.Head.Unborn},
	}
	for _, kv := range seed.Config {
		src.Config = append(src.Config, [2]string{kv.Key, kv.Value})
	}
	if seed.PartialClone != "" {
		src.Config = append(src.Config, [2]string{"extensions.partialclone", seed.PartialClone},
			[2]string{"remote." + seed.PartialClone + ".promisor", "true"})
	}
	for _, ref := range seed.Refs {
		if ref.Symbolic == "" {
			src.Refs = append(src.Refs, shadow.Ref{Name: ref.Name, OID: ref.OID})
		}
	}
	return src
}

func copyFiles(seed repo.Seed) map[string]string {
	files := map[string]string{
		"index": seed.Index, "info/exclude": seed.Exclude, "info/attributes": seed.Attributes,
		"info/sparse-checkout": seed.SparseCheckout, "shallow": seed.Shallow,
	}
	for _, p := range seed.SharedIndexes {
		files[filepath.Base(p)] = p
	}
	maps.DeleteFunc(files, func(_, from string) bool { return from == "" })
	return files
}

// sourceFiles lists what a shadow shows: tracked files that are meant to be in the tree, and untracked ones.
func sourceFiles(list repo.Listing) []shadow.SourceFile {
	var files []shadow.SourceFile
	for i, f := range list.Tracked {
		again := i > 0 && list.Tracked[i-1].Path == f.Path
		if !f.SkipWorktree && !again {
			files = append(files, shadow.SourceFile{Path: f.Path, Submodule: f.Submodule()})
		}
	}
	for _, p := range list.Untracked {
		files = append(files, shadow.SourceFile{Path: p, Untracked: true})
	}
	for _, p := range list.Nested {
		files = append(files, shadow.SourceFile{Path: p, Nested: true})
	}
	return files
}
