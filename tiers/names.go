package tiers

import (
	"slices"
	"strings"
	"sync"
)

// The names that are protected without anybody's asking, by why they are.

// hardNames ask in every mode, whatever is granted.
func hardNames() []nameGroup {
	return []nameGroup{
		{"decides what correx lets pass", []string{
			".correx*", ".worktreeinclude", "**/.config/correx/",
		}},
	}
}

// protectedNames ask unless a mode or a grant lets them pass.
func protectedNames() []nameGroup {
	return []nameGroup{
		{"tools run it without being asked", []string{
			".envrc", ".direnvrc", ".rvmrc", ".autoenv", ".mise.toml", "mise.toml", ".mise/",
			"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/", ".pnpmfile.cjs", ".pnp.cjs", ".pnp.loader.mjs", "bunfig.toml",
			"build.rs", "**/.cargo/config.toml", "**/.cargo/config", "rust-toolchain", "rust-toolchain.toml",
			"binding.gyp", "*.pth", "conftest.py", "sitecustomize.py", "usercustomize.py", ".pdbrc",
			".mvn/", "mvnw", "mvnw.cmd", "gradlew", "gradlew.bat", "**/gradle/wrapper/",
			"Directory.Build.props", "Directory.Build.targets", "nuget.config",
			".bazelrc", "tools/bazel",
			".gdbinit", ".lldbinit", ".irbrc", ".pryrc", ".Rprofile", ".Renviron", ".ghci", ".ocamlinit",
			".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
			".kshrc", ".inputrc", "**/.config/fish/",
		}},
		{"may hold secrets", []string{
			".env*", "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.ppk", "*.jks", "*.keystore", "*.kdbx",
			"*.crt", "*.cer", "*.der", "*.p7b", "*.p7c", "*.csr",
			"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "authorized_keys", "known_hosts",
			".ssh/", ".gnupg/", ".aws/", ".azure/", ".kube/", "**/.config/gcloud/", "**/.docker/config.json",
			".netrc", "_netrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd", ".vault-token", ".terraformrc",
			"credentials.json", "credentials.toml", "credentials.y{,a}ml", "secrets.json", "secrets.toml", "secrets.y{,a}ml",
			"service-account*.json", ".secrets", ".credentials",
		}},
		{"runs in CI", []string{
			".github/workflows/", ".github/actions/", ".github/dependabot.y{,a}ml", "/action.y{,a}ml",
			".gitea/workflows/", ".forgejo/workflows/", ".gitlab-ci*.y{,a}ml", ".gitlab/ci/",
			".circleci/", ".buildkite/", ".semaphore/", ".teamcity/", ".tekton/", ".woodpecker/", ".azure-pipelines/", ".builds/", ".harness/", ".ci/",
			"Jenkinsfile*", "azure-pipelines*.y{,a}ml", "bitbucket-pipelines.y{,a}ml", ".drone.*", ".travis.y{,a}ml", ".woodpecker.y{,a}ml",
			"appveyor.y{,a}ml", ".appveyor.y{,a}ml", ".cirrus.*", "cloudbuild.{yml,yaml,json}", "buildspec.y{,a}ml", "codemagic.y{,a}ml", "bitrise.y{,a}ml",
			"wercker.y{,a}ml", ".build.y{,a}ml", ".goreleaser.y{,a}ml", ".releaserc*",
		}},
		{"runs as a git hook", []string{
			".husky/", ".githooks/", ".git-hooks/", ".lefthook/", ".lefthook-local/", "{.,}lefthook{,-local}.{yml,yaml,toml,json,jsonc}", "**/.config/lefthook*",
			".pre-commit-config.y{,a}ml", ".pre-commit-hooks.y{,a}ml", "prek.toml", ".overcommit.y{,a}ml", ".huskyrc*", "husky.config.*",
			".lintstagedrc*", "lint-staged.config.*", "{.,}simple-git-hooks.{js,cjs,mjs,ts,json}", "captainhook.json", "grumphp.y{,a}ml*", ".rusty-hook.toml", "hk.pkl",
		}},
		{"steers an agent or an editor", []string{
			".claude/", ".claude.json", ".claude-plugin/", "CLAUDE.md", "CLAUDE.local.md", ".codex/", ".agents/", "AGENTS.md", "AGENTS.override.md",
			".gemini/", "GEMINI.md", ".cursor/", ".cursorrules", ".cursorignore", ".cursorindexingignore", ".opencode/", "opencode.json{,c}",
			".cline*", ".aider*", ".mcp.json", "mcp.json", ".github/hooks/", ".github/copilot*", ".github/instructions/", ".github/prompts/",
			".github/agents/", ".github/chatmodes/", ".copilot/", ".windsurf*", ".codeium/", ".devin/", ".roo/", ".roorules*", ".roomodes", ".kilocode*", ".kiro/", ".qwen/", "QWEN.md",
			".kimi/", ".factory/", ".crush/", "{.,}crush.json", ".grok/", ".augment*", ".amp/", ".goose/", ".goosehints", ".continue/", ".continuerules", ".continuerc.json", ".junie/", ".trae/",
			".vscode/", "*.code-workspace", ".idea/", ".zed/", ".fleet/", ".devcontainer/", ".devcontainer.json", ".helix/",
			".vimrc", ".nvimrc", ".nvim.lua", ".exrc", ".lvimrc", ".local.vimrc", ".dir-locals.el", ".dir-locals-2.el", ".ycm_extra_conf.py",
			"*.sublime-project",
		}},
		{"changes how git treats files", []string{
			".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig",
		}},
	}
}

