package gate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/config"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/tiers"
)

// past makes a ledger as a gate with some policy would have.
type past struct {
	t      *rapid.T
	conf   config.Config
	state  *projection.State
	events []ledger.Event
	at     time.Time
}

func (p *past) add(typ ledger.Type, data any) string {
	raw, err := json.Marshal(data)
	if err != nil {
		p.t.Fatal(err)
	}
	p.at = p.at.Add(time.Duration(rapid.IntRange(1, 3*60*60).Draw(p.t, "seconds")) * time.Second)
	e := ledger.Event{Seq: uint64(len(p.events) + 1), At: p.at.UTC(), Type: typ, ID: fmt.Sprintf("e-%d", len(p.events)+1), Data: raw}
	p.events = append(p.events, e)
	if err := p.state.Fold([]ledger.Event{e}); err != nil {
		p.t.Fatal(err)
	}
	return e.ID
}

// someChange draws a file change with what was known about it; most could land by themselves, so that the budget counts.
func someChange(t *rapid.T, i int) tiers.FileFacts {
	rare := func(name string) bool { return rapid.IntRange(0, 9).Draw(t, name) == 0 }
	if rapid.IntRange(0, 3).Draw(t, "plain") > 0 {
		f := change.FileChange{Path: change.Path(fmt.Sprintf("plain%d", i)), Op: change.OpEdit, Base: pin("1"), Proposed: pin("2")}
		f.Bytes = rapid.Int64Range(0, 50_000).Draw(t, "few bytes")
		return tiers.FileFacts{File: f, PreImageStored: true}
	}
	path := change.Path(fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"a", "b/c", ".env", "x.sql"}).Draw(t, "path"), i))
	f := change.FileChange{Path: path, Op: rapid.SampledFrom(change.Ops()).Draw(t, "op"), Bytes: rapid.Int64Range(0, 100_000).Draw(t, "bytes"), Binary: rare("binary")}
	f.Base, f.Proposed = pin("1"), pin("2")
	switch f.Op {
	case change.OpCreate:
		f.Base = change.Absent()
	case change.OpDelete:
		f.Proposed = change.Absent()
	case change.OpRename, change.OpCopy:
		f.OldPath = path + "-old"
	}
	return tiers.FileFacts{
		File: f, PreImageStored: !rare("lost"), Ignored: rare("ignored"), HardLink: rare("hard link"), UnderLink: rare("under link"),
		Submodule: rare("submodule"), LinkOutside: rare("outside"), Rollback: rare("rollback"), Recoded: rare("recoded"),
		CorrexOwn: rare("own"), BareRepository: rare("bare"), ShadowsMakefile: rare("makefile"), UntrackedTooLarge: rare("untracked"),
		CopyOf: change.Path(rapid.SampledFrom([]string{"", "", ".env"}).Draw(t, "copy of")), GitProgram: rapid.SampledFrom([]string{"", "", "filter.x"}).Draw(t, "program"),
	}
}

// submit records a set, its verdict by the policy, and its landing if that lets it.
func (p *past) submit() {
	session := p.state.Sessions[rapid.SampledFrom([]string{"s-1", "s-2"}).Draw(p.t, "session")]
	f := tiers.Facts{Origin: rapid.SampledFrom([]change.Origin{change.OriginShadow, change.OriginShadow, change.OriginCommit}).Draw(p.t, "origin"), Enforced: "none"}
	for i := range rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(p.t, "files") {
		f.Files = append(f.Files, someChange(p.t, i))
	}
	set := change.Set{ID: p.state.Last + 1, Worktree: "main", Origin: f.Origin}
	for _, x := range f.Files {
		set.Files = append(set.Files, x.File)
	}
	set.Digest = change.Digest(set.Files)
	if f.Origin == change.OriginShadow {
		set.Session = session.Session
		n, bytes := p.state.Used("main", "")
		f.Used = tiers.Usage{Files: n, Bytes: bytes}
	}
	now := p.at.In(time.FixedZone("", 3600))
	f.Now = momentOf(now)
	r := judgement{Result: tiers.Judge(f, policyOf(p.conf, p.state.Mode)), facts: recordFacts(f, now)}
	if rapid.IntRange(0, 9).Draw(p.t, "rest") == 0 {
		r.wait("rest of a waiting set")
	}
	p.add(ledger.ChangeStaged, projection.ChangeStaged{Set: set})
	if to := rapid.SampledFrom([]change.Outcome{"", "", "", "", "", "", change.Ask, change.Deny}).Draw(p.t, "program"); to != "" {
		from := r.Outcome
		if up := (raises{set.Digest: raised{to: to, reason: "look"}}).raise(&r.Result, set.Files); up.to != from {
			p.add(ledger.ApprovalEscalated, projection.Escalated{Set: set.ID, From: from, To: up.to, Reason: up.reason})
		}
	}
	p.add(ledger.PreflightCompleted, projection.PreflightCompleted{Set: set.ID, Verdict: r.Verdict, Facts: r.facts})
	switch {
	case r.Outcome == change.Ask:
		p.add(ledger.ApprovalPending, projection.Pending{Set: set.ID})
	case r.Outcome == change.Auto && f.Origin == change.OriginShadow:
		p.land(set, ledger.ApprovalGrantedAuto, "correx")
	}
}

