package commands

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		width      int
	}{
		{"short\n", "short\n", 20},
		{"  why: one two three four\nnext\n", "  why: one two\n    three four\nnext\n", 16},
		{"averyveryverylongword\n", "averyveryverylongword\n", 8},
		{"no end of line here", "no end of\n  line here", 11},
		{"", "", 10},
	} {
		if got := wrap(tc.text, tc.width); got != tc.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", tc.text, tc.width, got, tc.want)
		}
	}
}

// TestWrapLosesNothing: wrapping changes white space only.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ a-zé]{0,40}\n?){0,4}`).Draw(t, "text")
		got := wrap(text, rapid.IntRange(1, 30).Draw(t, "width"))
		if a, b := strings.Fields(text), strings.Fields(got); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
