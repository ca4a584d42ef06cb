package tiers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/correx/correx/internal/change"
)

func filePin(content string, perm uint32) change.Pin {
	return change.Pin{Kind: change.KindFile, Perm: perm, Size: int64(len(content)), SHA256: "sha-" + content}
}

func linkPin(target string) change.Pin {
	return change.Pin{Kind: change.KindSymlink, Size: int64(len(target)), SHA256: "sha-" + target}
}

// fact returns a file change of the given op in which nothing is special, changed by edit.
func fact(op change.Op, path change.Path, edit ...func(*FileFacts)) FileFacts {
	old, now := filePin("old", 0o644), filePin("new", 0o644)
	c := change.FileChange{Path: path, Op: op, Base: old, Proposed: now, Bytes: 6}
	switch op {
	case change.OpCreate:
		c.Base = change.Absent()
	case change.OpCopy:
		c.OldPath, c.Base = "original", change.Absent()
	case change.OpDelete:
		c.Proposed = change.Absent()
	case change.OpRename:
		c.OldPath, c.Proposed = "original", old
	case change.OpChmod:
		c.Proposed = filePin("old", 0o755)
	case change.OpSymlink:
		c.Base, c.Proposed = change.Absent(), linkPin("target")
	case change.OpRetype:
		c.Proposed = linkPin("target")
	}
	f := FileFacts{File: c, PreImageStored: true}
	for _, e := range edit {
		e(&f)
	}
	return f
}

func reasons(v change.Verdict) string {
	var all []string
	for _, r := range v.Reasons {
		all = append(all, string(r))
	}
	return strings.Join(all, " ")
}

// line is a verdict in one line: what most tests compare.
func line(v change.Verdict) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s: %s", v.Outcome, v.Tier, v.Risk, v.SettledBy, reasons(v)))
}

