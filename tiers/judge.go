package tiers

import (
	"fmt"
	"math"
	"slices"

	"github.com/correx/correx/internal/change"
)

// Result is the verdict on a set, and on each of its files judged alone.
type Result struct {
	change.Verdict
	// Files has one verdict for each of Facts.Files, in their order, as if the file were a set of its own with the same
	// budget before it.
	Files []change.Verdict
}

// Judge says what policy p says of a change set.
//
// A set of origin commit is judged path by path, since a person composes a commit: its verdict is the strictest of its
// files' and says multi_file of none. Every other set is held to the limits as a whole.
//
// Verdict.Reasons lists every reason that applies, in the order of package change, also where the mode lets the set pass
// all the same. Verdict.Why has one clause for each, none twice, and one more on the mode, or the rule, that lets the set
// pass or stops it. Verdict.SettledBy is the first decisive thing: a key of the configuration such as "auto.max_files" or
// "mode", "rule:" and the file and line of a rule, "protect:" and a pattern, or "envelope", "outside_repository",
// "submodule" or "unclassified" for what is built in.
func Judge(f Facts, p Policy) Result {
	r, _ := judge(f, p)
	return r
}

// judge is Judge, with what was found about the whole set.
func judge(f Facts, p Policy) (Result, judged) {
	r := Result{Files: make([]change.Verdict, len(f.Files))}
	confined := confinement(f, p)
	all := judged{found: slices.Clone(confined), allow: noRule}
	var bytes int64
	for i, file := range f.Files {
		one := look(file, p, f.Origin)
		alone := one
		alone.found = slices.Concat(one.found, confined)
		alone.limits = sizes(1, file.File.Bytes, f.Used, p)
		r.Files[i] = alone.settle(p)
		if f.Origin == change.OriginCommit {
			one = alone
		}
		all.take(one, i == 0)
		bytes = add(bytes, file.File.Bytes)
	}
	switch files := len(f.Files); {
	case files == 0:
		all.found = append(all.found, finding{change.Unclassified, change.T2, change.Ask, "unclassified", "there is no file change"})
	case f.Origin != change.OriginCommit:
		all.limits = append(sizes(files, bytes, f.Used, p), together(files, p)...)
	}
	r.Verdict = all.settle(p)
	return r, all
}

// noRule is the index of no rule.
const noRule = -1

// judged is what was found about a file, or about a set.
type judged struct {
	// found holds what counts.
	found []finding
	// limits holds the limits of size that are exceeded, and pardoned what a rule allows of single files. Of both every
	// reason is told. The limits count unless all is allowed.
	limits, pardoned []finding
	// allow is the index of the rule that allows all of it, the first of several, or noRule.
	allow int
}

// look finds what there is to say of one file change, whatever set it is part of.
func look(f FileFacts, p Policy, origin change.Origin) judged {
	rules := underRules(f, p)
	j := judged{found: rules.found, allow: rules.allow}
	for _, one := range inspect(f, p, origin) {
		if j.allow != noRule && one.floor == change.Auto {
			j.pardoned = append(j.pardoned, one)
		} else {
			j.found = append(j.found, one)
		}
	}
	return j
}

// take adds what was found about one file of a set to what was found about the set.
func (j *judged) take(one judged, first bool) {
	j.found = append(j.found, one.found...)
	j.pardoned = append(j.pardoned, one.pardoned...)
	if one.allow == noRule {
		j.found = append(j.found, one.limits...)
	} else {
		j.pardoned = append(j.pardoned, one.limits...)
	}
	switch {
	case first:
		j.allow = one.allow
	case one.allow == noRule, j.allow == noRule:
		j.allow = noRule
	default:
		j.allow = min(j.allow, one.allow)
	}
}

// confinement finds a session that is less confined than the policy wants.
func confinement(f Facts, p Policy) []finding {
	if !p.RequireSandbox || f.Enforced == "full" || f.Enforced == "tree" {
		return nil
	}
	const key = "auto.require_sandbox"
	return []finding{{change.NoSandbox, change.T2, change.Ask, key, "the session is not confined to its shadow" + p.written(key)}}
}

// sizes finds the limits of a set, and of a session, that so many files and bytes are over.
func sizes(files int, bytes int64, used Usage, p Policy) []finding {
	var found []finding
	if bytes > p.MaxBytes {
		why := fmt.Sprintf("%s changed, limit %s", plural(bytes, "byte"), thousands(p.MaxBytes))
		found = append(found, p.over(change.TooLarge, "auto.max_bytes", why))
	}
	const unseen = "%s since a person last decided, limit %s"
	if n := add(int64(used.Files), int64(files)); n > int64(p.SessionFiles) {
		why := fmt.Sprintf(unseen, plural(n, "file"), thousands(int64(p.SessionFiles)))
		found = append(found, p.over(change.Budget, "auto.session_files", why))
	}
	if n := add(used.Bytes, bytes); n > p.SessionBytes {
		why := fmt.Sprintf(unseen, plural(n, "byte"), thousands(p.SessionBytes))
		found = append(found, p.over(change.Budget, "auto.session_bytes", why))
	}
	return found
}

