package tiers

import (
	"cmp"
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
	// Grants are the ids of the grants without which the set would ask, in the order of its files; nil where none is needed.
	Grants []string
}

// Judge says what policy p says of a change set.
//
// A set of origin commit is judged path by path, since a person composes a commit: its verdict is the strictest of its
// files' and says multi_file of none. Every other set is held to the limits as a whole.
//
// Verdict.Reasons lists every reason that applies, in the order of package change, also where the mode lets the set pass
// all the same. Verdict.Why has one clause for each, and one more on the mode, the rule or the grant that lets
// the set pass or stops it. Verdict.SettledBy is the first decisive thing: a key of the configuration such as
// "auto.max_files" or "mode", "rule:" and the file and line of a rule, "grant:" and the id of a grant, "protect:" and a
// pattern, or "envelope", "outside_repository", "submodule" or "unclassified" for what is built in.
func Judge(f Facts, p Policy) Result {
	r, _ := judge(f, p)
	return r
}

// judge is Judge, with what was found about the whole set.
func judge(f Facts, p Policy) (Result, judged) {
	p = p.at(f.Now)
	r := Result{Files: make([]change.Verdict, len(f.Files))}
	confined := confinement(f, p)
	// What counts without grants, and with them.
	all, granted := judged{found: slices.Clone(confined), allow: noRule}, judged{found: slices.Clone(confined), allow: noRule}
	whole := setDigest(f, p)
	var bytes int64
	for i, file := range f.Files {
		one := look(file, p, f.Origin)
		alone := one
		alone.found = slices.Concat(one.found, confined)
		alone.limits = sizes(1, file.File.Bytes, f.Used, p)
		covered := p.grantFor(file, whole)
		r.Files[i], _ = either(alone, alone.granted(covered, p), p)
		if f.Origin == change.OriginCommit {
			one = alone
		}
		all.take(one, i == 0)
		granted.take(one.granted(covered, p), i == 0)
		bytes = add(bytes, file.File.Bytes)
	}
	var limits []finding
	switch files := len(f.Files); {
	case files == 0:
		all.found = append(all.found, finding{change.Unclassified, change.T2, change.Ask, "unclassified", "there is no file change"})
	case f.Origin != change.OriginCommit:
		limits = append(sizes(files, bytes, f.Used, p), together(files, p)...)
	}
	all.limits, granted.limits = limits, slices.Clone(limits)
	r.Verdict, all = either(all, granted, p)
	for _, i := range all.used {
		if id := p.Grants[i].ID; !slices.Contains(r.Grants, id) {
			r.Grants = append(r.Grants, id)
		}
	}
	r.withoutTrust(f, p)
	return r, all
}

// either settles without grants, and where that asks with them: a grant lets pass what would ask, and is not looked at for
// what passes without it.
func either(plain, granted judged, p Policy) (change.Verdict, judged) {
	v := plain.settle(p)
	if v.Outcome == change.Ask && len(granted.used) > 0 {
		if with := granted.settle(p); with.Outcome == change.Auto {
			return with, granted
		}
	}
	return v, plain
}

// setDigest returns the digest that an exact grant would name the set by, or "" where there is no such grant. Files of a
// commit are each by themselves.
func setDigest(f Facts, p Policy) string {
	if f.Origin == change.OriginCommit || !slices.ContainsFunc(p.Grants, func(g Grant) bool { return g.Exact != "" }) {
		return ""
	}
	files := make([]change.FileChange, len(f.Files))
	for i, file := range f.Files {
		files[i] = file.File
	}
	slices.SortStableFunc(files, func(a, b change.FileChange) int { return cmp.Compare(a.Path, b.Path) })
	return change.Digest(files)
}

// grantFor returns the index of the first grant that covers a file of a set with the digest whole, or noRule.
func (p Policy) grantFor(f FileFacts, whole string) int {
	if len(p.Grants) == 0 {
		return noRule
	}
	digests := []string{change.Digest([]change.FileChange{f.File})}
	if whole != "" {
		digests = append(digests, whole)
	}
	return slices.IndexFunc(p.Grants, func(g Grant) bool { return g.covers(f, digests, p.Protect) })
}

// withoutTrust adds to the verdicts that ask the reason untrusted_config where they would pass if the repository's
// settings were trusted.
func (r *Result) withoutTrust(f Facts, p Policy) {
	if p.Untrusted == nil {
		return
	}
	alt, _ := judge(f, *p.Untrusted)
	untrust(&r.Verdict, alt.Verdict)
	for i := range r.Files {
		untrust(&r.Files[i], alt.Files[i])
	}
}

// untrust adds the reason untrusted_config to v, which asks, where trusted does not.
func untrust(v *change.Verdict, trusted change.Verdict) {
	if v.Outcome != change.Ask || trusted.Outcome != change.Auto {
		return
	}
	order := orderedReasons()
	at := 0
	for at < len(v.Reasons) && slices.Index(order, v.Reasons[at]) < slices.Index(order, change.UntrustedConfig) {
		at++
	}
	v.Reasons = slices.Insert(v.Reasons, at, change.UntrustedConfig)
	v.Why = slices.Insert(v.Why, min(at, len(v.Why)), "the repository's settings would let it pass, but are not trusted: correx trust")
	v.Risk = risk(*v)
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
	// allow is the index of the rule that allows all of it, the first of several, or noRule. A grant that covers it counts
	// as a rule behind all rules.
	allow int
	// used are the indexes of the grants that cover some of it.
	used []int
}

// granted returns j as it is with the grant of index i, noRule for none. A rule that allows it needs no grant.
func (j judged) granted(i int, p Policy) judged {
	if i == noRule || j.allow != noRule {
		return j
	}
	with := judged{limits: j.limits, pardoned: j.pardoned, allow: len(p.Rules) + i, used: []int{i}}
	for _, one := range j.found {
		if one.floor == change.Auto {
			with.pardoned = append(slices.Clip(with.pardoned), one)
		} else {
			with.found = append(with.found, one)
		}
	}
	return with
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
	j.used = append(j.used, one.used...)
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
			v.Why = append(v.Why, clause)
		}
	}
	v.Risk = risk(v)
	allowed := ""
	switch {
	case j.allow == noRule:
	case j.allow < len(p.Rules):
		allowed = p.Rules[j.allow].by()
	default:
		allowed = p.Grants[j.allow-len(p.Rules)].by()
	}
	v.Outcome, v.SettledBy = decide(counts, p.Mode, allowed)
	switch {
	case v.Outcome == change.Auto && len(j.used) > 0:
		g := p.Grants[j.used[0]]
		v.SettledBy = g.by()
		v.Why = append(v.Why, fmt.Sprintf("grant %s lets it pass (%s)", g.ID, g.Source))
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
