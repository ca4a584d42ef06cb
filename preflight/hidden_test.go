package preflight

import (
	"testing"
	"unicode/utf8"
)

func TestCountHidden(t *testing.T) {
	tests := []struct {
		name, in string
		want     int
	}{
		{"plain", "a\tb\nc\r\nd\u00fc\u4e2d\U0001F600\n", 0},
		{"CR alone", "a\rb\n", 1}, {"CR at the end", "a\r", 1}, {"two CR before LF", "a\r\r\n", 1},
		{"escape", "\x1b[31m", 1}, {"NUL to unit separator", "\x01\x02\a\b\v\f\x1f", 7}, {"DEL", "\x7f", 1},
		{"C1", "\u0080\u009b\u009f", 3}, {"soft hyphen", "a\u00adb", 1},
		{"Arabic letter mark", "\u061c", 1}, {"marks", "\u200e\u200f", 2}, {"embeddings", "\u202a\u202b\u202c\u202d\u202e", 5},
		{"isolates", "\u2066\u2067\u2068\u2069", 4}, {"zero width", "\u200b\u200c\u200d\u2060", 4},
		{"separators", "\u2028\u2029", 2}, {"tags", "\U000e0001\U000e0041\U000e007f", 3},
		{"leading mark", "\ufeffa", 0}, {"two leading marks", "\ufeff\ufeffa", 1}, {"later mark", "a\ufeff", 1}, {"mark on line 2", "a\n\ufeffb", 1},
		{"invisible operators", "\u2061\u2064\u206f", 3}, {"fillers", "\u115f\u1160\u3164\uffa0", 4}, {"selectors that carry data", "\U000e0100\U000e01ef", 2},
		{"emoji style is no secret", "\u2764\ufe0f", 0}, {"not UTF-8", "caf\xe9\x80\x9b\xff\n", 0}, {"surrogate bytes", "\xed\xa0\x80", 0},
	}
	for _, tt := range tests {
		if got := CountHidden([]byte(tt.in)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// FuzzHiddenCounter compares counting in a stream, cut anywhere, with counting in one piece.
func FuzzHiddenCounter(f *testing.F) {
	f.Add([]byte("\ufeffa\r\n\u202e\xe2\x80"), uint8(3))
	f.Add([]byte("\r\r\n\xf3\xa0\x81\x81"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		var h hiddenCounter
		size := int(step%7) + 1
		for at := 0; at < len(b); at += size {
			if n, err := h.Write(b[at:min(len(b), at+size)]); err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		if got, want := h.finish(), CountHidden(b); got != want {
			t.Fatalf("%q in pieces of %d: %d, whole: %d (valid %v)", b, size, got, want, utf8.Valid(b))
		}
	})
}
