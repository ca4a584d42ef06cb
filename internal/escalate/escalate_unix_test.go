//go:build unix

package escalate

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell is a program that runs a script of the test's.
func shell(script string) Program {
	return Program{Args: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "KNOWN=1"}, Limit: time.Minute}
}

func TestAsk(t *testing.T) {
	for script, want := range map[string]Answer{
		`echo '{"verdict":"keep","reason":""}'`:                                    {"keep", ""},
		`echo '{"verdict":"ask","reason":" look here "}'`:                          {"ask", "look here"},
		`printf '{"reason":"no\\u0007","verdict":"deny"}'`:                         {"deny", "no\a"},
		`cat >/dev/null; echo '{"verdict":"deny"}'`:                                {"deny", ""},
		`read -r f; printf '{"verdict":"ask","reason":"%s"}' "$f"`:                 {"ask", "the facts"},
		`printf '{"verdict":"ask","reason":"%s"}' "$(pwd)"`:                        {"ask", "/"},
		`printf '{"verdict":"ask","reason":"%s"}' "$(env|grep -c SECRET)"`:         {"ask", "0"},
		`printf '{"verdict":"ask","reason":"\377"}'`:                               {"ask", "\ufffd"},
		`echo '{"verdict":"keep"}'; echo warning >&2; head -c 99999 /dev/zero >&2`: {"keep", ""},
	} {
		t.Run(script, func(t *testing.T) {
			got, err := shell(script).Ask(t.Context(), []byte("the facts\n"))
			if err != nil || got != want {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestAskFails(t *testing.T) {
	for script, want := range map[string]string{
		`true`:                               `answered no JSON object`,
		`echo yes`:                           `answered no JSON object with verdict and reason: "yes\n"`,
		`echo null`:                          `answered no JSON object`,
		`echo '[]'`:                          `answered no JSON object`,
		`echo '{"verdict":1}'`:               `answered no JSON object`,
		`echo '{"verdict":"auto"}'`:          `answered the verdict "auto", expected keep, ask or deny`,
		`echo '{"verdict":"Deny"}'`:          `answered the verdict "Deny"`,
		`echo '{}'`:                          `answered the verdict ""`,
		`echo '{"verdict":"keep","tier":2}'`: `answered no JSON object`,
		`echo '{"verdict":"deny","verdict":"keep"}'`: `answered no JSON object`,
		`echo '{"verdict":"deny","Verdict":"keep"}'`: `answered no JSON object`,
		`echo '{"verdict":["deny"]}'`:                `answered no JSON object`,
		`echo '["deny"]'`:                            `answered no JSON object`,
		`echo '{"verdict":"keep"}{}'`:                `said something behind its answer`,
		`echo '{"verdict":"keep"} x'`:                `said something behind its answer`,
		`echo '{"verdict":"keep"}'; exit 3`:          `ended with exit status 3`,
		`echo 'not
today' >&2; exit 1`: `ended with exit status 1: not`,
		`kill -9 $$`: `ended with signal: killed`,
		`while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done`: `said more than 65536 bytes`,
		`echo '{"verdict":"keep"}'; sleep 20 &`:                                 `ended and left something running`,
	} {
		t.Run(script, func(t *testing.T) {
			got, err := shell(script).Ask(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), want) || got != (Answer{}) {
				t.Errorf("got %+v, %v, want %s", got, err, want)
			}
		})
	}
}

// TestAskIsBounded: a program that is late is killed, and with it all that it started and that stayed in its group.
func TestAskIsBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		limit  time.Duration
	}{
		"late":                        {`(sleep 20; echo survived) >"$FIFO" & sleep 20`, 300 * time.Millisecond},
		"gone before what it started": {`(sleep 20; echo survived) 3>&1 >"$FIFO" & echo '{"verdict":"keep"}'`, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			// It ends once nobody has it open for writing.
			held, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			p := shell(tc.script)
			p.Env, p.Limit = append(p.Env, "FIFO="+fifo), tc.limit
			if _, err := p.Ask(t.Context(), nil); err == nil {
				t.Error("it answered")
			}
			if got, err := io.ReadAll(held); err != nil || len(got) > 0 {
				t.Errorf("what it started %s, %v", got, err)
			}
		})
	}
}

// TestAskEndsWithItsContext: an interrupt ends the program too.
func TestAskEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shell(`sleep 20`).Ask(ctx, nil); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// TestCheck: a program that somebody else could have put there is not started.
func TestCheck(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tree, own := filepath.Join(top, "tree"), filepath.Join(top, "own")
	proof := filepath.Join(top, "ran")
	script := "#!/bin/sh\ntouch " + proof + "\n"
	write := func(name string, mode os.FileMode) string {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(script), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	inTree, open := write(filepath.Join(tree, "prog"), 0o755), write(filepath.Join(own, "open"), 0o777)
	group, plain := write(filepath.Join(own, "group"), 0o775), write(filepath.Join(own, "plain"), 0o644)
	below := write(filepath.Join(own, "loose", "prog"), 0o755)
	link, treeLink := filepath.Join(own, "link"), filepath.Join(top, "alias")
	for _, err := range []error{
		os.Chmod(filepath.Join(own, "loose"), 0o777), os.Symlink(inTree, link), os.Symlink(tree, treeLink),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing":             {nil, "absolute path"},
		"relative":            {[]string{"prog"}, "absolute path"},
		"missing":             {[]string{filepath.Join(own, "none")}, "cannot be found"},
		"a folder":            {[]string{own}, "no regular file"},
		"in the tree":         {[]string{inTree}, "where agents may write"},
		"by a link":           {[]string{link}, "where agents may write"},
		"by a linked tree":    {[]string{filepath.Join(treeLink, "prog")}, "where agents may write"},
		"by dots":             {[]string{own + "/../tree/prog"}, "where agents may write"},
		"an argument":         {[]string{"/bin/sh", inTree}, "where agents may write"},
		"a missing argument":  {[]string{"/bin/sh", filepath.Join(treeLink, "none", "x")}, "where agents may write"},
		"others may write":    {[]string{open}, "others may write"},
		"the group may write": {[]string{group}, "others may write"},
		"folder others write": {[]string{below}, "others may write"},
		"not executable":      {[]string{plain}, "cannot be started"},
	} {
		t.Run(name, func(t *testing.T) {
			p := Program{Args: tc.args, Outside: []string{tree}, Limit: time.Minute}
			if _, err := p.Ask(t.Context(), nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("one of them ran")
	}
}

func TestShorten(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("a", 500), strings.Repeat("a", 501), strings.Repeat("ä", 400), "a\xff", strings.Repeat("𝄞", 300)} {
		got := Shorten(text)
		if len(got) > MaxReason || len(got) < min(len(text), MaxReason-6) || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%d bytes become %d: %q", len(text), len(got), got)
		}
	}
}
