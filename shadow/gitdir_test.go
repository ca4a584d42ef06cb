package shadow

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestConfigReadBack writes values of every kind and has git read them.
func TestConfigReadBack(t *testing.T) {
	b := newBox(t)
	file := b.path("config")
	rapid.Check(t, func(rt *rapid.T) {
		src := Source{}
		want := map[string]string{}
		for i := range rapid.IntRange(0, 6).Draw(rt, "keys") {
			value := rapid.OneOf(
				rapid.StringMatching(`[ -~\t\n\r\x08"\\;#]{0,20}`),
				rapid.SampledFrom([]string{"", " lead", "trail ", "a\\", `"`, "\n", "\r\n", "a\rb", "# no comment", "\xff\xfe", "ü"}),
			).Draw(rt, "value")
			sub := rapid.SampledFrom([]string{"", ".sub", `.S"u\b`, ".a.b.c", ".ü\xff", ".]", ".#;"}).Draw(rt, "sub")
			key := "section-" + string(rune('a'+i)) + sub + ".name"
			src.Config = append(src.Config, [2]string{key, value})
			want[key] = value
		}
		text, err := configText(src)
		if err != nil {
			rt.Fatal(err)
		}
		must(t, os.WriteFile(file, []byte(text), 0o600))
		got := map[string]string{}
		for _, kv := range strings.Split(b.git(b.dir, "config", "--file", file, "--list", "-z"), "\x00") {
			k, v, _ := strings.Cut(kv, "\n")
			got[k] = v
		}
		for k, v := range want {
			if got[k] != v {
				rt.Fatalf("%q: wrote %q, git reads %q\n%s", k, v, got[k], text)
			}
		}
	})
}

func TestConfigCopied(t *testing.T) {
	for key, want := range map[string]bool{
		"user.name": true, "core.autocrlf": true, "core.filemode": true, "core.sparsecheckout": true, "filter.x.clean": true,
		"core.hookspath": false, "core.hooksPath": false, "CORE.WORKTREE": false, "core.bare": false, "core.fsmonitor": false,
		"core.checkstat": false, "core.trustctime": false, "remote.origin.url": false, "remote.origin.pushurl": false,
		"remote.origin.promisor": true, "remote.origin.partialclonefilter": true, "remote.promisor": false,
		"remote.pushdefault": false, "url./x/.insteadof": false, "branch.main.remote": false, "include.path": false,
		"includeif.gitdir:/x/.path": false, "submodule.dep.url": false, "extensions.worktreeconfig": false,
		"extensions.objectformat": false, "extensions.partialclone": true, "gc.auto": false, "core.sshcommand": false,
		"": false, "x": false, ".x": false, "x.": false, "a b.c": false, "a.1c": false, "a.b\nc.d": false, "a..b": false,
	} {
		if got := ConfigCopied(key); got != want {
			t.Errorf("%q: %v, want %v", key, got, want)
		}
	}
}

