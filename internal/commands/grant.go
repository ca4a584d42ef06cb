package commands

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/grants"
	"github.com/correx/correx/internal/gate"
)

func (a *application) grantCommand() *cli.Command {
	return a.group(&cli.Command{
		Name: "grant", Category: groupDeciding, Usage: "lasting yeses: add, list, revoke",
		Description: "A grant lets pass, where policy would ask about limits or protected names, changes of the ops and paths that it\n" +
			"names and nothing wider. It never reaches what is denied, what a rule asks about, or correx's own names.\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeStale, codeCorrupt),
		Subcommands: []*cli.Command{a.grantAddCommand(), a.grantListCommand(), a.grantRevokeCommand()},
	})
}

func (a *application) grantAddCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "add", Usage: "let changes of these ops to these paths pass from now on",
		Description: "A person's command. Scopes: session (until its shadow is closed), stage (until the stage ends), project (a [[grant]]\n" +
			"in .correx.toml, which counts as long as the file is trusted).\n" +
			"A pattern with a slash ends in / or /** to name what lies in a folder. A protected file is covered only by a\n" +
			"pattern that matches nothing but what the same name protects: .github/workflows/*.yml, not .github/**.\n\n" +
			"   correx grant add --scope session --ops create,edit --paths 'docs/**'\n" +
			"   correx grant add --scope project --ops edit --paths CHANGELOG.md --expires 30d\n\n" +
			exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeStale, codeCorrupt),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "scope", Usage: "`SCOPE`: session, stage or project"},
			&cli.StringSliceFlag{Name: "ops", Usage: "`LIST` of ops: create edit overwrite delete rename copy chmod symlink retype"},
			&cli.StringSliceFlag{Name: "paths", Usage: "`PATTERNS`, separated by commas, or repeated"},
			&cli.StringFlag{Name: "expires", Usage: "how long it counts: `DUR`, such as 30m, 12h or 30d"},
			&cli.StringFlag{Name: "session", Usage: "the session's id or name, where several are open"},
		},
	}, runGrantAdd)
}

func (a *application) grantListCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "list", Usage: "show the grants that stand, in the order in which they are looked up",
		Description: "Session first, then stage, then project; with how often each was used, and why it does not count where it does not.\n\n" +
			"   correx grant list\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeCorrupt),
	}, runGrantList)
}

func (a *application) grantRevokeCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "revoke", ArgsUsage: "ID", Usage: "take a grant back, at once",
		Description: "A person's command. A project's grant is taken out of its file, of which every other byte stays.\n\n" +
			"   correx grant revoke g-0123456789\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeStale, codeCorrupt),
	}, runGrantRevoke)
}

func runGrantAdd(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	o := gate.GrantOptions{Scope: grants.Scope(c.String("scope")), Paths: splitPatterns(c.StringSlice("paths"))}
	var err error
	if o.Ops, err = opsOf(c.StringSlice("ops")); err != nil {
		return nil, err
	}
	if err := checkScope(o.Scope, "--scope"); err != nil {
		return nil, err
	}
	if o.Expires, err = expiry(c); err != nil {
		return nil, err
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if o.Person, err = s.requirePerson(c, "grant add"); err != nil {
		return nil, err
	}
	switch {
	case o.Scope != grants.Project:
		o.Session, err = s.session(c)
	case c.IsSet("session"):
		err = &gate.UsageError{Problem: "--session goes with the scopes session and stage", Hint: "correx grant add --help"}
	}
	if err != nil {
		return nil, err
	}
	made, err := s.makeGrant(ctx, o)
	if err != nil {
		return nil, repeated(err, grantAgain(c, o))
	}
	return &reply{json: made, notices: s.words(), text: func(w io.Writer) { made.write(w, c.env.Clock()) }}, nil
}

// makeGrant makes a grant, by its scope in the ledger or in the repository's file, and returns it as it is stored.
func (s *site) makeGrant(ctx context.Context, o gate.GrantOptions) (grantJSON, error) {
	if o.Scope != grants.Project {
		h, err := s.AddGrant(ctx, o)
		if err != nil {
			return grantJSON{}, err
		}
		return grantOf(gate.GrantView{Held: h, Source: h.Event}), nil
	}
	p, err := s.AddProjectGrant(ctx, o, s.trusts)
	if err != nil {
		return grantJSON{}, err
	}
	view := gate.GrantView{Source: p.Source}
	view.Grant = grants.Grant{ID: p.ID, Scope: grants.Project, Ops: p.Ops, Paths: p.Texts, Exact: p.Exact, Expires: p.Expires}
	if !p.Trusted {
		view.Void = "not trusted"
		s.notices = append(s.notices, fmt.Sprintf("%s held something that you had not trusted: the grant counts after correx trust", p.File))
	}
	return grantOf(view), nil
}

func runGrantList(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	list := []grantJSON{}
	for _, v := range s.Grants() {
		list = append(list, grantOf(v))
	}
	return &reply{json: struct {
		Grants []grantJSON `json:"grants"`
	}{list}, notices: s.words(), text: func(w io.Writer) {
		for _, j := range list {
			j.write(w, c.env.Clock())
		}
		if len(list) == 0 {
			fmt.Fprintln(w, "no grants")
		}
	}}, nil
}

func runGrantRevoke(ctx context.Context, c call) (*reply, error) {
	if c.NArg() != 1 {
		return nil, &gate.UsageError{Problem: "name one grant", Hint: "correx grant list"}
	}
	id := c.Args().First()
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	who, err := s.requirePerson(c, "grant revoke")
	if err != nil {
		return nil, err
	}
	err = s.RevokeGrant(ctx, id, who)
	var unknown *gate.UnknownGrantError
	if errors.As(err, &unknown) {
		err = repeated(s.RevokeProjectGrant(ctx, id, who, s.trusts), "correx grant revoke "+id)
	}
	if errors.As(err, &unknown) {
		return nil, &exitError{code: codeFailed, text: err.Error(), hint: "correx grant list"}
	}
	if err != nil {
		return nil, err
	}
	return &reply{json: struct {
		Revoked string `json:"revoked"`
	}{id}, notices: s.words(), text: func(w io.Writer) { fmt.Fprintf(w, "revoked %s: it counts no more\n", id) }}, nil
}
