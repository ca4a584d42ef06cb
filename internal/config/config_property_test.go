package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// values draws a value for a setting, as a file writes it; most are right.
func values(k key) *rapid.Generator[string] {
	right := map[kind][]string{
		kindString:  {`"deny"`, `"prompt"`, `"auto"`, `"yolo"`, `"all"`, `"agents"`, `""`, `"copy"`, `"/tmp"`, `"pause"`, `"reject"`, `"auto_deny"`, `"30m"`, `"8h"`, `"48h"`},
		kindBool:    {"true", "false"},
		kindInteger: {"0", "1", "5", "65536", "10_000_000"},
		kindCommand: {"[]", `"/bin/x"`, `["/bin/x", "y"]`},
		kindStrings: {"[]", `["a"]`, "[\n 'x/**', # y\n 'z',\n]"},
	}
	return rapid.OneOf(
		rapid.SampledFrom(right[k.kind]), rapid.SampledFrom(right[k.kind]), rapid.SampledFrom(right[k.kind]),
		rapid.SampledFrom([]string{"-1", "1.5", "'odd'", "['!']", "{}", "[[]]"}),
	)
}

// files draws files of settings.
func files() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys()), 0, 6, func(k key) string { return k.name }).Draw(t, "keys") {
			value := values(k).Draw(t, "value")
			if k.kind == kindString && k.check(strings.Trim(value, `"`)) != nil && rapid.IntRange(0, 4).Draw(t, "keep") > 0 {
				continue
			}
			fmt.Fprintf(&b, "%s = %s\n", k.name, value)
		}
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			fmt.Fprintf(&b, "[[rule]]\npaths = ['%s']\naction = '%s'\n",
				rapid.SampledFrom([]string{"a", "b/", "**"}).Draw(t, "path"), rapid.SampledFrom([]string{"allow", "ask", "deny"}).Draw(t, "action"))
		}
		return b.String()
	})
}

// looser reports in what way b lets more pass than a, or "".
func looser(a, b Config) string {
	switch {
	case looseness(string(b.Policy.Mode)) > looseness(string(a.Policy.Mode)):
		return "mode"
	case b.Policy.MaxBytes > a.Policy.MaxBytes, b.Policy.MaxFiles > a.Policy.MaxFiles:
		return "limits of a set"
	case b.Policy.SessionBytes > a.Policy.SessionBytes, b.Policy.SessionFiles > a.Policy.SessionFiles:
		return "limits of a session"
	case a.Policy.RequireSandbox && !b.Policy.RequireSandbox:
		return "require_sandbox"
	case a.RequireTTY != b.RequireTTY:
		return "require_tty"
	case a.Gate == GateAll && b.Gate != GateAll:
		return "gate"
	case b.Timeouts.After > a.Timeouts.After:
		return "timeouts"
	case !cmp.Equal(a.Escalate, b.Escalate):
		return "escalate"
	case !cmp.Equal(a.Shadow, b.Shadow):
		return "shadow"
	}
	for _, tier := range []change.Tier{change.T1, change.T2, change.T3, change.T4} {
		if b.Timeouts.Tiers[tier].strictness() < a.Timeouts.Tiers[tier].strictness() {
			return "timeouts of " + string(tier)
		}
	}
	for _, p := range a.Policy.Protect {
		if !slices.ContainsFunc(b.Policy.Protect, func(q tiers.Protect) bool { return cmp.Equal(p, q, same) }) {
			return "protect"
		}
	}
	// What is added behind the rules that were there asks or denies.
	n := len(a.Policy.Rules)
	if len(b.Policy.Rules) < n || !slices.Equal(ruleLines(a.Policy.Rules), ruleLines(b.Policy.Rules[:n])) ||
		slices.ContainsFunc(b.Policy.Rules[n:], func(r tiers.Rule) bool { return r.Action == tiers.ActionAllow }) {
		return "rules"
	}
	return ""
}

