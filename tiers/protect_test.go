package tiers

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

func TestProtectsLevels(t *testing.T) {
	for _, c := range []struct {
		level Level
		paths string
	}{
		{Never, `.git .git/config sub/.git sub/.git/config a/b/.git/hooks/x .GIT/config .Git .git./x .git::$INDEX_ALLOCATION/x
			GIT~1 git~1/config a/GIT~12/x x\.git\config .git:x .correx-x .correx-land-1 a/.Correx-tmp`},
		{HardAsk, `.correx.toml .correx.local.toml .correx .correxrc a/.correx.toml .CORREX.TOML .correx.toml. .correx/x .worktreeinclude
			sub/.worktreeinclude CORREX~1.TOM WORKTR~1 home/.config/correx/config.toml .config/correx/config.toml .correx.toml::$DATA`},
		{Protected, `.env .env.local .envrc .env/x a/.ENV a.pem x/y.key z.p12 z.pfx id_rsa id_rsa.pub home/id_ed25519_work .ssh/config .gnupg/x
			.netrc .npmrc .pypirc .aws/credentials .github/workflows/ci.yml .github/actions/x/action.yml .gitlab-ci.yml .circleci/config.yml
			Jenkinsfile azure-pipelines.yml .buildkite/pipeline.yml bitbucket-pipelines.yml .drone.yml .travis.yml .husky/pre-commit .githooks/pre-commit
			lefthook.yml lefthook-local.yml .lefthook.toml .pre-commit-config.yaml .claude/settings.json sub/.claude/settings.local.json
			.cursor/hooks.json .codex/config.toml .gemini/settings.json .github/hooks/x.json .github/copilot-instructions.md .github/copilot/settings.json
			.vscode/tasks.json .idea/workspace.xml .aider.conf.yml .mcp.json AGENTS.md CLAUDE.md GEMINI.md sub/AGENTS.md .cursorrules opencode.json
			opencode.jsonc .opencode/plugins/x.ts .clinerules/hooks/PreToolUse .cline/hooks/x .zed/settings.json .agents/hooks.json
			.devcontainer/devcontainer.json .gitattributes sub/.gitattributes .gitmodules package.json web/package.json build.rs conftest.py
			.cargo/config.toml x/.cargo/config.toml .mvn/extensions.xml sitecustomize.py GITMOD~1 gi7eba~2 GITATT~1 gi7d29~1 ENV~1
			.github .husky .vscode crush.json PACKAGE.JSON .VSCode/tasks.json`},
		{Unprotected, `.gitignore .gitkeep git gitx .github/README.md .github/ISSUE_TEMPLATE/x.md README.md main.go Makefile makefile GNUmakefile
			environment env src/key.go keys.txt agents.go workflows/ci.yml docs/workflows/x.yml correx correx.toml cargo/config.toml x~1 lefthook.go
			.editorconfig go.mod a.pem.txt git~x vscode/x package-lock.json`},
	} {
		for path := range strings.FieldsSeq(c.paths) {
			got, ok := Protects(change.Path(path), nil)
			if got.Level != c.level || ok != (c.level != Unprotected) {
				t.Errorf("Protects(%q) = %+v, %v; want level %d", path, got, ok, c.level)
			}
			if ok && (got.Pattern == "" || got.Why == "") {
				t.Errorf("Protects(%q) does not say by what, or why: %+v", path, got)
			}
		}
	}
	for _, path := range []change.Path{"a\u200c/.g\u200cit/x", ".g\u0131t/x", ".gi\ufeffT", ".git \u200d/x", "\uff0egit/x", ".git . ./x"} {
		if got, _ := Protects(path, nil); got.Level != Never {
			t.Errorf("Protects(%q) = %+v, want git's folder", path, got)
		}
	}
}

func TestProtectsExtra(t *testing.T) {
	extra := []Protect{
		{Pattern: mustPattern(t, "secrets/**"), Source: ".correx.toml:3"},
		{Pattern: mustPattern(t, "Deploy/prod/"), Source: ".correx.toml:4"},
		{Pattern: mustPattern(t, "*"), Source: "config.toml:9"},
	}
	for _, c := range []struct {
		path, pattern, source string
		level                 Level
	}{
		{"secrets/a", "secrets/**", ".correx.toml:3", Protected},
		{"Secrets/a", "secrets/**", ".correx.toml:3", Protected},
		{"secrets", "secrets/**", ".correx.toml:3", Protected},  // a link in the folder's place
		{"deploy", "Deploy/prod/", ".correx.toml:4", Protected}, // and in that of one above
		{"deploy/prod", "Deploy/prod/", ".correx.toml:4", Protected},
		{"deploy/x", "*", "config.toml:9", Protected},
		{".correx.toml", ".correx*", "", HardAsk}, // the stronger one
		{".env", ".env*", "", Protected},          // the built-in one first
	} {
		got, ok := Protects(change.Path(c.path), extra)
		if !ok || got.Pattern != c.pattern || got.Source != c.source || got.Level != c.level {
			t.Errorf("Protects(%q) = %+v, want %q from %q", c.path, got, c.pattern, c.source)
		}
	}
}

