package grants

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

// content is a Key known by both its names.
func content(name string) Key { return Key{Mode: "100644", OID: "oid-" + name, SHA256: "sha-" + name} }

func TestKeyMatches(t *testing.T) {
	a := content("a")
	for _, c := range []struct {
		name string
		k, o Key
		want bool
	}{
		{"same", a, a, true},
		{"absent", Key{}, Key{}, true},
		{"absent and not", Key{}, a, false},
		{"mode", a, Key{Mode: "100755", OID: a.OID, SHA256: a.SHA256}, false},
		{"object id alone", a, Key{Mode: a.Mode, OID: a.OID}, true},
		{"digest alone", a, Key{Mode: a.Mode, SHA256: a.SHA256}, true},
		{"object ids differ, so the digest does not count", a, Key{Mode: a.Mode, OID: "other", SHA256: a.SHA256}, false},
		{"object ids agree, so the digest does not count", a, Key{Mode: a.Mode, OID: a.OID, SHA256: "other"}, true},
		{"nothing shared", Key{Mode: a.Mode, OID: a.OID}, Key{Mode: a.Mode, SHA256: a.SHA256}, false},
		{"nothing known", Key{Mode: a.Mode}, Key{Mode: a.Mode}, false},
	} {
		if c.k.Matches(c.o) != c.want || c.o.Matches(c.k) != c.want {
			t.Errorf("%s: Matches(%+v, %+v) is not %v both ways", c.name, c.k, c.o, c.want)
		}
	}
}

func TestKeyOf(t *testing.T) {
	for _, c := range []struct {
		pin  change.Pin
		want Key
	}{
		{change.Absent(), Key{}},
		{change.Pin{}, Key{}},
		{change.Pin{Kind: change.KindFile, Perm: 0o640, OID: "o", SHA256: "s", Size: 3}, Key{"100644", "o", "s"}},
		{change.Pin{Kind: change.KindFile, Perm: 0o755, SHA256: "s"}, Key{"100755", "", "s"}},
		{change.Pin{Kind: change.KindSymlink, OID: "o"}, Key{"120000", "o", ""}},
		{change.Pin{Kind: change.KindOther, SHA256: "s"}, Key{}},
	} {
		if got := KeyOf(c.pin); got != c.want {
			t.Errorf("KeyOf(%+v) = %+v, want %+v", c.pin, got, c.want)
		}
	}
}

func TestChain(t *testing.T) {
	link := func(set int, from, to string) Link {
		l := Link{Path: "p", State: Landed, Set: set}
		if from != "" {
			l.Base = content(from)
		}
		if to != "" {
			l.Result = content(to)
		}
		return l
	}
	links := []Link{
		link(1, "a", "b"), link(2, "b", "c"), link(3, "c", "a"), link(4, "a", "d"), link(5, "d", "c"), link(6, "", "n"), link(7, "n", ""), link(8, "c", "e"),
		{Path: "q", Base: content("e"), Result: content("z"), Set: 9},
	}
	for _, c := range []struct {
		name         string
		head, staged Key
		sets         []int
		ok           bool
	}{
		{"nothing to do", content("x"), content("x"), nil, true},
		{"one link", content("a"), content("b"), []int{1}, true},
		{"two links, the first of two ways", content("a"), content("c"), []int{1, 2}, true},
		{"around a loop", content("c"), content("b"), []int{3, 1}, true},
		{"three links", content("a"), content("e"), []int{1, 2, 8}, true},
		{"no way", content("e"), content("a"), nil, false},
		{"another path's link", content("e"), content("z"), nil, false},
		{"create", Key{}, content("n"), []int{6}, true},
		{"delete", content("n"), Key{}, []int{7}, true},
		{"approved once is not approved for ever", content("e"), content("b"), nil, false},
		{"unknown content", content("a"), content("x"), nil, false},
		{"mode differs", content("a"), Key{Mode: "100755", OID: "oid-b"}, nil, false},
		{"staged, known to git alone", Key{Mode: "100644", OID: "oid-a"}, Key{Mode: "100644", OID: "oid-e"}, []int{1, 2, 8}, true},
	} {
		sets, ok := Chain(links, "p", c.head, c.staged)
		if ok != c.ok || !slices.Equal(sets, c.sets) {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, sets, ok, c.sets, c.ok)
		}
	}
}

// TestChainProperty compares Chain with a plain reachability over contents.
func TestChainProperty(t *testing.T) {
	names := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e"})
	key := func(name string) Key {
		if name == "" {
			return Key{}
		}
		return content(name)
	}
	rapid.Check(t, func(t *rapid.T) {
		var links []Link
		next := map[string][]string{}
		for i := range rapid.IntRange(0, 12).Draw(t, "links") {
			from, to := names.Draw(t, "from"), names.Draw(t, "to")
			path := rapid.SampledFrom([]change.Path{"p", "p", "q"}).Draw(t, "path")
			links = append(links, Link{Path: path, Base: key(from), Result: key(to), Set: i + 1})
			if path == "p" {
				next[from] = append(next[from], to)
			}
		}
		head, staged := names.Draw(t, "head"), names.Draw(t, "staged")
		reached := map[string]bool{head: true}
		for range 6 {
			for from := range reached {
				for _, to := range next[from] {
					reached[to] = true
				}
			}
		}
		sets, ok := Chain(links, "p", key(head), key(staged))
		if ok != reached[staged] {
			t.Fatalf("Chain from %q to %q over %+v = %v", head, staged, links, ok)
		}
		at := key(head)
		for _, set := range sets {
			l := links[set-1]
			if l.Path != "p" || !l.Base.Matches(at) {
				t.Fatalf("the chain %v does not hold together at %d", sets, set)
			}
			at = l.Result
		}
		if ok && !at.Matches(key(staged)) {
			t.Fatalf("the chain %v does not end at %q", sets, staged)
		}
	})
}

func BenchmarkChain(b *testing.B) {
	var links []Link
	for i := range 1000 {
		links = append(links, Link{Path: "p", Base: content(fmt.Sprint(i)), Result: content(fmt.Sprint(i + 1)), Set: i})
	}
	for b.Loop() {
		if _, ok := Chain(links, "p", content("0"), content("1000")); !ok {
			b.Fatal("no chain")
		}
	}
}
