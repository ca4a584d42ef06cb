package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/repo"
	"github.com/correx/correx/shadow"
)

// site is where a command works: the repository, its configuration and, inside a shadow, whose shadow it is.
type site struct {
	*gate.Gate
	repo   *repo.Repo
	config config.Config
	// sources is what config was read from, and trusts where trust in the repository's files is kept.
	sources config.Sources
	trusts  config.TrustStore
	marker  shadow.Marker
	inside  bool
	dir     string
	notices []string
}

// open finds the repository that c.dir belongs to, also from inside one of its shadows, and opens the gate on it.
func open(ctx context.Context, c call) (*site, error) {
	s, err := locateConfigured(ctx, c)
	if err != nil {
		return nil, err
	}
	return s, s.openGate(ctx, c)
}

// openGate opens the gate on the repository that was found.
func (s *site) openGate(ctx context.Context, c call) error {
	home, err := s.shadowHome(c.env)
	if err != nil {
		return err
	}
	s.Gate, err = gate.Open(ctx, gate.Options{
		Repo: s.repo, Config: s.config, Unchanged: s.unchanged(c), ShadowHome: home, Own: c.env.own(), Clock: c.env.Clock, Rand: c.env.Rand, Holder: c.env.holder(c.Command.Name),
		Escalator: s.escalator(c.env, home), Agent: c.env.agent(),
	})
	if err == nil && !s.inside {
		s.FollowMove(ctx)
	}
	return err
}

// locate finds the repository, without reading its configuration or opening the ledger.
func locate(ctx context.Context, c call) (*site, error) {
	s := &site{dir: c.dir}
	if c.dir == "" {
		return nil, &exitError{code: codeFailed, text: "the folder this runs in is gone", hint: "cd to the repository"}
	}
	var err error
	if s.marker, s.inside, err = shadow.Locate(c.dir); err != nil {
		return nil, err
	}
	at := c.dir
	if s.inside {
		at = s.marker.Root
	}
	if s.repo, err = repo.Open(ctx, repo.Options{Dir: at, Environ: c.env.Environ}); err != nil {
		if s.inside {
			return nil, &exitError{
				code: codeFailed, text: fmt.Sprintf("the repository of this shadow is not at %q: %v", at, err),
				hint: "correx shadow list, in the repository where it is now; if it is gone for good, remove " + filepath.Dir(s.marker.Tree),
			}
		}
		if errors.Is(err, repo.ErrNotRepository) {
			return nil, &exitError{code: codeFailed, text: fmt.Sprintf("%q is not a git repository, nor in one", at), hint: "git init, or correx -C DIR …", cause: err}
		}
		return nil, err
	}
	return s, nil
}

// locateConfigured is locate, with the configuration read.
func locateConfigured(ctx context.Context, c call) (*site, error) {
	s, err := locate(ctx, c)
	if err != nil {
		return nil, err
	}
	return s, s.configure(c)
}

// configure reads the layers of configuration.
func (s *site) configure(c call) error {
	in, err := s.readSources(c)
	if err != nil {
		return err
	}
	conf, notices, err := config.Load(in)
	if err != nil {
		return err
	}
	s.config, s.sources = conf, in
	for _, n := range notices {
		s.notices = append(s.notices, n.String())
	}
	return nil
}

// readSources reads the layers of configuration, and what is trusted of them.
func (s *site) readSources(c call) (in config.Sources, err error) {
	user, err := c.env.userConfig()
	if err != nil {
		return in, err
	}
	dir, err := c.env.trustDir()
	if err != nil {
		return in, err
	}
	s.trusts = config.TrustStore{Dir: dir, Repository: realPath(s.repo.CommonDir())}
	if in.User, err = config.ReadUser(user); err != nil {
		return in, err
	}
	if in.Repository, in.Local, err = config.ReadRepository(s.repo.Root()); err != nil {
		return in, err
	}
	in.Trusted, err = s.trusts.Read()
	return in, err
}

// unchanged returns whether the settings on the disk still are those that this run began with.
func (s *site) unchanged(c call) func() (bool, error) {
	began := s.sources.Stamp()
	return func() (bool, error) {
		now, err := s.readSources(c)
		return err == nil && now.Stamp() == began, err
	}
}

// words are the notices of this run: what the configuration says in vain, and what happened beside what was asked for.
func (s *site) words() []string {
	if s.Gate == nil {
		return s.notices
	}
	return append(append([]string(nil), s.notices...), s.Notices()...)
}

