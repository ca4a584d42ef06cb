package tiers

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
)

func mustPattern(t testing.TB, s string) Pattern {
	t.Helper()
	p, err := ParsePattern(s)
	if err != nil {
		t.Fatalf("ParsePattern(%q): %v", s, err)
	}
	return p
}

func TestParsePatternRefuses(t *testing.T) {
	for _, c := range []struct{ pattern, problem string }{
		{"", "is empty"},
		{"/", "names nothing"},
		{"./", "names nothing"},
		{"//", "names nothing"},
		{"a//b", "empty component"},
		{"a//", "empty component"},
		{"!keys/**", "no negation"},
		{"**.key", "glued"},
		{"a/**b", "glued"},
		{"a**/b", "glued"},
		{"a/***", "glued"},
		{"{**,a}", "glued"},
		{"[", "does not close"},
		{"[a", "does not close"},
		{"[]", "does not close"},
		{"[!", "does not close"},
		{`[a\`, "does not close"},
		{"[z-a]", "reversed range"},
		{"x[0-9][b-a]", "reversed range"},
		{"[a/b]", "slash inside brackets"},
		{"[[:alpha:]]", "named class"},
		{"[a[:digit:]]", "named class"},
		{"{a,b", "does not close"},
		{"a}b", "closes nothing"},
		{"{a/b,c}", "slash inside braces"},
		{"{a,{b,c}}", "braces inside braces"},
		{"{a,b}{a,b}{a,b}{a,b}{a,b}", "more than 4 pairs"},
		{"{a,b,c,d,e,f,g,h,i}{a,b,c,d,e,f,g,h,i}", "more than 64 combinations"},
		{`a\`, "escapes nothing"},
		{`a\/b`, "slash behind a backslash"},
		{"..", `".." component`},
		{"../x", `".." component`},
		{"a/./b", `"." component`},
		{"a/../b", `".." component`},
		{".", `"." component`},
		{" a", "space"},
		{"a ", "space"},
		{"a\tb", "control character"},
		{"a\x00", "control character"},
		{"a\nb", "control character"},
		{"a\xff", "UTF-8"},
		{strings.Repeat("a", 257), "257 bytes"},
	} {
		p, err := ParsePattern(c.pattern)
		var refused *PatternError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.problem) || refused.Pattern != c.pattern {
			t.Errorf("ParsePattern(%q) = %v, want a *PatternError with %q", c.pattern, err, c.problem)
		}
		if p.Match("a") || p.MatchFold("a") {
			t.Errorf("a refused pattern %q matches", c.pattern)
		}
	}
}

func TestPatternMatch(t *testing.T) {
	for _, c := range []struct{ pattern, hits, misses string }{
		{"secrets", "secrets secrets/a x/secrets x/secrets/a/b", "secret xsecrets secrets.txt"},
		{"secrets/", "secrets/a x/secrets/a x/secrets/a/b", "secrets x/secrets secret/a"},
		{"/secrets/", "secrets/a secrets/a/b", "secrets x/secrets/a"},
		{"/secrets/**", "secrets/a secrets/a/b", "secrets x/secrets/a"},
		{"./secrets/**", "secrets/a", "secrets x/secrets/a"},
		{"secrets/**", "secrets/a secrets/b/c", "secrets x/secrets/a"},
		{"*.pem", "a.pem keys/b.pem keys/x/c.pem .pem d.pem/inside", "a.pemx pem"},
		{"/*.pem", "a.pem", "keys/a.pem"},
		{"a/b", "a/b a/b/c", "x/a/b a/bc"},
		{"a/*", "a/b a/b/c", "a"},
		{"a/*/c", "a/b/c a/b/c/d", "a/c a/b/b/c"},
		{"a/**/c", "a/c a/b/c a/b/b/c a/c/d", "a b/a/c"},
		{"**/a", "a x/a x/y/a x/a/b", "xa"},
		{"**/a/b", "a/b x/a/b", "a x/b"},
		{"**", "a a/b .git", ""},
		{"**/", "a/b a/b/c", "a"},
		{"a/**/", "a/b/c", "a a/b"},
		{"a/**/**/b", "a/b a/x/b a/x/y/b", "b"},
		{"?", "a é x/b", "ab"},
		{"[a-c]x", "ax bx cx", "dx x"},
		{"[!a-c]x", "dx -x", "ax bx"},
		{"[^a-c]x", "dx", "ax"},
		{"[]x]y", "]y xy", "yy"},
		{"[a-]y", "ay -y", "by"},
		{`[\]x]y`, "]y xy", `\y`},
		{`[\--0]y`, "-y .y 0y", "1y"},
		{"foo*", "foo foobar x/foo/y", "fo"},
		{"*{,x}", "a ax", ""},
		{"{,x}foo", "foo xfoo", "yfoo"},
		{"*.{js,ts}", "a.js b/c.ts", "a.jsx a.{js,ts}"},
		{"{a,b}/{c,d}", "a/c a/d b/c b/d/e", "a/e c/a"},
		{`\*`, "* x/*", "a"},
		{`\!a`, "!a", "a"},
		{`a\{b`, "a{b", "ab"},
		{`a,b`, "a,b", "a"},
		{"#a", "#a", "a"},
		{"a-b", "a-b", "ab"},
		{"app/[id]/page", "app/i/page app/d/page", "app/id/page"},
		{"é", "é", "e e\u0301"},
	} {
		p := mustPattern(t, c.pattern)
		for hit := range strings.FieldsSeq(c.hits) {
			if !p.Match(change.Path(hit)) || !p.MatchFold(change.Path(hit)) {
				t.Errorf("%q does not match %q (Match %v, MatchFold %v)", c.pattern, hit, p.Match(change.Path(hit)), p.MatchFold(change.Path(hit)))
			}
		}
		for miss := range strings.FieldsSeq(c.misses) {
			if p.Match(change.Path(miss)) {
				t.Errorf("%q matches %q", c.pattern, miss)
			}
		}
	}
}

func TestPatternMatchFold(t *testing.T) {
	for _, c := range []struct{ pattern, path string }{
		{"secrets/**", "Secrets/a"},
		{"secrets/**", "SECRETS/a"},
		{"Secrets/**", "secrets/A"},
		{"secrets/**", "se\u200dcrets/a"},
		{"secrets/**", "secrets\ufe0f/a"},
		{"secrets/**", "secrets./a"},
		{"secrets/**", "secrets /a"},
		{"secrets/**", `secrets\a`},
		{"secrets/**", `x\..\secrets\a`},
		{"key", "key::$DATA"},
		{"key", "KEY . "},
		{"key", "\u212aey"},                // the Kelvin sign
		{"kiss", "ki\u017f\u017f"},         // long s
		{"straße", "STRASSE"},              // full case folding
		{"caf\u00e9", "cafe\u0301"},        // composed and not
		{"cafe\u0301", "CAF\u00c9"},        // the other way round
		{"file", "\ufb01le"},               // ligature
		{"index", "\u0131ndex"},            // dotless i
		{"index", "\u0130NDEX"},            // dotted I
		{"[A-C]x", "bX"},                   // a range in the other case
		{"[Z-a]x", "zx"},                   // a range over the gap between the cases
		{"[!A-Z]x", "ax"},                  // both cases would have to be excluded
		{"[!A-Z]x", "AX"},                  // since "ax" may be meant
		{"app/[id]/page", "app/[id]/page"}, // a folder that is really called so
		{"[[...slug]]", "pages/[[...Slug]]"},
		{"a{b,c}", "A{b,c}"},
	} {
		if p := mustPattern(t, c.pattern); !p.MatchFold(change.Path(c.path)) {
			t.Errorf("%q does not fold to match %q", c.pattern, c.path)
		}
	}
	for _, c := range []struct{ pattern, path string }{
		{"secrets/**", "secret/a"},
		{"secrets/**", "secrets"},
		{"key", "keys"},
		{"[a-c]x", "dx"},
		{"[!a-cA-C]x", "Bx"},
		{"/a", "b/a"},
	} {
		if p := mustPattern(t, c.pattern); p.MatchFold(change.Path(c.path)) {
			t.Errorf("%q folds to match %q", c.pattern, c.path)
		}
	}
	if p := mustPattern(t, `a\ `); !p.Match("a /b") || p.Match("a") {
		t.Error("an escaped space at the end is not taken as it is")
	}
	if (Pattern{}).MatchFold("a") || (Pattern{}).Match("a") {
		t.Error("the zero Pattern matches")
	}
}

// TestAgreesWithGit compares the dialect with git's own reading of the same pattern, where the two should not differ.
func TestAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	paths := []string{
		"a", "b", "a/b", "a/b/c", "a/b/c/d", "b/a", "x/a", "x/a/b", "x/y/a/b", "a.pem", "x/a.pem", "x/y/.pem", "secrets", "secrets/a",
		"x/secrets", "x/secrets/a", "foo", "foobar", "foo/bar", "foo.txt", "x/foo.txt", "[id]", "i", "d", "app/[id]/page", "app/i/page",
		"-", "]", "^", "!a", "#a", "a b", "A", "x-y", "x/-y", ".env", ".env.local", "x/.env", "a*b", "axb", "a?b", `a\b`, "a/x/b", "a/x/y/b",
	}
	repository := t.TempDir()
	run := func(stdin string, args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Stdin = repository, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+repository)
		var out, problem bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &problem
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatalf("git %q: %v: %s", args, err, problem.String())
		}
		return out.String()
	}
	run("", "init", "-q")
	excludes := filepath.Join(repository, ".git", "info", "exclude")
	for pattern := range strings.SplitSeq(
		"a b a/ /a /a/ a/b a/b/ /a/b *.pem /*.pem secrets secrets/ secrets/** /secrets/** **/secrets **/secrets/** foo* fo? foo/ foo/* "+
			"** **/ a/** a/**/ a/**/b **/a/b a/*/b */a */b x/*/b [a-b] [!a-b] [^a] []] [!]] [a-] [-a] *.txt ? ?? .* .env* *env* x/**/b "+
			`\!a \#a a\*b a\?b a\\b [id] \[id] app/[id]/page x-y [x]-y a?b a*b **/.env x/** /x/*/ */ */*/ [\]] [\!a] [a\-c]`, " ") {
		if err := os.WriteFile(excludes, []byte(pattern+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		ignored := map[string]bool{}
		for path := range strings.SplitSeq(run(strings.Join(paths, "\x00")+"\x00", "check-ignore", "--no-index", "-z", "--stdin"), "\x00") {
			ignored[path] = true
		}
		p := mustPattern(t, pattern)
		for _, path := range paths {
			if got := p.Match(change.Path(path)); got != ignored[path] {
				t.Errorf("pattern %q, path %q: %v, git says %v", pattern, path, got, ignored[path])
			}
		}
	}
}

// TestPatternTime tries the patterns that make matchers slow, on long paths.
func TestPatternTime(t *testing.T) {
	start := time.Now()
	paths := []change.Path{
		change.Path(strings.Repeat("a", 4000)),
		change.Path(strings.Repeat("a/", 2000) + "a"),
		change.Path(strings.Repeat("aaaaaaaa/", 400) + "b"),
	}
	for _, text := range []string{
		strings.Repeat("*a", 120) + "b",
		strings.Repeat("**/a/", 50) + "b",
		strings.Repeat("*/", 127) + "b",
		strings.Repeat("**/*a*/", 30) + "b",
		"{a,aa,aaa}{a,aa,aaa}{a,aa}{a,aa}*b",
		strings.Repeat("[!b]*", 50) + "c",
	} {
		p := mustPattern(t, text)
		for _, path := range paths {
			if p.MatchFold(path) && !strings.HasSuffix(string(path), "b") {
				t.Errorf("%q matches a path that does not end in b", text)
			}
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("matching took %v", took)
	}
}
