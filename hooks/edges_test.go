package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/correx/correx/internal/faultfs"
)

// Standard input and arguments reach a chained hook whole; correx gets none of the input.
func TestChainedInput(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.hook(), "#!/usr/bin/env python3\nimport sys\nopen('"+p.told+"','a').write(repr((sys.argv[1:], sys.stdin.read())))\n", 0o755)
	p.install()
	cmd := exec.Command(p.hook(), "a b", "c")
	cmd.Stdin = strings.NewReader("l1\nl2")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	told, _ := os.ReadFile(p.told)
	if strings.Contains(string(told), "correx read") || !strings.HasSuffix(string(told), `(['a b', 'c'], 'l1\nl2')`) {
		t.Errorf("told %q", told)
	}
}

// Hook managers: a relative core.hooksPath in the tree, and a script that runs itself again.
func TestHusky(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.o.Dir = filepath.Join(p.repo, ".husky")
	p.git(p.repo, "config", "core.hooksPath", ".husky")
	p.write(filepath.Join(p.o.Dir, "_", "husky.sh"), `#!/usr/bin/env sh
if [ -z "$husky_skip_init" ]; then
  readonly husky_skip_init=1
  export husky_skip_init
  sh -e "$0" "$@"
  exit $?
fi
`, 0o644)
	p.write(p.hook(), "#!/usr/bin/env sh\n. \"$(dirname -- \"$0\")/_/husky.sh\"\n\necho husky ran in $PWD >>'"+p.told+"'\n", 0o755)
	before := p.tree()
	if result := p.install(); result.Action != Joined {
		t.Fatalf("install: %+v", result)
	}
	for _, dir := range []string{p.repo, filepath.Join(p.repo, "sub")} {
		told, said, ok := p.commit(dir)
		if !ok || !strings.HasPrefix(told, "correx hook pre-commit") || strings.Count(told, "husky ran in "+p.repo+"\n") != 1 {
			t.Errorf("commit: %v, told %q, said %q", ok, told, said)
		}
	}
	p.answer("3")
	if told, _, ok := p.commit(filepath.Join(p.repo, "sub")); ok || strings.Contains(told, "husky") {
		t.Errorf("refused commit went through: %q", told)
	}
	p.uninstall()
	if d := cmp.Diff(before, p.tree()); d != "" {
		t.Error(d)
	}
}

// A hook that is a symlink to a tracked script is never written through.
func TestSymlinkedHook(t *testing.T) {
	t.Parallel()
	for _, relative := range []bool{true, false} {
		p := newPlace(t)
		script := filepath.Join(p.repo, "scripts", "check.sh")
		content := "#!/bin/sh\necho script ran >>'" + p.told + "'\n"
		p.write(script, content, 0o755)
		target := script
		if relative {
			target = "../../scripts/./check.sh"
		}
		if err := os.Symlink(target, p.hook()); err != nil {
			t.Fatal(err)
		}
		before := p.tree()
		if result := p.install(); result.Action != Chained {
			t.Fatalf("install: %+v", result)
		}
		told, said, ok := p.commit(p.repo)
		if !ok || !strings.HasPrefix(told, "correx hook pre-commit") || !strings.HasSuffix(told, "script ran\n") {
			t.Errorf("commit: %v, told %q, said %q", ok, told, said)
		}
		if got, _ := os.ReadFile(script); string(got) != content {
			t.Errorf("written through the link: %q", got)
		}
		if result := p.uninstall(); result.Action != Restored {
			t.Errorf("uninstall: %+v", result)
		}
		if d := cmp.Diff(before, p.tree()); d != "" {
			t.Error(d)
		}
	}
}

func TestUpgradeAndLostBit(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "#!/bin/sh\nexit 0\n", "#!/usr/bin/env python3\n"} {
		p := newPlace(t)
		if content != "" {
			p.write(p.hook(), content, 0o750)
		}
		before := p.tree()
		p.install()
		old := p.o.Binary
		p.o.Binary = p.correx("correx-2")
		if s, _ := Inspect(p.o); len(s[0].Problems) != 1 || s[0].Binary != old {
			t.Errorf("inspect: %+v", s)
		}
		if result := p.install(); result.Action != Updated {
			t.Errorf("upgrade: %+v", result)
		}
		if err := os.Chmod(p.hook(), 0o640); err != nil {
			t.Fatal(err)
		}
		if s, _ := Inspect(p.o); len(s[0].Problems) != 1 || s[0].Executable {
			t.Errorf("inspect without the bit: %+v", s)
		}
		if result := p.install(); result.Action != Updated {
			t.Errorf("repair: %+v", result)
		}
		if s, _ := Inspect(p.o); len(s[0].Problems) != 0 || s[0].Binary != p.o.Binary {
			t.Errorf("inspect: %+v", s)
		}
		p.uninstall()
		if d := cmp.Diff(before, p.tree()); d != "" {
			t.Error(d)
		}
	}
}

