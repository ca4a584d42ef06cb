package command

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const tenKB = 10 << 10

// fill repeats a piece, in which %d is its number, to 10 kB.
func fill(piece string) string {
	var b strings.Builder
	for i := 0; ; i++ {
		p := piece
		if strings.ContainsRune(piece, '%') {
			p = fmt.Sprintf(piece, i)
		}
		if b.Len()+len(p) > tenKB {
			return b.String()
		}
		b.WriteString(p)
	}
}

// inputs are kinds of 10 kB, some of them hostile.
func inputs() map[string]string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	all := map[string]string{
		"chain": fill("ls -la src/%d && "), "pipes": fill("ls src/%d|") + "wc", "lister pipes": "find . -name x" + fill("|sort -u%d") + "|xargs rm", "semicolons": fill("x;"),
		"different files": fill("cat src/a%[1]d/b/c.go > out%[1]d.txt\n"), "redirections": "ls" + fill(" >f%d"), "here-document": "cat <<'X' > a\n" + fill("some text, rm -rf %d\n") + "X\n",
		"expanded document": "cat <<X > a\n" + fill("a $HOME b%d\n") + "X\n", "documents": fill("cat <<X%[1]d > a%[1]d\nab\nX%[1]d\n"), "substitutions": "echo " + fill("$(ls %d)"),
		"backquotes": "echo " + fill("`ls %d` "), "deep substitutions": strings.Repeat("echo $(", 90) + "ls" + strings.Repeat(")", 90) + fill(";ls %d"),
		"deep brackets": fill(strings.Repeat("(", 90) + "ls" + strings.Repeat(")", 90) + "\n"), "deep blocks": fill(strings.Repeat("{ ", 90) + "ls" + strings.Repeat("; }", 90) + "\n"),
		"deep branches": fill(strings.Repeat("if ls; then ", 40) + "ls" + strings.Repeat("; fi", 40) + "\n"), "nested loops": fill("for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do ls $a $b; done; done\n"),
		"loops with cd": fill("for a in 1 2; do cd $a; ls; done\n"), "braces": "ls " + fill("{a,b%d}"), "many braces": "ls " + fill("{a,b,c}{d,e,f}{g,h,i} "), "globs": "ls " + fill("*a?[b-c]%d* "),
		"quotes": "echo " + fill(`"a b 'c' %d" 'd "e"' \f `), "one word": "ls " + strings.Repeat("a", tenKB), "one quoted word": "ls '" + strings.Repeat("a ", tenKB/2) + "'", "backslashes": "ls " + strings.Repeat(`\a`, tenKB/2),
		"variables": fill("a%d=$b; "), "steering": fill("export PATH=/a%d:$PATH\n"), "arithmetic": fill("echo $((a%d + 1))\n"), "arrays": fill("a=(1 2 $(ls) %d)\n"), "cases": "case $x in\n" + fill("a%d) ls;;\n") + "esac",
		"functions": fill("f%d() { ls; }; "), "tests": fill("[[ -f a%d && $b == c* ]]\n"), "comments": fill("# rm -rf %d\n") + "ls", "sed": "sed '" + fill("s/a%d/b/g;") + "' a", "awk": "awk '" + fill("/a%d/ {print $1 > \"b\"}\n") + "' a",
		"seds": fill("sed -n 's/a/b/p' a%d\n"), "awks": fill("awk '{print $1}' a%d\n"), "finds": fill("find . -name a%d -exec cat {} +\n"), "shells": fill("bash -c 'ls %d'\n"),
		"nested shells": "bash -c " + quote("bash -c "+quote("bash -c "+quote(fill("ls %d;")[:1000]))), "evals": fill("eval 'ls %d'\n"), "wrappers": fill("timeout 5 nice env A=1 ls %d\n"),
		"strangers": fill("nobody%d --x y z\n"), "git": fill("git log --oneline -n %d -- a.go\n"), "secrets": "cat " + fill(".env.%d "), "sql": "psql -c '" + fill("select a%d from b; ") + "'", "python": "python3 -c '" + fill("print(%d)\n") + "'",
		"unclosed": "ls '" + fill("ls %d; "), "unclosed substitutions": fill("$("), "brackets": fill("("), "too deep": fill("if "), "pipeline of blocks": fill("{ ls; ls %d; } | ") + "cat", "printf": fill("printf '%%s' a | sh; "),
		"process substitutions": "cat " + fill("<(ls %d) "), "backgrounds": fill("ls %d & "), "zeros": strings.Repeat("0 ", tenKB/2), "dashes": "ls " + fill("--a%d=b -c "), "writes": "tee " + fill("dir/a%d/x "), "base64": "echo " + strings.Repeat("cm0g", tenKB/4) + " | base64 -d | sh",
	}
	return all
}

// threadTime returns how long the thread has computed, which a busy machine does not change as it does the clock.
func threadTime(b *testing.B) time.Duration {
	b.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		b.Fatal(err)
	}
	return time.Duration(at.Nano())
}

// BenchmarkKinds reports the processor time that 99 of 100 grades of each kind of 10 kB keep under.
func BenchmarkKinds(b *testing.B) {
	all := inputs()
	all["rows"] = manyRows(b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var took []time.Duration
			for b.Loop() {
				start := threadTime(b)
				Grade(all[name], project())
				took = append(took, threadTime(b)-start)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[(len(took)*99-1)/100].Microseconds()), "p99-µs")
		})
	}
}

// manyRows returns 10 kB of the table's rows, those that can be parsed.
func manyRows(b *testing.B) string {
	var text strings.Builder
	for _, row := range slices.Sorted(maps.Keys(rows(b))) {
		part := "( " + row + "\n)\n"
		if _, why := parse(newParser(), part); why == "" && unreadable(part) == "" && text.Len()+len(part) < tenKB {
			text.WriteString(part)
		}
	}
	for text.Len() < tenKB {
		text.WriteString("ls -la src | grep -n 'a b' > out.txt\n")
	}
	if _, why := parse(newParser(), text.String()); why != "" {
		b.Fatal(why)
	}
	return text.String()
}
