package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.Getenv("REPO")
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(ts.Chdir(dir))
	for _, words := range [][]string{append([]string{"init", "-q"}, args...), {"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", "base"}} {
		ts.Check(ts.Exec("git", words...))
	}
}

func cmdShadow(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("correx", append([]string{"shadow", "open"}, args...)...))
	ts.Setenv("shadow", strings.TrimSpace(ts.ReadFile("stdout")))
}

// runs runs a command and fails unless it exits with the number that args begin with.
func runs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N CMD…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%q exited with %d, want %d", args[1:], got, want)
	}
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) { runs(ts, neg, args) }

// cmdTerminal puts standard error on the controlling terminal, where testscript leaves it on a pipe.
func cmdTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: terminal N CMD…")
	}
	// The terminal is closed when its process ends, whatever has not been read from it by then: the shell lingers.
	runs(ts, neg, append([]string{args[0], "sh", "-c", `"$0" "$@" 2>/dev/tty; code=$?; sleep 0.2; exit $code`}, args[1:]...))
}

func cmdRefused(ts *testscript.TestScript, neg bool, args []string) {
	before := look(ts, true)
	runs(ts, neg, args)
	before.compare(ts, look(ts, true))
}

func cmdHeld(ts *testscript.TestScript, neg bool, args []string) {
	before := look(ts, false)
	runs(ts, neg, args)
	before.compare(ts, look(ts, false))
}

func cmdFrozen(ts *testscript.TestScript, neg bool, args []string) {
	*ts.Value("frozen").(*snapshot) = look(ts, false)
}

func cmdUnchanged(ts *testscript.TestScript, neg bool, args []string) {
	ts.Value("frozen").(*snapshot).compare(ts, look(ts, false))
}

// snapshot describes every path of a tree: its kind, permission bits and content.
type snapshot map[string]string

// look describes the repository in $REPO with all that git keeps of it; of correx's own state the ledger, if wanted.
func look(ts *testscript.TestScript, ledger bool) snapshot {
	root := ts.Getenv("REPO")
	s := snapshot{}
	s.add(ts, root, "")
	common := filepath.Join(root, ".git")
	if data, err := os.ReadFile(common); err == nil {
		// A linked worktree: its own git directory lies in worktrees/ of the shared one.
		own := strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:"))
		common = filepath.Dir(filepath.Dir(own))
		s.add(ts, common, "the shared git directory/")
	}
	if data, err := os.ReadFile(filepath.Join(common, "correx", "ledger", "events.jsonl")); ledger && err == nil {
		s["the ledger"] = string(data)
	}
	return s
}

func (s snapshot) add(ts *testscript.TestScript, root, prefix string) {
	ts.Check(filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "correx" && (prefix != "" || filepath.Base(filepath.Dir(p)) == ".git") {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, p)
		if err == nil {
			s[prefix+rel], err = describe(p)
		}
		return err
	}))
}

// describe says what stands at a path.
func describe(p string) (string, error) {
	info, err := os.Lstat(p)
	if err != nil {
		return "", err
	}
	var content []byte
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(p)
		return "symlink " + to, err
	case info.Mode().IsRegular():
		if content, err = os.ReadFile(p); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(content)), nil
}

// differs lists the paths that are not the same in both.
func (s snapshot) differs(now snapshot) []string {
	var diff []string
	for k, v := range s {
		if now[k] != v {
			diff = append(diff, k)
		}
	}
	for k := range now {
		if _, ok := s[k]; !ok {
			diff = append(diff, k)
		}
	}
	slices.Sort(diff)
	return diff
}

func (s snapshot) compare(ts *testscript.TestScript, now snapshot) {
	if diff := s.differs(now); len(diff) > 0 {
		ts.Fatalf("changed: %q", diff)
	}
}