func (p *past) land(set change.Set, typ ledger.Type, by string) {
	grant := p.decide(set, typ, by)
	p.add(ledger.ChangeApplied, projection.Applied{Set: set.ID, Landing: grant, Steps: set.Steps()})
}

func (p *past) decide(set change.Set, typ ledger.Type, by string) string {
	return p.add(typ, projection.Decided{Set: set.ID, Decision: change.Decision{By: by, Digest: set.Digest}})
}

// somePolicy draws a configuration.
func somePolicy(t *rapid.T) config.Config {
	c := config.Default()
	c.Policy.Mode = rapid.SampledFrom([]change.Mode{change.ModePrompt, change.ModeAuto, change.ModeAuto, change.ModeAuto, change.ModeYolo}).Draw(t, "mode")
	c.Policy.MaxFiles = rapid.IntRange(0, 3).Draw(t, "max files")
	c.Policy.MaxBytes = rapid.Int64Range(0, 100_000).Draw(t, "max bytes")
	c.Policy.SessionFiles = rapid.IntRange(0, 6).Draw(t, "session files")
	c.Policy.SessionBytes = rapid.Int64Range(0, 300_000).Draw(t, "session bytes")
	for range rapid.IntRange(0, 3).Draw(t, "rules") {
		c.Policy.Rules = append(c.Policy.Rules, someRule(t, tiers.ActionAllow, tiers.ActionAsk, tiers.ActionDeny))
	}
	return c
}

func someRule(t *rapid.T, actions ...tiers.Action) tiers.Rule {
	path, err := tiers.ParsePattern(rapid.SampledFrom([]string{"a*", "b/", "*", "*.sql*"}).Draw(t, "pattern"))
	if err != nil {
		t.Fatal(err)
	}
	r := tiers.Rule{Paths: []tiers.Pattern{path}, Action: rapid.SampledFrom(actions).Draw(t, "action"), Source: "f:1"}
	if times := rapid.SampledFrom([]string{"", "22:00-06:00", "sat-sun"}).Draw(t, "when"); times != "" {
		if r.When, err = tiers.ParseWhen(times); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// tighter draws a configuration that lets pass no more than c.
func tighter(t *rapid.T, c config.Config) config.Config {
	p := &c.Policy
	p.MaxFiles = rapid.IntRange(0, p.MaxFiles).Draw(t, "fewer files")
	p.MaxBytes = rapid.Int64Range(0, p.MaxBytes).Draw(t, "fewer bytes")
	p.SessionFiles = rapid.IntRange(0, p.SessionFiles).Draw(t, "fewer session files")
	p.SessionBytes = rapid.Int64Range(0, p.SessionBytes).Draw(t, "fewer session bytes")
	p.RequireSandbox = rapid.Bool().Draw(t, "sandbox")
	p.Rules = slices.Clone(p.Rules)
	for range rapid.IntRange(0, 2).Draw(t, "more rules") {
		p.Rules = append(p.Rules, someRule(t, tiers.ActionAsk, tiers.ActionDeny))
	}
	if m := rapid.SampledFrom([]change.Mode{change.ModeDeny, change.ModePrompt, change.ModeAuto, change.ModeYolo}).Draw(t, "other mode"); m.StricterThan(p.Mode) {
		p.Mode = m
	}
	return c
}

// somePast draws a ledger made by the configuration c.
func somePast(t *rapid.T, c config.Config) *past {
	p := &past{t: t, conf: c, state: projection.New(), at: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)}
	for _, s := range []string{"s-1", "s-2"} {
		p.add(ledger.SessionOpened, projection.SessionOpened{Session: s, Worktree: "main"})
	}
	for range rapid.IntRange(0, 16).Draw(t, "steps") {
		waiting := p.state.Waiting("main")
		switch what := rapid.IntRange(0, 6).Draw(t, "step"); {
		case what == 6:
			p.add(ledger.ApprovalModeChanged, projection.ModeChanged{Mode: rapid.SampledFrom([]change.Mode{change.ModePrompt, change.ModeAuto}).Draw(t, "set mode")})
		case what >= 4 && len(waiting) > 0:
			e := rapid.SampledFrom(waiting).Draw(t, "set")
			switch typ := rapid.SampledFrom([]ledger.Type{ledger.ApprovalGranted, ledger.ApprovalRejected, ledger.ApprovalSkipped}).Draw(t, "decision"); {
			case e.State == change.StateApproved:
			case typ == ledger.ApprovalGranted && e.Origin == change.OriginShadow:
				p.land(e.Set, typ, "person:dev")
			default:
				p.decide(e.Set, typ, "person:dev")
			}
		default:
			p.submit()
		}
	}
	return p
}

// TestWhatIfSame: by the configuration that was in force nothing comes out otherwise, in all of the past or a part of it; a
// stricter one lets nothing pass that was stopped; and the same question has the same answer.
func TestWhatIfSame(t *testing.T) {
	rank := func(o change.Outcome) int {
		return slices.Index([]change.Outcome{change.Auto, change.Ask, change.Deny}, o)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := somePolicy(t)
		p := somePast(t, c)
		since := p.events[rapid.IntRange(0, len(p.events)-1).Draw(t, "since")].At
		same, err := tryPolicy(p.events, "main", c, since)
		if err != nil || len(same.Different) > 0 || len(same.Unjudged) > 0 {
			t.Fatalf("got %+v, %v", same, err)
		}
		for _, a := range same.Asks {
			if a.Recorded != a.Would {
				t.Fatalf("got %+v", a)
			}
		}
		tight := tighter(t, c)
		found, err := tryPolicy(p.events, "main", tight, since)
		if err != nil || found.Judged != same.Judged {
			t.Fatalf("%d judged, %d before: %v", found.Judged, same.Judged, err)
		}
		for _, d := range found.Different {
			if rank(d.Would.Outcome) <= rank(d.Recorded.Outcome) {
				t.Fatalf("#%d: a stricter policy makes %+v of %+v", d.Set.ID, d.Would, d.Recorded)
			}
		}
		if again, err := tryPolicy(p.events, "main", tight, since); err != nil || !reflect.DeepEqual(found, again) {
			t.Fatalf("got %+v, then %+v, %v", found, again, err)
		}
		if other, err := tryPolicy(p.events, "w-other", tight, since); err != nil || other.Judged != 0 {
			t.Fatalf("in another worktree: %+v, %v", other, err)
		}
	})
}

