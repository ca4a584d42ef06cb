package gate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
)

// TestYesAfterModeDeny: a person sets mode deny while another looks at a card; the yes that comes then lands nothing.
func TestYesAfterModeDeny(t *testing.T) {
	w, _, _ := waiting(t)
	looking := w.open()
	defer looking.Close()
	other := w.open()
	if err := other.SetMode(context.Background(), change.ModeDeny, person()); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := looking.Approve(context.Background(), 1, gate.DecideOptions{Person: person()})
	var denied *gate.DeniedError
	if !errors.As(err, &denied) {
		t.Fatalf("got %v", err)
	}
	for name, want := range map[string]string{"a.txt": "a\n", "b.txt": "b\n"} {
		if got, err := os.ReadFile(filepath.Join(w.root(), name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if e := looking.State().Sets[1]; e.State != change.StatePending || e.Decision != nil {
		t.Errorf("#1 is %s, decided %+v", e.State, e.Decision)
	}
	w.fsck()
}
