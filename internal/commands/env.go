// Package commands is the command line: one file per command, each with its constructor, its run function and its
// rendering. It is where clock, random source, environment, terminal and working directory enter the program, and the one
// place where errors become exit codes. It owns no rules: what a command does lies in internal/gate and below.
package commands

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Env is the outside world as a run of correx sees it.
type Env struct {
	Args    []string
	Stdin   *os.File
	Stdout  *os.File
	Stderr  *os.File
	Environ []string
	// Dir is the folder the program was started in, absolute.
	Dir string
	// Executable is the absolute path of the running program.
	Executable string
	Clock      func() time.Time
	Rand       io.Reader
	// User is the account's name.
	User string
	Pid  int
}

// Process returns the environment of this process.
func Process() Env {
	dir, _ := os.Getwd()
	exe, err := os.Executable()
	if err == nil {
		if resolved, err := filepath.EvalSymlinks(exe); err == nil {
			exe = resolved
		}
	}
	return Env{
		Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Dir: dir,
		Executable: exe, Clock: systemClock(), Rand: rand.Reader, Pid: os.Getpid(),
	}
}

// systemClock tells the time in the machine's own zone. TZ is not asked: whoever starts correx sets it, and could have a rule
// that holds at times hold at others.
func systemClock() func() time.Time {
	zone := sync.OnceValue(func() *time.Location {
		if runtime.GOOS == "windows" {
			return time.Local // the system's, whatever TZ says
		}
		data, err := os.ReadFile("/etc/localtime")
		if err != nil {
			return time.UTC
		}
		local, err := time.LoadLocationFromTZData("Local", data)
		if err != nil {
			return time.UTC
		}
		return local
	})
	return func() time.Time { return time.Now().In(zone()) }
}

// Main runs the command that env.Args name and returns the exit code. Interrupts end the command's context; what it had
// begun is put back before it returns.
func Main(env Env) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := run(ctx, env)
	if ctx.Err() != nil && code != codeDone {
		return codeInterrupted
	}
	return code
}

// get returns the value of an environment variable, or "".
func (e Env) get(name string) string {
	value := ""
	for _, kv := range e.Environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// home returns the user's home folder.
func (e Env) home() (string, error) {
	if h := e.get("HOME"); filepath.IsAbs(h) {
		return h, nil
	}
	if h := e.get("USERPROFILE"); h != "" {
		return h, nil
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir, nil
	}
	return "", errors.New("no home folder: HOME is not set")
}

// xdg returns $NAME/correx, or the fallback below the home folder. A relative value is ignored, as the XDG base directory
// specification asks.
func (e Env) xdg(name, fallback string) (string, error) {
	if v := e.get(name); filepath.IsAbs(v) {
		return filepath.Join(v, "correx"), nil
	}
	home, err := e.home()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, fallback, "correx"), nil
}

// userConfig returns the path of the user's own configuration.
func (e Env) userConfig() (string, error) {
	dir, err := e.xdg("XDG_CONFIG_HOME", ".config")
	return filepath.Join(dir, "config.toml"), err
}

// shadowHome returns the folder where shadows are made.
func (e Env) shadowHome() (string, error) {
	dir, err := e.xdg("XDG_STATE_HOME", ".local/state")
	return filepath.Join(dir, "shadows"), err
}

// trustDir returns the folder where trust in repositories' settings is kept.
func (e Env) trustDir() (string, error) {
	dir, err := e.xdg("XDG_STATE_HOME", ".local/state")
	return filepath.Join(dir, "trust"), err
}

// own returns the places of correx's own files outside any repository: the program and the user's configuration.
func (e Env) own() []string {
	conf, err := e.userConfig()
	if err != nil {
		return []string{e.Executable}
	}
	trust, err := e.trustDir()
	if err != nil {
		return []string{e.Executable, filepath.Dir(conf)}
	}
	return []string{e.Executable, filepath.Dir(conf), trust}
}

// programEnviron is the environment of a program of the user's that correx starts. Nothing of an agent's environment reaches
// it but the home folder, by which the user's configuration was found.
func (e Env) programEnviron() []string {
	list := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "USER=" + e.person()}
	if runtime.GOOS == "windows" {
		list = []string{"PATH=" + filepath.Join(e.get("SYSTEMROOT"), "System32"), "SYSTEMROOT=" + e.get("SYSTEMROOT"), "USERNAME=" + e.person()}
	}
	if home, err := e.home(); err == nil {
		list = append(list, "HOME="+home)
	}
	return list
}

// person returns the account's name.
func (e Env) person() string {
	if e.User != "" {
		return e.User
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprintf("uid-%d", os.Getuid())
}

// holder names this process in locks.
func (e Env) holder(command string) string {
	return fmt.Sprintf("correx %s (process %d)", command, e.Pid)
}

// interactive reports whether a person can be asked: questions go to standard error, answers come from standard input.
func (e Env) interactive() bool { return isTerminal(e.Stdin) && isTerminal(e.Stderr) }

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// width returns the terminal's width, or 80.
func (e Env) width() int {
	for _, f := range []*os.File{e.Stderr, e.Stdout} {
		if isTerminal(f) {
			if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
				return w
			}
		}
	}
	return 80
}

// colour reports whether output to f may be coloured.
func (e Env) colour(f *os.File) bool {
	return isTerminal(f) && e.get("NO_COLOR") == "" && e.get("TERM") != "dumb"
}

// agentVariables are set by coding agents in the processes they start.
func agentVariables() []string {
	return []string{
		"CORREX_SESSION", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI",
		"CURSOR_AGENT", "OPENCODE", "GOOSE_TERMINAL", "CLINE_ACTIVE", "AGENT",
	}
}

// agent reports whether the environment is a coding agent's.
func (e Env) agent() bool {
	for _, name := range agentVariables() {
		if e.get(name) != "" {
			return true
		}
	}
	return false
}
