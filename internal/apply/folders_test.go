package apply

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/correx/correx/internal/change"
)

// TestFoldersComeBackAsTheyWere takes folders away with what is in them, brings them back, and takes them away again: each
// time they have the permission bits that they had.
func TestFoldersComeBackAsTheyWere(t *testing.T) {
	for _, s := range scenarios {
		gone := emptied(s.before, s.after)
		if len(gone) == 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			for i, perm := range []fs.FileMode{0o700, 0o750, 0o711, 0o777, 0o775 | fs.ModeSetgid, 0o777 | fs.ModeSticky} {
				root, _ := build(t, s.before)
				want := map[change.Path]fs.FileMode{}
				for j, p := range gone {
					want[p] = perm
					if (i+j)%2 == 1 {
						want[p] = 0o701
					}
					must(t, os.Chmod(filepath.Join(root, string(p)), want[p]))
				}
				l, store := s.landing()
				done := landAll(t, root, store, l)
				for round := range 3 {
					back := Landing{ID: "back", RestorePerm: true, RemoveFolders: done.Made, Restore: done.Removed}
					for _, f := range done.Removed {
						back.RemoveFolders = append(back.RemoveFolders, f.Path)
					}
					for _, step := range done.Steps {
						back.Steps = append(back.Steps, change.Step{Path: step.Path, Base: step.Result, Result: step.Base})
					}
					done = landAll(t, root, store, back)
					if round%2 == 0 {
						expectTree(t, root, s.before)
						expectPerms(t, root, want)
					}
				}
			}
		})
	}
}

func landAll(t *testing.T, root string, store memory, l Landing) Landed {
	t.Helper()
	e := newEngine(t, root, store, nil)
	defer e.Close()
	var done Landed
	if _, err := e.Land(context.Background(), l, func(d Landed) error { done = d; return nil }); err != nil {
		t.Fatal(err)
	}
	return done
}

func expectPerms(t *testing.T, root string, want map[change.Path]fs.FileMode) {
	t.Helper()
	for p, perm := range want {
		info, err := os.Stat(filepath.Join(root, string(p)))
		if err != nil {
			t.Error(err)
		} else if got := info.Mode() &^ fs.ModeDir; got != perm {
			t.Errorf("%q has %v, want %v", p, got, perm)
		}
	}
}
