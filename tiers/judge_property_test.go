package tiers

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

func anyPin() *rapid.Generator[change.Pin] {
	return rapid.Custom(func(t *rapid.T) change.Pin {
		return change.Pin{
			Kind: rapid.SampledFrom([]change.Kind{
				change.KindAbsent, change.KindFile, change.KindFile, change.KindFile, change.KindSymlink, change.KindSubmodule, change.KindDir, "", "odd",
			}).Draw(t, "kind"),
			Perm: rapid.SampledFrom([]uint32{0, 0o644, 0o755, 0o7777}).Draw(t, "perm"),
		}
	})
}

// anyFile draws file changes: about half of them plain edits, the others with anything in them.
func anyFile() *rapid.Generator[FileFacts] {
	return rapid.Custom(func(t *rapid.T) FileFacts {
		path := rapid.OneOf(paths(), rapid.SampledFrom([]change.Path{".env", ".git/x", ".correx.toml", "x/AGENTS.md", ""})).Draw(t, "path")
		if rapid.Bool().Draw(t, "plain") {
			return fact(change.OpEdit, path)
		}
		rare := func(name string) bool { return rapid.IntRange(0, 7).Draw(t, name) == 0 }
		size := rapid.SampledFrom([]int64{0, 1, 65536, 65537, 1 << 62, -1, -1 << 63, 1<<63 - 1})
		return FileFacts{
			File: change.FileChange{
				Path: path, OldPath: paths().Draw(t, "old path"),
				Op: rapid.SampledFrom([]change.Op{
					change.OpCreate, change.OpEdit, change.OpOverwrite, change.OpDelete, change.OpRename, change.OpCopy, change.OpChmod,
					change.OpSymlink, change.OpRetype, "", "odd",
				}).Draw(t, "op"),
				Base: anyPin().Draw(t, "base"), Proposed: anyPin().Draw(t, "proposed"), Bytes: size.Draw(t, "bytes"),
				Binary: rare("binary"), TooLarge: rare("too large"), Hidden: rapid.IntRange(-1, 1).Draw(t, "hidden"), Kept: rapid.IntRange(0, 999).Draw(t, "kept"),
			},
			PreImageStored: !rare("stored"), Submodule: rare("submodule"), Ignored: rare("ignored"), HardLink: rare("hard link"),
			UnderLink: rare("under link"), LinkOutside: rare("link outside"), CorrexOwn: rare("own"), BareRepository: rare("bare"),
			ShadowsMakefile: rare("makefile"), Rollback: rare("rollback"), UntrackedTooLarge: rare("untracked"),
			LinkTarget: rapid.SampledFrom([]change.Path{"", "a", ".env", ".git"}).Draw(t, "link target"),
			CopyOf:     rapid.SampledFrom([]change.Path{"", "", "a", ".env"}).Draw(t, "copy of"),
			GitProgram: rapid.SampledFrom([]string{"", "", "", "filter.x.clean"}).Draw(t, "program"),
		}
	})
}

func anyFacts() *rapid.Generator[Facts] {
	return rapid.Custom(func(t *rapid.T) Facts {
		return Facts{
			Files:    rapid.SliceOfN(anyFile(), 0, 4).Draw(t, "files"),
			Origin:   rapid.SampledFrom([]change.Origin{change.OriginShadow, change.OriginCommit, change.OriginAgent, change.OriginUndo, ""}).Draw(t, "origin"),
			Used:     Usage{Files: rapid.IntRange(-1, 25).Draw(t, "used files"), Bytes: rapid.Int64().Draw(t, "used bytes")},
			Enforced: rapid.SampledFrom([]string{"full", "tree", "partial", "none", ""}).Draw(t, "enforced"),
			Now:      anyMoment().Draw(t, "now"),
		}
	})
}

func anyPolicy() *rapid.Generator[Policy] {
	return rapid.Custom(func(t *rapid.T) Policy {
		p := Default()
		if rapid.Bool().Draw(t, "default") {
			return p
		}
		p.Mode = rapid.SampledFrom([]change.Mode{change.ModeDeny, change.ModePrompt, change.ModeAuto, change.ModeYolo, "", "odd"}).Draw(t, "mode")
		p.MaxFiles = rapid.IntRange(0, 4).Draw(t, "max files")
		p.MaxBytes = rapid.Int64Min(0).Draw(t, "max bytes")
		p.SessionFiles = rapid.IntRange(0, 30).Draw(t, "session files")
		p.SessionBytes = rapid.Int64Min(0).Draw(t, "session bytes")
		p.RequireSandbox = rapid.Bool().Draw(t, "require sandbox")
		p.Protect = rapid.SliceOfN(protects(), 0, 2).Draw(t, "protect")
		p.Rules = rapid.SliceOfN(anyRule(), 0, 4).Draw(t, "rules")
		return p
	})
}

// stricter reports whether b is at least as strict as a in every way.
func stricter(a, b change.Verdict) bool {
	return strictness(b.Outcome) >= strictness(a.Outcome) && b.Tier >= a.Tier
}

