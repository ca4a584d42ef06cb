package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/preflight"
	"github.com/correx/correx/tiers"
	"github.com/correx/correx/undo"
)

// Blocked is one staged path that may not be committed yet.
type Blocked struct {
	File    change.FileChange
	Verdict change.Verdict
	// Set is the change set that decided on exactly these bytes, or waits with them; 0 when none did.
	Set int
	// State is that set's state: pending, rejected, undone; "" when nobody was asked yet.
	State change.State
	// Reason is the person's and By who it was, where one said no.
	Reason, By string
}

// StagedCheck is what the commit gate says of an index.
type StagedCheck struct {
	// Staged is how many paths differ from HEAD. Unmerged are those in conflict, which are not among them: nothing is
	// staged for them yet, and git commits nothing while there is one.
	Staged   int
	Unmerged []change.Path
	Blocked  []Blocked
	// Set waits for a person with the blocked files that nobody was asked about; 0 when there is none.
	Set int
	// together is the verdict on all that an agent commits without a chain, where it holds up what each path alone would not.
	together *judgement
	// passing are the files of an agent's commit that pass by themselves, with what is known about them.
	passing []tiers.FileFacts
}

// Passed reports whether the commit may be made.
func (c *StagedCheck) Passed() bool { return len(c.Blocked) == 0 }

// CheckStaged judges what is staged against HEAD, each path by itself: it passes when a chain of landed or approved changes
// leads from its content in HEAD to the staged one, or when the verdict on it alone is auto. What is
// blocked becomes, as how says, a change set of origin commit that waits. What an agent commits on the strength of such
// verdicts is held to the limits and the budget as a whole too, and where it passes is recorded, so that the next commit
// does not begin anew. It never writes in the tree or the index.
func (g *Gate) CheckStaged(ctx context.Context, how Record) (*StagedCheck, error) {
	programs := g.programsMeanwhile(ctx)
	ready := g.warmMeanwhile(ctx)
	staged, err := g.repo.StagedChanges(ctx)
	ready()
	if err != nil {
		return nil, err
	}
	check := &StagedCheck{}
	staged = slices.DeleteFunc(staged, func(st repo.Staged) bool {
		if st.Unmerged {
			check.Unmerged = append(check.Unmerged, st.Path)
		}
		return st.Unmerged
	})
	check.Staged = len(staged)
	v := &stagedView{images: newBlobs(g.store), links: g.links()}
	if err := g.readStaged(ctx, staged, v); err != nil {
		return nil, err
	}
	if len(v.left) == 0 && len(g.waitingCommits()) == 0 {
		return check, nil
	}
	if v.programs, err = programs(); err != nil {
		return nil, err
	}
	v.after = afterLanding(v.left)
	facts := make([]tiers.FileFacts, len(v.left))
	for i, f := range v.left {
		facts[i] = g.stagedFacts(f, v)
	}
	r := g.judgeCommitted(facts)
	for i, f := range v.left {
		if b := g.blockedBy(f, r.Files[i]); b != nil {
			check.Blocked = append(check.Blocked, *b)
		} else if g.agent {
			check.passing = append(check.passing, facts[i])
		}
	}
	g.holdTogether(check)
	switch how {
	case RecordUnasked:
		if err = g.recordSoon(ctx, check, v); err == nil && check.Passed() && len(check.passing) > 0 {
			err = g.recordPassing(ctx, check.passing, v)
		}
	case RecordAll:
		err = g.recordBlocked(ctx, check, how, v)
	}
	return check, err
}

// recordPatience is how long a hook waits for others who write to the ledger. What it found is said without a number then.
const recordPatience = 2 * time.Second

// recordSoon records what is blocked, unless that would keep a hook waiting.
func (g *Gate) recordSoon(ctx context.Context, check *StagedCheck, v *stagedView) error {
	soon, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	err := g.recordBlocked(soon, check, RecordUnasked, v)
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		check.Set = 0
		return nil
	}
	return err
}

// stagedView is what a check of the index looks at: its images, the changes that may have led there, and the files that
// no chain of those leads to.
type stagedView struct {
	images   *blobs
	links    map[change.Path][]grants.Link
	left     []change.FileChange
	programs []change.Path
	after    changedTree
}

// warmMeanwhile has the index of the packs and the table of protected names read while git looks at the index: a commit
// waits for both. What goes wrong there goes wrong again where it is needed, and is reported then.
func (g *Gate) warmMeanwhile(ctx context.Context) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = g.repo.HeadEntry(ctx, ".gitattributes")
		_, _ = tiers.Protects(".gitattributes", nil)
	}()
	return func() { <-done }
}

