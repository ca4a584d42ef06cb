package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The shapes of DESIGN.md section 12: a member, and the kind of JSON value it has.
func setShape() map[string]string {
	return map[string]string{
		"id": "number", "session": "string", "stage": "string", "origin": "string", "state": "string", "tier": "string",
		"risk": "string", "verdict": "string", "reasons": "array", "settled_by": "string", "message": "string", "files": "array",
		"undo": "string", "decision": "object or null", "created_at": "string",
	}
}

func fileShape() map[string]string {
	return map[string]string{
		"path": "string", "old_path": "string", "op": "string", "old_mode": "string", "new_mode": "string", "base_sha256": "string",
		"proposed_sha256": "string", "added": "number", "removed": "number", "bytes": "number", "binary": "bool", "state": "string",
	}
}

func decisionShape() map[string]string {
	return map[string]string{
		"kind": "string", "by": "string", "at": "string", "scope": "string", "reason": "string", "steering": "string", "how": "string",
	}
}

func sessionShape() map[string]string {
	return map[string]string{"session": "string", "path": "string", "backend": "string", "agent": "string"}
}

func eventShape() map[string]string {
	return map[string]string{
		"seq": "number", "at": "string", "type": "string", "id": "string", "cause": "string", "actor": "string", "data": "object",
		"prev": "string", "hash": "string",
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "bool"
	case []any:
		return "array"
	}
	return "object"
}

// fits checks that v has every member of shape, of the right kind.
func fits(t *testing.T, what string, v any, shape map[string]string) {
	t.Helper()
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%s is a JSON %s, want an object", what, kindOf(v))
	}
	for member, want := range shape {
		if got, ok := m[member]; !ok || !strings.Contains(want, kindOf(got)) {
			t.Errorf("%s: %q is %s (there: %v), want %s", what, member, kindOf(got), ok, want)
		}
	}
}

// fitsSet checks a change set with its files and decision.
func fitsSet(t *testing.T, what string, v any) {
	t.Helper()
	fits(t, what, v, setShape())
	m := v.(map[string]any)
	for _, f := range m["files"].([]any) {
		fits(t, what+" file", f, fileShape())
	}
	if m["decision"] != nil {
		fits(t, what+" decision", m["decision"], decisionShape())
	}
}

// list returns the array under a name, each element checked by check.
func list(t *testing.T, what string, m map[string]any, name string, check func(*testing.T, string, any)) []any {
	t.Helper()
	all, ok := m[name].([]any)
	if !ok {
		t.Fatalf("%s: %q is %s, want an array", what, name, kindOf(m[name]))
	}
	for _, v := range all {
		check(t, what, v)
	}
	return all
}

func sessions(t *testing.T, what string, v any) { fits(t, what, v, sessionShape()) }

// TestJSONShapes runs every command with --json through a session and checks what is printed.
func TestJSONShapes(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
	sets := func(want int, dir string, args ...string) []any {
		t.Helper()
		m := object(t, w.must(want, dir, append(args, "--json")...))
		if kindOf(m["session"]) != "string" {
			t.Errorf("%v: session is %s", args, kindOf(m["session"]))
		}
		return list(t, strings.Join(args, " "), m, "change_sets", fitsSet)
	}
	one := func(want int, shape map[string]string, dir string, args ...string) map[string]any {
		t.Helper()
		m := object(t, w.must(want, dir, append(args, "--json")...))
		fits(t, strings.Join(args, " "), m, shape)
		return m
	}
	one(0, map[string]string{"config": "string", "config_written": "bool", "state": "string", "hooks": "array"}, w.repo, "init")
	shadow := one(0, sessionShape(), w.repo, "shadow", "open")["path"].(string)
	one(0, sessionShape(), w.repo, "shadow", "path")
	list(t, "shadow list", one(0, map[string]string{"shadows": "array"}, w.repo, "shadow", "list"), "shadows", sessions)
	if got := sets(0, shadow, "submit"); len(got) != 0 {
		t.Errorf("nothing to submit, got %v", got)
	}
	w.put(filepath.Join(shadow, "a.txt"), "A\n")
	landed := sets(0, shadow, "submit")[0].(map[string]any)
	credential := landed["undo"].(string)
	if landed["state"] != "applied" || !strings.HasPrefix(credential, "u-") {
		t.Errorf("landed: %v", landed)
	}
	for _, name := range []string{"b.txt", "c.txt"} {
		if err := os.Remove(filepath.Join(shadow, name)); err != nil {
			t.Fatal(err)
		}
		sets(3, shadow, "submit", name)
	}
	fitsSet(t, "show", any(one(0, nil, w.repo, "show", "3")))
	status := one(0, map[string]string{"mode": "string", "enforced": "string", "sessions": "array", "pending": "array"}, w.repo, "status")
	list(t, "status", status, "sessions", sessions)
	if got := list(t, "status", status, "pending", fitsSet); len(got) != 2 {
		t.Errorf("%d sets wait, want 2", len(got))
	}
	one(0, map[string]string{"id": "number", "patch_b64": "string"}, w.repo, "diff", "3")
	sets(0, w.repo, "approve", "3")
	sets(0, w.repo, "reject", "4", "--reason", "no")
	sets(0, w.repo, "wait", "3")
	sets(4, w.repo, "wait", "4")
	sets(0, w.repo, "undo", credential)
	sets(0, w.repo, "undo", "3")
	sets(0, w.repo, "redo")
	sets(0, w.repo, "undo", "--last")
	one(0, map[string]string{"mode": "string"}, w.repo, "mode")
	one(0, map[string]string{"mode": "string"}, w.repo, "mode", "prompt")
	w.put(filepath.Join(shadow, "d.txt"), "d\n")
	answers := sets(3, shadow, "submit")
	id := answers[len(answers)-1].(map[string]any)["id"].(float64)
	sets(0, w.repo, "skip", jsonNumber(id))
	one(0, map[string]string{"staged": "number", "blocked": "array"}, w.repo, "check", "--staged")
	one(0, map[string]string{"hooks": "array"}, w.repo, "hooks", "install")
	one(0, map[string]string{"hooks": "array"}, w.repo, "hooks", "uninstall")
	one(0, map[string]string{"events": "number", "head": "string", "findings": "array"}, w.repo, "fsck")
	one(1, map[string]string{"checks": "array"}, w.repo, "doctor")
	one(0, sessionShape(), shadow, "shadow", "reset")
	one(0, sessionShape(), shadow, "shadow", "close")
	for line := range strings.Lines(w.must(0, w.repo, "log", "--json")) {
		fits(t, "log", any(object(t, line)), eventShape())
	}
}