func TestJudgeOneFile(t *testing.T) {
	set := func(edit func(*FileFacts)) FileFacts { return fact(change.OpEdit, "a", edit) }
	for _, c := range []struct {
		name string
		file FileFacts
		want string
	}{
		{"edit", fact(change.OpEdit, "a"), "auto T2 low envelope:"},
		{"create", fact(change.OpCreate, "a"), "auto T2 low envelope:"},
		{"copy", fact(change.OpCopy, "a"), "auto T2 low envelope:"},
		{"overwrite", fact(change.OpOverwrite, "a"), "ask T2 medium envelope: overwrite"},
		{"delete", fact(change.OpDelete, "a"), "ask T4 critical mode: destructive_operation"},
		{"rename", fact(change.OpRename, "a"), "ask T4 critical mode: destructive_operation"},
		{"retype", fact(change.OpRetype, "a"), "ask T4 critical mode: symlink destructive_operation"},
		{"symlink", fact(change.OpSymlink, "a"), "ask T2 medium envelope: symlink"},
		{"chmod +x", fact(change.OpChmod, "a"), "ask T2 medium envelope: executable"},
		{"chmod -x", fact(change.OpChmod, "a", func(f *FileFacts) {
			f.File.Base, f.File.Proposed = f.File.Proposed, f.File.Base
		}), "auto T2 low envelope:"},
		{"executable create", fact(change.OpCreate, "a", func(f *FileFacts) { f.File.Proposed.Perm = 0o755 }), "ask T2 medium envelope: executable"},
		{"link outside", fact(change.OpSymlink, "a", func(f *FileFacts) { f.LinkOutside = true }), "ask T3 high mode: symlink outside_repository"},
		{"link to .env", fact(change.OpSymlink, "a", func(f *FileFacts) { f.LinkTarget = ".env" }), "ask T3 high protect:.env*: symlink protected_target"},
		{"link to .git", fact(change.OpSymlink, "a", func(f *FileFacts) { f.LinkTarget = ".git/config" }), "ask T3 high protect:.git: symlink protected_target"},
		{"under link", set(func(f *FileFacts) { f.UnderLink = true }), "deny T3 high outside_repository: outside_repository"},
		{"submodule", set(func(f *FileFacts) { f.Submodule = true }), "deny T3 high submodule: submodule"},
		{"submodule pin", set(func(f *FileFacts) { f.File.Base.Kind = change.KindSubmodule }), "deny T4 critical submodule: destructive_operation submodule"},
		{"ignored", set(func(f *FileFacts) { f.Ignored = true }), "ask T2 medium envelope: ignored_path"},
		{"hard link", set(func(f *FileFacts) { f.HardLink = true }), "ask T2 medium envelope: hard_link"},
		{"binary", set(func(f *FileFacts) { f.File.Binary = true }), "ask T2 medium envelope: binary"},
		{"hidden", set(func(f *FileFacts) { f.File.Hidden = 2 }), "ask T2 medium envelope: hidden_characters"},
		{"too large to compare", set(func(f *FileFacts) { f.File.TooLarge = true }), "ask T2 medium envelope: too_large"},
		{"too large to hold", set(func(f *FileFacts) { f.UntrackedTooLarge = true }), "deny T2 medium shadow.max_untracked: too_large"},
		{"limit", set(func(f *FileFacts) { f.File.Bytes = 65536 }), "auto T2 low envelope:"},
		{"over limit", set(func(f *FileFacts) { f.File.Bytes = 65537 }), "ask T2 medium auto.max_bytes: too_large"},
		{"no pre-image", set(func(f *FileFacts) { f.PreImageStored = false }), "ask T4 critical envelope: destructive_operation"},
		{"nothing to keep", fact(change.OpCreate, "a", func(f *FileFacts) { f.PreImageStored = false }), "auto T2 low envelope:"},
		{"protected", fact(change.OpEdit, ".github/workflows/ci.yml"), "ask T3 high protect:.github/workflows/: protected_target"},
		{"protected, other case", fact(change.OpCreate, ".Claude/settings.json"), "ask T3 high protect:.claude/: protected_target"},
		{"protected, deleted", fact(change.OpDelete, ".envrc"), "ask T4 critical mode: destructive_operation protected_target"},
		{"moved into protection", fact(change.OpRename, ".husky/pre-commit"), "ask T4 critical mode: destructive_operation protected_target"},
		{"moved out of protection", fact(change.OpRename, "a", func(f *FileFacts) { f.File.OldPath = ".env" }), "ask T4 critical mode: destructive_operation protected_target"},
		{"copy of protected", fact(change.OpCopy, "a", func(f *FileFacts) { f.File.OldPath = ".env" }), "ask T3 high protect:.env*: protected_target"},
		{"repeats protected", fact(change.OpCreate, "a", func(f *FileFacts) { f.CopyOf = "x/id_rsa" }), "ask T3 high protect:id_rsa*: protected_target"},
		{"correx's config", fact(change.OpEdit, ".correx.toml"), "ask T3 high protect:.correx*: protected_target"},
		{"correx's own", set(func(f *FileFacts) { f.CorrexOwn = true }), "ask T3 high protect:correx: protected_target"},
		{"git's folder", fact(change.OpCreate, "x/.GIT/hooks/pre-commit"), "deny T4 critical protect:.git: protected_target"},
		{"reserved name", fact(change.OpCreate, ".correx-1"), "deny T4 critical protect:.correx-*: protected_target"},
		{"run by git", set(func(f *FileFacts) { f.GitProgram = "core.hooksPath" }), "ask T3 high protect:git-config: protected_target"},
		{"bare repository", set(func(f *FileFacts) { f.BareRepository = true }), "ask T3 high protect:bare-repository: protected_target"},
		{"set-user-id", set(func(f *FileFacts) { f.File.Base.Perm = 0o4755; f.File.Proposed.Perm = 0o755 }), "ask T3 high envelope: executable"},
		{"rollback", set(func(f *FileFacts) { f.Rollback = true }), "ask T4 critical mode: destructive_operation"},
		{"makefile", set(func(f *FileFacts) { f.ShadowsMakefile = true }), "ask T3 high protect:makefile: protected_target"},
		{"unknown op", fact("explode", "a"), "ask T4 critical unclassified: unclassified"},
		{"a FIFO", set(func(f *FileFacts) { f.File.Proposed.Kind = change.KindOther }), "ask T4 critical unclassified: destructive_operation unclassified"},
		{"edit of nothing", set(func(f *FileFacts) { f.File.Base = change.Absent() }), "ask T4 critical unclassified: unclassified"},
		{"edit that deletes", set(func(f *FileFacts) { f.File.Proposed = change.Absent() }), "ask T4 critical unclassified: destructive_operation unclassified"},
		{"create over something", fact(change.OpCreate, "a", func(f *FileFacts) { f.File.Base = filePin("x", 0o644) }), "ask T4 critical unclassified: unclassified"},
	} {
		r := Judge(Facts{Files: []FileFacts{c.file}, Origin: change.OriginShadow, Enforced: "none"}, Default())
		if got := line(r.Verdict); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if diff := cmp.Diff(r.Verdict, r.Files[0]); diff != "" {
			t.Errorf("%s: the set and its one file are judged differently:\n%s", c.name, diff)
		}
	}
}