// programsMeanwhile asks git for the programs in its configuration while the index is read.
func (g *Gate) programsMeanwhile(ctx context.Context) func() ([]change.Path, error) {
	type answer struct {
		list []change.Path
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		list, err := g.repo.Programs(ctx)
		done <- answer{list, err}
	}()
	return func() ([]change.Path, error) { a := <-done; return a.list, a.err }
}

// readStaged keeps the staged files that no chain of landed or approved changes leads to. Where the object ids do not tell,
// both blobs are read and compared as a submission would.
func (g *Gate) readStaged(ctx context.Context, staged []repo.Staged, v *stagedView) error {
	var unknown []repo.Staged
	var oids []string
	for _, st := range staged {
		head, to := grants.Key{Mode: st.OldMode, OID: st.OldOID}, grants.Key{Mode: st.NewMode, OID: st.NewOID}
		if _, ok := grants.Chain(v.links[st.Path], st.Path, head, to); ok {
			continue
		}
		unknown = append(unknown, st)
		for _, end := range []grants.Key{head, to} {
			if end.OID != "" && end.Mode != repo.ModeSubmodule {
				oids = append(oids, end.OID)
			}
		}
	}
	pins, err := g.readBlobs(ctx, oids, v.images)
	if err != nil {
		return err
	}
	for _, st := range unknown {
		f, err := stagedChange(st, pins, v.images)
		if err != nil {
			return err
		}
		if _, ok := grants.Chain(v.links[st.Path], st.Path, grants.KeyOf(f.Base), grants.KeyOf(f.Proposed)); !ok {
			v.left = append(v.left, f)
		}
	}
	return nil
}

// readBlobs puts blobs among the images and returns the digest and size of each by its object id.
func (g *Gate) readBlobs(ctx context.Context, oids []string, images *blobs) (map[string]change.Pin, error) {
	slices.Sort(oids)
	pins := map[string]change.Pin{}
	err := g.repo.EachBlob(ctx, slices.Compact(oids), func(oid string, _ int64, content io.Reader) error {
		sum, size, err := images.Put(content)
		pins[oid] = change.Pin{OID: oid, SHA256: sum, Size: size}
		return err
	})
	return pins, err
}

// blockedBy returns what blocks one staged file, or nil: bytes that wait for a person or were refused by one, else the
// verdict on the file alone.
func (g *Gate) blockedBy(f change.FileChange, alone change.Verdict) *Blocked {
	if e := g.waitingWith(f); e != nil {
		return &Blocked{File: f, Verdict: verdictIn(e, f.Path, alone), Set: e.ID, State: e.State}
	}
	if e, ok := g.state.Refused(g.worktree(), f); ok {
		b := &Blocked{File: f, Verdict: verdictIn(e, f.Path, alone), Set: e.ID, State: change.StateRejected}
		if e.Decision != nil && e.Decision.Kind == change.Rejected {
			b.Reason, b.By = e.Decision.Reason, strings.TrimPrefix(e.Decision.By, "person:")
		}
		return b
	}
	if alone.Outcome == change.Auto {
		return nil
	}
	return &Blocked{File: f, Verdict: alone}
}

// verdictIn is the verdict on the file at path of a set that was asked about: what policy says of the file alone, and what
// it said of the set besides, such as that it holds too many files. What it said of the set's other files is theirs.
func verdictIn(e *projection.Entry, path change.Path, alone change.Verdict) change.Verdict {
	v, settled := alone, alone
	if alone.Outcome == change.Auto {
		settled = e.Verdict
	}
	v.Outcome, v.SettledBy = settled.Outcome, settled.SettledBy
	v.Reasons = slices.Clone(alone.Reasons)
	v.Why = slices.Clone(alone.Why[:min(len(alone.Reasons), len(alone.Why))])
	for i, r := range e.Verdict.Reasons {
		if i < len(e.Verdict.Why) && !slices.Contains(v.Reasons, r) && !ofAnother(e, path, r) {
			v.Reasons, v.Why = append(v.Reasons, r), append(v.Why, e.Verdict.Why[i])
		}
	}
	if n := len(settled.Reasons); n < len(settled.Why) {
		v.Why = append(v.Why, settled.Why[n:]...)
	}
	return v
}

