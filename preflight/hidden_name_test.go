package preflight

import "testing"

func TestHiddenInName(t *testing.T) {
	for name, want := range map[string]int{
		"src/a b.go": 0, "é-\U0001F600/ñ": 0, "❤\ufe0f.md": 0, "\xff\xfe": 0, "inv\u202efdp.sh": 1, "a\u200bb/\u200b": 2, "esc\x1b[2J": 1, "nl\n#9 applied": 1,
		"tab\t": 1, "\u2066x": 1, "\U000E0041": 1, "\x7f": 1,
	} {
		if got := hiddenInName(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}
