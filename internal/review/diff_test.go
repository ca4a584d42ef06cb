package review

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/textdiff"
)

// patch returns the git patch of one file.
func patch(t testing.TB, path change.Path, old, new string) string {
	t.Helper()
	var b strings.Builder
	f := textdiff.File{
		Path: path, OldMode: textdiff.ModeFile, NewMode: textdiff.ModeFile,
		Old: textdiff.Content{Bytes: []byte(old)}, New: textdiff.Content{Bytes: []byte(new)},
	}
	if err := textdiff.Patch(&b, f, textdiff.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func rendered(t testing.TB, patch string, o DiffOptions) string {
	t.Helper()
	var b strings.Builder
	if err := Diff(&b, iotest.HalfReader(strings.NewReader(patch)), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDiffUntouched: where nothing needs escaping the output is the patch.
func TestDiffUntouched(t *testing.T) {
	for name, p := range map[string]string{
		"empty":            "",
		"text":             patch(t, "a b", "a\nb\n", "a\nc\td\n"),
		"CR LF":            patch(t, "f", "a\r\nb\r\n", "a\r\nB\r\n"),
		"no newline":       patch(t, "f", "a", "b"),
		"CR at the end":    patch(t, "f", "a", "b\r"),
		"byte order mark":  patch(t, "f", "\ufeffa\n", "\ufeffb\n"),
		"mark lost":        patch(t, "f", "\ufeffsku;qty\r\n7;2\r\n", "sku;qty\r\n7;3\r\n"),
		"mark in context":  patch(t, "f", "\ufeffa\nb\n", "\ufeffa\nc\n"),
		"odd name":         patch(t, "t\tn\n\u202e\xe9", "a\n", "b\n"),
		"binary":           patch(t, "f", "\x00a", "\x00b\x1b"),
		"other languages":  patch(t, "f", "\u4e2d\u6587\n", "\u00fcber \U0001F600\ufe0f\n"),
		"no patch at all":  "anything\n\nelse",
		"looks like parts": patch(t, "f", "-- a\n++ b\n@@ -1 +1 @@\n\\ No\n", "diff --git a b\nGIT binary patch\nliteral 3\n\n"),
	} {
		if got := rendered(t, p, DiffOptions{}); got != p {
			t.Errorf("%s: got\n%q\nwant\n%q", name, got, p)
		}
	}
}

// TestDiffEscapes: each trick in each place of a diff where content stands.
func TestDiffEscapes(t *testing.T) {
	for _, tt := range tricks() {
		if strings.ContainsAny(tt.in, "\n\x00") {
			continue
		}
		body := "func " + tt.in + "() {\n" + strings.Repeat("\tx\n", 9) + "\ty\n"
		p := patch(t, "f", body, body+tt.in+" added\n")
		got := rendered(t, p, DiffOptions{})
		for _, r := range strings.ReplaceAll(strings.ReplaceAll(got, "\n", ""), "\t", "") {
			if textdiff.Hidden(r) || r == '\ufffd' {
				t.Errorf("%s: %U is left in\n%q", tt.name, r, got)
				break
			}
		}
		if want, _ := escape(tt.in, keepTab); !strings.Contains(got, "+"+want+" added\n") || !strings.Contains(got, "@@ func "+want) {
			t.Errorf("%s: got\n%s", tt.name, got)
		}
	}
	for in, want := range map[string]string{
		"a\n\ufeffb\n": "+<U+FEFF>b\n",
		"a\rb\n":       "+a<U+000D>b\n",
		"a\r\r\n":      "+a<U+000D>\r\n",
		"a\ufeff\n":    "+a<U+FEFF>\n",
	} {
		if got := rendered(t, patch(t, "f", "", in), DiffOptions{}); !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q in it", in, got, want)
		}
	}
	moved := rendered(t, patch(t, "f", "\ufeffa\n", "new\n\ufeffa\n"), DiffOptions{})
	if !strings.Contains(moved, " <U+FEFF>a\n") {
		t.Errorf("a mark that is no longer at the start is not shown: %q", moved)
	}
}

// TestDiffColour: without its colour the coloured diff says the same.
func TestDiffColour(t *testing.T) {
	p := patch(t, "f", "a\nb\r\n", "a\u202e\nc\r\n<U+1>\n<x> < <U+zz> <0x>\n")
	plain, coloured := rendered(t, p, DiffOptions{}), rendered(t, p, DiffOptions{Colour: true})
	if stripColour(coloured) != plain {
		t.Errorf("got\n%q\nwithout colour\n%q", coloured, plain)
	}
	for _, want := range []string{green + "+a" + reverse + "<U+202E>" + upright + reset + "\n", red + "-b" + reset + "\r\n", cyan + "@@"} {
		if !strings.Contains(coloured, want) {
			t.Errorf("%q is not in %q", want, coloured)
		}
	}
}

func stripColour(s string) string {
	return strings.NewReplacer(red, "", green, "", cyan, "", bold, "", reverse, "", upright, "", reset, "").Replace(s)
}

func TestDiffErrors(t *testing.T) {
	broken := errors.New("broken")
	if err := Diff(&bytes.Buffer{}, iotest.ErrReader(broken), DiffOptions{}); !errors.Is(err, broken) {
		t.Errorf("reader: %v", err)
	}
	if err := Diff(brokenWriter{broken}, strings.NewReader(patch(t, "f", "a\n", "b\n")), DiffOptions{}); !errors.Is(err, broken) {
		t.Errorf("writer: %v", err)
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

// FuzzDiff renders anything, and real patches of anything: nothing hidden is left but what is harmless where it stands.
func FuzzDiff(f *testing.F) {
	f.Add("@@ -1 +1 @@\n-\ufeffa\r\n+b\x1b\n", "a\u202e\n")
	f.Add("@@ -99999999999999999999 +1 @@\n", "GIT binary patch\n")
	f.Fuzz(func(t *testing.T, old, new string) {
		texts := []string{old + new}
		if old != new {
			texts = append(texts, patch(t, "f", old, new))
		}
		for _, p := range texts {
			got := rendered(t, p, DiffOptions{})
			for line := range strings.SplitSeq(got, "\n") {
				body := strings.TrimSuffix(strings.ReplaceAll(line, "\t", ""), "\r")
				body = strings.Replace(body, byteOrderMark, "", 1)
				if strings.ContainsFunc(body, textdiff.Hidden) {
					t.Fatalf("%q becomes %q", p, got)
				}
			}
			if stripColour(rendered(t, p, DiffOptions{Colour: true})) != got {
				t.Fatalf("%q: coloured differs", p)
			}
		}
	})
}
