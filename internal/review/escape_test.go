package review

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/textdiff"
)

// tricks are the ways of UX.md 4.3 to make text look like what it is not, with what becomes of them on one line.
func tricks() []struct{ name, in, want string } {
	return []struct{ name, in, want string }{
		{"plain", "src/a.go \u00fc \u4e2d \U0001F600", "src/a.go \u00fc \u4e2d \U0001F600"},
		{"NUL", "a\x00b", "a<U+0000>b"},
		{"bell and backspace", "\a\b", "<U+0007><U+0008>"},
		{"tab and line ends", "a\tb\nc\rd", "a<U+0009>b<U+000A>c<U+000D>d"},
		{"colour", "\x1b[31mred\x1b[0m", "<U+001B>[31mred<U+001B>[0m"},
		{"title and clipboard", "\x1b]0;x\a\x1b]52;c;eA==\x1b\\", "<U+001B>]0;x<U+0007><U+001B>]52;c;eA==<U+001B>\\"},
		{"link", "\x1b]8;;http://x\x1b\\y", "<U+001B>]8;;http://x<U+001B>\\y"},
		{"DEL", "a\x7f", "a<U+007F>"},
		{"C1 as a character", "\u009b31m", "<U+009B>31m"},
		{"C1 as a byte", "\x9b31m", "<0x9B>31m"},
		{"next line", "a\u0085b", "a<U+0085>b"},
		{"not UTF-8", "caf\xe9", "caf<0xE9>"},
		{"too long a form", "\xc0\xaf", "<0xC0><0xAF>"},
		{"surrogate bytes", "\xed\xa0\x80", "<0xED><0xA0><0x80>"},
		{"right to left override", "a\u202egnp.exe", "a<U+202E>gnp.exe"},
		{"embeddings", "\u202a\u202b\u202c\u202d", "<U+202A><U+202B><U+202C><U+202D>"},
		{"isolates", "\u2066\u2067\u2068\u2069", "<U+2066><U+2067><U+2068><U+2069>"},
		{"marks", "\u061c\u200e\u200f", "<U+061C><U+200E><U+200F>"},
		{"zero width", "a\u200bb\u200c\u200d\u2060c", "a<U+200B>b<U+200C><U+200D><U+2060>c"},
		{"byte order mark", "\ufeffa", "<U+FEFF>a"},
		{"soft hyphen", "pass\u00adword", "pass<U+00AD>word"},
		{"separators", "a\u2028b\u2029c", "a<U+2028>b<U+2029>c"},
		{"tags", "a\U000e0001\U000e0068", "a<U+E0001><U+E0068>"},
		{"filler", "a\u3164b", "a<U+3164>b"},
		{"other spaces", "a\u00a0b\u2003c\u3000d", "a<U+00A0>b<U+2003>c<U+3000>d"},
		{"private use", "a\ue000", "a<U+E000>"},
		{"looks like an escape", "a<U+202E>b<0x9B>c<d>", "a<U+003C>U+202E>b<U+003C>0x9B>c<d>"},
	}
}

func TestEscape(t *testing.T) {
	for _, tt := range tricks() {
		got, n := Escape(tt.in)
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if want := strings.Count(tt.want, "<U+") + strings.Count(tt.want, "<0x"); n != want {
			t.Errorf("%s: %d escapes counted, %d made", tt.name, n, want)
		}
	}
}

func TestEscapeText(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\nc\r\nd": "a\tb\nc\r\nd", "a\rb\r": "a<U+000D>b<U+000D>", "\ufeffa\n\x1b[2J": "<U+FEFF>a\n<U+001B>[2J", "a\u00a0b <U+0041>": "a\u00a0b <U+0041>",
	} {
		if got, _ := EscapeText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestEscapePath(t *testing.T) {
	for in, want := range map[change.Path]string{
		"src/a.go":          "src/a.go",
		"src/\u0430dmin.go": "src/<U+0430>dmin.go",
		"\u043f\u0430\u043f\u043a\u0430/\u0444.go": "\u043f\u0430\u043f\u043a\u0430/<U+0444>.go",
		"\u043f\u0430\u043f\u043a\u0430/a":         "\u043f\u0430\u043f\u043a\u0430/a",
		"\u65e5\u672c README":                      "\u65e5\u672c README",
		"\u03b1\u0430":                             "<U+03B1><U+0430>",
		" lead":                                    `" lead"`,
		"trail ":                                   `"trail "`,
		"new\nline":                                "new<U+000A>line",
		"m\xe9.txt":                                "m<0xE9>.txt",
	} {
		if got, _ := EscapePath(in); got != want {
			t.Errorf("%q: got %q, want %q", string(in), got, want)
		}
	}
}

// FuzzEscape: what comes out is visible and valid, holds no character that hides, and different texts stay different.
func FuzzEscape(f *testing.F) {
	for _, tt := range tricks() {
		f.Add(tt.in, tt.want)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, n := Escape(a)
		if !utf8.ValidString(x) || strings.ContainsFunc(x, textdiff.Hidden) {
			t.Fatalf("%q becomes %q", a, x)
		}
		if (n == 0) != (x == a) {
			t.Fatalf("%q becomes %q with %d escapes", a, x, n)
		}
		if y, _ := Escape(b); a != b && x == y {
			t.Fatalf("%q and %q both become %q", a, b, x)
		}
		if y, _ := EscapeText(a); strings.ContainsFunc(strings.ReplaceAll(strings.ReplaceAll(y, "\r\n", "\n"), "\n", ""), func(r rune) bool {
			return r != '\t' && textdiff.Hidden(r)
		}) {
			t.Fatalf("%q becomes %q", a, y)
		}
		if y := escapeASCII(a); strings.ContainsFunc(y, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q becomes %q", a, y)
		}
	})
}