// TestBrokenSource has descriptions that must be refused as a whole, leaving nothing behind.
func TestBrokenSource(t *testing.T) {
	oid := strings.Repeat("a", 40)
	for name, breakIt := range map[string]func(*Source, *Options){
		"ref outside":        func(s *Source, _ *Options) { s.Refs = []Ref{{Name: "HEAD", OID: oid}} },
		"ref with a newline": func(s *Source, _ *Options) { s.Refs = []Ref{{Name: "refs/heads/a\nb", OID: oid}} },
		"ref going up":       func(s *Source, _ *Options) { s.Refs = []Ref{{Name: "refs/../../x", OID: oid}} },
		"ref without an id":  func(s *Source, _ *Options) { s.Refs = []Ref{{Name: "refs/heads/a", OID: "main"}} },
		"wrong format":       func(s *Source, _ *Options) { s.ObjectFormat = "sha256" },
		"odd tag":            func(s *Source, _ *Options) { s.Refs = []Ref{{Name: "refs/tags/a", OID: oid, Peeled: "x"}} },
		"no head":            func(s *Source, _ *Options) { s.Head = Head{} },
		"head with space":    func(s *Source, _ *Options) { s.Head = Head{Ref: "refs/heads/a b"} },
		"config copied":      func(s *Source, _ *Options) { s.CopyFiles["config"] = s.CopyFiles["index"] },
		"hook copied":        func(s *Source, _ *Options) { s.CopyFiles["hooks/pre-commit"] = s.CopyFiles["index"] },
		"commondir copied":   func(s *Source, _ *Options) { s.CopyFiles["commondir"] = s.CopyFiles["index"] },
		"going up copied":    func(s *Source, _ *Options) { s.CopyFiles["../x"] = s.CopyFiles["index"] },
		"a folder copied":    func(s *Source, _ *Options) { s.CopyFiles["index"] = s.Root },
		"relative objects":   func(s *Source, _ *Options) { s.ObjectDirs = []string{"objects"} },
		"config with a NUL":  func(s *Source, _ *Options) { s.Config = [][2]string{{"a.b", "x\x00y"}} },
		"relative root":      func(s *Source, _ *Options) { s.Root = "r" },
		"session up":         func(_ *Source, o *Options) { o.Session = ".." },
		"session below":      func(_ *Source, o *Options) { o.Session = "a/b" },
		"backend":            func(_ *Source, o *Options) { o.Backend = "overlay" },
		"in the git dir":     func(s *Source, o *Options) { o.Parent = filepath.Join(s.GitDir, "x") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			src, o := b.source(b.repo("r", "a", "1\n")), b.options("s-1")
			before := fingerprint(t, src.Root)
			breakIt(&src, &o)
			if _, _, err := Open(t.Context(), src, o); err == nil {
				t.Fatal("opened")
			} else if se := (*SourceError)(nil); !errors.As(err, &se) && name != "a folder copied" {
				t.Errorf("not a SourceError: %v", err)
			}
			for _, left := range []string{b.path("shadows", "s-1"), b.path("state", "s-1")} {
				if _, err := os.Lstat(left); !os.IsNotExist(err) {
					t.Errorf("%q is left: %v", left, err)
				}
			}
			wantSameTree(t, "real tree", before, fingerprint(t, b.path("r")))
		})
	}
}

// TestPrivateRefs checks that a stash of the developer's is not shown, and that a missing branch of HEAD is added.
func TestPrivateRefs(t *testing.T) {
	b := newBox(t)
	dir := b.repo("r", "a", "1\n")
	b.write(dir, "a", "2\n")
	b.git(dir, "stash", "push", "-q")
	src := b.source(dir)
	for i, r := range src.Refs {
		if r.Name == src.Head.Ref {
			src.Refs = append(src.Refs[:i], src.Refs[i+1:]...)
			break
		}
	}
	s, _ := b.openWith(src, b.options("s-1"))
	if got := b.git(s.Tree(), "for-each-ref", "--format=%(refname)"); got != "refs/heads/main\n" {
		t.Errorf("refs: %q", got)
	}
}

func TestGitAlias(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, ".GIT": true, ".gIt": true, "git~1": true, "GIT~1": true, ".git ": true, ".git.": true, ".git. .": true,
		".git::$INDEX_ALLOCATION": true, ".git:x": true, ".g\u200cit": true, "\u200d.git": true, "\ufeff.git": true,
		".g\u0131t": true, ".git\u206f": true,
		".gitignore": false, "git": false, ".gi": false, "": false, "..git": false, "git~2": false, ".github": false, "g": false,
		"gitx~1": false, ".git/x": false, "a.git": false, "\xff.git": false, " .git": false,
	} {
		if got := gitAlias(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func FuzzGitAlias(f *testing.F) {
	f.Add(".git", uint8(0))
	f.Fuzz(func(t *testing.T, s string, n uint8) {
		// Decorating a spelling of ".git" in a way some file system ignores leaves it one.
		if !utf8.ValidString(s) || !gitAlias(s) || strings.Contains(s, ":") {
			return
		}
		for _, more := range []string{s + ".", s + " ", s + ":x", "\u200c" + s, strings.ToUpper(s)} {
			if !gitAlias(more) {
				t.Errorf("%q is taken for .git and %q is not", s, more)
			}
		}
	})
}
