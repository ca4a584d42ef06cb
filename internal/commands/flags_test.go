package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/correx/correx/internal/gate"
)

// TestHelpEndsInExitStatuses: every command says what it is for, how it is called, and what its exit codes mean.
func TestHelpEndsInExitStatuses(t *testing.T) {
	w := newWorld(t, nil)
	check := func(words []string, c *cli.Command) {
		t.Helper()
		name := strings.Join(words, " ")
		if c.Usage == "" || strings.HasSuffix(c.Usage, ".") {
			t.Errorf("%s: usage %q", name, c.Usage)
		}
		tail := c.Description[strings.LastIndex(c.Description, "Exit status:")+1:]
		if !strings.Contains(c.Description, "Exit status:\n     0  done") || strings.Contains(tail, "\n\n") {
			t.Errorf("%s: the description does not end in exit statuses: %q", name, c.Description)
		}
		for _, args := range [][]string{append(slices.Clone(words), "--help"), append([]string{"-h"}, words...)} {
			a := w.run(w.repo, args...)
			if a.code != codeDone || a.stderr != "" || !strings.Contains(a.stdout, "Exit status:") || !strings.Contains(a.stdout, "correx "+name) {
				t.Errorf("correx %v: exit %d: %s%s", args, a.code, a.stdout, a.stderr)
			}
		}
	}
	for _, l := range leaves() {
		check(l.words, l.Command)
		if !strings.Contains(l.Description, "correx "+l.words[0]) && l.Name != "hooks" {
			t.Errorf("%v: no example", l.words)
		}
	}
	for _, c := range (&application{}).build().Commands {
		if len(c.Subcommands) > 0 {
			check([]string{c.Name}, c)
		}
	}
	if a := w.run(w.repo); a.code != codeDone || !strings.Contains(a.stdout, "Exit status:") {
		t.Errorf("correx: exit %d: %s", a.code, a.stdout)
	}
}

// TestEveryCommandHasAStory: a script whose name begins with the command.
func TestEveryCommandHasAStory(t *testing.T) {
	for _, l := range leaves() {
		pattern := filepath.Join("..", "..", "testdata", "script", strings.Join(l.words, "_")+"*.txtar")
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Errorf("no script %s", filepath.Base(pattern))
		}
	}
}

// sample is a value for a flag.
func sample(f cli.Flag) string {
	if _, ok := f.(*cli.DurationFlag); ok {
		return "90s"
	}
	return "a,b c"
}

// parsed runs a command line up to the command, which only notes what it was given.
func parsed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	app := (&application{env: Env{Args: append([]string{"correx"}, args...)}}).build()
	app.Writer, app.ErrWriter = io.Discard, io.Discard
	got := ""
	var instead func([]*cli.Command)
	instead = func(commands []*cli.Command) {
		for _, c := range commands {
			instead(c.Subcommands)
			c.Action = func(ctx *cli.Context) error {
				got = ctx.Command.FullName()
				for _, f := range append([]cli.Flag{app.Flags[0]}, ctx.Command.Flags...) {
					switch name := f.Names()[0]; {
					case name == "help":
					case name == "only":
						got += fmt.Sprintf(" only=%q", ctx.StringSlice(name))
					default:
						got += fmt.Sprintf(" %s=%v", name, ctx.Value(name))
					}
				}
				got += fmt.Sprintf(" %q", ctx.Args().Slice())
				return nil
			}
		}
	}
	line, err := normalize(app, append([]string{"correx"}, args...))
	if err != nil {
		return "", err
	}
	instead(app.Commands)
	return got, app.RunContext(context.Background(), line)
}

