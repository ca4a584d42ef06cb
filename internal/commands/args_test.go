package commands

import (
	"slices"
	"strings"
	"testing"
)

// FuzzNormalize: a command line that is taken is put in order once and for all, and loses, invents and turns round no argument.
func FuzzNormalize(f *testing.F) {
	for _, line := range []string{
		"approve\n1\n--only\na,b\n--steer=x", "-C\n/x\nsubmit\n--\n-dash", "submit\n--wait\na", "submit\n--wait=10m\n-m\n--json", "help\nsubmit", "shadow\nopen\n--name\n-x", "log\n1\n--json",
		"--version", "hook\npre-commit", "approve\n--only\n--\n1", "--json\nstatus", "undo\n--last\n-",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		app := (&application{}).build()
		words := append([]string{"correx"}, strings.Split(line, "\n")...)
		once, err := normalize(app, slices.Clone(words))
		if err != nil {
			return
		}
		twice, err := normalize(app, slices.Clone(once))
		if err != nil || !slices.Equal(once, twice) {
			t.Errorf("%q becomes %q, and that %q, %v", words, once, twice, err)
		}
		at := slices.Index(once, "--")
		if at < 0 {
			return
		}
		rest := words
		for _, arg := range once[at+1:] {
			i := slices.Index(rest, arg)
			if i < 0 {
				t.Fatalf("%q becomes %q: where does %q come from", words, once, arg)
			}
			rest = rest[i+1:]
		}
	})
}