// TestRepositoryNeverLoosens: whatever stands in a repository's files, they let pass no more than without them.
func TestRepositoryNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own, theirs, local := files().Draw(t, "own"), files().Draw(t, "theirs"), files().Draw(t, "local")
		without, _, err := Load(user(own))
		if err != nil {
			return
		}
		with, notices, err := Load(Sources{
			User: Source{"config.toml", []byte(own)}, Repository: Source{RepositoryFile, []byte(theirs)}, Local: Source{LocalFile, []byte(local)},
		})
		if err != nil {
			return
		}
		if way := looser(without, with); way != "" {
			t.Fatalf("looser in %s: from %+v to %+v", way, without, with)
		}
		for _, n := range notices {
			if n.File == "" || n.Line == 0 || n.Key == "" || n.Text == "" || n.File == "config.toml" {
				t.Fatalf("incomplete notice: %+v", n)
			}
		}
		// The order of the two does not matter for what holds. Nor does it for their rules, of which none allows.
		swapped, _, err := Load(Sources{
			User: Source{"config.toml", []byte(own)}, Repository: Source{LocalFile, []byte(local)}, Local: Source{RepositoryFile, []byte(theirs)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(with.Policy.Rules) != len(swapped.Policy.Rules) {
			t.Fatalf("the order of a repository's files matters: %+v, %+v", with.Policy.Rules, swapped.Policy.Rules)
		}
		with.Policy.Rules, swapped.Policy.Rules = nil, nil
		if looser(with, swapped)+looser(swapped, with) != "" && len(with.Policy.Protect) == len(swapped.Policy.Protect) {
			t.Fatalf("the order of a repository's files matters: %+v, %+v", with, swapped)
		}
	})
}

// TestLoadUserProperty: what stands in the user's own file is what holds.
func TestLoadUserProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.Int64Min(0).Draw(t, "bytes")
		mode := rapid.SampledFrom([]change.Mode{change.ModeDeny, change.ModePrompt, change.ModeAuto, change.ModeYolo}).Draw(t, "mode")
		blank := rapid.SampledFrom([]string{"", "\n", " # x\n", "\r\n"}).Draw(t, "blank")
		c, _, err := Load(user(blank + fmt.Sprintf("mode = '%s'\n", mode) + blank + "[auto]\n" + blank + fmt.Sprintf("max_bytes = %d", bytes)))
		if err != nil || c.Policy.MaxBytes != bytes || c.Policy.Mode != mode {
			t.Fatalf("%+v, %v", c, err)
		}
	})
}

func FuzzLoad(f *testing.F) {
	f.Add(string(Template()))
	f.Add(everything)
	f.Add(threeRules)
	for _, seed := range []string{
		"mode = 'auto'\n[auto]\nmax_bytes = 5", "[protect]\npaths = [\"a\", 'b', '''c''', \"\"\"d\\\"\"\"\"]", "[[rule]]\npaths = []", "auto = { max_files = 3 } # x",
		"a = [ { b = 1 }, [2] ]", "[a]\n[a.b]\nc = 1979-05-27 07:32:00Z", "\ufeffversion = 1", "mode = \"\\u0061uto\"", "a.\"b\" = 1", "mode = 'x",
		"auto = {\n max_files = 3,\n}", "x = \"\"\"a\"\"\"\"\"", "auto.max_bytes = 0b1\r\nmode='deny'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		if _, _, err := Load(user(text)); err != nil {
			var bad *Error
			if !errors.As(err, &bad) || bad.File == "" || bad.Problem == "" {
				t.Fatalf("not an *Error that says where and what: %v", err)
			}
		}
		c, _, err := Load(repository(text))
		if err == nil {
			if way := looser(Default(), c); way != "" {
				t.Fatalf("a repository's file is looser in %s: %q", way, text)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("took %v", took)
		}
	})
}

// FuzzLocate compares the walk with the decoder: of a text that both read, both must find the same keys.
func FuzzLocate(f *testing.F) {
	f.Add(everything)
	f.Add(threeRules)
	f.Add("a = [\n1, {b = 2, c = [3]}\n]\n[d.e]\nf.g = 'x' # y\n[[h]]\ni = \"\"\"\n\"\"\"")
	f.Add("a = 1979-05-27 07:32:00\nb = inf\nc = +1e5")
	f.Fuzz(func(t *testing.T, text string) {
		found, trouble := locate(text)
		if trouble != nil {
			if trouble.end > len(text) || trouble.at.line < 1 || trouble.at.column < 1 {
				t.Fatalf("trouble at %+v in %q", trouble, text)
			}
			return
		}
		var tree map[string]any
		md, err := toml.Decode(text, &tree)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, l := range found {
			names[l.name()] = true
			if l.at.line < 1 || l.at.column < 1 || l.at.line > strings.Count(text, "\n")+1 {
				t.Fatalf("%q stands at %+v in %q", l.name(), l.at, text)
			}
		}
		for _, key := range md.Keys() {
			if !names[key.String()] {
				t.Fatalf("the decoder finds %q, the walk %v, in %q", key, names, text)
			}
		}
	})
}