// ofAnother reports whether r was a reason of another file of e than the one at path.
func ofAnother(e *projection.Entry, path change.Path, r change.Reason) bool {
	for i, o := range e.Outcomes {
		if e.Files[i].Path != path && slices.Contains(o.Reasons, r) {
			return true
		}
	}
	return false
}

// judgeCommitted is the verdict on staged files, each by itself.
func (g *Gate) judgeCommitted(facts []tiers.FileFacts) judgement {
	return g.judgeFacts(tiers.Facts{Files: facts, Origin: change.OriginCommit, Enforced: "none"}, g.policy())
}

// stagedFacts are the facts of a file that is in the tree already: what it would do to the tree is done, and HEAD keeps
// what was there before.
func (g *Gate) stagedFacts(f change.FileChange, v *stagedView) tiers.FileFacts {
	facts := tiers.FileFacts{File: f, PreImageStored: true}
	facts.Submodule = f.Proposed.Kind == change.KindSubmodule || f.Base.Kind == change.KindSubmodule
	g.treeFacts(&facts, f, v.programs, v.after)
	if f.Proposed.Kind == change.KindSymlink {
		if target, err := v.images.small(f.Proposed.SHA256); err == nil {
			to, inside := tiers.ResolveLink(f.Path, target)
			facts.LinkOutside, facts.LinkTarget = !inside, to
		}
	}
	return facts
}

// submodulePin is the pin of a submodule at a commit, which only its id is known of.
func submodulePin(oid string) change.Pin {
	sum := sha256.Sum256([]byte(repo.ModeSubmodule + " " + oid))
	return change.Pin{Kind: change.KindSubmodule, OID: oid, SHA256: hex.EncodeToString(sum[:])}
}

// stagedChange is one staged path as a change of its content in HEAD.
func stagedChange(st repo.Staged, pins map[string]change.Pin, images *blobs) (change.FileChange, error) {
	end := preflight.Ends{Path: st.Path, Base: stagedPin(st.OldMode, st.OldOID, pins), Proposed: stagedPin(st.NewMode, st.NewOID, pins)}
	files, err := preflight.Compare(images, []preflight.Ends{end}, preflight.Options{})
	if err != nil {
		return change.FileChange{}, err
	}
	if len(files) != 1 {
		return change.FileChange{}, fmt.Errorf("%q: staged but not changed", st.Path)
	}
	return files[0], nil
}

// stagedPin is the pin of what git holds in the given mode; pins are those of blobs.
func stagedPin(mode, oid string, pins map[string]change.Pin) change.Pin {
	pin := pins[oid]
	switch mode {
	case "":
		return change.Absent()
	case repo.ModeSubmodule:
		return submodulePin(oid)
	case repo.ModeSymlink:
		pin.Kind = change.KindSymlink
	case repo.ModeExecutable:
		pin.Kind, pin.Perm = change.KindFile, 0o755
	default:
		pin.Kind, pin.Perm = change.KindFile, 0o644
	}
	return pin
}

// waitingWith returns the set that waits with exactly this content for this path.
func (g *Gate) waitingWith(f change.FileChange) *projection.Entry {
	for _, e := range g.state.Waiting(g.worktree()) {
		for _, w := range e.Files {
			if w.Path == f.Path && w.Proposed.Exists() == f.Proposed.Exists() && (sameBlob(w.Proposed, f.Proposed) || w.Proposed.SameForGit(f.Proposed)) {
				return e
			}
		}
	}
	return nil
}

// sameBlob reports whether both pins name the same git object with the same mode.
func sameBlob(a, b change.Pin) bool {
	return a.OID != "" && a.OID == b.OID && a.GitMode() == b.GitMode()
}

// links are the changes that may have led to what is staged, by path: landed and not undone, or approved for a commit.
func (g *Gate) links() map[change.Path][]grants.Link {
	byPath := map[change.Path][]grants.Link{}
	for _, e := range g.state.Ordered(g.worktree()) {
		how := grants.Landed
		switch {
		case e.State.Landed():
		case e.State == change.StateApproved && e.Origin == change.OriginCommit:
			how = grants.Approved
		default:
			continue
		}
		for _, st := range stepsOf(e.Chosen()) {
			l := grants.Link{Path: st.Path, Base: grants.KeyOf(st.Base), Result: grants.KeyOf(st.Result), State: how, Set: e.ID}
			byPath[st.Path] = append(byPath[st.Path], l)
		}
	}
	return byPath
}

// Record says which blocked files a check makes a change set of.
type Record int

// The three ways: none, those that nobody was asked about, and all (a person is about to decide on what is staged).
const (
	RecordNone Record = iota
	RecordUnasked
	RecordAll
)

