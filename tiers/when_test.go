package tiers

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

func when(t interface{ Fatal(...any) }, text string) When {
	w, err := ParseWhen(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// anyWhen draws times, or none.
func anyWhen() *rapid.Generator[When] {
	return rapid.Custom(func(t *rapid.T) When {
		text := rapid.SampledFrom([]string{"", "", "22:00-06:00", "sat-sun", "fri-mon", "mon-fri 09:00-17:30", "sun 23:59-00:01, wed 00:00-24:00"}).Draw(t, "when")
		if text == "" {
			return When{}
		}
		return when(t, text)
	})
}

func anyMoment() *rapid.Generator[Moment] {
	return rapid.Custom(func(t *rapid.T) Moment { return Moment(rapid.IntRange(0, minutesOfWeek).Draw(t, "moment")) })
}

func TestParseWhen(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 `found ""`,
		" ":                                `found " "`,
		"22:00-06:00,":                     `found ""`,
		"22:00":                            `expected a time of day such as "22:00-06:00", found "22:00"`,
		"22-06":                            `found "22-06"`,
		"9:00-17:00":                       `found "9:00-17:00"`,
		"09:60-17:00":                      `found "09:60-17:00"`,
		"09:00-24:01":                      `found "09:00-24:01"`,
		"24:00-06:00":                      `found "24:00-06:00"`,
		"09:00-17:00-18:00":                `found "09:00-17:00-18:00"`,
		"٠٩:00-17:00":                      `found "٠٩:00-17:00"`,
		"-9:00-17:00":                      `found "-9:00-17:00"`,
		"08:00-08:00":                      `begins where it ends`,
		"monday":                           `expected days such as "sat" or "mon-fri" (mon tue wed thu fri sat sun), found "monday"`,
		"Mon 09:00-10:00":                  `found "Mon"`,
		"mon-":                             `found "mon-"`,
		"mon-tue-wed":                      `found "mon-tue-wed"`,
		"-":                                `found "-"`,
		"mon tue":                          `expected a time of day such as "22:00-06:00", found "tue"`,
		"mon 09:00-10:00 tue":              `expected days and one time of day, with a comma before the next`,
		"09:00-10:00 mon":                  `expected days and one time of day`,
		strings.Repeat("mon,", 50):         `found ""`,
		strings.Repeat("mon,", 50) + "tue": `lists more than 50 times`,
	} {
		if w, err := ParseWhen(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %s", text, w, err, want)
		}
	}
}

func TestWhenHolds(t *testing.T) {
	days := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	for _, c := range []struct {
		when    string
		in, out string
	}{
		{"22:00-06:00", "mon 22:00, mon 23:59, tue 00:00, sun 05:59", "mon 21:59, mon 06:00, wed 12:00"},
		{"09:00-17:30", "mon 09:00, sun 17:29", "mon 08:59, mon 17:30"},
		{"fri 22:00-06:00", "fri 22:00, sat 05:59", "fri 05:00, sat 06:00, sat 22:00, thu 23:00"},
		{"sun 22:00-06:00", "sun 22:00, mon 05:59", "mon 06:00, mon 22:00, sun 05:00"},
		{"sat-sun", "sat 00:00, sun 23:59", "fri 23:59, mon 00:00"},
		{"sat-mon", "sat 00:00, sun 12:00, mon 23:59", "fri 23:59, tue 00:00"},
		{"18:00-24:00", "mon 18:00, mon 23:59", "tue 00:00, mon 17:59"},
		{"18:00-00:00", "mon 18:00, mon 23:59", "tue 00:00, mon 17:59"},
		{"mon 00:00-24:00", "mon 00:00, mon 23:59", "sun 23:59, tue 00:00"},
		{" mon-fri  09:00-12:00 ,sat", "wed 09:00, sat 20:00", "sun 10:00, wed 12:00, fri 23:00"},
	} {
		w := when(t, c.when)
		for list, want := range map[string]bool{c.in: true, c.out: false} {
			for _, at := range strings.Split(list, ", ") {
				minute, _ := parseClock(at[4:])
				m := MomentAt(slices.Index(days, at[:3]), minute/60, minute%60)
				if got := w.Holds(m); got != want {
					t.Errorf("%q at %s: %t", c.when, at, got)
				}
			}
		}
		if w.Holds(0) || w.Holds(-5) || w.Holds(minutesOfWeek+1) {
			t.Errorf("%q holds at no time", c.when)
		}
	}
	if !(When{}).Holds(0) || !(When{}).Holds(1) {
		t.Error("always does not hold")
	}
}

// TestRulesAtTimes: a rule that holds now is one without times, and one that does not is none. Where the time is not known,
// an allow is none, and an ask or a deny holds.
func TestRulesAtTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := anyFacts().Draw(t, "facts"), anyPolicy().Draw(t, "policy")
		f.Now = anyMoment().Draw(t, "now")
		plain := p
		plain.Rules = nil
		for _, r := range p.Rules {
			holds := r.When.Holds(f.Now)
			if f.Now == 0 {
				holds = r.Action != ActionAllow || r.When.String() == ""
			}
			r.When = When{}
			if holds {
				plain.Rules = append(plain.Rules, r)
			}
		}
		if diff := cmp.Diff(Judge(f, plain), Judge(f, p)); diff != "" {
			t.Fatal(diff)
		}
		// Whatever else is said, a rule that asks or denies at times never loosens.
		more := p
		more.Rules = append(slices.Clone(p.Rules), anyRule().Filter(func(r Rule) bool { return r.Action != ActionAllow }).Draw(t, "more"))
		if a, b := Judge(f, p).Verdict, Judge(f, more).Verdict; !stricter(a, b) {
			t.Fatalf("%+v loosens %+v to %+v", more.Rules[len(p.Rules)], a, b)
		}
	})
}

// TestExplainWhen: a rule that would hold at another time is told from one that names something else.
func TestExplainWhen(t *testing.T) {
	p := rules(t, "deny any a", "deny any b", "allow any a")
	for i := range p.Rules {
		p.Rules[i].When = when(t, "sat-sun")
	}
	facts := Facts{Files: []FileFacts{fact(change.OpEdit, "a")}, Origin: change.OriginShadow, Now: MomentAt(2, 12, 0)}
	r, steps := Explain(facts, p)
	var got []string
	for _, s := range steps {
		if strings.HasPrefix(s.Name, "rule:") {
			got = append(got, s.Says+": "+s.Result)
		}
	}
	if diff := cmp.Diff([]string{
		`deny every op of "a" at "sat-sun": not now`, `deny every op of "b" at "sat-sun": no match`, `allow every op of "a" at "sat-sun": not now`,
	}, got); diff != "" || r.Outcome != change.Auto {
		t.Error(r.Outcome, diff)
	}
	facts.Now = MomentAt(5, 12, 0)
	if r, _ := Explain(facts, p); r.Outcome != change.Deny || r.SettledBy != "rule:c.toml:1" {
		t.Errorf("at the weekend: %+v", r.Verdict)
	}
}

// FuzzParseWhen: any text is refused, or holds at some time and has an end.
func FuzzParseWhen(f *testing.F) {
	for _, text := range []string{"22:00-06:00", "mon-fri 09:00-17:30, sat", "sat-sun", "", "24:00-00:00", "mon mon"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseWhen(text)
		if err != nil {
			return
		}
		for m := Moment(1); m <= minutesOfWeek; m++ {
			if w.Holds(m) {
				return
			}
		}
		t.Errorf("%q never holds", text)
	})
}
