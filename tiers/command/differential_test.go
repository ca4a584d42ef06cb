package command

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryProgramIsFound runs generated lines in bash, where every program on PATH only writes down its name, and compares.
func TestEveryProgramIsFound(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	bin, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	stub := "#!" + bash + "\nprintf '%s\\n' \"${0##*/}\" >> \"$STUB_LOG\"\n"
	for _, name := range []string{"pone", "ptwo"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	checked, programs := 0, 0
	for _, line := range generated() {
		r := Grade(line, project())
		if err := os.WriteFile(ran, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(context.Background(), bash, "-c", line)
		cmd.Env, cmd.Dir, cmd.Stdin = []string{"PATH=" + bin, "STUB_LOG=" + ran, "HOME=/nowhere"}, t.TempDir(), nil
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		log, err := os.ReadFile(ran)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		for _, name := range strings.Fields(string(log)) {
			programs++
			if !r.Unclassified {
				t.Errorf("%q runs %s, and is classified as %s: %q", line, name, r.Tier, r.Reasons)
				continue
			}
			found := r.Tier == "T4"
			for _, p := range r.Parts {
				found = found || strings.HasPrefix(p.Text, name)
			}
			if !found {
				t.Errorf("%q runs %s, which is not among the parts: %v", line, name, r.Parts)
			}
		}
	}
	if checked < 300 || programs < checked/2 {
		t.Fatalf("%d lines ran %d programs: the harness does not work", checked, programs)
	}
}

// generated returns lines that put a program, in many spellings, at many places.
func generated() []string {
	places := []string{
		"@", "echo a; @", "true && @", "false || @", "true & @", "echo a | @", "@ | echo a", "( @ )", "{ @; }", "! @", "if @; then :; fi", "if true; then @; fi", "if false; then :; else @; fi",
		"while @; do break; done", "for i in 1; do @; done", "for ((i=0;i<1;i++)); do @; done", "case a in a) @;; esac", "f() { @; }; f", "echo $(@)", "echo \"$(@)\"", "echo `@`", "X=$(@)", "X=(a $(@))",
		"echo ${X:-$(@)}", "echo $(( $(@) + 1 ))", "(( $(@) + 1 ))", "[[ a == $(@) ]]", "echo a > $(@)x", ": <<EOF\n$(@)\nEOF", ": <<< $(@)", "eval '@'", "trap '@' EXIT", "X=1 @", "</dev/null @", "2>/dev/null @",
		"export X=$(@)", "declare X=$(@)", "let X=$(@)1", "time @", "coproc @", "exec @", "command @", "builtin eval '@'", "echo a #b\n@", "echo a \\\n; @", "echo a # b \\\n@", "X=1\recho @", "echo \"$\\\n(@)\"", "echo <(@)",
		"f() ( @ ); f", "until @; do break; done", "select x in $(@); do break; done", "echo ${X/$(@)/b}", "echo ${X:$(@)}", "test -v 'a[$(@)]'", "printf -v 'a[$(@)]' x", "declare -i n='a[$(@)]'", "[[ 'a[$(@)]' -eq 1 ]]", "X='$(@)'; echo ${X@P}",
		"source /dev/stdin <<< '@'", ". <(echo @)", "alias q=@; shopt -s expand_aliases\nq", "PS4='$(@)'; set -x; echo", "echo @ | while read x; do $x; done", "x=@; $x", "set -- @; \"$@\"", "a=(@); ${a[0]}", "{@,x}", "echo a |& @",
		"jobs -x @", "compgen -C @", "compgen -W '$(@)'", "declare -n n='a[$(@)]'; echo $n", "command export X=$(@)", `\export X=$(@)`, "export 'a[$(@)]=1'", "printf -v x '%s' $(@)", "echo ${X[$(@)]}",
		"trap @ DEBUG; :", "trap '@' ERR; false", "trap '@' RETURN; f() { :; }; f", "for ((i=$(@)0;i<0;i++)); do :; done", "X=([$(@)0]=1)", "exec 3< <(@)", "echo {a,$(@)}", "[[ $(@) =~ x ]]", "[[ -v a[$(@)] ]]",
		"case $(@) in *) ;; esac", "case x in $(@)) ;; *) ;; esac", "X=$(@) command echo", "coproc N { @; }", "function f { @; }; f", "f() { @; } 2>/dev/null; f", "if ! @; then :; fi", "@ && @ || @", "{ @ & }; wait",
		"echo <<-EOF\n\t$(@)\n\tEOF", "readarray -C @ -c 1 a <<< x", "read -r \"a[$(@)]\" <<< x", "echo \"${X:=$(@)}\"", "echo $[ $(@)1 ]", "let \"x=$(@)1\"", "((x=$(@)1))", "while ! @; do break; done", "unset 'a[$(@)]'",
		"hash -p ./x @; @", "enable -n echo; @", "builtin command @", "command builtin eval @", "exec -a x @", "eval \"eval '@'\"", ". /dev/stdin <<< \"@\"", "alias a=@; eval a", "set -- @; $1", "f() { $1; }; f @", "X=@ eval '$X'",
		"echo ${X//a/$(@)}", "echo ${X:1:$(@)1}", "echo \"a`@`b\"", "echo $'a' $(@)", "test -n \"$(@)\"", "[ \"$(@)\" = a ]", "time -p @", "! ! @", "echo >&$(@)2", "echo {fd}> $(@)x", "shopt -s lastpipe; echo | @", "select i in a; do @; break; done <<< 1",
		"read x <<< @; $x", "mapfile -C @ -c 1 <<< a", "f() { \"$@\"; }; f @", "unset x[$(@)]",
	}
	spellings := []string{"pone", "p''one", `"pone"`, `\pone`, `p\one`, `$'p\x6fne'`, "p\\\none", "$(echo pone)", "p{one,x}", "${Z:-pone}", "po${Z}ne"}
	var lines []string
	for _, place := range places {
		for _, s := range spellings {
			if strings.Contains(place, "'@") || strings.Contains(place, "(@)]'") || strings.Contains(place, "$(@)'") {
				s = "pone"
			}
			lines = append(lines, strings.ReplaceAll(place, "@", s))
		}
	}
	return lines
}
