package config

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func commandLines(c Config) []string {
	var all []string
	for _, r := range c.Commands {
		line := r.String() + " " + r.Source
		if r.Lowers {
			line += " lowers"
		}
		all = append(all, line)
	}
	return all
}

// TestCommandsOfAllLayers: the user's own rules may lower, a repository's only raise, and a T1 there is told of.
func TestCommandsOfAllLayers(t *testing.T) {
	c, notices, err := Load(Sources{
		User:       Source{"config.toml", []byte("[commands]\nT1 = [\n  \"terraform plan\",\n  'kubectl  get',\n]\nT4 = [\"make release\"]\n")},
		Repository: Source{".correx.toml", []byte("[commands]\nT1 = [\"rm\"]\nT4 = [\"make deploy\"]\n")},
		Local:      Source{LocalFile, []byte("commands.T3 = [\"ls\"]\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"terraform plan = T1 config.toml:3 lowers", "kubectl get = T1 config.toml:4 lowers", "make release = T4 config.toml:6 lowers",
		"make deploy = T4 .correx.toml:3", "ls = T3 .correx.local.toml:1",
	}, commandLines(c)); diff != "" {
		t.Error(diff)
	}
	var told []string
	for _, n := range notices {
		told = append(told, n.String())
	}
	if diff := cmp.Diff([]string{`.correx.toml:2: "commands.T1": counts only in your own configuration, so it is left out here`}, told); diff != "" {
		t.Error(diff)
	}
}

// TestCommandsOfATrustedFile: what a repository says lowers nothing, whoever trusts it.
func TestCommandsOfATrustedFile(t *testing.T) {
	data := []byte("[commands]\nT1 = [\"rm\"]\nT2 = [\"curl\"]\nT4 = [\"make deploy\"]\n")
	c, _, err := Load(Sources{Repository: Source{RepositoryFile, data}, Trusted: []Trusted{{File: RepositoryFile, Data: data}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"curl = T2 .correx.toml:3", "make deploy = T4 .correx.toml:4"}, commandLines(c)); diff != "" {
		t.Error(diff)
	}
	if rest, err := Loosens(Source{}, Source{RepositoryFile, data}); err != nil || len(rest) > 0 {
		t.Errorf("loosens %+v, %v", rest, err)
	}
}

func TestCommandsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"[commands]\nT5 = ['a']":                       `c.toml:2:1: "commands.T5": is not a key of correx; nearest known key: "commands.T1"`,
		"[commands]\nt2 = ['a']":                       `c.toml:2:1: "commands.t2": is not a key of correx, which writes tiers as T1 to T4; nearest known key: "commands.T2"`,
		"[command]\nT2 = ['a']":                        `c.toml:1:2: "command": is not a key of correx; nearest known key: "commands"`,
		"[commands]\nT2 = 'a'":                         `c.toml:2:1: "commands.T2": expected an array of strings, found a string`,
		"[commands]\nT2 = ['a', 3]":                    `c.toml:2:12: "commands.T2": expected a string, found an integer`,
		"[commands]\nT2 = ['a',\n  '']":                `c.toml:3:3: "commands.T2": names no program`,
		"[commands]\nT2 = ['rm *']":                    `c.toml:2:7: "commands.T2": holds '*'; expected words as the program gets them, with spaces between`,
		"[commands]\nT2 = ['a \"b c\"']":               `c.toml:2:7: "commands.T2": holds '"'; expected words as the program gets them, with spaces between`,
		"[commands]\nT2 = ['a | b']":                   `c.toml:2:7: "commands.T2": holds '|'; expected words as the program gets them, with spaces between`,
		"[commands]\nT2 = ['ls\u00a0-l']":              "c.toml:2:7: \"commands.T2\": holds '\\u00a0'; expected words as the program gets them, with spaces between",
		"[commands]\nT2 = ['./run x']":                 `c.toml:2:7: "commands.T2": begins with "./run", expected the name of a program, without a path`,
		"[commands]\nT2 = ['A=1 x']":                   `c.toml:2:7: "commands.T2": begins with "A=1", expected the name of a program, without a path`,
		"[commands]\nT2 = ['a b c d e f g h i']":       `c.toml:2:7: "commands.T2": has 9 words in 17 bytes, at most 8 in 200 are allowed`,
		"[commands]\nT2 = ['a b']\nT3 = ['c', 'a  b']": `c.toml:3:12: "commands.T3": names "a b", which stands in line 2 too`,
	} {
		c, _, err := Load(Sources{User: Source{"c.toml", []byte(text)}})
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
		if len(c.Commands) > 0 {
			t.Errorf("%q: %v is used", text, c.Commands)
		}
	}
}

func TestCommandsExplained(t *testing.T) {
	data, err := os.ReadFile("../../.correx.toml.example")
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(user(string(data)))
	if err != nil || len(c.Commands) < 4 {
		t.Errorf("the example has the commands %v: %v", c.Commands, err)
	}
}