// recordBlocked makes blocked files one waiting set of origin commit, in place of waiting ones whose staged bytes changed
// or left the index.
func (g *Gate) recordBlocked(ctx context.Context, check *StagedCheck, how Record, v *stagedView) error {
	var facts []tiers.FileFacts
	var files []change.FileChange
	for _, b := range check.Blocked {
		e := g.state.Sets[b.Set]
		if how == RecordAll || b.Set == 0 || e.Origin == change.OriginCommit && e.State == change.StatePending {
			files = append(files, b.File)
			facts = append(facts, g.stagedFacts(b.File, v))
		}
	}
	// Only a hook that sees the whole index can tell what has left it.
	sweep := how == RecordUnasked && g.repo.OwnIndex()
	if len(files) == 0 && (!sweep || len(g.waitingCommits()) == 0) {
		return nil
	}
	unshare, err := g.store.Share(ctx)
	if err != nil {
		return err
	}
	if err := v.images.keep(files); err != nil {
		return errors.Join(err, unshare())
	}
	r := g.judgeCommitted(facts)
	if check.together != nil {
		r.heldBy(check.together.Verdict)
	}
	err = g.update(ctx, func() ([]ledger.Draft, error) {
		b := &batch{gate: g, actor: byEnvelope, origin: change.OriginCommit, next: g.state.Last}
		check.Set = g.draftBlocked(b, files, r, sweep)
		return b.drafts, nil
	})
	return errors.Join(err, unshare())
}

// draftBlocked stages files, with the verdict r on them, as a set of origin commit, unless one with exactly these waits, and supersedes others about the
// same paths; with sweep all others. It returns the number of the set that waits, or 0 without files.
func (g *Gate) draftBlocked(b *batch, files []change.FileChange, r judgement, sweep bool) int {
	id := 0
	var gone []*projection.Entry
	for _, old := range g.waitingCommits() {
		if len(files) > 0 && old.Same(files) {
			id = old.ID
			b.add(ledger.CommitBlocked, old.Cause, projection.SetEvent{Set: id})
			continue
		}
		if _, about := compare(old.Files, files); sweep || about {
			gone = append(gone, old)
		}
	}
	if id == 0 && len(files) > 0 {
		var staged string
		id, staged = b.stage(proposal{files: files})
		b.verdict(id, staged, r)
		b.add(ledger.CommitBlocked, staged, projection.SetEvent{Set: id})
	}
	for _, old := range gone {
		b.add(ledger.ChangeSuperseded, old.Cause, projection.Superseded{Set: old.ID, By: id})
	}
	return id
}

// waitingCommits are the sets of origin commit that wait.
func (g *Gate) waitingCommits() []*projection.Entry {
	var list []*projection.Entry
	for _, e := range g.state.Waiting(g.worktree()) {
		if e.Origin == change.OriginCommit {
			list = append(list, e)
		}
	}
	return list
}

// blobs keeps small images in memory while a commit is judged; only what is blocked is stored.
type blobs struct {
	store *undo.Store
	held  map[string][]byte
}

func newBlobs(store *undo.Store) *blobs { return &blobs{store: store, held: map[string][]byte{}} }

// maxHeld is the size up to which an image is held in memory.
const maxHeld = 8 << 20

func (m *blobs) Put(r io.Reader) (string, int64, error) {
	head, err := io.ReadAll(io.LimitReader(r, maxHeld+1))
	if err != nil {
		return "", 0, err
	}
	if len(head) > maxHeld {
		return m.store.Put(io.MultiReader(bytes.NewReader(head), r))
	}
	sum := sha256.Sum256(head)
	name := hex.EncodeToString(sum[:])
	m.held[name] = head
	return name, int64(len(head)), nil
}

func (m *blobs) Open(name string) (io.ReadCloser, error) {
	if b, ok := m.held[name]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return m.store.Open(name)
}

func (m *blobs) Has(name string) bool {
	_, ok := m.held[name]
	return ok || m.store.Has(name)
}

// small returns the content of a symlink.
func (m *blobs) small(name string) (string, error) {
	r, err := m.Open(name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, 1<<16))
	return string(b), err
}

// keep stores the images of files.
func (m *blobs) keep(files []change.FileChange) error {
	for _, f := range files {
		for _, p := range []change.Pin{f.Base, f.Proposed} {
			if b, ok := m.held[p.SHA256]; ok {
				if _, _, err := m.store.Put(bytes.NewReader(b)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
