package tiers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
)

// Step is one thing that Judge looks at.
type Step struct {
	// Name is what Verdict.SettledBy would call it.
	Name string
	// Source is where it is written, as "file:line"; empty for what is built in.
	Source string
	// Says is what it says, for a person.
	Says string
	// Result is what it comes to, whatever else was found: "ask" or "deny" for what holds, "allow" or "auto" for what lets
	// pass, "overruled" for a rule or a limit that a rule has the last word over, "no match" for a rule that does not hold,
	// "not now" for one that would at another time, "inside" for a limit that is kept, "not decisive" for a mode that
	// settled nothing.
	Result string
	// Settled is set for the one step that settled the verdict.
	Settled bool
}

// The results of a step besides the actions of rules.
const (
	resultNone      = "no match"
	resultRests     = "not now"
	resultOverruled = "overruled"
	resultInside    = "inside"
	resultIdle      = "not decisive"
)

// Explain returns the result of Judge, and every rule, protection and limit that was looked at, in the order in which they
// count: refusals, what always asks, rules that ask or allow, grants, the mode, the limits. Exactly one step settled it.
func Explain(f Facts, p Policy) (Result, []Step) {
	r, all := judge(f, p)
	told := slices.Concat(all.found, all.limits, all.pardoned)
	sortFindings(told)
	e := explainer{policy: p, all: all, ruled: ruleResults(f, p)}
	e.findings(told, change.Deny)
	e.rules(ActionDeny)
	if p.Mode == change.ModeDeny {
		e.mode(r.Verdict)
	}
	e.findings(told, change.Ask)
	e.rules(ActionAsk, ActionAllow)
	e.grants(f)
	if p.Mode != change.ModeDeny {
		e.mode(r.Verdict)
	}
	e.findings(told, change.Auto)
	e.limits(told)
	for i, s := range e.steps {
		if s.Name == r.SettledBy && s.Result != resultNone && s.Result != resultRests && s.Result != resultOverruled {
			e.steps[i].Settled = true
			break
		}
	}
	return r, e.steps
}

// explainer collects steps.
type explainer struct {
	policy Policy
	all    judged
	// ruled has the result of each rule.
	ruled []string
	steps []Step
}

// limitKeys are the settings of the envelope that are numbers.
func limitKeys() []string {
	return []string{"auto.max_bytes", "auto.max_files", "auto.session_files", "auto.session_bytes"}
}

// findings adds what was found that has the given floor, each once. Rules and numbers have steps of their own.
func (e *explainer) findings(told []finding, floor change.Outcome) {
	var seen []Step
	for _, f := range told {
		if f.floor != floor || strings.HasPrefix(f.by, "rule:") || slices.Contains(limitKeys(), f.by) {
			continue
		}
		s := Step{Name: f.by, Source: e.policy.Source[f.by], Says: f.why, Result: string(floor)}
		if floor == change.Auto {
			s.Result = e.weighed(f)
		}
		if !slices.Contains(seen, s) {
			seen = append(seen, s)
		}
	}
	e.steps = append(e.steps, seen...)
}

// weighed says what came of a finding that asks unless something lets it pass.
func (e *explainer) weighed(f finding) string {
	if slices.Contains(e.all.found, f) || (e.all.allow == noRule && slices.Contains(e.all.limits, f)) {
		return string(change.Ask)
	}
	return resultOverruled
}

// ruleResults says of each rule what came of it.
func ruleResults(f Facts, p Policy) []string {
	results := make([]string, len(p.Rules))
	for i := range results {
		results[i] = resultNone
	}
	for _, file := range f.Files {
		ruled := underRules(file, p.at(f.Now))
		for _, i := range ruled.held {
			switch action := p.Rules[i].known(); {
			case action == ActionDeny, ruled.settles(i, p):
				results[i] = string(action)
			case results[i] == resultNone:
				results[i] = resultOverruled
			}
		}
		for i, r := range p.Rules {
			if r.rests(f.Now) && r.holds(file, spellEnds(file), p.Protect) {
				results[i] = resultRests
			}
		}
	}
	return results
}

// rules adds the rules with one of the given actions, in their order.
func (e *explainer) rules(actions ...Action) {
	for i, r := range e.policy.Rules {
		if slices.Contains(actions, r.known()) {
			e.steps = append(e.steps, Step{Name: r.by(), Source: r.Source, Says: r.String(), Result: e.ruled[i]})
		}
	}
}

// grants adds the grants, in their order.
func (e *explainer) grants(f Facts) {
	whole := setDigest(f, e.policy)
	for i, g := range e.policy.Grants {
		s := Step{Name: g.by(), Source: g.Source, Says: g.String(), Result: resultNone}
		switch {
		case g.Void != "":
			s.Result = g.Void
		case slices.Contains(e.all.used, i):
			s.Result = string(ActionAllow)
		case slices.ContainsFunc(f.Files, func(file FileFacts) bool {
			return g.covers(file, []string{whole, change.Digest([]change.FileChange{file.File})}, e.policy.Protect)
		}):
			s.Result = resultIdle
		}
		e.steps = append(e.steps, s)
	}
}

// mode adds the step of the mode.
func (e *explainer) mode(v change.Verdict) {
	s := Step{Name: "mode", Source: e.policy.Source["mode"], Says: modeClause(v, e.policy), Result: string(v.Outcome)}
	if v.SettledBy != "mode" {
		s.Says, s.Result = fmt.Sprintf("mode %s", e.policy.Mode), resultIdle
	}
	e.steps = append(e.steps, s)
}

// limits adds the numbers of the envelope, and the envelope as a whole where all is inside.
func (e *explainer) limits(told []finding) {
	p := e.policy
	values := map[string]int64{
		"auto.max_bytes": p.MaxBytes, "auto.max_files": int64(p.MaxFiles),
		"auto.session_files": int64(p.SessionFiles), "auto.session_bytes": p.SessionBytes,
	}
	for _, key := range limitKeys() {
		s := Step{Name: key, Source: p.Source[key], Says: "limit " + thousands(values[key]), Result: resultInside}
		for _, f := range told {
			if f.by == key && s.Result != string(change.Ask) {
				s.Says, s.Result = f.why, e.weighed(f)
			}
		}
		e.steps = append(e.steps, s)
	}
	if v := e.all.settle(p); v.Outcome == change.Auto && v.SettledBy == byEnvelope {
		e.steps = append(e.steps, Step{Name: byEnvelope, Says: "small, and can be undone", Result: string(change.Auto)})
	}
}

// known returns the action that the rule has in effect: one that is not known denies.
func (r Rule) known() Action {
	if r.Action == ActionAllow || r.Action == ActionAsk {
		return r.Action
	}
	return ActionDeny
}

// String returns the rule in one line: "deny edit, delete of db/migrations/".
func (r Rule) String() string {
	var ops, paths []string
	for _, op := range r.Ops {
		ops = append(ops, string(op))
	}
	for _, p := range r.Paths {
		paths = append(paths, fmt.Sprintf("%q", p.String()))
	}
	what := "every op"
	if len(ops) > 0 {
		what = strings.Join(ops, ", ")
	}
	at := ""
	if when := r.When.String(); when != "" {
		at = fmt.Sprintf(" at %q", when)
	}
	return fmt.Sprintf("%s %s of %s%s", r.Action, what, strings.Join(paths, ", "), at)
}
