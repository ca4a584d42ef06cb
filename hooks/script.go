package hooks

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// PreCommit is the hook git runs before a commit is made.
const PreCommit = "pre-commit"

// Names returns the git hooks this package installs.
func Names() []string { return []string{PreCommit} }

const (
	firstLine = "#!/bin/sh\n"
	beginLine = "# correx hook begin: made by \"correx hooks install\", taken out by \"correx hooks uninstall\"\n"
	endLine   = "# correx hook end\n"
	// programLine begins the line that names the binary.
	programLine = "correx_program="
	// ChainedDir is the name of the folder of chained hooks in the hooks folder.
	ChainedDir = "correx-chained"
)

// RunVariable is the variable of the environment in which our lines hand correx the word of this run.
const RunVariable = "CORREX_HOOK_RUN"

// Answer returns what correx says on standard output once it has judged for a hook, given the word of the run.
func Answer(hook, run string) string { return "correx judged " + hook + " in run " + run }

// block returns our lines for a hook. With chain they end by running the chained hook.
//
// They use nothing but what every shell has built in. correx gets no standard input, so that all of it is there for the
// rest of the hook. That it came to an answer at all is known by what it says on standard output, a word of this run, and by
// an exit status that it uses: an empty file, another program or the first half of correx may end with any status, 0 as
// well, when a shell is asked to run it.
func block(name, binary string, chain bool) string {
	var b strings.Builder
	b.WriteString(beginLine)
	b.WriteString(programLine + quote(binary) + "\n")
	fmt.Fprintf(&b, `correx_status=0
correx_answer=
if [ -f "$correx_program" ] && [ -x "$correx_program" ]; then
	correx_answer=$(%[2]s=$$ exec "$correx_program" hook %[1]s "$@" </dev/null) || correx_status=$?
else
	correx_status=127
fi
case "$correx_answer $correx_status" in
"%[3]s 0") ;;
"%[3]s "[1-9] | "%[3]s 124" | "%[3]s 130") exit $correx_status ;;
*)
	{
		echo 'correx: stopped - correx did not run, so nothing was checked'
		echo "  it is missing, not executable or broken (status $correx_status):"
		echo "  $correx_program"
		echo 'person: correx doctor (after installing correx again if it is gone)'
		echo 'agent:  a person has to mend this. Do not retry or go round it.'
		echo 'correx-status: blocked reason=broken exit=1'
	} >&2
	exit 1
	;;
esac
unset correx_program correx_status correx_answer
`, name, RunVariable, Answer(name, "$$"))
	if chain {
		fmt.Fprintf(&b, `case $0 in
*/*) correx_chained=${0%%/*}/%[1]s ;;
*) correx_chained=./%[1]s ;;
esac
if [ -f "$correx_chained" ] && [ -x "$correx_chained" ]; then
	exec "$correx_chained" "$@"
fi
`, path.Join(ChainedDir, name))
	}
	b.WriteString(endLine)
	return b.String()
}

// quote makes one word of a shell of s.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// unquote is the reverse of quote.
func unquote(word string) (string, bool) {
	inner, ok := strings.CutPrefix(word, "'")
	inner, closed := strings.CutSuffix(inner, "'")
	if !ok || !closed {
		return "", false
	}
	return strings.ReplaceAll(inner, `'\''`, "'"), true
}

// checkBinary refuses a name that cannot stand in a script.
func checkBinary(binary string) error {
	if !filepath.IsAbs(binary) {
		return fmt.Errorf("%w: correx is known as %q, expected an absolute name", ErrUsage, binary)
	}
	if strings.ContainsFunc(binary, unicode.IsControl) {
		return fmt.Errorf("%w: the name of the correx binary %q holds control characters", ErrUsage, binary)
	}
	return nil
}

// parts is a hook taken apart: our lines, and what is around them.
type parts struct {
	before, block, after []byte
}

// rest is the hook without our lines.
func (p parts) rest() []byte { return slices.Concat(p.before, p.after) }

// own reports whether the hook is a script of ours and nothing else.
func (p parts) own() bool { return string(p.before) == firstLine && len(p.after) == 0 }

// chains reports whether our lines run the chained hook.
func (p parts) chains() bool { return bytes.Contains(p.block, []byte("exec \"$correx_chained\"")) }

// binary returns the correx our lines call; "" where they were edited beyond recognition.
func (p parts) binary() string {
	for line := range bytes.Lines(p.block) {
		if word, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), programLine); ok {
			name, _ := unquote(word)
			return name
		}
	}
	return ""
}

// take finds our lines. found is false where there are none; an error says that they are no longer whole.
func take(content []byte) (p parts, found bool, problem string) {
	begins, ends := lineStarts(content, beginLine), lineStarts(content, endLine)
	switch {
	case len(begins) == 0 && len(ends) == 0:
		return parts{before: content}, false, ""
	case len(begins) != 1 || len(ends) != 1 || ends[0] < begins[0]:
		return parts{}, false, fmt.Sprintf("expected correx's lines once and whole, found %d beginnings and %d ends; take them out by hand",
			len(begins), len(ends))
	}
	end := ends[0] + len(endLine)
	return parts{before: content[:begins[0]], block: content[begins[0]:end], after: content[end:]}, true, ""
}

// lineStarts returns the offsets at which line stands as a whole line.
func lineStarts(content []byte, line string) []int {
	var starts []int
	at := 0
	for l := range bytes.Lines(content) {
		if string(l) == line {
			starts = append(starts, at)
		}
		at += len(l)
	}
	return starts
}

// joinable reports whether lines of a shell may go in after the first line of a hook: it is a script of a shell of the
// Bourne family, and nothing in it hints at being read by another program or by position.
func joinable(content []byte) bool {
	first, _, whole := bytes.Cut(content, []byte("\n"))
	if !whole || !isShell(string(first)) || bytes.IndexByte(content, 0) >= 0 {
		return false
	}
	for line := range bytes.Lines(content) {
		s := string(line)
		// The script hands itself to another program: exec perl -x "$0".
		if strings.Contains(s, "exec") && (strings.Contains(s, "$0") || strings.Contains(s, "${0")) {
			return false
		}
	}
	return true
}

// isShell reads a first line: "#!/bin/sh -e", "#!/usr/bin/env -S bash", "#!/bin/busybox sh". A shell with options that may
// keep it from running what follows (-n, -s, -c and others) is none: such a hook is chained.
func isShell(first string) bool {
	line, ok := strings.CutPrefix(first, "#!")
	if !ok || strings.ContainsRune(line, '\r') {
		return false
	}
	words := strings.Fields(line)
	for i, word := range words {
		name := path.Base(word)
		switch {
		case i == 0 && (name == "env" || name == "busybox"):
			continue
		case i > 0 && (strings.HasPrefix(word, "-") || strings.Contains(word, "=")):
			continue
		}
		return slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh"}, name) && harmless(words[i+1:])
	}
	return false
}

// harmless reports whether the options of a shell leave it running the script: e, f, u, v and x.
func harmless(options []string) bool {
	return !slices.ContainsFunc(options, func(word string) bool {
		letters, ok := strings.CutPrefix(word, "-")
		return !ok || letters == "" || strings.Trim(letters, "efuvx") != ""
	})
}

// join puts our lines into an existing script.
func join(content []byte, lines string) []byte {
	end := bytes.IndexByte(content, '\n') + 1
	return slices.Concat(content[:end], []byte(lines), content[end:])
}
