package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

func user(text string) Sources { return Sources{User: Source{"config.toml", []byte(text)}} }

func repository(text string) Sources {
	return Sources{Repository: Source{RepositoryFile, []byte(text)}}
}

// same compares Configs by what they hold.
var same = cmp.Comparer(func(a, b tiers.Pattern) bool { return a.String() == b.String() })

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"verson = 1", `c.toml:1:1: "verson": is not a key of correx; nearest known key: "version"`},
		{"version = 2", `c.toml:1:1: "version": expected 1, found 2`},
		{"[auto]\n max_byte = 3", `c.toml:2:2: "auto.max_byte": is not a key of correx; nearest known key: "auto.max_bytes"`},
		{"max_bytes = 3", `nearest known key: "auto.max_bytes"`},
		{"[limits]\nmax_bytes = 3", `c.toml:1:2: "limits": is not a key of correx`},
		{"[Auto]", `c.toml:1:2: "Auto": is not a key of correx, which writes keys in lower case; nearest known key: "auto"`},
		{"[auto]\nmax_bytes = 5\nMAX_BYTES = 9", `c.toml:3:1: "auto.MAX_BYTES": is not a key of correx, which writes keys in lower case`},
		{"Mode = 'deny'", `nearest known key: "mode"`},
		{"[auto]\n[auto]", `c.toml:2:2: is not valid TOML: Key 'auto' has already been defined`},
		{"mode = 'auto'\nmode = 'deny'", `"mode": is not valid TOML`},
		{"auto.max_bytes = 1\n[auto]\nmax_bytes = 2", "is not valid TOML"},
		{"mode = 5", `c.toml:1:1: "mode": expected a string, found an integer`},
		{"mode = 'Auto'", `expected one of "deny", "prompt", "auto", "yolo", found "Auto"`},
		{"mode = ['auto']", "expected a string, found an array"},
		{"mode.x = 1", `"mode.x": is not a key`},
		{"auto = 5", "expected a table, found an integer"},
		{"[[auto]]", "expected a table, found an array of tables"},
		{"[auto]\nmax_files = '1'", "expected an integer, found a string"},
		{"[auto]\nmax_files = 1.0", "found a number with a fraction"},
		{"[auto]\nmax_files = -1", "c.toml:2:1: \"auto.max_files\": expected a number from 0 to 2147483647, found -1"},
		{"[auto]\nmax_files = 2147483648", "found 2147483648"},
		{"[auto]\nmax_bytes = 9223372036854775808", "is not valid TOML"},
		{"[auto]\nrequire_sandbox = 1", "expected a boolean, found an integer"},
		{"[auto]\nrequire_sandbox = 2026-01-02", "found a date"},
		{"auto = { max_bytes = 5, foo = 4 }", `c.toml:1:25: "auto.foo"`},
		{"[protect]\npaths = '*.pem'", "expected an array of strings, found a string"},
		{"[protect]\npaths = [\n  'a', # x\n  5,\n]", `c.toml:4:3: "protect.paths": expected a string, found an integer`},
		{"[protect]\npaths = ['ok', '**.key']", `c.toml:2:16: "protect.paths": pattern "**.key"`},
		{"[protect]\npaths = ['!keys/**']", "no negation"},
		{"[protect]\npaths = ['']", "is empty"},
		{"[protect]\npaths = [" + strings.Repeat("'a',", 1001) + "]", "1001 patterns"},
		{"[protect.paths]", "expected an array of strings, found a table"},
		{"[[protect.paths]]", "expected an array of strings, found an array of tables"},
		{"[hooks]\ngate = 'none'", `expected one of "all", "agents", found "none"`},
		{"[shadow]\nbackend = 'overlay'", `expected one of "", "clone", "copy", found "overlay"`},
		{"[shadow]\ndir = 'shadows'", "expected an absolute path"},
		{"[shadow]\nmax_untracked = -1", "found -1"},
		{"[[rule]]\npaths = ['a']", `c.toml:1:3: "rule": has no "action"`},
		{"\n[[rule]]\naction = 'deny'", `c.toml:2:3: "rule": has no "paths"`},
		{"[[rule]]", `c.toml:1:3: "rule": has no "paths"`},
		{"[[rule]]\naction = 'deny'\npaths = ['a']\n[[rule]]\naction = 'ask'", `c.toml:4:3: "rule": has no "paths"`},
		{"[[rule]]\naction = 'Deny'", `c.toml:2:1: "rule.action": expected one of "allow", "ask", "deny", found "Deny"`},
		{"[[rule]]\naction = 'auto'", `found "auto"`},
		{"[[rule]]\naction = true", `c.toml:2:1: "rule.action": expected a string, found a boolean`},
		{"[[rule]]\nAction = 'deny'", `c.toml:2:1: "rule.Action": is not a key of correx, which writes keys in lower case; nearest known key: "rule.action"`},
		{"[[rule]]\naction = 'deny'\nACTION = 'allow'", `c.toml:3:1: "rule.ACTION": is not a key`},
		{"[[rule]]\naction = 'deny'\naction = 'allow'", `"rule.action": is not valid TOML`},
		{"[[rule]]\npath = ['a']", `c.toml:2:1: "rule.path": is not a key of correx; nearest known key: "rule.paths"`},
		{"[[rules]]\npaths = ['a']", `c.toml:1:3: "rules": is not a key of correx; nearest known key: "rule"`},
		{"[[Rule]]\npaths = ['a']", `c.toml:1:3: "Rule": is not a key of correx, which writes keys in lower case; nearest known key: "rule"`},
		{"[[rule]]\nops = ['edit', 'Edit']", `c.toml:2:16: "rule.ops": expected one of "create", "edit",`},
		{"[[rule]]\nops = ['write']", `found "write"`},
		{"[[rule]]\nops = []", `"rule.ops": names nothing`},
		{"[[rule]]\nops = 'edit'", "expected an array of strings, found a string"},
		{"[[rule]]\nops = [1]", "expected a string, found an integer"},
		{"[[rule]]\npaths = []", `c.toml:2:1: "rule.paths": names nothing`},
		{"[[rule]]\npaths = ['a',\n '**.go']", `c.toml:3:2: "rule.paths": pattern "**.go"`},
		{"[[rule]]\nwhen = 22", `c.toml:2:1: "rule.when": expected a string, found an integer`},
		{"[[rule]]\npaths = ['a']\n  when = '22:00'", `c.toml:3:3: "rule.when": expected a time of day such as "22:00-06:00", found "22:00"`},
		{"[[rule]]\nwhen = ''", `c.toml:2:1: "rule.when": expected a time such as`},
		{"[[rule]]\nwhen = 'sat'\nwhen = 'sun'", `"rule.when": is not valid TOML`},
		{"when = 'sat'", `"when": is not a key of correx`},
		{"[rule]\naction = 'deny'", `c.toml:1:2: "rule": expected [[rule]] with a rule's settings below it, found a table`},
		{"rule.action = 'deny'", `c.toml:1:1: "rule.action": stands in no rule`},
		{"rule = [{ paths = ['a'], action = 'deny' }]", `c.toml:1:1: "rule": expected [[rule]]`},
		{"[[rule]]\n[rule.paths]", "expected an array of strings, found a table"},
		{"[[rule]]\n[[rule.paths]]", "expected an array of strings, found an array of tables"},
		{"[[rule]]\n[[rule.x]]\ny = 1", `"rule.x": is not a key of correx`},
		{"[[rule]]\npaths = ['a']\naction = 'ask'\n[rule]", "is not valid TOML"},
		{strings.Repeat("[[rule]]\npaths = ['a']\naction = 'ask'\n", 1001), `c.toml:3001:3: "rule": stands here more than 1000 times`},
		{strings.Repeat("[[rule]]\npaths = ["+strings.Repeat("'a',", 501)+"]\naction = 'ask'\n", 2), "patterns of all rules to 1002, at most 1000"},
		{"[[grant]]\nops = []", `"grant.ops": names nothing`},
		{"rule = []", `"rule": expected [[rule]]`},
		{"[share]\nnotes = true", `"share": is not supported`},
		{"[timeouts]\nafter = '30'", `c.toml:2:1: "timeouts.after": expected a duration such as "90s", "30m" or "8h", found "30"`},
		{"[timeouts]\nafter = '-1s'", `c.toml:2:1: "timeouts.after": expected a duration over 0s and up to 87600h, found "-1s"`},
		{"[timeouts]\nafter = '87601h'", `up to 87600h, found "87601h"`},
		{"[timeouts]\nafter = '9999999999h'", `expected a duration such as`},
		{"[timeouts]\nafter = 30", `c.toml:2:1: "timeouts.after": expected a string, found an integer`},
		{"[timeouts]\nT3 = 'deny'", `c.toml:2:1: "timeouts.T3": expected one of "pause", "reject", "auto_deny", found "deny"`},
		{"[timeouts]\nt3 = 'pause'", `c.toml:2:1: "timeouts.t3": is not a key of correx`},
		{"[timeouts]\nT0 = 'pause'", `c.toml:2:1: "timeouts.T0": is not a key of correx`},
		{"[approve]\nsigning_key = 'x'", `c.toml:2:1: "approve.signing_key": is not supported`},
		{"[escalate]\ncommand = 'x y'", `c.toml:2:1: "escalate.command": expected the absolute path of a program, found "x y"`},
		{"[escalate]\ncommand = ''", `"escalate.command": expected the absolute path of a program, found ""`},
		{"[escalate]\ncommand = ['x', '/y']", `c.toml:2:12: "escalate.command": expected the absolute path of a program, found "x"`},
		{"[escalate]\ncommand = ['/x', 1]", `c.toml:2:18: "escalate.command": expected a string, found an integer`},
		{"[escalate]\ncommand = ['/x', \"a\\u0000\"]", `c.toml:2:18: "escalate.command": "a\x00" holds a NUL`},
		{"[escalate]\ncommand = true", `"escalate.command": expected a string or array of strings, found a boolean`},
		{"[escalate]\ncommand = ['/x'," + strings.Repeat("'',", 64) + "]", `has 65 words, at most 64`},
		{"[escalate]\nprogram = '/x'", `"escalate.program": is not a key of correx`},
		{`"mode" = "auto"`, "in quotes"},
		{"mode = ", "c.toml:1:7: \"mode\": is not valid TOML"},
		{"mode", "is not valid TOML"},
		{"mode = 'auto' version = 1", "is not valid TOML"},
		{"mode = '''auto", "is not valid TOML"},
		{"mode = 'auto\n'", "is not valid TOML"},
		{`mode = "auto\`, "is not valid TOML"},
		{"mode = 'auto' # \x01", "is not valid TOML"},
		{"\n\n é = 1", "c.toml:3:2"},
		{"# a\n# \xff", "c.toml:2:3: is not valid UTF-8"},
		{"\x00", "is not valid TOML"},
		{"a.b.c.d.e.f.g.h.i = 1", "too many parts"},
		{"[a.b.c.d.e.f.g.h.i]", "too many parts"},
		{"mode = [[[[[[[[[[[1]]]]]]]]]]]", "nested too deeply"},
		{strings.Repeat("#", maxBytes+1), "has more than 262144 bytes"},
		{strings.Repeat("k", 5000) + " = 1", "..."},
	} {
		_, _, err := Load(Sources{User: Source{"c.toml", []byte(c.text)}})
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 400 {
			t.Errorf("%.60q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestLoadNothing(t *testing.T) {
	for _, in := range []Sources{{}, user(""), user("\ufeff# nothing\r\n\r\n"), repository(" \n[auto]\n[shadow]\n"), user("version = 1")} {
		c, notices, err := Load(in)
		c.Policy.Source = map[string]string{}
		if diff := cmp.Diff(Default(), c, same); err != nil || notices != nil || diff != "" {
			t.Errorf("%q: %v, %v, %s", in, notices, err, diff)
		}
	}
}

const everything = `
version = 1
mode = "yolo"
auto = { max_bytes = 1_000_000, max_files = 0x10 }
auto.session_files = 50
[protect]
paths = [ # the ones we care for
  "a/**", 'b\*',
  """c""",
]
[hooks]
gate = "agents"
[approve]
require_tty = false
[shadow]
dir = "/var/tmp/shadows"
include = [".env.example"]
backend = "copy"
max_untracked = 0
`

func TestLoadUser(t *testing.T) {
	text := strings.Replace(everything, "auto.session_files = 50\n", "", 1)
	c, notices, err := Load(user(text))
	if err != nil || notices != nil {
		t.Fatal(notices, err)
	}
	want := Default()
	want.Policy.Mode, want.Policy.MaxBytes, want.Policy.MaxFiles = change.ModeYolo, 1_000_000, 16
	for i, p := range []string{"a/**", `b\*`, "c"} {
		parsed, err := tiers.ParsePattern(p)
		if err != nil {
			t.Fatal(err)
		}
		want.Policy.Protect = append(want.Policy.Protect, tiers.Protect{Pattern: parsed, Source: fmt.Sprintf("config.toml:%d", []int{7, 7, 8}[i])})
	}
	want.RequireTTY, want.Gate = false, GateAgents
	want.Shadow = Shadow{Dir: "/var/tmp/shadows", Include: []string{".env.example"}, Backend: "copy"}
	want.Policy.Source = map[string]string{
		"version": "config.toml:2", "mode": "config.toml:3", "auto.max_bytes": "config.toml:4", "auto.max_files": "config.toml:4", "protect.paths": "config.toml:6",
		"hooks.gate": "config.toml:11", "approve.require_tty": "config.toml:13", "shadow.dir": "config.toml:15", "shadow.include": "config.toml:16",
		"shadow.backend": "config.toml:17", "shadow.max_untracked": "config.toml:18",
	}
	if diff := cmp.Diff(want, c, same); diff != "" {
		t.Error(diff)
	}
}

// TestLoadRepository: what a repository says only tightens, over what the user has said, and the rest is told.
func TestLoadRepository(t *testing.T) {
	in := user("mode = 'prompt'\n[auto]\nmax_bytes = 1000\nmax_files = 5\n[hooks]\ngate = 'agents'\n[approve]\nrequire_tty = false\n[protect]\npaths = ['mine']")
	in.Repository = Source{RepositoryFile, []byte("mode = 'auto'\n[auto]\nmax_bytes = 65536\nmax_files = 3\nsession_files = 20\nrequire_sandbox = true\n" +
		"[hooks]\ngate = 'all'\n[approve]\nrequire_tty = true\n[shadow]\ninclude = ['*']\n[protect]\npaths = ['theirs']")}
	in.Local = Source{LocalFile, []byte("mode = 'deny'\n[auto]\nmax_files = 4\nrequire_sandbox = false\n[hooks]\ngate = 'agents'\n[protect]\npaths = ['local']")}
	c, notices, err := Load(in)
	if err != nil {
		t.Fatal(err)
	}
	if c.Policy.Mode != change.ModeDeny || c.Policy.MaxBytes != 1000 || c.Policy.MaxFiles != 3 || !c.Policy.RequireSandbox || c.Gate != GateAll || c.RequireTTY ||
		len(c.Shadow.Include) > 0 {
		t.Errorf("loaded %+v", c)
	}
	var protects []string
	for _, p := range c.Policy.Protect {
		protects = append(protects, p.Pattern.String()+" "+p.Source)
	}
	if diff := cmp.Diff([]string{"mine config.toml:10", "theirs .correx.toml:14", "local .correx.local.toml:8"}, protects); diff != "" {
		t.Error(diff)
	}
	source := map[string]string{
		"mode": ".correx.local.toml:1", "auto.max_bytes": "config.toml:3", "auto.max_files": ".correx.toml:4", "auto.require_sandbox": ".correx.toml:6",
		"hooks.gate": ".correx.toml:8", "approve.require_tty": "config.toml:8", "protect.paths": ".correx.local.toml:8",
	}
	if diff := cmp.Diff(source, c.Policy.Source); diff != "" {
		t.Error(diff)
	}
	var told []string
	for _, n := range notices {
		told = append(told, n.String())
	}
	if diff := cmp.Diff([]string{
		`.correx.toml:1: "mode": "auto" would loosen what holds without it, so it is left out`,
		`.correx.toml:3: "auto.max_bytes": 65536 would loosen what holds without it, so it is left out`,
		`.correx.toml:10: "approve.require_tty": counts only in your own configuration, so it is left out here`,
		`.correx.toml:12: "shadow.include": counts only in your own configuration, so it is left out here`,
		`.correx.toml:1: "mode": this file is not trusted as it is; a person can look at what it loosens: correx trust`,
		`.correx.local.toml:3: "auto.max_files": 4 would loosen what holds without it, so it is left out`,
		`.correx.local.toml:4: "auto.require_sandbox": false would loosen what holds without it, so it is left out`,
		`.correx.local.toml:6: "hooks.gate": "agents" would loosen what holds without it, so it is left out`,
		`.correx.local.toml:3: "auto.max_files": this file is not trusted as it is; a person can look at what it loosens: correx trust`,
	}, told); diff != "" {
		t.Error(diff)
	}
}

func TestTemplate(t *testing.T) {
	for _, in := range []Sources{user(string(Template())), repository(string(Template())), {Local: Source{LocalFile, Template()}}} {
		c, notices, err := Load(in)
		if diff := cmp.Diff(Default(), c, same); err != nil || notices != nil || diff != "" {
			t.Errorf("the template changes something: %v, %v, %s", notices, err, diff)
		}
	}
	// With every setting switched on it says what holds anyway.
	on := regexp.MustCompile(`(?m)^# ([A-Za-z0-9_]+ = |\[[a-z]+\]$)`).ReplaceAll(Template(), []byte("$1"))
	c, _, err := Load(user(string(on)))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys() {
		if c.Policy.Source[k.name] == "" {
			t.Errorf("the template does not name %q", k.name)
		}
	}
	c.Policy.Source = map[string]string{}
	if diff := cmp.Diff(Default(), c, same, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the template's defaults are others: %s", diff)
	}
}