// together finds that a set holds more files than may land together.
func together(files int, p Policy) []finding {
	if files <= p.MaxFiles {
		return nil
	}
	why := fmt.Sprintf("%s, limit %d", plural(int64(files), "file"), p.MaxFiles)
	return []finding{p.over(change.MultiFile, "auto.max_files", why)}
}

// over returns the finding that the limit named key is exceeded.
func (p Policy) over(reason change.Reason, key, why string) finding {
	return finding{reason, change.T2, change.Auto, key, why + p.written(key)}
}

// add adds sizes. What is negative is no size and counts as nothing; a sum too large stays the largest.
func add(a, b int64) int64 {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// settle makes the verdict out of everything that was found.
func (j judged) settle(p Policy) change.Verdict {
	counts := slices.Clone(j.found)
	if j.allow == noRule {
		counts = append(counts, j.limits...)
	}
	told := slices.Concat(j.found, j.limits, j.pardoned)
	sortFindings(counts)
	sortFindings(told)
	v := change.Verdict{Tier: change.T2, Reasons: []change.Reason{}}
	for _, f := range told {
		v.Tier = max(v.Tier, f.tier) // "T0" to "T4"
	}
	for _, r := range orderedReasons() {
		if clause := clauses(told, r); clause != "" {
			v.Reasons = append(v.Reasons, r)
			if !slices.Contains(v.Why, clause) {
				v.Why = append(v.Why, clause)
			}
		}
	}
	v.Risk = risk(v)
	allowed := ""
	if j.allow != noRule {
		allowed = p.Rules[j.allow].by()
	}
	v.Outcome, v.SettledBy = decide(counts, p.Mode, allowed)
	switch {
	case v.SettledBy == "mode":
		v.Why = append(v.Why, modeClause(v, p))
	case v.Outcome == change.Auto && allowed != "":
		v.Why = append(v.Why, fmt.Sprintf("a rule lets it pass (%s)", p.Rules[j.allow].Source))
	}
	return v
}

// decide applies the order of precedence: a refusal, a ceiling of mode deny, what always asks, a rule that allows all of
// it, the mode, the envelope. Found is sorted; allowed names the rule, or is empty.
func decide(found []finding, mode change.Mode, allowed string) (change.Outcome, string) {
	floor := change.Auto
	if len(found) > 0 {
		floor = found[0].floor
	}
	switch {
	case floor == change.Deny:
		return change.Deny, found[0].by
	case mode == change.ModeDeny:
		return change.Deny, "mode"
	case floor == change.Ask:
		return change.Ask, found[0].by
	case mode == change.ModeYolo:
		return change.Auto, "mode"
	case allowed != "":
		return change.Auto, allowed
	case mode != change.ModeAuto:
		return change.Ask, "mode"
	case len(found) > 0:
		return change.Ask, found[0].by
	}
	return change.Auto, byEnvelope
}

// risk sums up a verdict's tier and reasons.
func risk(v change.Verdict) change.Risk {
	switch {
	case v.Tier >= change.T4:
		return change.RiskCritical
	case v.Tier == change.T3:
		return change.RiskHigh
	case len(v.Reasons) > 0:
		return change.RiskMedium
	}
	return change.RiskLow
}

// shownClauses is how many different clauses of one reason are told in full.
const shownClauses = 3

// clauses returns what there is to say about reason r in one clause, or "".
func clauses(found []finding, r change.Reason) string {
	var texts []string
	for _, f := range found {
		if f.reason == r && !slices.Contains(texts, f.why) {
			texts = append(texts, f.why)
		}
	}
	s := ""
	for i, text := range texts {
		switch {
		case i == 0:
			s = text
		case i < shownClauses:
			s += "; " + text
		}
	}
	if more := len(texts) - shownClauses; more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// modeClause says how the mode settled verdict v.
func modeClause(v change.Verdict, p Policy) string {
	at := p.written("mode")
	switch {
	case v.Outcome == change.Deny:
		return "mode deny lets nothing pass" + at
	case v.Outcome == change.Auto:
		return fmt.Sprintf("mode %s lets %s pass%s", p.Mode, v.Tier, at)
	case p.Mode == change.ModeAuto:
		return fmt.Sprintf("mode auto passes %s, this is %s%s", change.T2, v.Tier, at)
	case p.Mode == change.ModePrompt:
		return "mode prompt asks about every change" + at
	}
	return fmt.Sprintf("mode %q is not known, so every change asks%s", string(p.Mode), at)
}
