package tiers

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

// names draws path components of letters that meet often.
func names() *rapid.Generator[string] {
	return rapid.StringMatching(`[abAB.é\[\]]{1,3}`).Filter(func(s string) bool { return s != "." && s != ".." })
}

func paths() *rapid.Generator[change.Path] {
	return rapid.Custom(func(t *rapid.T) change.Path {
		return change.Path(strings.Join(rapid.SliceOfN(names(), 1, 4).Draw(t, "names"), "/"))
	})
}

// patterns draws texts, most of which are patterns, and keeps those that are.
func patterns() *rapid.Generator[Pattern] {
	piece := rapid.SampledFrom([]string{"a", "b", "A", "*", "?", "[ab]", "[!a]", "{a,b}", "{,b}", "é", ".", `\*`})
	component := rapid.OneOf(rapid.Just("**"), rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 1, 3).Draw(t, "pieces"), "")
	}))
	return rapid.Custom(func(t *rapid.T) Pattern {
		p, err := ParsePattern(rapid.SampledFrom([]string{"", "/", "./"}).Draw(t, "front") +
			strings.Join(rapid.SliceOfN(component, 1, 4).Draw(t, "components"), "/") +
			rapid.SampledFrom([]string{"", "/"}).Draw(t, "end"))
		if err != nil {
			return Pattern{}
		}
		return p
	}).Filter(func(p Pattern) bool { return p.String() != "" })
}

// TestPatternNamesContent: what a pattern names, it names with all that lies in it.
func TestPatternNamesContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, path, below := patterns().Draw(t, "pattern"), paths().Draw(t, "path"), names().Draw(t, "below")
		if p.Match(path) && !p.Match(path.Join(below)) {
			t.Fatalf("%q matches %q but not what lies in it", p, path)
		}
	})
}

// TestPatternFoldIsWider: whatever matches letter by letter matches in every spelling of the path.
func TestPatternFoldIsWider(t *testing.T) {
	spellings := []func(string) string{
		func(s string) string { return s },
		strings.ToUpper, strings.ToLower, norm.NFD.String, norm.NFKC.String,
		func(s string) string { return strings.ReplaceAll(s, "a", "a\u200b") },
		func(s string) string { return s + "." },
		func(s string) string { return s + " " },
		func(s string) string { return s + "::$DATA" },
		func(s string) string { return strings.ReplaceAll(s, "/", `\`) },
	}
	rapid.Check(t, func(t *rapid.T) {
		p, path := patterns().Draw(t, "pattern"), paths().Draw(t, "path")
		other := rapid.SampledFrom(spellings).Draw(t, "spelling")(string(path))
		// A component that ends in a dot is not spelt by adding another: Windows drops both.
		if strings.Contains(string(path)+"/", "./") {
			other = string(path)
		}
		if p.Match(path) && !p.MatchFold(change.Path(other)) {
			t.Fatalf("%q matches %q but not its spelling %q", p, path, other)
		}
	})
}

// TestPatternRoot: an anchored pattern says the same as the floating one, at the root alone.
func TestPatternRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, path, up := names().Draw(t, "name"), paths().Draw(t, "path"), names().Draw(t, "up")
		floating, err := ParsePattern(escape(name))
		if err != nil {
			t.Skip("not a pattern")
		}
		rooted := rapid.SampledFrom([]string{"/", "./"}).Draw(t, "front") + escape(name)
		anchored, err := ParsePattern(rooted)
		if err != nil {
			t.Fatal(err)
		}
		if anchored.Match(path) && (!floating.Match(path) || !floating.Match(change.Path(up).Join(string(path)))) {
			t.Fatalf("%q matches %q but %q does not everywhere", rooted, path, floating)
		}
		if floating.Match(path) != anyBelow(anchored, path) {
			t.Fatalf("%q on %q is not %q on one of its ends", floating, path, anchored)
		}
	})
}

// anyBelow reports whether p matches path with any number of its first components left out.
func anyBelow(p Pattern, path change.Path) bool {
	for {
		if p.Match(path) {
			return true
		}
		_, rest, ok := strings.Cut(string(path), "/")
		if !ok {
			return false
		}
		path = change.Path(rest)
	}
}

func FuzzPattern(f *testing.F) {
	for _, seed := range []struct{ pattern, path string }{
		{"**/*.pem", "a/b.pem"}, {"secrets/", "Secrets/x"}, {"[!a-z]{x,y}*", "Ax"}, {`\[a`, "[a"}, {"a/**/b", "a/b"},
		{"[\\]-\\a]", "^"}, {"é*", "E\u0301x"}, {"{,}", "\xff\xfe"}, {"*", "a:b\\c"}, {"\u0130", "i/.. /::"},
	} {
		f.Add(seed.pattern, seed.path)
	}
	f.Fuzz(func(t *testing.T, text, raw string) {
		p, err := ParsePattern(text)
		if err != nil {
			return
		}
		if p.String() != text {
			t.Fatalf("pattern %q prints as %q", text, p)
		}
		path, err := change.ParsePath(raw)
		if err != nil || len(raw) > 4096 {
			return
		}
		if p.Match(path) && !p.MatchFold(path) {
			t.Fatalf("%q matches %q, but not in every spelling", text, raw)
		}
		if p.Match(path) && !p.Match(path.Join("x")) {
			t.Fatalf("%q matches %q, but not what lies in it", text, raw)
		}
		if _, ok := Protects(path, []Protect{{Pattern: p}}); !ok && p.MatchFold(path) {
			t.Fatalf("%q is protected by %q, but Protects does not say so", raw, text)
		}
	})
}