// TestJudgeIsTotal: every verdict is complete, names what settled it, and keeps the promises that hold in every mode.
func TestJudgeIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		r := Judge(f, p)
		if len(r.Files) != len(f.Files) {
			t.Fatalf("%d verdicts on %d files", len(r.Files), len(f.Files))
		}
		for _, v := range append(slices.Clone(r.Files), r.Verdict) {
			if strictness(v.Outcome) < 0 || v.SettledBy == "" || v.Risk == "" || v.Tier < change.T2 || v.Reasons == nil {
				t.Fatalf("incomplete: %+v", v)
			}
			clauses := len(v.Reasons)
			allowed := v.Outcome == change.Auto && strings.HasPrefix(v.SettledBy, "rule:")
			if v.SettledBy == "mode" || allowed {
				clauses++
			}
			if len(v.Why) != clauses || slices.Contains(v.Why, "") {
				t.Fatalf("%d clauses for %d reasons: %+v", len(v.Why), len(v.Reasons), v)
			}
			if !slices.IsSortedFunc(v.Reasons, func(a, b change.Reason) int {
				return slices.Index(orderedReasons(), a) - slices.Index(orderedReasons(), b)
			}) || len(slices.Compact(slices.Clone(v.Reasons))) != len(v.Reasons) {
				t.Fatalf("reasons out of order: %v", v.Reasons)
			}
			if v.Outcome == change.Auto && p.Mode == change.ModeDeny {
				t.Fatalf("passes in mode deny: %+v", v)
			}
			if len(p.Rules) == 0 && v.Outcome == change.Auto && p.Mode != change.ModeYolo && (len(v.Reasons) > 0 || v.Tier > change.T2 || p.Mode != change.ModeAuto) {
				t.Fatalf("lands by itself: %+v in mode %q", v, p.Mode)
			}
			if v.Outcome == change.Auto && slices.Contains(v.Reasons, change.Unclassified) {
				t.Fatalf("unclassified, and lands by itself: %+v", v)
			}
		}
		for i, file := range f.Files {
			if pr, _ := Protects(file.File.Path, nil); pr.Level == Never && r.Files[i].Outcome != change.Deny {
				t.Fatalf("%q is not refused: %+v", file.File.Path, r.Files[i])
			} else if pr.Level == HardAsk && r.Files[i].Outcome == change.Auto {
				t.Fatalf("%q lands by itself: %+v", file.File.Path, r.Files[i])
			}
			if strictness(r.Outcome) < strictness(r.Files[i].Outcome) {
				t.Fatalf("the set is judged more mildly than its file %d: %+v, %+v", i, r.Verdict, r.Files[i])
			}
		}
	})
}

// TestJudgeOrder: the order of files and of protected patterns does not matter.
func TestJudgeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		other := f
		other.Files = rapid.Permutation(f.Files).Draw(t, "files in another order")
		if diff := cmp.Diff(Judge(f, p).Verdict, Judge(other, p).Verdict); diff != "" {
			t.Fatal(diff)
		}
		// Asked twice, the answer is the same, and nothing handed in was touched.
		if diff := cmp.Diff(Judge(f, p), Judge(f, p)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestJudgeNeverLoosens: more protection, lower limits and a stricter mode never give a milder verdict.
func TestJudgeNeverLoosens(t *testing.T) {
	order := []change.Mode{change.ModeYolo, change.ModeAuto, change.ModePrompt, change.ModeDeny}
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		tight := p
		switch rapid.SampledFrom([]string{"protect", "limits", "sandbox", "mode", "files"}).Draw(t, "what") {
		case "protect":
			tight.Protect = append(slices.Clone(p.Protect), rapid.SliceOfN(protects(), 1, 3).Draw(t, "more")...)
		case "limits":
			tight.MaxBytes, tight.MaxFiles = p.MaxBytes/2, p.MaxFiles/2
			tight.SessionBytes, tight.SessionFiles = p.SessionBytes/2, p.SessionFiles/2
		case "sandbox":
			tight.RequireSandbox = true
		case "mode":
			from := max(slices.Index(order, p.Mode), 0)
			p.Mode = order[from]
			tight.Mode = order[rapid.IntRange(from, len(order)-1).Draw(t, "to")]
		case "files":
			more := f
			more.Files = append(slices.Clone(f.Files), anyFile().Draw(t, "another"))
			if a, b := Judge(f, p), Judge(more, p); len(f.Files) > 0 && !stricter(a.Verdict, b.Verdict) {
				t.Fatalf("another file loosens %+v to %+v", a.Verdict, b.Verdict)
			}
		}
		before, after := Judge(f, p), Judge(f, tight)
		for i := range f.Files {
			if !stricter(before.Files[i], after.Files[i]) {
				t.Fatalf("file %d is loosened from %+v to %+v", i, before.Files[i], after.Files[i])
			}
		}
		if !stricter(before.Verdict, after.Verdict) {
			t.Fatalf("loosened from %+v to %+v", before.Verdict, after.Verdict)
		}
	})
}

// TestJudgeProtectedName: whatever is changed about a protected file, and in whatever spelling, mode auto asks at T3.
func TestJudgeProtectedName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{".env", ".envrc", "keys/a.pem", ".vscode/tasks.json", "x/CLAUDE.md", ".github/workflows/ci.yml"}).Draw(t, "name")
		if rapid.Bool().Draw(t, "upper case") {
			name = strings.ToUpper(name)
		}
		file := anyFile().Draw(t, "file")
		file.File.Path = change.Path(name)
		v := Judge(Facts{Files: []FileFacts{file}, Origin: change.OriginShadow}, Default()).Verdict
		if v.Outcome == change.Auto || v.Tier < change.T3 || !slices.Contains(v.Reasons, change.ProtectedTarget) {
			t.Fatalf("%q: %+v", name, v)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	facts := Facts{Origin: change.OriginCommit}
	for range 1000 {
		facts.Files = append(facts.Files, fact(change.OpEdit, "internal/commands/submit.go"))
	}
	p := Default()
	for b.Loop() {
		Judge(facts, p)
	}
}
