package gate

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/repo"
)

// grantWorld is a repository with an open shadow in which a granted change waits to be submitted.
type grantWorld struct {
	*Gate
	t       *testing.T
	options Options
	now     time.Time
	same    bool
	session string
	grant   grants.Held
	tree    string
}

func newGrantWorld(t *testing.T, scope grants.Scope) *grantWorld {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "repo")
	w := &grantWorld{t: t, same: true, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.write(filepath.Join(root, "a"), "a\n")
	environ := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.test", "commit", "-qm", "base"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = root, environ
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	r, err := repo.Open(context.Background(), repo.Options{Dir: root, Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	w.options = Options{
		Repo: r, Config: config.Default(), ShadowHome: filepath.Join(dir, "shadows"), Rand: rand.NewChaCha8([32]byte{1}), Holder: "test",
		Clock: func() time.Time { return w.now }, Unchanged: func() (bool, error) { return w.same, nil },
	}
	w.Gate = w.open()
	ctx := context.Background()
	ses, _, err := w.OpenShadow(ctx, ShadowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.session, w.tree = ses.Session, ses.Tree
	if _, err := w.TurnStage(ctx, w.session, "tidy", "session"); err != nil {
		t.Fatal(err)
	}
	w.grant, err = w.AddGrant(ctx, GrantOptions{
		Person: Person{Name: "dev", How: "terminal"}, Scope: scope, Ops: []change.Op{change.OpDelete}, Paths: []string{"/a"},
		Session: w.session, Expires: "2026-01-02T04:00:00Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(w.tree, "a")); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *grantWorld) open() *Gate {
	w.t.Helper()
	g, err := Open(context.Background(), w.options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = g.Close() })
	return g
}

func (w *grantWorld) write(p, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// between submits up to the record, lets meanwhile happen, and goes on to the landing.
func (w *grantWorld) between(meanwhile func(other *Gate)) Result {
	w.t.Helper()
	ctx := context.Background()
	sh, release, err := w.useShadow(ctx, w.session)
	if err != nil {
		w.t.Fatal(err)
	}
	defer release()
	seen, made, err := w.propose(ctx, sh, SubmitOptions{Session: w.session})
	if err != nil || len(made.land) != 1 {
		w.t.Fatalf("%+v, %v", made, err)
	}
	meanwhile(w.open())
	return w.landByItself(ctx, made.land[0], seen.factsOf(w.state.Sets[made.land[0]].Files))
}

// there reports whether the file that the grant lets go is still in the real tree.
func (w *grantWorld) there() bool {
	_, err := os.Lstat(filepath.Join(w.repo.Root(), "a"))
	return err == nil
}

// TestWithdrawnBeforeLanding: whatever takes a grant away between the verdict and the landing keeps the change from landing.
func TestWithdrawnBeforeLanding(t *testing.T) {
	by := Person{Name: "dev", How: "terminal"}
	ctx := context.Background()
	for name, c := range map[string]struct {
		scope     grants.Scope
		meanwhile func(w *grantWorld, g *Gate) error
		want      change.State
	}{
		"revoked":         {grants.Session, func(w *grantWorld, g *Gate) error { return g.RevokeGrant(ctx, w.grant.ID, by) }, change.StatePending},
		"stage revoked":   {grants.Stage, func(w *grantWorld, g *Gate) error { return g.RevokeGrant(ctx, w.grant.ID, by) }, change.StatePending},
		"expired":         {grants.Session, func(w *grantWorld, _ *Gate) error { w.now = w.now.Add(time.Hour); return nil }, change.StatePending},
		"stage ended":     {grants.Stage, func(w *grantWorld, g *Gate) error { _, err := g.TurnStage(ctx, w.session, "", "session"); return err }, change.StatePending},
		"another stage":   {grants.Stage, anotherStage, change.StatePending},
		"settings edited": {grants.Session, func(w *grantWorld, _ *Gate) error { w.same = false; return nil }, change.StatePending},
		"mode deny":       {grants.Session, func(_ *grantWorld, g *Gate) error { return g.SetMode(ctx, change.ModeDeny, by) }, change.StateDenied},
		"nothing":         {grants.Session, func(*grantWorld, *Gate) error { return nil }, change.StateApplied},
		"a stage's end":   {grants.Session, func(w *grantWorld, g *Gate) error { _, err := g.TurnStage(ctx, w.session, "", "session"); return err }, change.StateApplied},
	} {
		t.Run(name, func(t *testing.T) {
			w := newGrantWorld(t, c.scope)
			r := w.between(func(g *Gate) {
				if err := c.meanwhile(w, g); err != nil {
					t.Fatal(err)
				}
			})
			if r.Err != nil || r.State != c.want || w.there() == (c.want == change.StateApplied) {
				t.Fatalf("%s, %v, there: %t", r.State, r.Err, w.there())
			}
			if landed := c.want == change.StateApplied; landed != slices.Contains(r.GrantHits, w.grant.ID) || landed != (r.Credential != "") {
				t.Errorf("%+v", r)
			}
			events, err := w.Events(r.ID)
			if err != nil {
				t.Fatal(err)
			}
			reused := slices.ContainsFunc(events, func(e ledger.Event) bool { return e.Type == ledger.ApprovalReused })
			if reused != (c.want == change.StateApplied) {
				t.Errorf("reused: %t", reused)
			}
			if h, _ := w.open().State().Grants.Get(w.grant.ID); (h.Uses == 1) != reused {
				t.Errorf("%+v", h)
			}
		})
	}
}

func anotherStage(w *grantWorld, g *Gate) error {
	ctx := context.Background()
	if _, err := g.TurnStage(ctx, w.session, "", "session"); err != nil {
		return err
	}
	_, err := g.TurnStage(ctx, w.session, "tidy", "session")
	return err
}

// TestGrantAfterACrash: a granted change that a kill kept from landing lands by the next submission if the grant stands
// then, and waits if it does not.
func TestGrantAfterACrash(t *testing.T) {
	for _, stands := range []bool{true, false} {
		w := newGrantWorld(t, grants.Session)
		ctx := context.Background()
		sh, release, err := w.useShadow(ctx, w.session)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.propose(ctx, sh, SubmitOptions{Session: w.session}); err != nil {
			t.Fatal(err)
		}
		release()
		g := w.open()
		if !stands {
			if err := g.RevokeGrant(ctx, w.grant.ID, Person{Name: "dev"}); err != nil {
				t.Fatal(err)
			}
		}
		out, err := g.Submit(ctx, SubmitOptions{Session: w.session})
		if err != nil || len(out.Sets) != 1 || out.Sets[0].State.Landed() != stands || w.there() == stands {
			t.Fatalf("stands %t: %+v, %v", stands, out, err)
		}
	}
}

// TestGrantRefused: a grant for what no grant covers, or for whom it could not be, is not made, and nothing is recorded.
func TestGrantRefused(t *testing.T) {
	w := newGrantWorld(t, grants.Session)
	ctx := context.Background()
	before := w.state.Seq
	for name, o := range map[string]GrantOptions{
		"no ops":         {Scope: grants.Session, Paths: []string{"a"}, Session: w.session},
		"no paths":       {Scope: grants.Session, Ops: change.Ops(), Session: w.session},
		"a bad pattern":  {Scope: grants.Session, Ops: change.Ops(), Paths: []string{"!a"}, Session: w.session},
		"hard-protected": {Scope: grants.Session, Ops: change.Ops(), Paths: []string{"a", "sub/.correx.toml"}, Session: w.session},
		"git's own":      {Scope: grants.Session, Ops: change.Ops(), Paths: []string{".GIT/config"}, Session: w.session},
		"no session":     {Scope: grants.Session, Ops: change.Ops(), Paths: []string{"a"}, Session: "s-other"},
		"an old stage":   {Scope: grants.Stage, Ops: change.Ops(), Paths: []string{"a"}, Session: w.session, Began: "e-other"},
	} {
		_, err := w.AddGrant(ctx, o)
		var usage *UsageError
		var never *GrantError
		if !errors.As(err, &usage) && !errors.As(err, &never) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var unknown *UnknownGrantError
	if err := w.RevokeGrant(ctx, "g-none", Person{}); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	if g := w.open(); g.State().Seq != before {
		t.Errorf("%d events were recorded", g.State().Seq-before)
	}
}

// TestConcurrentProjectGrants: several processes that write grants at once lose none, and no byte of what was there.
func TestConcurrentProjectGrants(t *testing.T) {
	w := newGrantWorld(t, grants.Session)
	ctx := context.Background()
	at := filepath.Join(w.repo.Root(), config.RepositoryFile)
	const was = "# mine\r\nmode = 'auto' # x"
	w.write(at, was)
	store := config.TrustStore{Dir: filepath.Join(t.TempDir(), "trust"), Repository: "r"}
	const n = 6
	done := make(chan error, n)
	for i := range n {
		g := w.open()
		go func() {
			o := GrantOptions{Scope: grants.Project, Ops: []change.Op{change.OpEdit}, Paths: []string{"/" + strings.Repeat("x", i+1)}}
			_, err := g.AddProjectGrant(ctx, o, store)
			done <- err
		}()
	}
	for range n {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := config.Load(config.Sources{Repository: config.Source{Name: config.RepositoryFile, Data: data}})
	if err != nil || len(c.Grants) != n || !strings.HasPrefix(string(data), was+"\r\n[[grant]]") {
		t.Fatalf("%d grants: %q, %v", len(c.Grants), data, err)
	}
	for _, g := range c.Grants {
		if err := w.RevokeProjectGrant(ctx, g.ID, Person{Name: "dev"}, store); err != nil {
			t.Fatal(err)
		}
	}
	if data, err = os.ReadFile(at); err != nil || string(data) != was {
		t.Errorf("%q, %v", data, err)
	}
	if trusted, err := store.Read(); err != nil || trusted != nil {
		t.Errorf("what was never trusted is: %v, %v", trusted, err)
	}
}
