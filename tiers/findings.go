package tiers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/correx/correx/internal/change"
)

// finding is one thing that keeps a change from simply passing.
type finding struct {
	reason change.Reason
	// tier is what the change is at least, by this finding.
	tier change.Tier
	// floor is what the verdict is at least, whatever the mode; Auto where the mode may let it pass.
	floor change.Outcome
	// by names the setting or built-in that this finding comes from, as Verdict.SettledBy does.
	by string
	// why says it for a person.
	why string
}

// byEnvelope names the limits of mode auto that are no numbers.
const byEnvelope = "envelope"

// orderedReasons is the fixed order in which reasons are listed.
func orderedReasons() []change.Reason {
	return []change.Reason{
		change.TooLarge, change.MultiFile, change.Overwrite, change.Binary, change.Executable, change.Symlink, change.HardLink,
		change.DestructiveOperation, change.ProtectedTarget, change.OutsideRepository, change.Submodule, change.IgnoredPath,
		change.HiddenCharacters, change.Budget, change.UntrustedConfig, change.NoSandbox, change.RuleAsk, change.RuleDeny,
		change.Unclassified,
	}
}

// sortFindings puts findings into the one order in which everything is derived from them: the decisive first.
func sortFindings(found []finding) {
	rank := map[change.Reason]int{}
	for i, r := range orderedReasons() {
		rank[r] = i
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(
			cmp.Compare(strictness(b.floor), strictness(a.floor)),
			cmp.Compare(b.tier, a.tier), // "T0" to "T4"
			cmp.Compare(rank[a.reason], rank[b.reason]),
			cmp.Compare(a.by, b.by),
			cmp.Compare(a.why, b.why),
		)
	})
}

// strictness orders outcomes.
func strictness(o change.Outcome) int {
	return slices.Index([]change.Outcome{change.Auto, change.Ask, change.Deny}, o)
}

// inspect returns what is found about one file change, whatever set it is part of.
func inspect(f FileFacts, p Policy, origin change.Origin) []finding {
	var found []finding
	found = append(found, classified(f.File)...)
	found = append(found, content(f)...)
	found = append(found, kindOfFile(f)...)
	found = append(found, destructive(f)...)
	found = append(found, protected(f, p)...)
	found = append(found, place(f, origin)...)
	return found
}

// classified finds changes that contradict themselves or are of no kind that is known.
func classified(c change.FileChange) []finding {
	odd := func(why string) []finding {
		return []finding{{reason: change.Unclassified, tier: change.T4, floor: change.Ask, by: "unclassified", why: why}}
	}
	for _, pin := range []change.Pin{c.Base, c.Proposed} {
		switch pin.Kind {
		case change.KindAbsent, "", change.KindFile, change.KindSymlink, change.KindSubmodule:
		default:
			return odd(fmt.Sprintf("a %s is not a file", pin.Kind))
		}
	}
	was, will := c.Base.Exists(), c.Proposed.Exists()
	fits := false
	switch c.Op {
	case change.OpCreate, change.OpCopy:
		fits = !was && will
	case change.OpEdit, change.OpOverwrite, change.OpChmod, change.OpRename, change.OpRetype:
		fits = was && will
	case change.OpDelete:
		fits = was && !will
	case change.OpSymlink:
		fits = will && c.Proposed.Kind == change.KindSymlink
	default:
		return odd(fmt.Sprintf("the operation %q is not known", string(c.Op)))
	}
	if !fits {
		return odd(fmt.Sprintf("the operation %q does not fit what is there", string(c.Op)))
	}
	return nil
}

// content finds what makes the bytes of a change more than a glance can check.
func content(f FileFacts) []finding {
	var found []finding
	c := f.File
	if c.TooLarge {
		found = append(found, finding{change.TooLarge, change.T2, change.Ask, byEnvelope, "too large to compare line by line"})
	}
	if c.Op == change.OpOverwrite {
		why := "replaces more than half of the file"
		if c.Kept > 0 {
			why = fmt.Sprintf("keeps %d%% of the file", c.Kept/10)
		}
		found = append(found, finding{change.Overwrite, change.T2, change.Auto, byEnvelope, why})
	}
	if f.Recoded {
		found = append(found, finding{change.Overwrite, change.T2, change.Auto, byEnvelope, "saves the text in another encoding"})
	}
	if c.Binary {
		found = append(found, finding{change.Binary, change.T2, change.Auto, byEnvelope, "binary content"})
	}
	if c.Hidden > 0 {
		why := plural(int64(c.Hidden), "hidden character") + " added"
		found = append(found, finding{change.HiddenCharacters, change.T2, change.Auto, byEnvelope, why})
	}
	return found
}

// kindOfFile finds what is special about the file itself.
func kindOfFile(f FileFacts) []finding {
	var found []finding
	c := f.File
	if c.Proposed.Executable() && !c.Base.Executable() {
		found = append(found, finding{change.Executable, change.T2, change.Auto, byEnvelope, "becomes executable"})
	}
	if c.Base.Perm&0o6000 != 0 && c.Proposed.Exists() {
		found = append(found, finding{change.Executable, change.T3, change.Ask, byEnvelope, "runs with its owner's rights, whoever starts it"})
	}
	if c.Proposed.Kind == change.KindSymlink {
		found = append(found, finding{change.Symlink, change.T2, change.Auto, byEnvelope, "is a symbolic link"})
		if f.LinkOutside {
			found = append(found, finding{change.OutsideRepository, change.T3, change.Auto, "mode", "a link that leads out of the repository"})
		}
	}
	if f.HardLink {
		found = append(found, finding{change.HardLink, change.T2, change.Auto, byEnvelope, "the file has another name (hard link)"})
	}
	return found
}