// session settles which session a command inside a shadow, or with --session, or in a repository with one open session
// speaks of.
func (s *site) session(c call) (string, error) {
	if named := c.String("session"); named != "" {
		for _, x := range s.State().OpenSessions(s.Worktree()) {
			if x.Session == named || x.Name == named {
				return x.Session, nil
			}
		}
		return "", &gate.UsageError{Problem: fmt.Sprintf("session %q is not open here", named), Hint: "correx shadow list"}
	}
	if s.inside {
		x, ok := s.State().Sessions[s.marker.Session]
		if !ok || x.Tree != s.marker.Tree {
			return "", &gate.UsageError{Problem: fmt.Sprintf("this folder says it is the shadow of session %q, the ledger knows none such here", s.marker.Session), Hint: "correx doctor, in the repository"}
		}
		return s.marker.Session, nil
	}
	list := s.State().OpenSessions(s.Worktree())
	switch len(list) {
	case 0:
		return "", &gate.UsageError{Problem: "no shadow is open in this worktree", Hint: "correx shadow open"}
	case 1:
		return list[0].Session, nil
	}
	return "", &gate.UsageError{Problem: fmt.Sprintf("%d shadows are open: say which with --session", len(list)), Hint: "correx shadow list"}
}

// openSession opens the site and settles which session the command speaks of.
func openSession(ctx context.Context, c call) (*site, string, error) {
	s, err := open(ctx, c)
	if err != nil {
		return nil, "", err
	}
	session, err := s.session(c)
	if err != nil {
		return nil, "", errors.Join(err, s.Close())
	}
	return s, session, nil
}

// paths turns arguments into paths of the repository: relative to the folder the command runs in, inside the shadow or the
// real tree.
func (s *site) paths(args []string) ([]change.Path, error) {
	root := s.repo.Root()
	if s.inside {
		root = s.marker.Tree
	}
	var list []change.Path
	for _, a := range args {
		p, err := within(root, s.dir, a)
		if err != nil {
			return nil, err
		}
		if p == "" {
			return nil, nil
		}
		list = append(list, p)
	}
	return list, nil
}

// within resolves arg, given in dir, below root by its words alone. "" is root itself.
func within(root, dir, arg string) (change.Path, error) {
	abs := arg
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(dir, arg)
	}
	for _, top := range []string{root, realPath(root)} {
		for _, full := range []string{abs, filepath.Join(realPath(filepath.Dir(abs)), filepath.Base(abs))} {
			rel, err := filepath.Rel(top, full)
			if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				continue
			}
			if rel == "." {
				return "", nil
			}
			return change.ParsePath(filepath.ToSlash(rel))
		}
	}
	return "", &gate.UsageError{Problem: fmt.Sprintf("%q is outside %q", arg, root)}
}

func realPath(p string) string {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r
	}
	return p
}

// ids reads change set numbers: 12 or #12.
func ids(args []string) ([]int, error) {
	if len(args) == 0 {
		return nil, &gate.UsageError{Problem: "name at least one change set", Hint: "correx status"}
	}
	var list []int
	for _, a := range args {
		n, err := strconv.Atoi(strings.TrimPrefix(a, "#"))
		if err != nil || n < 1 {
			return nil, &gate.UsageError{Problem: fmt.Sprintf("%q is not a change set's number", a), Hint: "correx status"}
		}
		list = append(list, n)
	}
	return list, nil
}

func noArgs(c call) error {
	if c.NArg() > 0 {
		return &gate.UsageError{Problem: fmt.Sprintf("unexpected argument %q", c.Args().First()), Hint: c.Command.HelpName + " --help"}
	}
	return nil
}

// requirePerson makes sure that a person gives the command: not inside a session or a shadow, and at a terminal unless the
// user's own configuration says otherwise. It returns who, and how.
func (s *site) requirePerson(c call, what string) (gate.Person, error) {
	p := gate.Person{Name: c.env.person(), How: "terminal"}
	if err := s.notInSession(c, what); err != nil {
		return p, err
	}
	if c.env.interactive() {
		return p, nil
	}
	if s.config.RequireTTY {
		return p, &gate.PersonError{What: what, Why: "this is not a terminal"}
	}
	p.How = "no-terminal"
	return p, nil
}

// notInSession refuses what an agent must not do: to run inside a shadow or beside it, wherever -C leads, or inside a
// session. A folder that cannot be told any more may have been in a shadow.
func (s *site) notInSession(c call, what string) error {
	if c.env.Dir == "" {
		return &gate.PersonError{What: what, Why: "the folder this runs in is gone"}
	}
	_, in, err := shadow.Locate(c.env.Dir)
	if s.inside || in || err != nil || s.amongShadows(c.env) {
		return errors.Join(&gate.PersonError{What: what, Why: "this runs inside a shadow"}, err)
	}
	if id := c.env.get("CORREX_SESSION"); id != "" {
		return &gate.PersonError{What: what, Why: "this runs inside session " + strconv.Quote(id)}
	}
	return nil
}

// amongShadows reports whether the command runs in the folder where shadows are kept, or below it.
func (s *site) amongShadows(env Env) bool {
	home, err := s.shadowHome(env)
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(realPath(home), realPath(env.Dir))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// shadowHome is the folder where shadows are made.
func (s *site) shadowHome(env Env) (string, error) {
	if s.config.Shadow.Dir != "" {
		return s.config.Shadow.Dir, nil
	}
	return env.shadowHome()
}
