package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/hooks"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/durable"
	"github.com/correx/correx/internal/gate"
)

// configName is the repository's configuration file.
const configName = config.RepositoryFile

func (a *application) initCommand() *cli.Command {
	return a.define(&cli.Command{
		Name: "init", Category: groupRepo, Usage: "set up correx in this repository",
		Description: "Writes a commented .correx.toml, installs the git hooks (keeping those that are there) and makes correx's own\n" +
			"folder inside the git directory. Twice is the same as once. Everything else works without it, on defaults.\n\n" +
			"   correx init\n\n" + exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeCorrupt),
	}, runInit)
}

type initJSON struct {
	Config  string     `json:"config"`
	Written bool       `json:"config_written"`
	State   string     `json:"state"`
	Hooks   []hookJSON `json:"hooks"`
}

func runInit(ctx context.Context, c call) (*reply, error) {
	if err := noArgs(c); err != nil {
		return nil, err
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.notInSession(c, "init"); err != nil {
		return nil, err
	}
	j := initJSON{Config: filepath.Join(s.repo.Root(), configName), State: gate.StateDir(s.repo.CommonDir())}
	if err := durable.MkdirAll(j.State, 0o700); err != nil {
		return nil, err
	}
	o, err := hookOptions(ctx, c.env, s)
	if err != nil {
		return nil, err
	}
	before := readHooks(o)
	report, err := hooks.Install(o)
	if err != nil {
		return nil, err
	}
	own := ownHooks(s, o, before)
	_, err = os.Lstat(j.Config)
	missing := errors.Is(err, fs.ErrNotExist)
	if p, ok := s.InTree(j.Config); ok && missing {
		own = append(own, gate.OwnFile{Path: p, Content: config.Template()})
	}
	// The record of the configuration comes before the file: one that stands there without it would wait for a person at
	// the next commit, and the next init would take it for somebody else's.
	if err := approveWritten(ctx, c, s, own); err != nil {
		return nil, err
	}
	// So does the trust in it, which loosens nothing until there is such a file.
	if missing {
		if err := trustTemplate(ctx, c, s); err != nil {
			return nil, err
		}
	}
	if j.Written, err = writeConfig(j.Config); err != nil {
		return nil, err
	}
	j.Hooks = hooksOf(report, nil)
	return &reply{json: j, notices: append(s.words(), hookNotes(report)...), text: func(w io.Writer) {
		word := "kept"
		if j.Written {
			word = "wrote"
		}
		fmt.Fprintf(w, "config: %s %s\n", word, visible(j.Config))
		fmt.Fprintf(w, "state:  %s (only you can read it)\n", visible(j.State))
		hookLines(w, j.Hooks)
		fmt.Fprintln(w, "next: correx shadow open    to take it out again: correx hooks uninstall")
	}}, nil
}

// writeConfig writes the commented configuration unless something stands at its path, and removes what a killed init left
// beside it.
func writeConfig(path string) (bool, error) {
	if _, err := durable.SweepAbandoned(filepath.Dir(path)); err != nil {
		return false, err
	}
	err := durable.WriteNew(path, config.Template(), 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// trustTemplate trusts the configuration that init writes whole, which loosens nothing, unless something was trusted
// before: then a person says so.
func trustTemplate(ctx context.Context, c call, s *site) error {
	keeps, err := s.trusts.Keeps(configName, nil)
	if err != nil || !keeps {
		return err
	}
	return s.Trust(ctx, config.Trusted{File: configName, Data: config.Template()}, gate.Person{Name: c.env.person(), How: "init"}, s.trusts)
}

// ownHooks are the hooks in the tree that an install wrote or changed.
func ownHooks(s *site, o hooks.Options, before map[string]fileNow) []gate.OwnFile {
	var own []gate.OwnFile
	for path, now := range readHooks(o) {
		was := before[path]
		if p, ok := s.InTree(path); ok && (!bytes.Equal(was.bytes, now.bytes) || was.executable != now.executable) {
			own = append(own, gate.OwnFile{Path: p, Before: was.bytes, Executable: was.executable})
		}
	}
	return own
}

// approveWritten records what init has written, or is about to write, in the tree as approved by whoever ran it.
func approveWritten(ctx context.Context, c call, s *site, own []gate.OwnFile) error {
	if len(own) == 0 {
		return nil
	}
	how := "no-terminal"
	if c.env.interactive() {
		how = "terminal"
	}
	return s.ApproveOwn(ctx, own, gate.Person{Name: c.env.person(), How: how}, "written by correx init")
}

// fileNow is what stands at a path.
type fileNow struct {
	bytes      []byte
	executable bool
}

// readHooks reads the hooks that are there, those that are run after ours among them.
func readHooks(o hooks.Options) map[string]fileNow {
	out := map[string]fileNow{}
	for _, name := range hooks.Names() {
		for _, p := range []string{filepath.Join(o.Dir, name), filepath.Join(o.Dir, hooks.ChainedDir, name)} {
			info, err := os.Stat(p)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if b, err := os.ReadFile(p); err == nil {
				out[p] = fileNow{bytes: b, executable: info.Mode()&0o100 != 0}
			}
		}
	}
	return out
}
