package command

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
)

func project() Context {
	return Context{Root: "/home/dev/proj", Cwd: "/home/dev/proj", Home: "/home/dev"}
}

// rows reads testdata/commands.tsv: a command, in which ⏎ is a newline and ␍ a carriage return, and its tier.
func rows(t testing.TB) map[string]change.Tier {
	t.Helper()
	data, err := os.ReadFile("testdata/commands.tsv")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]change.Tier{}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		text, tier, ok := strings.Cut(line, "\t")
		if i == 0 {
			continue
		}
		if !ok {
			t.Fatalf("line %d has no tier", i+1)
		}
		all[strings.NewReplacer("⏎", "\n", "␍", "\r").Replace(text)] = change.Tier(tier)
	}
	return all
}

func TestTable(t *testing.T) {
	for text, want := range rows(t) {
		r := Grade(text, project())
		if r.Tier != want || len(r.Reasons) == 0 || len(r.Parts) == 0 {
			t.Errorf("%q: %s, want %s: %q", text, r.Tier, want, r.Reasons)
		}
	}
}

func TestPrograms(t *testing.T) {
	known := roles()
	for name := range toolRoles() {
		if known[name] != nil {
			t.Errorf("role %q is in both lists", name)
		}
		known[name] = toolRoles()[name]
	}
	used := map[string]bool{"text": true, "pure": true}
	for name, e := range programs() {
		role := strings.TrimSuffix(e.role, "!")
		if known[role] == nil && !used[role] {
			t.Errorf("%s has the role %q, which is none", name, e.role)
		}
		if e.tier < change.T1 || e.tier > change.T4 {
			t.Errorf("%s has the tier %q", name, e.tier)
		}
		for letter, f := range e.short {
			if letter == '-' || letter == '[' {
				t.Errorf("%s has a flag that could not be read", name)
			}
			if f.tier != "" && (f.tier < change.T1 || f.tier > change.T4) {
				t.Errorf("%s has a flag of tier %q", name, f.tier)
			}
		}
		known[role], used[role] = nil, true
	}
	for line := range strings.Lines(programsText) {
		fields := strings.Fields(line)
		if len(fields) < 3 || strings.ContainsRune("#=", rune(line[0])) || slices.Contains(fields, "%") {
			continue
		}
		for _, f := range fields[3:] {
			name, _, _ := strings.Cut(strings.NewReplacer("?", "=", ":", "=").Replace(f), "=")
			if !strings.HasPrefix(name, "--") && !strings.HasPrefix(name, "-[") && len(name) > 2 {
				t.Errorf("%s: %s is taken for -%c, for want of a %%", fields[0], f, name[1])
			}
		}
	}
	for role := range roles() {
		if !used[role] {
			t.Errorf("no program has the role %q", role)
		}
	}
}

func TestTooMuchIsNeverSafe(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "blank": " \n", "comment": "# ls", "open bracket": "ls (", "control": "ls\x00", "carriage return": "ls\r\npwd",
		"large": "ls " + strings.Repeat("a", maxBytes), "brackets": strings.Repeat("(", 200000), "substitutions": strings.Repeat("$(", 5000),
		"many parts": strings.Repeat("ls;", maxParts+10), "nots": strings.Repeat("! ", 5000) + "ls", "ifs": strings.Repeat("if ", 5000),
		"evals": "eval " + strings.Repeat("eval ", 50) + "ls", "braces": "ls " + strings.Repeat("{a,b}", 30) + " && $x",
		"parens in arithmetic": "((" + strings.Repeat("(", 5000), "brackets in subscripts": strings.Repeat("a[", 5000),
		"pipeline": strings.Repeat("a|", 30000) + "a", "loops": strings.Repeat("for a in 1 2 3 4 5 6 7 8; do cd $a; ", 40) + "x" + strings.Repeat("; done", 40),
	} {
		if r := Grade(text, project()); r.Tier != change.T4 || !r.Unclassified {
			t.Errorf("%s: %s, unclassified %v", name, r.Tier, r.Unclassified)
		}
	}
}

func TestWithoutContextNothingIsInside(t *testing.T) {
	for text, want := range map[string]change.Tier{"cat a.txt": change.T3, "echo x > a.txt": change.T4, "cat /tmp/a": change.T1, "echo x": change.T1, "cd sub && cp a b": change.T4} {
		if r := Grade(text, Context{}); r.Tier != want {
			t.Errorf("%q: %s, want %s", text, r.Tier, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	modes := []change.Mode{change.ModeDeny, change.ModePrompt, change.ModeAuto, change.ModeYolo, "other"}
	for text, want := range map[string]string{
		"ls": "deny auto auto auto ask", "touch a": "deny ask auto auto ask", "curl x.example": "deny ask ask auto ask",
		"rm a": "deny ask ask auto ask", "nobodyknows": "deny ask ask ask ask", "$x": "deny ask ask ask ask",
	} {
		var got []string
		for _, m := range modes {
			outcome, by := Grade(text, project()).Verdict(m)
			if by == "" {
				t.Errorf("%q in mode %s: nothing settled it", text, m)
			}
			got = append(got, string(outcome))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, words := range [][]string{{"echo", "a b", "it's", ""}, {"rm", "-rf", "x y"}} {
		r := Grade(Join(words), project())
		if len(r.Parts) != 1 || !strings.HasPrefix(r.Parts[0].Text, words[0]) {
			t.Errorf("%q: %v", words, r.Parts)
		}
	}
	if got := Join([]string{"ls | cat"}); got != "ls | cat" {
		t.Errorf("one word: %q", got)
	}
}