// Lines of an earlier version, which took an exit status for an answer, are brought up to date and taken out as a whole.
func TestEarlierLines(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "#!/bin/sh\nexit 0\n"} {
		p := newPlace(t)
		if content != "" {
			p.write(p.hook(), content, 0o750)
		}
		before := p.tree()
		p.install()
		data, err := os.ReadFile(p.hook())
		if err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(string(data), "correx_status=0\n")
		_, tail, _ := strings.Cut(rest, endLine)
		p.write(p.hook(), head+"\"$correx_program\" hook pre-commit \"$@\" </dev/null || exit 1\n"+endLine+tail, 0o750)
		if s, _ := Inspect(p.o); len(s[0].Problems) != 1 || !strings.Contains(s[0].Problems[0], "not what this version writes") {
			t.Errorf("inspect: %+v", s)
		}
		if _, said, ok := p.commit(p.repo); !ok {
			t.Errorf("earlier lines stop a commit: %s", said)
		}
		if result := p.install(); result.Action != Updated {
			t.Errorf("install: %+v", result)
		}
		p.write(p.o.Binary, "", 0o755)
		if _, said, ok := p.commit(p.repo); ok || !strings.Contains(said, "reason=broken") {
			t.Errorf("an empty program: went through %v, said %q", ok, said)
		}
		p.uninstall()
		if d := cmp.Diff(before, p.tree()); d != "" {
			t.Error(d)
		}
	}
}

// Every shell of the family reads the lines the same way, with the options that a first line may give it.
func TestShells(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"sh"}, {"dash", "-eu"}, {"bash", "-eu"}, {"bash", "--posix"}, {"busybox", "sh"}, {"ksh"}, {"mksh"}, {"zsh"}} {
		shell, err := exec.LookPath(words[0])
		if err != nil {
			continue
		}
		p := newPlace(t)
		p.write(p.hook(), "#!/bin/sh\nread -r line\necho \"hook $* read $line\" >>'"+p.told+"'\n", 0o755)
		p.install()
		run := func() (out, told string, err error) {
			_ = os.Remove(p.told)
			cmd := exec.Command(shell, append(words[1:], p.hook(), "a b")...)
			cmd.Env, cmd.Stdin = []string{}, strings.NewReader("input\n")
			said, err := cmd.CombinedOutput()
			data, _ := os.ReadFile(p.told)
			return string(said), string(data), err
		}
		out, told, err := run()
		if err != nil || out != "" || !strings.HasPrefix(told, "correx hook pre-commit a b in ") || !strings.HasSuffix(told, "\nhook a b read input\n") {
			t.Errorf("%q: %v, %q, %q", words, err, out, told)
		}
		for status, broken := range map[string]bool{"3": false, "124": false, "77": true, "126": true, "129": true} {
			p.answer(status)
			out, told, err = run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || strings.Contains(told, "hook a b read") || strings.Contains(out, "reason=broken") != broken {
				t.Errorf("%q, status %s: %v, %q, %q", words, status, err, out, told)
			}
		}
		for _, content := range []string{"", "exit 0\n", "#!/bin/sh\n"} {
			p.write(p.o.Binary, content, 0o755)
			if out, told, err = run(); err == nil || told != "" || !strings.Contains(out, "reason=broken") {
				t.Errorf("%q, program %q: %v, %q, %q", words, content, err, out, told)
			}
		}
	}
}