// TestBuiltinNames tries every built-in pattern that is a plain name or folder in every spelling, at several depths.
func TestBuiltinNames(t *testing.T) {
	spellings := map[string]func(string) string{
		"as it is":        func(s string) string { return s },
		"upper case":      strings.ToUpper,
		"decomposed":      norm.NFD.String,
		"zero-width":      func(s string) string { return s[:2] + "\u200b" + s[2:] },
		"dot at the end":  func(s string) string { return s + "." },
		"space":           func(s string) string { return s + " " },
		"stream":          func(s string) string { return s + "::$DATA" },
		"full-width":      func(s string) string { return strings.ReplaceAll(s, "e", "\uff45") },
		"backslash":       func(s string) string { return strings.ReplaceAll(s, "/", `\`) },
		"beneath, Kelvin": func(s string) string { return strings.ReplaceAll(s, "k", "\u212a") },
	}
	tried := 0
	for _, n := range builtin().all {
		text := strings.TrimPrefix(n.pattern.String(), "**/")
		if strings.ContainsAny(text, "*?[{") {
			continue
		}
		tried++
		name := strings.Trim(text, "/")
		for spelling, spell := range spellings {
			for _, path := range []string{spell(name), spell(name) + "/x"} {
				got, ok := Protects(change.Path(path), nil)
				if !ok || got.Level < n.level {
					t.Errorf("%q (%s of %q) is not protected: %+v", path, spelling, n.pattern, got)
				}
			}
		}
	}
	if tried < 100 {
		t.Fatalf("only %d names were tried", tried)
	}
}

// TestProtectsGrows: more patterns never protect less.
func TestProtectsGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.OneOf(paths(), rapid.SampledFrom([]change.Path{".env", ".git/x", ".correx.toml", "x/AGENTS.md"})).Draw(t, "path")
		some := rapid.SliceOfN(protects(), 0, 3).Draw(t, "some")
		more := rapid.SliceOfN(protects(), 0, 3).Draw(t, "more")
		before, _ := Protects(path, some)
		after, _ := Protects(path, append(append([]Protect(nil), some...), more...))
		if after.Level < before.Level {
			t.Fatalf("%q goes from %+v to %+v", path, before, after)
		}
	})
}

func protects() *rapid.Generator[Protect] {
	return rapid.Custom(func(t *rapid.T) Protect {
		return Protect{Pattern: patterns().Draw(t, "pattern"), Source: "config.toml:1"}
	})
}

func TestResolveLink(t *testing.T) {
	for _, c := range []struct {
		at, target, to string
		inside         bool
	}{
		{"a", "b", "b", true},
		{"x/a", "b", "x/b", true},
		{"x/a", "../.env", ".env", true},
		{"x/a", "..", "", true},
		{"a", ".", "", true},
		{"a", "./x/../y", "y", true},
		{"x/y/a", "../../.git/config", ".git/config", true},
		{"a", "..", "", false},
		{"x/a", "../..", "", false},
		{"x/a", "../../y", "", false},
		{"a", "x/../../y", "", false},
		{"a", "/etc/passwd", "", false},
		{"a", `\etc`, "", false},
		{"a", `..\x`, "", false},
		{"a", "C:/x", "", false},
		{"a", "", "", false},
		{"a", "..x", "..x", true},
	} {
		to, inside := ResolveLink(change.Path(c.at), c.target)
		if inside != c.inside || to != change.Path(c.to) {
			t.Errorf("ResolveLink(%q, %q) = %q, %v; want %q, %v", c.at, c.target, to, inside, c.to, c.inside)
		}
	}
}

func TestMakefileShadows(t *testing.T) {
	for path, want := range map[change.Path]string{
		"Makefile": "", "makefile": "Makefile", "x/makefile": "x/Makefile", "GNUmakefile": "makefile Makefile",
		"x/gnuMakefile": "x/makefile x/Makefile", "makefile.am": "", "x/Makefile": "",
	} {
		var got []string
		for _, p := range MakefileShadows(path) {
			got = append(got, string(p))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("MakefileShadows(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestBareRepository(t *testing.T) {
	for path, want := range map[change.Path]string{
		"x/HEAD": "x", "x/head": "x", "x/objects/aa/b": "x", "x/refs/heads/main": "x", "x/y/config": "x/y", "x/commondir": "x", "HEAD": "",
		"refs/x": "", "x/HEAD/y": "", "x/hooks/pre-commit": "x", "a/objects/b/refs/c": "a a/objects/b", "x/readme": "",
	} {
		var got []string
		for _, p := range BareRepositoryFolders(path) {
			got = append(got, string(p))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("BareRepositoryFolders(%q) = %q, want %q", path, got, want)
		}
	}
	for there, want := range map[string]bool{
		"x/HEAD x/objects x/refs": true, "x/HEAD x/commondir": true, "x/HEAD x/objects": false, "x/objects x/refs": false, "": false,
	} {
		exists := func(p change.Path) bool { return strings.Contains(" "+there+" ", " "+string(p)+" ") }
		if got := IsBareRepository("x", exists); got != want {
			t.Errorf("IsBareRepository with %q = %v", there, got)
		}
	}
}