func jsonNumber(v float64) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// TestJSONOfRefusals: a command that is refused prints one object that says why, and the same words for a person.
func TestJSONOfRefusals(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"})
	shadow := w.shadow()
	for _, tc := range []struct {
		code int
		dir  string
		line string
	}{
		{1, w.repo, "show 7"},
		{1, w.repo, "approve 7"},
		{1, w.repo, "wait 7"},
		{1, w.repo, "log 7"},
		{1, w.home, "status"},
		{2, w.repo, "approve"},
		{2, w.repo, "show x"},
		{2, w.repo, "status --nonsense"},
		{2, w.repo, "nonsense"},
		{2, w.repo, "undo u-aaaaaaaaaaaaaaaaaaaaaaaaaa"},
		{2, w.repo, "mode loose"},
		{2, shadow, "submit missing"},
		{5, shadow, "approve 1"},
		{5, shadow, "mode prompt"},
		{5, shadow, "init"},
	} {
		for _, line := range []string{tc.line + " --json", "--json " + tc.line} {
			a := w.run(tc.dir, strings.Fields(line)...)
			m := object(t, a.stdout)
			fits(t, line, m["error"], map[string]string{"message": "string", "exit": "number"})
			e := m["error"].(map[string]any)
			if a.code != tc.code || e["exit"] != float64(tc.code) {
				t.Errorf("%s: exit %d, says %v; want %d", line, a.code, e["exit"], tc.code)
			}
			first, _, _ := strings.Cut(e["message"].(string), "\n")
			if !strings.Contains(a.stderr, first) {
				t.Errorf("%s: %q is not in %q", line, first, a.stderr)
			}
		}
	}
}

// TestJSONOfOddNames: bytes that are no UTF-8 come whole, beside a text that can be read.
func TestJSONOfOddNames(t *testing.T) {
	w := newWorld(t, nil)
	shadow := w.shadow()
	w.put(filepath.Join(shadow, "caf\xe9"), "x\n")
	w.put(filepath.Join(shadow, "quote\"<&>"), "x\n")
	m := object(t, w.must(codeWaiting, shadow, "submit", "--json"))
	files := m["change_sets"].([]any)[0].(map[string]any)["files"].([]any)
	if got := files[0].(map[string]any)["path_b64"]; got != "Y2Fm6Q==" {
		t.Errorf("path_b64 is %v", got)
	}
	if got := files[1].(map[string]any); got["path"] != "quote\"<&>" || got["path_b64"] != nil {
		t.Errorf("path is %v", got)
	}
}

// TestTextIsNotJSON: without --json no command prints an object, and data and words are kept apart.
func TestTextIsNotJSON(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"})
	shadow := w.shadow()
	w.put(filepath.Join(shadow, "a.txt"), "A\n")
	for _, line := range []string{"submit", "status", "log", "show 1", "diff 1", "fsck", "mode", "shadow list", "shadow path", "undo 1", "redo"} {
		dir := w.repo
		if slices.Contains([]string{"submit"}, line) {
			dir = shadow
		}
		a := w.run(dir, strings.Fields(line)...)
		if a.code != 0 || a.stdout == "" || a.stdout[0] == '{' || a.stderr != "" {
			t.Errorf("%s: exit %d: %q %q", line, a.code, a.stdout, a.stderr)
		}
	}
}