// What was edited after the install keeps the edit.
func TestEditedSince(t *testing.T) {
	t.Parallel()
	edit := func(p *place, add string) {
		data, err := os.ReadFile(p.hook())
		if err != nil {
			t.Fatal(err)
		}
		p.write(p.hook(), string(data)+add, 0o755)
	}
	p := newPlace(t)
	p.write(p.hook(), "#!/bin/sh\ntrue\n", 0o700)
	p.install()
	edit(p, "echo more\n")
	if result := p.uninstall(); result.Action != Stripped {
		t.Errorf("joined: %+v", result)
	}
	if data, _ := os.ReadFile(p.hook()); string(data) != "#!/bin/sh\ntrue\necho more\n" {
		t.Errorf("joined: %q", data)
	}

	p = newPlace(t)
	p.install()
	edit(p, "echo more\n")
	if result := p.uninstall(); result.Action != Stripped {
		t.Errorf("own: %+v", result)
	}
	if data, _ := os.ReadFile(p.hook()); string(data) != "#!/bin/sh\necho more\n" {
		t.Errorf("own: %q", data)
	}

	p = newPlace(t)
	p.write(p.hook(), "#!/usr/bin/env python3\n", 0o755)
	p.install()
	edit(p, "echo more\n")
	p.o.Binary = p.correx("correx-3")
	p.install()
	if data, _ := os.ReadFile(p.hook()); !strings.Contains(string(data), "exec \"$correx_chained\"") {
		t.Error("an edited hook lost its chained one")
	}
	before := p.tree()
	var conflict *ConflictError
	if _, err := Uninstall(p.o); !errors.As(err, &conflict) {
		t.Errorf("chained: %v", err)
	}
	if d := cmp.Diff(before, p.tree()); d != "" {
		t.Errorf("a refusal changed something: %s", d)
	}
}

// Another tool replaced the hook and kept a copy of ours, as the pre-commit framework does.
func TestReplacedByAnotherTool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.install()
	if err := os.Rename(p.hook(), p.hook()+".legacy"); err != nil {
		t.Fatal(err)
	}
	p.write(p.hook(), "#!/bin/bash\n\"${0%/*}\"/pre-commit.legacy || exit 1\necho framework >>'"+p.told+"'\n", 0o755)
	if s, _ := Inspect(p.o); s[0].Installed || len(s[0].Problems) != 1 {
		t.Errorf("inspect: %+v", s)
	}
	if result := p.install(); result.Action != Joined {
		t.Errorf("install: %+v", result)
	}
	if told, _, ok := p.commit(p.repo); !ok || strings.Count(told, "correx hook") != 2 || !strings.HasSuffix(told, "framework\n") {
		t.Errorf("told %q", told)
	}
	if result := p.uninstall(); result.Action != Restored || len(result.Notes) != 1 || !strings.Contains(result.Notes[0], ".legacy") {
		t.Errorf("uninstall: %+v", result)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for name, change := range map[string]func(o *Options){
		"relative binary":   func(o *Options) { o.Binary = "correx" },
		"missing binary":    func(o *Options) { o.Binary = filepath.Join(p.dir, "none") },
		"line end":          func(o *Options) { o.Binary = "/tmp/a\nb" },
		"unknown hook":      func(o *Options) { o.Hooks = []string{"post-commit"} },
		"relative folder":   func(o *Options) { o.Dir = "hooks" },
		"folder is a file":  func(o *Options) { o.Dir = p.o.Binary },
		"folder is no file": func(o *Options) { o.Dir = os.DevNull },
	} {
		o := p.o
		change(&o)
		before := p.tree()
		if _, err := Install(o); err == nil {
			t.Errorf("%s: installed", name)
		}
		if d := cmp.Diff(before, p.tree()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if err := os.Mkdir(p.hook(), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(Options) (Report, error){"install": Install, "uninstall": Uninstall} {
		var conflict *ConflictError
		if _, err := do(p.o); !errors.As(err, &conflict) {
			t.Errorf("%s over a folder: %v", name, err)
		}
	}
	if s, err := Inspect(p.o); err != nil || len(s[0].Problems) == 0 {
		t.Errorf("inspect: %+v, %v", s, err)
	}
	if err := os.Remove(p.hook()); err != nil {
		t.Fatal(err)
	}
	p.write(p.hook(), "#!/bin/sh\n"+beginLine+"torn\n", 0o755)
	if _, err := Install(p.o); err == nil {
		t.Error("torn lines were taken for whole ones")
	}
}

// Every write fails in turn, and the process dies at every one: the commit is never let through unasked once it was
// gated, an existing hook is never lost, and going on reaches the same end.
func TestEveryStep(t *testing.T) {
	kinds := []string{"none", "sh", "python", "link"}
	for _, kind := range kinds {
		for _, dead := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, dead %v", kind, dead), func(t *testing.T) {
				faultfs.Each(t, func(t *testing.T, at int) bool { return stepsOnce(t, kind, at, dead) })
			})
		}
	}
}