// TestExample: the example loads, has every setting, and explains each where it stands.
func TestExample(t *testing.T) {
	data, err := os.ReadFile("../../.correx.toml.example")
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(user(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys() {
		if c.Policy.Source[k.name] == "" {
			t.Errorf("the example does not have %q", k.name)
		}
	}
	if _, _, err := Load(repository(string(data))); err != nil {
		t.Errorf("as a repository's file: %v", err)
	}
	explained := false
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
			explained = true
		case strings.Contains(line, " = ") && !explained:
			t.Errorf("line %d of the example is not explained: %s", i+1, line)
		case line == "" || strings.HasPrefix(line, "["):
			// A table's comment stands for its only setting; an empty line ends what a comment explains.
			explained = explained && line != ""
		}
	}
	for _, word := range unsupported() {
		if bytes.Contains(data, []byte("\n["+word+"]")) || bytes.Contains(data, []byte("\n[["+word+"]]")) {
			t.Errorf("the example shows %q, which is not supported", word)
		}
	}
}

// TestLoadHostile: files of the greatest size that are made to be slow are refused, or read, in no time.
func TestLoadHostile(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, maxBytes/len(s)) }
	var tables, settings strings.Builder
	for i := range 15000 {
		fmt.Fprintf(&tables, "[t%d]\n", i)
		fmt.Fprintf(&settings, "k%d = %d\n", i, i)
	}
	for name, text := range map[string]string{
		"dotted key":       fill("a.") + "a = 1",
		"dotted table":     "[" + fill("a.") + "a]",
		"arrays":           "mode = " + fill("["),
		"inline tables":    "mode = " + fill("{a="),
		"tables":           tables.String(),
		"settings":         settings.String(),
		"patterns":         "[protect]\npaths = [" + fill("'a',") + "]",
		"long string":      "mode = '" + fill("x") + "'",
		"quotes":           "mode = " + fill("'"),
		"open string":      "mode = '''" + fill("x"),
		"blank lines":      fill("\n"),
		"carriage returns": fill("\r"),
		"after an error":   "!\n" + fill("a."),
		"bare key":         fill("k"),
		"rules":            fill("[[rule]]\n"),
		"full rules":       fill("[[rule]]\npaths = ['a']\naction = 'ask'\n"),
		"tables in rules":  "[[rule]]\n" + fill("[[rule.a]]\n"),
		"other arrays":     fill("[[a]]\n"),
	} {
		if len(text) > maxBytes {
			text = text[:maxBytes]
		}
		start := time.Now()
		_, _, err := Load(repository(text))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if err == nil && name != "blank lines" {
			t.Errorf("%s: was loaded", name)
		}
	}
}
