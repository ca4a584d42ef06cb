package apply

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/faultfs"
)

// drawLayout draws a tree over few names, so that files, links and folders take each other's places.
func drawLayout(t *rapid.T, label string) layout {
	l := layout{}
	for _, p := range []change.Path{"a", "a/x", "a/y", "a/y/z", "b", "b/x", "c/d", "c/d/e", "f"} {
		taken := slices.ContainsFunc(p.Ancestors(), func(up change.Path) bool { _, ok := l[up]; return ok })
		if taken || rapid.Bool().Draw(t, label+string(p)) {
			continue
		}
		n := node{text: rapid.SampledFrom([]string{"", "one\n", "two\n", "a/x"}).Draw(t, "text"), link: rapid.IntRange(0, 4).Draw(t, "link") == 0}
		if n.link && n.text == "" {
			n.text = "nowhere"
		}
		if !n.link {
			n.perm = rapid.SampledFrom([]uint32{0o644, 0o755, 0o600, 0o640, 0o700, 0o444}).Draw(t, "perm")
		}
		l[p] = n
	}
	return l
}

// changesNothing reports steps that differ in nothing that lands.
func changesNothing(steps []change.Step) bool {
	return !slices.ContainsFunc(steps, func(s change.Step) bool { return !s.Base.SameForGit(s.Result) })
}

// TestAnyLanding lands between any two trees, over a disk that stops somewhere and a person who acts somewhere.
func TestAnyLanding(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := scenario{"any", drawLayout(rt, "before "), drawLayout(rt, "after ")}
		l, _ := s.landing()
		if len(l.Steps) == 0 || changesNothing(l.Steps) {
			return
		}
		modes := []faultfs.Mode{faultfs.FailOnce, faultfs.FailFrom, faultfs.Crash}
		f := &faults{slow: rapid.Bool().Draw(rt, "slow")}
		f.At, f.Mode = rapid.IntRange(0, 150).Draw(rt, "at"), rapid.SampledFrom(modes).Draw(rt, "mode")
		r := newTrial(t, s, f)
		p := &person{}
		if rapid.Bool().Draw(rt, "a person is there") {
			p.path = rapid.SampledFrom(l.Steps).Draw(rt, "path").Path
			p.act = rapid.SampledFrom(acts).Draw(rt, "act")
		}
		_, died, err := r.land(t)
		if died || errors.Is(err, ErrUnfinished) {
			if p.act != "" {
				p.do(t, r.root)
			}
			if _, _, err := r.recover(t, &faults{slow: f.slow}); err != nil {
				rt.Fatal(err)
			}
		} else if (err == nil) != r.committed {
			rt.Fatalf("committed %v, %v", r.committed, err)
		}
		if f.slow && p.wasUndone(t, r) {
			p.did = false
		}
		r.expectOthers(t, p)
		if !p.did {
			r.expectWhole(t)
		}
		if t.Failed() {
			rt.Fatalf("landing %+v", s)
		}
	})
}