func stepsOnce(t *testing.T, kind string, at int, dead bool) (struck bool) {
	t.Helper()
	p := newPlace(t)
	switch kind {
	case "sh":
		p.write(p.hook(), "#!/bin/sh\ntrue\n", 0o755)
	case "python":
		p.write(p.hook(), "#!/usr/bin/env python3\n", 0o755)
	case "link":
		if err := os.Symlink("nowhere", p.hook()); err != nil {
			t.Fatal(err)
		}
	}
	before := p.tree()
	mode := faultfs.FailOnce
	if dead {
		mode = faultfs.FailFrom
	}
	for _, part := range []struct {
		name  string
		do    func(writer) error
		again func()
	}{
		{"install", func(w writer) error { _, err := w.install(p.o); return err }, func() { p.install() }},
		{"uninstall", func(w writer) error { _, err := w.uninstall(p.o); return err }, func() { p.uninstall() }},
	} {
		f := &faultfs.Fault{At: at, Mode: mode}
		if err := part.do(writer{fault: f.Step}); f.Struck() == (err == nil) {
			t.Fatalf("%s: %v after %q", part.name, err, f.Trace())
		}
		if _, lost := os.Lstat(p.hook()); lost != nil && kind != "none" {
			t.Fatalf("%s: the hook is gone after %q", part.name, f.Trace())
		}
		part.again()
		struck = struck || f.Struck()
		if s, err := Inspect(p.o); part.name == "install" && (err != nil || len(s[0].Problems) > 0) {
			t.Fatalf("after going on: %+v, %v", s, err)
		}
	}
	if d := cmp.Diff(before, p.tree()); d != "" {
		t.Fatal(d)
	}
	return struck
}

func FuzzTake(f *testing.F) {
	f.Add([]byte("#!/bin/sh\n" + block(PreCommit, "/bin/correx", true) + "rest\n"))
	f.Add([]byte(beginLine + endLine + endLine))
	f.Fuzz(func(t *testing.T, content []byte) {
		p, found, problem := take(content)
		if problem == "" && found && string(p.before)+string(p.block)+string(p.after) != string(content) {
			t.Errorf("%q is taken apart wrongly", content)
		}
		if problem != "" || found || !joinable(content) {
			return
		}
		p, found, problem = take(join(content, block(PreCommit, "/x y/'co'rrex", false)))
		if !found || problem != "" || string(p.rest()) != string(content) || p.binary() != "/x y/'co'rrex" {
			t.Errorf("%q does not come back: %+v %q", content, p, problem)
		}
	})
}

// What is quoted comes out of a real shell as it was.
func TestQuote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"/a", "/a b", "/a'b", "/'", "/a$x`y`\"\\", "/\xff", "/-n", "/*"} {
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+quote(s)).Output()
		back, ok := unquote(quote(s))
		if err != nil || string(out) != s || !ok || back != s {
			t.Errorf("%q: %q, %q, %v", s, out, back, err)
		}
	}
}

func TestIsShell(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"#!/bin/sh": true, "#! /bin/bash -eu": true, "#!/usr/bin/env bash": true, "#!/usr/bin/env -S zsh -f": true,
		"#!/bin/sh -n": false, "#!/bin/sh -s": false, "#!/bin/bash -D": false, "#!/bin/sh -en": false, "#!/bin/sh -c true": false,
		"#!/bin/bash --version": false, "#!/bin/bash --rcfile x": false, "#!/bin/sh -": false, "#!/bin/sh other": false,
		"#!/bin/busybox sh": true, "#!/usr/bin/env X=1 dash": true, "#!/usr/bin/env": false, "#!/bin/bash\r": false,
		"#!/usr/bin/python3": false, "#!/usr/bin/fish": false, "#!/bin/csh": false, "": false, "#!": false, "echo": false,
		"#!/usr/bin/env python3 sh": false, "#!/bin/shfmt": false,
	} {
		if got := isShell(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// FuzzRecord: what stood in a hook's place is read back as it was written, and anything else is no record.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"hook":"pre-commit","kind":"none"}`))
	f.Add([]byte(`{"version":1,"hook":"pre-commit","kind":"joined","mode":493,"content":"IyEvYmluL3NoCg=="}`))
	f.Add([]byte(`{"version":1,"hook":"pre-commit","kind":"chained","target":"//4="}`))
	state := f.TempDir()
	file := recordPath(state, "/hooks", PreCommit)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, ok := readRecord(state, "/hooks", PreCommit)
		if !ok {
			return
		}
		again, err := json.Marshal(r)
		if err == nil {
			err = os.WriteFile(file, again, 0o600)
		}
		if back, ok := readRecord(state, "/hooks", PreCommit); err != nil || !ok || !cmp.Equal(r, back, cmpopts.EquateEmpty()) {
			t.Errorf("%q comes back as %+v, %v", data, back, err)
		}
	})
}