// destructive finds what takes something away.
func destructive(f FileFacts) []finding {
	c := f.File
	why := ""
	switch {
	case !c.Base.Exists():
		return nil
	case c.Op == change.OpRename:
		why = "moves a file"
	case !c.Proposed.Exists() && c.Base.Kind == change.KindSubmodule:
		why = "takes a submodule out"
	case c.Op == change.OpDelete, !c.Proposed.Exists():
		why = "deletes a file"
	case c.Op == change.OpRetype, c.Base.Kind != c.Proposed.Kind:
		why = fmt.Sprintf("replaces a %s by a %s", c.Base.Kind, c.Proposed.Kind)
	case f.Rollback:
		why = "takes back work that is not committed"
	}
	var found []finding
	if why != "" {
		found = append(found, finding{change.DestructiveOperation, change.T4, change.Auto, "mode", why})
	}
	if !f.PreImageStored {
		found = append(found, finding{change.DestructiveOperation, change.T4, change.Ask, byEnvelope, "could not be undone: what is there now is not kept"})
	}
	return found
}

// protected finds names, and copies of and links to names, that are never small.
func protected(f FileFacts, p Policy) []finding {
	var found []finding
	c := f.File
	for _, at := range c.Paths() {
		if pr, ok := Protects(at, p.Protect); ok {
			found = append(found, pr.finding("protected path"))
		}
	}
	for _, source := range []change.Path{f.CopyOf, copySource(c)} {
		if source == "" {
			continue
		}
		if pr, ok := Protects(source, p.Protect); ok {
			pr.Level = Protected
			found = append(found, pr.finding("a copy of protected path"))
		}
	}
	if c.Proposed.Kind == change.KindSymlink && f.LinkTarget != "" {
		if pr, ok := Protects(f.LinkTarget, p.Protect); ok {
			pr.Level = min(pr.Level, HardAsk)
			found = append(found, pr.finding("a link to protected path"))
		}
	}
	special := func(set bool, level Level, name, why string) {
		if set {
			pr := Protection{Level: level, Pattern: name}
			one := pr.finding("")
			one.why = why
			found = append(found, one)
		}
	}
	special(f.CorrexOwn, HardAsk, "correx", "correx's own state, configuration or program")
	special(f.GitProgram != "", Protected, "git-config", fmt.Sprintf("git runs or reads it (%s)", f.GitProgram))
	special(f.BareRepository, Protected, "bare-repository", "makes a folder that git takes for a repository, with settings that run programs")
	special(f.ShadowsMakefile, Protected, "makefile", "make would read it instead of the makefile beside it")
	return found
}

func copySource(c change.FileChange) change.Path {
	if c.Op == change.OpCopy {
		return c.OldPath
	}
	return ""
}

// finding returns what a protection means for a verdict.
func (p Protection) finding(what string) finding {
	f := finding{reason: change.ProtectedTarget, tier: change.T3, floor: change.Auto, by: "protect:" + p.Pattern}
	f.why = fmt.Sprintf("%s %q", what, p.Pattern)
	switch {
	case p.Source != "":
		f.why += " (" + p.Source + ")"
	case p.Why != "":
		f.why += " (" + p.Why + ")"
	}
	switch p.Level {
	case HardAsk:
		f.floor = change.Ask
	case Never:
		f.floor, f.tier = change.Deny, change.T4
	}
	return f
}

// place finds paths that a change cannot, or should not simply, be put at.
func place(f FileFacts, origin change.Origin) []finding {
	var found []finding
	if f.UnderLink {
		found = append(found, finding{change.OutsideRepository, change.T3, change.Deny, "outside_repository", "lies behind a symbolic link"})
	}
	if f.Submodule || f.File.Base.Kind == change.KindSubmodule || f.File.Proposed.Kind == change.KindSubmodule {
		// What lies in a submodule belongs to another repository. That a commit records another state of it is for a
		// person to say.
		one := finding{change.Submodule, change.T3, change.Deny, "submodule", "belongs to a submodule or nested repository"}
		if origin == change.OriginCommit {
			one.floor, one.why = change.Ask, pointerWords(f.File)
		}
		found = append(found, one)
	}
	if f.Ignored {
		found = append(found, finding{change.IgnoredPath, change.T2, change.Auto, byEnvelope, "git ignores the path"})
	}
	if f.UntrackedTooLarge {
		found = append(found, finding{change.TooLarge, change.T2, change.Deny, "shadow.max_untracked", "changes an untracked file that is too large for a shadow to hold"})
	}
	return found
}

// pointerWords says what a commit does to what it records of a submodule.
func pointerWords(c change.FileChange) string {
	switch was, will := c.Base.Kind == change.KindSubmodule, c.Proposed.Kind == change.KindSubmodule; {
	case will && !was:
		return "adds a submodule"
	case was && !will:
		return "git forgets what the submodule points to"
	}
	return "changes what a submodule points to"
}

// plural returns n and what it counts.
func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + one + "s"
}

// thousands returns n with a comma before every three digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
