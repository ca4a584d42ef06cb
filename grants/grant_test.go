package grants

import (
	"slices"
	"testing"

	"github.com/correx/correx/internal/change"
)

func ids(list []Held) []string {
	var out []string
	for _, h := range list {
		out = append(out, h.ID)
	}
	return out
}

func TestBook(t *testing.T) {
	var b Book
	for _, h := range []Held{
		{Grant: Grant{ID: "g-1", Scope: Stage}, Session: "s-1", StageEvent: "e-1", Stage: "x"},
		{Grant: Grant{ID: "g-2", Scope: Session}, Session: "s-1"},
		{Grant: Grant{ID: "g-3", Scope: Session}, Session: "s-2"},
		{Grant: Grant{ID: "g-4", Scope: Project}},
		{Grant: Grant{ID: "g-5", Scope: Stage}, Session: "s-1", StageEvent: "e-2", Stage: "x"},
	} {
		if !b.Add(h) {
			t.Fatalf("%s was not taken", h.ID)
		}
	}
	if b.Add(Held{Grant: Grant{ID: "g-2", Scope: Session}, Session: "s-2"}) || b.Add(Held{Grant: Grant{ID: "g-2", Scope: Project}}) {
		t.Error("an id was taken twice")
	}
	is := func(want ...string) {
		t.Helper()
		if got := ids(b.Standing()); !slices.Equal(got, want) {
			t.Errorf("%v stand, want %v", got, want)
		}
	}
	is("g-2", "g-3", "g-1", "g-5")
	b.EndStage("e-1")
	is("g-2", "g-3", "g-5")
	b.Revoke("g-3")
	b.Revoke("g-unknown")
	is("g-2", "g-5")
	b.Use("g-4", "2026-01-02T03:04:05Z", 7)
	if !b.Add(Held{Grant: Grant{ID: "g-4", Scope: Project, Ops: []change.Op{change.OpEdit}}}) {
		t.Error("a project's grant was not taken again")
	}
	if h, ok := b.Get("g-4"); !ok || h.Uses != 1 || h.LastSet != 7 || h.LastUse == "" || len(h.Ops) != 1 {
		t.Errorf("%+v", h)
	}
	b.EndSession("s-1")
	is()
	if _, ok := b.Get("g-9"); ok {
		t.Error("an unknown grant is known")
	}
}

func TestExpired(t *testing.T) {
	for _, c := range []struct {
		expires, now string
		want         bool
	}{
		{"", "2026-01-02T03:04:05Z", false},
		{"2026-01-02T03:04:05Z", "2026-01-02T03:04:04Z", false},
		{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", true},
		{"2026-01-02T03:04:05Z", "2027-01-01T00:00:00Z", true},
	} {
		if got := (Grant{Expires: c.expires}).Expired(c.now); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
