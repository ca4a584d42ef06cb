package repo

import (
	"fmt"
	"slices"
	"testing"
)

// TestPlainConfigAgreesWithGit: what is read without git is what git reads, value by value; everything odd is left to it.
func TestPlainConfigAgreesWithGit(t *testing.T) {
	plain := []string{
		"", "[user]\n\tname = dev\n", "[core]\n\thooksPath = .githooks\n", "[CORE]\n HooksPath=a\n[core]\nhookspath = b c\n",
		"[filter \"X y\"]\n\tclean = ./tool --flag\n", "# a\n; b\n[a]\nb = c\n", "[remote \"o\"]\n\turl = https://example.test/x.git\n\tfetch = +refs/heads/*:refs/remotes/o/*\n",
		"[a]\n\tk =   spaced   \n", "[a]\r\n\tk = v\r\n",
	}
	odd := []string{
		"[include]\n\tpath = x\n", "[includeIf \"gitdir:~/\"]\n\tpath = x\n", "[a]\n\tb\n", "[a]\n\tb = \"c d\"\n", "[a]\n\tb = c # d\n",
		"[a]\n\tb = c\\\n d\n", "[a] b = c\n", "[a.b]\n\tc = d\n", "[a]\n\tb = c;d\n", "[a]\n\tb =\n", "\ufeff[a]\n\tb = c\n", "[a]\n\tb = \\\\x\n",
		"[a]\n\tb = c\td\n",
	}
	for i, text := range append(slices.Clone(plain), odd...) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			f := newFixture(t)
			f.repo("r")
			f.env = slices.DeleteFunc(f.env, func(s string) bool { return len(s) > 17 && s[:17] == "GIT_CONFIG_GLOBAL" })
			f.write("home/.gitconfig", text)
			r := f.open("r")
			got, ok := r.plainConfig()
			if r.git.program.file != "/usr/bin/git" {
				if ok {
					t.Error("the files of a git elsewhere were guessed")
				}
				return
			}
			if ok != (i < len(plain)) {
				t.Fatalf("%q: plain is %v", text, ok)
			}
			if !ok {
				return
			}
			want, err := r.readConfig(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if a, b := pairs(got), pairs(want); !slices.Equal(a, b) {
				t.Errorf("%q: read %q, git says %q", text, a, b)
			}
		})
	}
}

// pairs are the settings as sorted lines.
func pairs(c configuration) []string {
	var list []string
	for _, s := range c.settings {
		list = append(list, fmt.Sprintf("%s %s=%s %q", s.Scope, s.Key, s.Value, s.InTree))
	}
	slices.Sort(list)
	return list
}

// TestPlainConfigKnowsItsFiles: where the environment moves git's files, only git reads them.
func TestPlainConfigKnowsItsFiles(t *testing.T) {
	f := newFixture(t)
	f.repo("r")
	base := f.env
	for _, more := range []string{"GIT_CONFIG_GLOBAL=" + f.path("x"), "GIT_CONFIG_SYSTEM=" + f.path("x"), "GIT_CONFIG_NOSYSTEM=true", "HOME=relative"} {
		f.env = append(slices.Clone(base), more)
		if _, ok := f.open("r").plainConfig(); ok {
			t.Errorf("%s: the configuration was read all the same", more)
		}
	}
}