func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	var trees [2]snapshot
	for i, dir := range args {
		tree, err := readTree(ts.MkAbs(dir))
		ts.Check(err)
		for p, what := range tree {
			kind, content, _ := strings.Cut(what, " ")
			switch kind[0] {
			case 'd':
				delete(tree, p) // git keeps no folders
			case '-':
				tree[p] = fmt.Sprintf("executable %t %s", kind[3] == 'x', content)
			}
		}
		trees[i] = tree
	}
	if diff := trees[0].differs(trees[1]); len(diff) > 0 != neg {
		ts.Fatalf("differ in: %q", diff)
	}
}

// readTree describes a working tree without git's own folder or file at its top.
func readTree(root string) (snapshot, error) {
	s := snapshot{}
	git := filepath.Join(root, ".git")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p == git && d.IsDir():
			return fs.SkipDir
		case p == git:
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err == nil {
			s[rel], err = describe(p)
		}
		return err
	})
	return s, err
}

// field finds a.0.b in the JSON of the last output.
func field(ts *testscript.TestScript, name string) string {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.UseNumber()
	var v any
	ts.Check(dec.Decode(&v))
	for part := range strings.SplitSeq(name, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			if part == "len" {
				v = json.Number(strconv.Itoa(len(x)))
				continue
			}
			i, err := strconv.Atoi(part)
			ts.Check(err)
			if i >= len(x) {
				ts.Fatalf("%s: only %d elements", name, len(x))
			}
			v = x[i]
		default:
			ts.Fatalf("%s: nothing below %q", name, part)
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	ts.Check(enc.Encode(v))
	return strings.TrimSpace(b.String())
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json FIELD VALUE")
	}
	if got := field(ts, args[0]); (got == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: capture NAME FIELD")
	}
	ts.Setenv(args[0], field(ts, args[1]))
}

// cmdState asks show for the state of change sets.
func cmdState(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: state NAME N…")
	}
	for _, id := range args[1:] {
		ts.Check(ts.Exec("correx", "-C", ts.Getenv("REPO"), "show", id, "--json"))
		if got := field(ts, "state"); got != args[0] {
			ts.Fatalf("#%s is %s, want %s", id, got, args[0])
		}
	}
}

func unescape(ts *testscript.TestScript, s string) string {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	ts.Check(err)
	return out
}

func put(ts *testscript.TestScript, file, text string) {
	p := ts.MkAbs(file)
	ts.Check(os.MkdirAll(filepath.Dir(p), 0o755))
	ts.Check(os.WriteFile(p, []byte(text), 0o644))
}

func cmdPut(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: put FILE TEXT")
	}
	put(ts, args[0], unescape(ts, args[1]))
}

func cmdMany(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: many N FILE [TEXT]")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	text := "%d\\n"
	if len(args) > 2 {
		text = args[2]
	}
	for i := range n {
		number := func(s string) string { return strings.ReplaceAll(s, "%d", strconv.Itoa(i+1)) }
		put(ts, number(args[1]), unescape(ts, number(text)))
	}
}

// cmdFill writes lines of 64 bytes and what is left over.
func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill N FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	line := strings.Repeat("x", 63) + "\n"
	put(ts, args[1], strings.Repeat(line, n/len(line)+1)[:n])
}

// cmdSocket makes a socket; its name may be longer than a socket may be bound to.
func cmdSocket(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: socket FILE")
	}
	dir, err := os.MkdirTemp("", "s")
	ts.Check(err)
	defer os.RemoveAll(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	ts.Check(err)
	l.SetUnlinkOnClose(false)
	ts.Check(os.Rename(filepath.Join(dir, "s"), ts.MkAbs(args[0])))
	ts.Check(l.Close())
}

func cmdBytes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: bytes FILE TEXT")
	}
	got, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if want := unescape(ts, args[1]); (string(got) == want) == neg {
		ts.Fatalf("%s holds %q, want %q", args[0], got, want)
	}
}

func cmdLink(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: link FILE TARGET")
	}
	got, err := os.Readlink(ts.MkAbs(args[0]))
	ts.Check(err)
	if got != args[1] {
		ts.Fatalf("%s leads to %q, want %q", args[0], got, args[1])
	}
}

func cmdPerm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: perm FILE MODE")
	}
	info, err := os.Lstat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}
