package grants

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

func file(path change.Path, base, proposed string) change.FileChange {
	pin := func(s string) change.Pin {
		if s == "" {
			return change.Absent()
		}
		return change.Pin{Kind: change.KindFile, Perm: 0o644, Size: int64(len(s)), SHA256: "sha-" + s}
	}
	return change.FileChange{Path: path, Op: change.OpEdit, Base: pin(base), Proposed: pin(proposed)}
}

func TestRefusals(t *testing.T) {
	var r Refusals
	a, b, c := file("a", "1", "2"), file("b", "1", "2"), file("c", "1", "2")
	if _, ok := r.Of(a); ok {
		t.Error("the zero Refusals remembers something")
	}
	if _, ok := r.All(nil); ok {
		t.Error("no files count as refused")
	}
	r.Forget([]change.FileChange{a})
	r.Add(Refusal{3, "no"}, []change.FileChange{a, b})
	r.Add(Refusal{5, "still no"}, []change.FileChange{b, c})
	for _, x := range []struct {
		name  string
		files []change.FileChange
		set   int // 0: not refused
	}{
		{"one", []change.FileChange{a}, 3},
		{"the first refusal of two", []change.FileChange{b}, 3},
		{"of two sets, the earliest", []change.FileChange{c, a}, 3},
		{"all of the later set", []change.FileChange{c}, 5},
		{"one that was not", []change.FileChange{a, file("d", "1", "2")}, 0},
		{"a byte of the proposal differs", []change.FileChange{file("a", "1", "3")}, 0},
		{"a byte of the base differs", []change.FileChange{file("a", "0", "2")}, 0},
		{"another path", []change.FileChange{file("A", "1", "2")}, 0},
	} {
		got, ok := r.All(x.files)
		if ok != (x.set != 0) || got.Set != x.set {
			t.Errorf("%s: %+v, %v", x.name, got, ok)
		}
	}
	// What git does not see makes no difference; what it sees does.
	same := a
	same.Op, same.Base.Perm, same.Proposed.Perm, same.Proposed.OID, same.Added = change.OpOverwrite, 0o600, 0o664, "o", 7
	if got, ok := r.Of(same); !ok || got.Reason != "no" {
		t.Error("permission bits that git does not keep make another change")
	}
	same.Proposed.Perm = 0o755
	if _, ok := r.Of(same); ok {
		t.Error("an executable bit makes no difference")
	}
	r.Forget([]change.FileChange{b})
	if _, ok := r.All([]change.FileChange{b}); ok {
		t.Error("a forgotten change is still refused")
	}
	if got, ok := r.All([]change.FileChange{a}); !ok || got.Set != 3 {
		t.Error("forgetting one change of a set forgets the others")
	}
}

// TestRefusalsIdentity: two file changes are one in memory exactly if change.FileChange.Same says so.
func TestRefusalsIdentity(t *testing.T) {
	pin := rapid.Custom(func(t *rapid.T) change.Pin {
		return change.Pin{
			Kind:   rapid.SampledFrom([]change.Kind{change.KindAbsent, change.KindFile, change.KindFile, change.KindSymlink, ""}).Draw(t, "kind"),
			Perm:   rapid.SampledFrom([]uint32{0o600, 0o644, 0o755}).Draw(t, "perm"),
			Size:   rapid.Int64Range(0, 1).Draw(t, "size"),
			SHA256: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "digest"),
		}
	})
	path := rapid.SampledFrom([]change.Path{"a", "b", "a\xff", "true"})
	one := rapid.Custom(func(t *rapid.T) change.FileChange {
		return change.FileChange{
			Path: path.Draw(t, "path"), OldPath: path.Draw(t, "old path"), Op: rapid.SampledFrom([]change.Op{change.OpEdit, change.OpRename, change.OpCopy}).Draw(t, "op"),
			Base: pin.Draw(t, "base"), Proposed: pin.Draw(t, "proposed"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := one.Draw(t, "a"), one.Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") {
			b = a
			b.OldPath = path.Draw(t, "another old path")
			b.Base.Perm = rapid.SampledFrom([]uint32{0o600, 0o644, 0o755}).Draw(t, "another perm")
		}
		var r Refusals
		r.Add(Refusal{Set: 1}, []change.FileChange{a})
		if _, ok := r.Of(b); ok != a.Same(b) {
			t.Fatalf("%+v and %+v: refused %v, the same %v", a, b, ok, a.Same(b))
		}
	})
}
