package gate

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// TestRaise: whatever a program says, a verdict is never lowered, its tier, risk and reasons stay, and what was raised says
// by what.
func TestRaise(t *testing.T) {
	order := []change.Outcome{change.Auto, change.Ask, change.Deny}
	rapid.Check(t, func(t *rapid.T) {
		set := files("a:1>2")
		was := tiers.Result{Verdict: change.Verdict{
			Outcome: rapid.SampledFrom(order).Draw(t, "was"), Tier: change.T3, Risk: change.RiskHigh, Reasons: []change.Reason{change.Budget}, SettledBy: "x", Why: []string{"y"},
		}}
		said := raises{}
		if rapid.Bool().Draw(t, "asked") {
			to := rapid.SampledFrom(append([]change.Outcome{"", "odd"}, order...)).Draw(t, "said")
			said[change.Digest(set)] = raised{to: to, reason: "because"}
		}
		if rapid.IntRange(0, 3).Draw(t, "no program") == 0 {
			said = nil
		}
		now := was
		now.Why = slices.Clone(was.Why)
		up := said.raise(&now, set)
		rank := func(o change.Outcome) int { return slices.Index(order, o) }
		switch {
		case rank(now.Outcome) < rank(was.Outcome), now.Tier != was.Tier, now.Risk != was.Risk, !slices.Equal(now.Reasons, was.Reasons):
			t.Fatalf("%+v becomes %+v", was, now)
		case up.to != now.Outcome:
			t.Fatalf("%+v is told of %+v", up, now)
		case now.Outcome != was.Outcome && (now.SettledBy != byEscalation || len(now.Why) != 2):
			t.Fatalf("raised, and does not say by what: %+v", now)
		case now.Outcome == was.Outcome && (now.SettledBy != was.SettledBy || len(now.Why) != 1):
			t.Fatalf("not raised: %+v", now)
		case said != nil && len(said) == 0 && now.Outcome == change.Auto:
			t.Fatalf("nobody was asked, and it passes: %+v", now)
		}
	})
}