func TestJudgeModes(t *testing.T) {
	files := map[string]FileFacts{
		"edit":       fact(change.OpEdit, "a"),
		"big":        fact(change.OpEdit, "a", func(f *FileFacts) { f.File.Bytes = 1 << 20 }),
		"secret":     fact(change.OpEdit, ".env"),
		"delete":     fact(change.OpDelete, "a"),
		"config":     fact(change.OpEdit, ".correx.toml"),
		"git":        fact(change.OpEdit, ".git/config"),
		"unknown":    fact("explode", "a"),
		"uncompared": fact(change.OpEdit, "a", func(f *FileFacts) { f.File.TooLarge = true }),
	}
	for mode, want := range map[change.Mode]string{
		change.ModeDeny:   "edit deny mode, big deny mode, secret deny mode, delete deny mode, config deny mode, git deny protect:.git, unknown deny mode, uncompared deny mode",
		change.ModePrompt: "edit ask mode, big ask mode, secret ask mode, delete ask mode, config ask protect:.correx*, git deny protect:.git, unknown ask unclassified, uncompared ask envelope",
		change.ModeAuto: "edit auto envelope, big ask auto.max_bytes, secret ask protect:.env*, delete ask mode, config ask protect:.correx*, git deny protect:.git, " +
			"unknown ask unclassified, uncompared ask envelope",
		change.ModeYolo: "edit auto mode, big auto mode, secret auto mode, delete auto mode, config ask protect:.correx*, git deny protect:.git, unknown ask unclassified, uncompared ask envelope",
		"":              "edit ask mode, git deny protect:.git, config ask protect:.correx*",
		"YOLO":          "edit ask mode, delete ask mode",
	} {
		p := Default()
		p.Mode = mode
		for c := range strings.SplitSeq(want, ", ") {
			name, verdict, _ := strings.Cut(c, " ")
			v := Judge(Facts{Files: []FileFacts{files[name]}}, p).Verdict
			if got := fmt.Sprintf("%s %s", v.Outcome, v.SettledBy); got != verdict {
				t.Errorf("mode %q, %s: %s, want %s", mode, name, got, verdict)
			}
		}
	}
}

func TestJudgeSets(t *testing.T) {
	two := []FileFacts{fact(change.OpEdit, "a"), fact(change.OpEdit, "b")}
	large := func(path change.Path) FileFacts {
		return fact(change.OpEdit, path, func(f *FileFacts) { f.File.Bytes = 40000 })
	}
	tight := Default()
	tight.MaxFiles, tight.RequireSandbox = 2, true
	for _, c := range []struct {
		name       string
		facts      Facts
		policy     Policy
		set, files string
	}{
		{"none", Facts{}, Default(), "ask T2 medium unclassified: unclassified", ""},
		{"two", Facts{Files: two}, Default(), "ask T2 medium auto.max_files: multi_file", "auto auto"},
		{"two at commit", Facts{Files: two, Origin: change.OriginCommit}, Default(), "auto T2 low envelope:", "auto auto"},
		{"large together", Facts{Files: []FileFacts{large("a"), large("b")}}, Default(), "ask T2 medium auto.max_bytes: too_large multi_file", "auto auto"},
		{"large together at commit", Facts{Files: []FileFacts{large("a"), large("b")}, Origin: change.OriginCommit}, Default(), "auto T2 low envelope:", "auto auto"},
		{"budget of files", Facts{Files: two[:1], Used: Usage{Files: 20}}, Default(), "ask T2 medium auto.session_files: budget", "ask"},
		{"last of the budget", Facts{Files: two[:1], Used: Usage{Files: 19, Bytes: 262138}}, Default(), "auto T2 low envelope:", "auto"},
		{"budget of bytes", Facts{Files: two[:1], Used: Usage{Bytes: 262139}}, Default(), "ask T2 medium auto.session_bytes: budget", "ask"},
		{"budget at commit", Facts{Files: two[:1], Used: Usage{Files: 20}, Origin: change.OriginCommit}, Default(), "ask T2 medium auto.session_files: budget", "ask"},
		{"not confined", Facts{Files: two, Enforced: "partial"}, tight, "ask T2 medium auto.require_sandbox: no_sandbox", "ask ask"},
		{"confined", Facts{Files: two, Enforced: "tree"}, tight, "auto T2 low envelope:", "auto auto"},
		{"confined in full", Facts{Files: two, Enforced: "full"}, tight, "auto T2 low envelope:", "auto auto"},
		{"one of two", Facts{Files: []FileFacts{two[0], fact(change.OpEdit, ".env")}}, tight, "ask T3 high auto.require_sandbox: protected_target no_sandbox", "ask ask"},
		{"a submodule at commit", Facts{Origin: change.OriginCommit, Files: []FileFacts{fact(change.OpEdit, "dep", func(f *FileFacts) {
			f.File.Base.Kind, f.File.Proposed.Kind = change.KindSubmodule, change.KindSubmodule
		})}}, Default(), "ask T3 high submodule: submodule", "ask"},
		{"zero policy", Facts{Files: two[:1]}, Policy{}, "ask T2 medium mode: too_large multi_file budget", "ask"},
	} {
		r := Judge(c.facts, c.policy)
		if got := line(r.Verdict); got != c.set {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.set)
		}
		var files []string
		for _, v := range r.Files {
			files = append(files, string(v.Outcome))
		}
		if got := strings.Join(files, " "); got != c.files {
			t.Errorf("%s: files %q, want %q", c.name, got, c.files)
		}
	}
}