// TestFlagsBeforeAndAfterArguments gives every flag of every command, and those of the program, in every place.
func TestFlagsBeforeAndAfterArguments(t *testing.T) {
	for _, l := range leaves() {
		for _, f := range append([]cli.Flag{&cli.StringFlag{Name: "C"}}, l.Flags...) {
			for _, name := range f.Names() {
				dashes := "--"
				if len(name) == 1 {
					dashes = "-"
				}
				words := []string{dashes + name}
				switch {
				case isOptionalValue(f):
					words = []string{dashes + name + "=" + sample(f)}
				case takesValue(f):
					words = append(words, sample(f))
				}
				want, err := parsed(t, slices.Concat(l.words, words, []string{"--", "1", "-x"})...)
				if err != nil || !strings.HasSuffix(want, `["1" "-x"]`) || takesValue(f) && !strings.Contains(want, sample(f)) && !strings.Contains(want, "1m30s") {
					t.Errorf("%v %v: got %s, %v", l.words, words, want, err)
					continue
				}
				lines := [][]string{
					slices.Concat(l.words, []string{"1"}, words, []string{"--", "-x"}),
					slices.Concat(l.words, words, []string{"1", "--", "-x"}),
				}
				if len(words) == 2 {
					lines = append(lines, slices.Concat(l.words, []string{"1", words[0] + "=" + words[1], "--", "-x"}))
				}
				if name == "C" || name == "json" {
					lines = append(lines, slices.Concat(words, l.words, []string{"1", "--", "-x"}))
				}
				for _, line := range lines {
					if got, err := parsed(t, line...); got != want || err != nil {
						t.Errorf("%q: got %s, %v; want %s", line, got, err, want)
					}
				}
			}
		}
	}
}

// TestUnknownFlagsAreRefused: in every place, for every command, before anything is done.
func TestUnknownFlagsAreRefused(t *testing.T) {
	for _, l := range leaves() {
		for _, line := range [][]string{
			slices.Concat(l.words, []string{"--nonsense"}),
			slices.Concat(l.words, []string{"1", "--nonsense"}),
			slices.Concat(l.words, []string{"1", "-n"}),
			slices.Concat(l.words, []string{"--nonsense=1", "1"}),
			slices.Concat(l.words, []string{"1", "--json=yes"}),
			slices.Concat(l.words, []string{"1", "-C"}),
			slices.Concat([]string{"--nonsense"}, l.words),
		} {
			_, err := parsed(t, line...)
			var usage *gate.UsageError
			if !errors.As(err, &usage) {
				t.Errorf("%q: %v, want a usage error", line, err)
			}
		}
	}
	for _, line := range [][]string{{"nonsense"}, {"statsu"}, {"shadow", "opne"}, {"-C", "x", "aprove"}} {
		got, err := parsed(t, line...)
		if err == nil && got != "" {
			t.Errorf("%q ran %s", line, got)
		}
	}
}

// TestArgumentsStayWhole: what looks like something else is an argument behind "--", and commas part nothing.
func TestArgumentsStayWhole(t *testing.T) {
	for _, tc := range []struct {
		line []string
		want string
	}{
		{[]string{"submit", "a,b", "--each", "c"}, `each=true wait= diff=false session= json=false ["a,b" "c"]`},
		{[]string{"submit", "--", "--each"}, `each=false wait= diff=false session= json=false ["--each"]`},
		{[]string{"submit", "-"}, `["-"]`},
		{[]string{"submit", "--wait", "a"}, `wait=forever diff=false session= json=false ["a"]`},
		{[]string{"submit", "status"}, `["status"]`},
		{[]string{"submit", "-m", "-x"}, "message=-x"},
		{[]string{"submit", "--message=", "a"}, `message= each=false`},
		{[]string{"approve", "--only", "a,b", "1", "--only=c"}, `only=["a,b" "c"]`},
		{[]string{"-C", "x", "submit", "-C", "y"}, "C=y"},
	} {
		got, err := parsed(t, tc.line...)
		if err != nil || !strings.Contains(got, tc.want) {
			t.Errorf("%q: got %s, %v; want %s in it", tc.line, got, err, tc.want)
		}
	}
}