// nameGroup is patterns that are protected for one reason.
type nameGroup struct {
	why      string
	patterns []string
}

// named is one built-in pattern.
type named struct {
	pattern Pattern
	level   Level
	why     string
}

// nameTable is the built-in patterns, arranged for looking up one path.
type nameTable struct {
	all []named
	// byName finds the patterns that are plain names at any depth, by folded name; byStem by the letters of the 8.3 short
	// name of those that are one. byFirst finds, by a name that a path must have, the patterns that begin with plain names,
	// byStart and byEnd those for which a name must begin with a letter, or have an ending such as ".key". The values are
	// indexes into all; rest holds the indexes of the other patterns.
	byName, byStem map[string]int
	byFirst        map[string][]int
	byStart        map[byte][]int
	byEnd          map[string][]int
	rest           []int
}

// builtin makes the table on first use. It is a constant that has to be computed.
var builtin = sync.OnceValue(func() nameTable {
	t := nameTable{byName: map[string]int{}, byStem: map[string]int{}, byFirst: map[string][]int{}, byStart: map[byte][]int{}, byEnd: map[string][]int{}}
	t.add(HardAsk, hardNames())
	t.add(Protected, protectedNames())
	return t
})

func (t *nameTable) add(level Level, groups []nameGroup) {
	for _, group := range groups {
		for _, text := range group.patterns {
			p, err := ParsePattern(text)
			if err != nil {
				// Only a mistake in the lists above, which every test run reads, leads here.
				panic(err)
			}
			i := len(t.all)
			t.all = append(t.all, named{pattern: p, level: level, why: group.why})
			if len(p.parts) != 2 || !p.parts[0].deep || !p.parts[1].literal {
				t.addOther(p, i)
				if dotted, ok := strings.CutSuffix(text, "*"); ok && dotted[0] == '.' && !strings.Contains(dotted, "/") {
					t.addStem(dotted, i)
				}
				continue
			}
			name := p.parts[1].folded[0].text
			t.byName[name] = i
			t.addStem(name, i)
		}
	}
}

// addOther arranges a pattern that is not one name.
func (t *nameTable) addOther(p Pattern, i int) {
	parts := p.parts
	if parts[0].deep && len(parts) > 1 {
		parts = parts[1:]
	}
	if slices.ContainsFunc(parts[0].folded, func(g glob) bool { return !g.plain }) || parts[0].deep {
		t.addGlobs(parts[0], i)
		return
	}
	for _, g := range parts[0].folded {
		_, taken := t.byName[g.text]
		if len(parts) == 1 && len(p.parts) == 2 && !p.content && !taken {
			t.byName[g.text] = i
		} else {
			t.byFirst[g.text] = append(t.byFirst[g.text], i)
		}
	}
}

// addGlobs arranges a pattern that begins with patterns for names, by what all of those begin or end with.
func (t *nameTable) addGlobs(p part, i int) {
	start, end := "", ""
	for _, g := range p.folded {
		if g.plain {
			g.before = g.text
		}
		switch {
		case g.before != "" && (start == "" || start[0] == g.before[0]) && end == "":
			start = g.before
		case g.star && g.before == "" && ending(g.after) == g.after && (end == "" || end == g.after) && start == "":
			end = g.after
		default:
			t.rest = append(t.rest, i)
			return
		}
	}
	switch {
	case start != "":
		t.byStart[start[0]] = append(t.byStart[start[0]], i)
	case end != "":
		t.byEnd[end] = append(t.byEnd[end], i)
	default:
		t.rest = append(t.rest, i)
	}
}

// ending returns what stands in a name from its last dot on, or "".
func ending(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[i:]
	}
	return ""
}

// addStem makes pattern i stand for the 8.3 short names of a folded name.
func (t *nameTable) addStem(name string, i int) {
	stem := shortStem(name)
	if _, taken := t.byStem[stem]; stem != "" && !taken {
		t.byStem[stem] = i
	}
}