// TestJudgeSaysEverything: one change with all that can be wrong with it, in the order of the reason codes.
func TestJudgeSaysEverything(t *testing.T) {
	all := fact(change.OpOverwrite, ".env", func(f *FileFacts) {
		f.File.Proposed = change.Pin{Kind: change.KindFile, Perm: 0o755}
		f.File.Binary, f.File.Hidden, f.File.Kept, f.File.Bytes = true, 1, 123, 70000
		f.HardLink, f.Ignored, f.Submodule, f.UnderLink, f.PreImageStored = true, true, true, true, false
	})
	link := fact(change.OpSymlink, "x", func(f *FileFacts) { f.LinkOutside = true })
	p := Default()
	p.RequireSandbox = true
	p.Source = map[string]string{"auto.max_bytes": ".correx.toml:14", "auto.require_sandbox": "config.toml:2"}
	p.Protect = []Protect{{Pattern: mustPattern(t, "x"), Source: ".correx.toml:20"}}
	v := Judge(Facts{Files: []FileFacts{all, link, fact("explode", "y")}, Used: Usage{Files: 20, Bytes: 262144}}, p).Verdict
	if got, want := line(v), "deny T4 critical outside_repository: too_large multi_file overwrite binary executable symlink hard_link destructive_operation "+
		"protected_target outside_repository submodule ignored_path hidden_characters budget no_sandbox unclassified"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	want := []string{
		"70,012 bytes changed, limit 65,536 (.correx.toml:14)",
		"3 files, limit 1",
		"keeps 12% of the file",
		"binary content",
		"becomes executable",
		"is a symbolic link",
		"the file has another name (hard link)",
		"could not be undone: what is there now is not kept",
		`protected path ".env*" (may hold secrets); protected path "x" (.correx.toml:20)`,
		"lies behind a symbolic link; a link that leads out of the repository",
		"belongs to a submodule or nested repository",
		"git ignores the path",
		"1 hidden character added",
		"332,156 bytes since a person last decided, limit 262,144; 23 files since a person last decided, limit 20",
		"the session is not confined to its shadow (config.toml:2)",
		`the operation "explode" is not known`,
	}
	if diff := cmp.Diff(want, v.Why); diff != "" {
		t.Error(diff)
	}
}

func TestJudgeWhy(t *testing.T) {
	var many []FileFacts
	for _, name := range []change.Path{"a.pem", "b.key", ".env", ".npmrc", "c.pem"} {
		many = append(many, fact(change.OpEdit, name))
	}
	v := Judge(Facts{Files: many, Origin: change.OriginCommit}, Default()).Verdict
	want := []string{`protected path "*.key" (may hold secrets); protected path "*.pem" (may hold secrets); protected path ".env*" (may hold secrets); and 1 more`}
	if diff := cmp.Diff(want, v.Why); diff != "" {
		t.Error(diff)
	}
	for mode, want := range map[change.Mode][]string{
		change.ModeAuto:   {"deletes a file", "mode auto passes T2, this is T4 (config.toml:1)"},
		change.ModePrompt: {"deletes a file", "mode prompt asks about every change (config.toml:1)"},
		change.ModeDeny:   {"deletes a file", "mode deny lets nothing pass (config.toml:1)"},
		change.ModeYolo:   {"deletes a file", "mode yolo lets T4 pass (config.toml:1)"},
		"odd":             {"deletes a file", `mode "odd" is not known, so every change asks (config.toml:1)`},
	} {
		p := Default()
		p.Mode, p.Source = mode, map[string]string{"mode": "config.toml:1"}
		if diff := cmp.Diff(want, Judge(Facts{Files: []FileFacts{fact(change.OpDelete, "a")}}, p).Why); diff != "" {
			t.Errorf("mode %q: %s", mode, diff)
		}
	}
}
