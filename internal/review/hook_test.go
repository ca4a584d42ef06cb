package review

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"pgregory.net/rapid"
)

func blocked(path change.Path, why string) HookPath {
	return HookPath{
		File:    change.FileChange{Path: path, Op: change.OpEdit},
		Verdict: change.Verdict{Outcome: change.Ask, SettledBy: `protect ".github/**"`, Why: []string{why}},
	}
}

// hooks are the inputs of the golden files.
func hooks() map[string]HookInput {
	waiting := HookInput{Staged: 7, Set: 12, Exit: 3, Blocked: []HookPath{
		blocked(".github/workflows/ci.yml", `protected path ".github/**"`),
		blocked("internal/db/migrate.go", "70212 bytes, limit 65536 (auto.max_bytes)"),
		blocked("scripts/reset.sh", "made executable"),
	}}
	shadow := blocked("a.go", "3 files, limit 1")
	shadow.Set, shadow.State = 9, change.StatePending
	both := waiting
	both.Blocked = append([]HookPath{shadow}, waiting.Blocked...)
	passing, waitingAll := both, waiting
	passing.Temporary, waitingAll.Temporary = true, true
	rejected := blocked("config/prod.env", "")
	rejected.Set, rejected.State, rejected.Reason, rejected.By = 12, change.StateRejected, "keep production settings out of this branch", "person:dana"
	undone := blocked("src/b.go", "")
	undone.Set, undone.State = 8, change.StateUndone
	denied := blocked("dep/.git/config", "git's own files")
	denied.Verdict.Outcome, denied.Verdict.SettledBy = change.Deny, "hard-protected .git"
	stale := blocked("internal/db/migrate.go", "")
	stale.Set, stale.State = 12, change.StateStale
	many := HookInput{Staged: 40, Set: 12, Exit: 3}
	for i := range 38 {
		many.Blocked = append(many.Blocked, blocked(change.Path(fmt.Sprintf("some/where/deep/in/the/tree/of/folders/file%02d_test.go", i)), strings.Repeat("a long reason ", 9)))
	}
	odd := HookInput{Staged: 2, Exit: 3, Blocked: []HookPath{
		blocked("\u00fcber\n\x1b[2J\u202e.sh", "link out of \u201cthe tree\u201d"), blocked(" m\xe9.txt ", ""),
	}}
	return map[string]HookInput{
		"waiting": waiting, "shadow": {Staged: 1, Exit: 3, Blocked: []HookPath{shadow}}, "both": both,
		"both_passing": passing, "waiting_passing": waitingAll,
		"rejected": {Staged: 3, Exit: 4, Blocked: []HookPath{rejected}},
		"refused":  {Staged: 3, Exit: 4, Blocked: []HookPath{rejected, undone}},
		"denied":   {Staged: 2, Exit: 5, Blocked: []HookPath{denied}},
		"stale":    {Staged: 1, Exit: 6, Blocked: []HookPath{stale}},
		"mixed":    {Staged: 9, Set: 14, Exit: 5, Blocked: append([]HookPath{denied, rejected}, waiting.Blocked...)},
		"many":     many, "odd": odd,
	}
}

func TestHookGolden(t *testing.T) {
	for name, in := range hooks() {
		got := HookMessage(in)
		golden(t, "hook_"+name+".golden", got)
		checkHook(t, got)
	}
	full := HookBroken("write /a/rather/long/path/to/the/repository/.git/correx/store/.correx-tmp-5749-0: no space left on device", 1)
	if !strings.Contains(full, "  write /") || !strings.Contains(full, ": no space left on device\n") {
		t.Errorf("the cause is cut off: %s", full)
	}
	broken := HookBroken("ledger: line 12 does not verify\nerror: \u202e", 7)
	golden(t, "hook_broken.golden", broken)
	checkHook(t, broken)
	if got := HookMessage(HookInput{Staged: 3}); got != "" {
		t.Errorf("nothing blocked, yet: %q", got)
	}
}

var statusLine = regexp.MustCompile(`^correx-status: blocked reason=(waiting|rejected|denied|stale|broken) change=(#[0-9]+|none) exit=[0-9]+$`)

// checkHook is what every message must be, whatever it is about.
func checkHook(t rapid.TB, message string) {
	t.Helper()
	body, ended := strings.CutSuffix(message, "\n")
	lines := strings.Split(body, "\n")
	if !ended || len(lines) > 12 {
		t.Fatalf("%d lines:\n%s", len(lines), message)
	}
	for i, line := range lines {
		if len(line) > 80 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("line %d is not 80 columns of ASCII: %q", i+1, line)
		}
		if lower := strings.ToLower(line); strings.HasPrefix(lower, "error") || strings.HasPrefix(lower, "warning") {
			t.Errorf("line %d looks like another program's error: %q", i+1, line)
		}
	}
	if !strings.HasPrefix(lines[0], "correx: commit stopped - ") || !statusLine.MatchString(lines[len(lines)-1]) {
		t.Errorf("first and last line:\n%s\n%s", lines[0], lines[len(lines)-1])
	}
	for _, word := range []string{"verify\n", "--no-verify", "hooksPath", "SKIP", "-n "} {
		if strings.Contains(message, word) && !strings.Contains(message, "does not verify") {
			t.Errorf("names a way round: %q in\n%s", word, message)
		}
	}
}

func TestHookProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.Custom(func(rt *rapid.T) HookPath {
			return HookPath{
				File: change.FileChange{Path: change.Path(rapid.StringN(1, 200, 300).Draw(rt, "path"))},
				Verdict: change.Verdict{
					Outcome:   rapid.SampledFrom([]change.Outcome{change.Ask, change.Deny}).Draw(rt, "outcome"),
					SettledBy: rapid.StringN(0, 100, 200).Draw(rt, "by"),
					Why:       rapid.SliceOfN(rapid.String(), 0, 3).Draw(rt, "why"),
				},
				Set:    rapid.SampledFrom([]int{0, 1, 12, 123456}).Draw(rt, "set"),
				State:  rapid.SampledFrom([]change.State{"", change.StatePending, change.StateRejected, change.StateUndone, change.StateStale}).Draw(rt, "state"),
				Reason: rapid.String().Draw(rt, "reason"), By: rapid.StringN(0, 40, 80).Draw(rt, "who"),
			}
		})
		in := HookInput{
			Blocked: rapid.SliceOfN(path, 1, 9).Draw(rt, "blocked"), Staged: rapid.IntRange(0, 20000).Draw(rt, "staged"),
			Set: rapid.SampledFrom([]int{0, 12, 123456}).Draw(rt, "set"), Exit: rapid.IntRange(1, 7).Draw(rt, "exit"),
		}
		message := strings.ReplaceAll(HookMessage(in), "SKIP", "")
		if strings.Contains(message, "-n ") || strings.Contains(message, "verify") {
			return // by chance, in a drawn text
		}
		checkHook(rt, message)
	})
}
