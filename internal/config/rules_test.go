package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/correx/correx/tiers"
)

// ruleLines writes rules a line each, as "deny edit,create a b (file:line)"; a rule for every op says "any".
func ruleLines(rules []tiers.Rule) []string {
	var lines []string
	for _, r := range rules {
		ops := "any"
		for i, op := range r.Ops {
			if ops += "," + string(op); i == 0 {
				ops = string(op)
			}
		}
		line := string(r.Action) + " " + ops
		for _, p := range r.Paths {
			line += " " + p.String()
		}
		lines = append(lines, line+" ("+r.Source+")")
	}
	return lines
}

const threeRules = `
[[rule]] # one
paths = ["a", 'b/**']
ops = ["edit", "create"]
action = "allow"

[[rule]]
action = "ask"
paths = [
  "c",
]
[protect]
paths = ["p"]
[[rule]]
paths = ["d"]
action = "deny"
`

// TestLoadRules: each layer adds its rules behind those of the layers below, and a repository's allow counts for nothing.
func TestLoadRules(t *testing.T) {
	in := user(threeRules)
	in.Repository = Source{RepositoryFile, []byte(threeRules)}
	in.Local = Source{LocalFile, []byte("mode = 'prompt'\n[[rule]]\npaths = ['**']\naction = 'allow'\n[[rule]]\npaths = ['e']\nops = ['delete']\naction = 'deny'\n")}
	c, notices, err := Load(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"allow edit,create a b/** (config.toml:2)", "ask any c (config.toml:7)", "deny any d (config.toml:14)",
		"ask any c (.correx.toml:7)", "deny any d (.correx.toml:14)", "deny delete e (.correx.local.toml:5)",
	}, ruleLines(c.Policy.Rules)); diff != "" {
		t.Error(diff)
	}
	var told []string
	for _, n := range notices {
		told = append(told, n.String())
	}
	if diff := cmp.Diff([]string{
		`.correx.toml:2: "rule": action "allow" would loosen what holds without it, so it is left out`,
		`.correx.toml:2: "rule": this file is not trusted as it is; a person can look at what it loosens: correx trust`,
		`.correx.local.toml:2: "rule": action "allow" would loosen what holds without it, so it is left out`,
		`.correx.local.toml:2: "rule": this file is not trusted as it is; a person can look at what it loosens: correx trust`,
	}, told); diff != "" {
		t.Error(diff)
	}
}

// TestRulesWhole: of a file with one bad rule nothing is used, wherever the rule stands.
func TestRulesWhole(t *testing.T) {
	for _, in := range []Sources{
		user(threeRules + "[[rule]]\npaths = ['x']\naction = 'no'\n"),
		{User: Source{"config.toml", []byte(threeRules)}, Local: Source{LocalFile, []byte("[[rule]]\npaths = ['x']\n")}},
	} {
		c, _, err := Load(in)
		if diff := cmp.Diff(Default(), c, same); err == nil || diff != "" {
			t.Errorf("%v, %s", err, diff)
		}
	}
}

// TestRulesExplained: template and example show rules with all their settings, and both load.
func TestRulesExplained(t *testing.T) {
	shown := regexp.MustCompile(`(?m)^#   (\[\[(?:rule|grant)\]\]|[a-z]+ = .*)$`).ReplaceAll(Template(), []byte("$1"))
	data, err := os.ReadFile("../../.correx.toml.example")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"template": string(shown), "example": string(data)} {
		c, _, err := Load(user(text))
		if err != nil || len(c.Policy.Rules) == 0 {
			t.Errorf("the %s has %d rules: %v", name, len(c.Policy.Rules), err)
		}
		for _, k := range ruleKeys() {
			if !strings.Contains(text, "\n"+strings.TrimPrefix(k.name, "rule.")+" = ") {
				t.Errorf("the %s does not show %q", name, k.name)
			}
		}
	}
	for _, action := range []string{"allow", "ask", "deny"} {
		if !strings.Contains(string(data), fmt.Sprintf("\naction = %q\n", action)) {
			t.Errorf("the example has no rule that says %q", action)
		}
	}
}
