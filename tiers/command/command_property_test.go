package command

import (
	"hash/fnv"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
)

// wraps are ways to run a command as part of another, after which its tier is never lower.
func wraps() map[string]func(string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	line := func(before, after string) func(string) string {
		return func(s string) string { return before + s + "\n" + after }
	}
	return map[string]func(string) string{
		"sh -c": func(s string) string { return "sh -c " + quote(s) }, "bash -lc": func(s string) string { return "bash -lc " + quote(s) },
		"nested": func(s string) string { return "bash -c " + quote("sh -c "+quote(s)) }, "eval": func(s string) string { return "eval " + quote(s) },
		"env": func(s string) string { return "env A=1 sh -c " + quote(s) }, "timeout": func(s string) string { return "timeout -k 3 5 bash -c " + quote(s) },
		"nohup": func(s string) string { return "nohup sh -c " + quote(s) }, "sudo": func(s string) string { return "sudo sh -c " + quote(s) },
		"find": func(s string) string { return "find . -maxdepth 0 -exec sh -c " + quote(s) + ` \;` }, "trap": func(s string) string { return "trap " + quote(s) + " EXIT" },
		"subshell": line("(", ")"), "group": line("{ ", "}"), "function": line("f() { ", "}; f"), "then": line("if true; then ", "fi"), "else": line("if true; then :; else ", "fi"),
		"loop": line("while false; do ", "done"), "case": line("case x in y) ", ";; esac"), "substitution": line("echo \"$(", ")\""), "process": line("cat <(", ")"),
		"before": line("", "ls"), "after": line("ls; ", ""), "and": line("ls && { ", "}"), "or": line("ls || { ", "}"), "pipe": line("ls | { ", "}"), "not": line("! { ", "}"),
		"time": line("time { ", "}"), "redirect": line("{ ", "} > /dev/null 2>&1"), "long chain": line(strings.Repeat("true; ", 60), ""),
		"document": func(s string) string { return "bash <<'END_OF_IT'\n" + s + "\nEND_OF_IT" },
	}
}

// everyRow returns the commands of all tables, without those that bash does not take alone: what is put around them may
// make something else of them.
func everyRow(t testing.TB) map[string]change.Tier {
	all := rows(t)
	for _, name := range sets() {
		for _, r := range corpus(t, name) {
			if _, why := parse(newParser(), r.text); why == "" {
				all[r.text] = r.tier
			}
		}
	}
	return all
}

// turn reports whether a row takes part in the nth of many ways, so that every row has some and every way many rows.
func turn(text, way string) bool {
	h := fnv.New32a()
	h.Write([]byte(text + way))
	return h.Sum32()%4 == 0
}

func TestWrappingNeverLowers(t *testing.T) {
	all := wraps()
	for text, want := range everyRow(t) {
		want = Grade(text, project()).Tier
		for name, wrap := range all {
			if !turn(text, name) {
				continue
			}
			if r := Grade(wrap(text), project()); r.Tier < want {
				t.Errorf("%s of %q: %s, alone %s: %q", name, text, r.Tier, want, r.Reasons)
			}
		}
	}
}

// spellings are other ways to write the first word, which bash takes for the same.
func TestSpellingNeverLowers(t *testing.T) {
	spellings := map[string]func(string) string{
		"quotes": func(w string) string { return `"` + w + `"` }, "single": func(w string) string { return "'" + w + "'" }, "empty": func(w string) string { return w[:1] + "''" + w[1:] },
		"backslash": func(w string) string { return `\` + w }, "every letter": func(w string) string { return `\` + strings.Join(strings.Split(w, ""), `\`) },
		"ansi": func(w string) string { return "$'" + w + "'" }, "continued": func(w string) string { return w[:1] + "\\\n" + w[1:] },
		"path": func(w string) string { return "/usr/bin/" + w }, "assignment": func(w string) string { return "A=1 " + w }, "redirect": func(w string) string { return "</dev/null " + w },
		"prefix": func(w string) string { return "command " + w }, "nice": func(w string) string { return "nice " + w }, "env": func(w string) string { return "env -i " + w },
	}
	plain := 0
	for text := range everyRow(t) {
		first, rest, _ := strings.Cut(text, " ")
		if strings.Trim(first, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || oneOf(first, "if while for until case time exec command builtin coproc select function") || first == "" {
			continue
		}
		plain++
		want := Grade(text, project()).Tier
		for name, spell := range spellings {
			if name == "env" && want == change.T1 || !turn(text, name) {
				continue
			}
			respelt := spell(first) + " " + rest
			if r := Grade(respelt, project()); r.Tier < want {
				t.Errorf("%s: %q is %s, %q %s: %q", name, respelt, r.Tier, text, want, r.Reasons)
			}
		}
	}
	if plain < 100 {
		t.Fatalf("only %d rows begin with a plain word", plain)
	}
}

func TestChainIsTheHighest(t *testing.T) {
	samples := []string{"ls", "touch a", "curl x.example", "rm a", "git status", "nobodyknows"}
	for _, a := range samples {
		for _, b := range samples {
			for _, op := range []string{" ; ", " && ", " || ", " & ", "\n"} {
				want := max(Grade(a, project()).Tier, Grade(b, project()).Tier)
				if r := Grade(a+op+b, project()); r.Tier != want {
					t.Errorf("%q: %s, want %s", a+op+b, r.Tier, want)
				}
			}
		}
	}
}

func TestSameTextSameResult(t *testing.T) {
	for text := range everyRow(t) {
		a, b := Grade(text, project()), Grade(text, project())
		if a.Tier != b.Tier || strings.Join(a.Reasons, "\n") != strings.Join(b.Reasons, "\n") {
			t.Errorf("%q: %v and %v", text, a, b)
		}
	}
}

func FuzzGrade(f *testing.F) {
	for text := range everyRow(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := Grade(text, project())
		if r.Tier < change.T1 || r.Tier > change.T4 || len(r.Parts) == 0 || len(r.Reasons) == 0 {
			t.Errorf("%q: %v", text, r)
		}
		if out := Grade(text, Context{}); out.Tier < change.T1 {
			t.Errorf("%q without a context: %v", text, out)
		}
	})
}
