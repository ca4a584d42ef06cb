package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/correx/correx/internal/commands"
)

// TestMain lets the scripts run the program itself under the name correx.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"correx":  func() { os.Exit(commands.Main(clocked(commands.Process()))) },
		"measure": func() { os.Exit(measure()) },
	})
}

// clocked sets the clock that a script names: CLOCK is a time, at which it stands still, or how far it is ahead ("31m") or
// behind ("-1h").
func clocked(env commands.Env) commands.Env {
	word := os.Getenv("CLOCK")
	if at, err := time.Parse(time.RFC3339, word); err == nil {
		env.Clock = func() time.Time { return at }
	} else if ahead, err := time.ParseDuration(word); err == nil {
		env.Clock = func() time.Time { return time.Now().Add(ahead) }
	}
	return env
}

// TestScripts runs the stories in testdata/script. Besides the usual commands there are:
//
//	repo [ARG…]             make $REPO (by default $WORK/repo) a repository, with ARGs for git init, commit what is there, and go there
//	shadow [ARG…]           open a shadow of the repository in the current folder and put its path into $shadow
//	exits N CMD…            run CMD, which must exit with N
//	terminal N CMD…         the same with standard error at the terminal that ttyin prepared
//	refused N CMD…          the same, and $REPO is what it was: files, git's index, refs and settings, and the ledger
//	held N CMD…             the same without the ledger, for what is recorded and changes nothing
//	frozen                  remember $REPO without the ledger
//	unchanged               it is what it was at the last frozen
//	same DIR DIR            two trees hold the same files, links and executable bits, git's own folders apart
//	json FIELD VALUE        the last output is JSON whose FIELD (a.0.b, a.len) is VALUE
//	capture NAME FIELD      put a field of the last output's JSON into $NAME
//	put FILE TEXT           write TEXT, with Go escapes, to FILE
//	bytes FILE TEXT         FILE holds exactly TEXT, with Go escapes
//	many N FILE [TEXT]      put for N files; %d in FILE and TEXT is the number, from 1 on
//	fill N FILE             write N bytes of text to FILE
//	socket FILE             FILE is a socket
//	link FILE TARGET        FILE is a symlink to TARGET
//	perm FILE MODE          FILE has exactly these permission bits
//	state NAME N…           the change sets N are in state NAME
//
// The variable CLOCK sets the clock of correx (see clocked). In their words $NL is a newline, $TAB a tab and $BAD a byte that is no UTF-8.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setup,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo": cmdRepo, "shadow": cmdShadow, "exits": cmdExits, "terminal": cmdTerminal, "refused": cmdRefused, "held": cmdHeld,
			"frozen": cmdFrozen, "unchanged": cmdUnchanged, "same": cmdSame, "json": cmdJSON, "capture": cmdCapture,
			"put": cmdPut, "bytes": cmdBytes, "many": cmdMany, "fill": cmdFill, "socket": cmdSocket, "link": cmdLink, "perm": cmdPerm, "state": cmdState,
		},
	})
}

// setup gives a script a home of its own, where the user's configuration allows decisions without a terminal (a script
// that is about the terminal removes it).
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	conf := filepath.Join(home, ".config", "correx")
	if err := os.MkdirAll(conf, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(conf, "config.toml"), []byte("[approve]\nrequire_tty = false\n"), 0o600); err != nil {
		return err
	}
	for k, v := range map[string]string{
		"HOME": home, "USER_CONFIG": filepath.Join(conf, "config.toml"), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", "TERM": "dumb",
		"GIT_AUTHOR_NAME": "dev", "GIT_AUTHOR_EMAIL": "dev@example.test", "GIT_COMMITTER_NAME": "dev",
		"GIT_COMMITTER_EMAIL": "dev@example.test", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "",
		"REPO": filepath.Join(env.WorkDir, "repo"), "NL": "\n", "TAB": "\t", "BAD": "\xe9",
	} {
		env.Setenv(k, v)
	}
	gitconfig := "[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n[protocol \"file\"]\n\tallow = always\n"
	env.Values["frozen"] = &snapshot{}
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitconfig), 0o600)
}
