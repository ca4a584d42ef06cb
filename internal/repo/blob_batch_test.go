package repo

import (
	"errors"
	"strings"
	"testing"
)

// TestBlobBatch: many blobs from one process are what git stored, a missing one is said to be missing and does not end the
// batch, and after Close blobs are read as without it.
func TestBlobBatch(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t)
			f.repo("r", "--object-format="+format)
			r := f.open("r")
			contents := []string{"", "a", "no end", "line\n", strings.Repeat("x\x00\n", 40000)}
			var ids []string
			for i, c := range contents {
				name := string(rune('a' + i))
				f.write("r/"+name, c)
				ids = append(ids, strings.TrimSpace(f.gitIn("r", "hash-object", "-w", name)))
			}
			if err := r.PrepareBlobs(t.Context()); err != nil {
				t.Fatal(err)
			}
			missing := strings.Repeat("1", len(ids[0]))
			check := func() {
				t.Helper()
				for i, id := range ids {
					if got := readBlob(t, r, id); got != contents[i] {
						t.Errorf("blob %d has %d bytes, want %d", i, len(got), len(contents[i]))
					}
				}
				var gone *MissingObjectError
				if _, _, err := r.OpenBlob(t.Context(), missing); !errors.As(err, &gone) {
					t.Errorf("a missing blob: %v", err)
				}
			}
			check()
			check()
			r.Close()
			check()
		})
	}
}