// TestWhatIfOldLedger: what was recorded without facts is not judged, and what is left is.
func TestWhatIfOldLedger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := somePast(t, somePolicy(t))
		sets := 0
		for i, e := range p.events {
			if e.Type != ledger.PreflightCompleted {
				continue
			}
			sets++
			var d projection.PreflightCompleted
			if err := json.Unmarshal(e.Data, &d); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "old") {
				d.Facts = nil
			}
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			p.events[i].Data = raw
		}
		found, err := tryPolicy(p.events, "main", config.Default(), time.Time{})
		if err != nil || found.Judged+len(found.Unjudged) != sets {
			t.Fatalf("%d sets, got %+v, %v", sets, found, err)
		}
	})
}

// TestRecordedFacts: facts come back from the ledger as they were.
func TestRecordedFacts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := tiers.Facts{Origin: change.OriginShadow, Enforced: "tree", Used: tiers.Usage{Files: 3, Bytes: 9}}
		for i := range rapid.IntRange(0, 4).Draw(t, "files") {
			f.Files = append(f.Files, someChange(t, i))
		}
		now := time.Date(2026, 3, 2, rapid.IntRange(0, 23).Draw(t, "hour"), 59, 59, 0, time.FixedZone("", -5*3600))
		f.Now = momentOf(now)
		raw, err := json.Marshal(recordFacts(f, now))
		if err != nil {
			t.Fatal(err)
		}
		var back projection.Facts
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		var set []change.FileChange
		for _, x := range f.Files {
			set = append(set, x.File)
		}
		if got := recordedFacts(set, f.Origin, &back); !reflect.DeepEqual(f, got) {
			t.Fatalf("got %+v, want %+v: %s", got, f, raw)
		}
	})
}

// TestEveryFactIsRecorded: no fact that policy asks for is left out of the ledger.
func TestEveryFactIsRecorded(t *testing.T) {
	for i := range reflect.TypeFor[tiers.FileFacts]().NumField() {
		field := reflect.TypeFor[tiers.FileFacts]().Field(i)
		if field.Name == "File" {
			continue
		}
		x := tiers.FileFacts{PreImageStored: true}
		switch v := reflect.ValueOf(&x).Elem().Field(i); v.Kind() {
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.String:
			v.SetString("x")
		default:
			t.Fatalf("%s is of a kind this test does not know", field.Name)
		}
		r := recordFacts(tiers.Facts{Files: []tiers.FileFacts{x}}, time.Time{})
		if got := recordedFacts([]change.FileChange{{}}, "", r); got.Files[0] != x {
			t.Errorf("%s is lost", field.Name)
		}
	}
}
