package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/correx/correx/internal/change"
)

// awkward are names that broke other tools.
func awkward() []string {
	return []string{
		":(top)x", ":x", "-n", "--", " lead", "trail ", "a\tb", "a\nb", "q\"q", "back\\slash", "*", "[a]", "?", "!x", "#h",
		"nfc\u00e9", "nfde\u0301", "bad\xff", "bad\xfe", "\x01ctl", "~tilde", "$HOME", "d/:(glob)**", "com,ma", "\u202ebidi",
	}
}

func TestAwkwardNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	for _, name := range awkward() {
		f.write("r/tracked/"+name, "t\n")
		f.write("r/"+name, "t\n")
	}
	f.gitIn("r", "add", "tracked")
	for _, name := range awkward() {
		f.write("r/loose/"+name, "u\n")
	}
	f.write("r/.gitignore", "loose/bad\xff\n")
	r := f.open("r")
	l, err := r.Files(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(nulFields(f.gitIn("r", "ls-files", "-z")), trackedPaths(l)); d != "" {
		t.Error(d)
	}
	want := nulFields(f.gitIn("r", "ls-files", "-z", "-o", "--exclude-standard"))
	if d := cmp.Diff(want, strs(l.Untracked)); d != "" {
		t.Error(d)
	}
	if slices.Contains(l.Untracked, "loose/bad\xff") || !slices.Contains(l.Untracked, "loose/bad\xfe") {
		t.Error("two names that are not UTF-8 were taken for one")
	}
	staged, err := r.StagedChanges(context.Background())
	if err != nil || len(staged) != len(awkward()) {
		t.Errorf("%d staged, %v", len(staged), err)
	}
	var inputs []BlobInput
	for _, name := range awkward() {
		inputs = append(inputs, textInput("tracked/"+name, "t\n"))
	}
	ids, err := r.BlobIDs(context.Background(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range staged {
		if ids[s.Path] != s.NewOID {
			t.Errorf("%q: id %q, expected %q", s.Path, ids[s.Path], s.NewOID)
		}
	}
	f.commit("r", "all")
	for _, name := range awkward() {
		p := change.Path("tracked/" + name)
		if mode, _, err := r.HeadEntry(context.Background(), p); mode != ModeFile || err != nil {
			t.Errorf("HEAD entry of %q: %q, %v", p, mode, err)
		}
		head, _ := r.Head(context.Background())
		if mode, _, err := r.findByGit(context.Background(), head.OID, p); mode != ModeFile || err != nil {
			t.Errorf("HEAD entry of %q by git: %q, %v", p, mode, err)
		}
	}
}

func TestNestedAndSpecial(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("lib")
	f.repo("r")
	f.gitIn("r", "submodule", "--quiet", "add", f.path("lib"), "dep")
	f.repo("r/nested/inner")
	f.gitIn(".", "init", "-q", "r/fresh")
	f.write("r/fresh/x", "x\n")
	f.write("r/dep/untracked", "x\n")
	if err := os.Symlink("nowhere", f.path("r/link")); err != nil {
		t.Fatal(err)
	}
	makeFIFO(t, f.path("r/pipe"))
	makeFIFO(t, f.path("r/in/.gitignore.pipe"))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r := f.open("r")
	l, err := r.Files(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]change.Path{"fresh", "nested/inner"}, l.Nested); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]change.Path{"link"}, l.Untracked); d != "" {
		t.Error(d)
	}
	if i := slices.IndexFunc(l.Tracked, func(e Entry) bool { return e.Path == "dep" }); i < 0 || !l.Tracked[i].Submodule() {
		t.Errorf("tracked %+v", l.Tracked)
	}
	if _, err := r.Ignored(ctx, []change.Path{"pipe", "in/x"}, nil); err != nil {
		t.Error(err)
	}
}

// Git waits for ever where an ignore file is a FIFO. The caller's context ends it.
func TestContextEndsGit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	makeFIFO(t, f.path("r/in/.gitignore"))
	r := f.open("r")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if l, err := r.Files(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestIntentToAddAndConflict(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.write("r/empty", "")
	f.commit("r", "empty")
	f.gitIn("r", "checkout", "-q", "-b", "side")
	f.write("r/a", "side\n")
	f.gitIn("r", "commit", "-qam", "side")
	f.gitIn("r", "checkout", "-q", "main")
	f.write("r/a", "main\n")
	f.gitIn("r", "commit", "-qam", "main")
	if out, err := f.try("r", "merge", "-q", "side"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	f.write("r/announced", "x\n")
	f.write("r/empty2", "")
	f.gitIn("r", "add", "-N", "announced")
	f.gitIn("r", "add", "empty2")
	for _, open := range []func(context.Context, Options) (*Repo, error){Open, OpenFast} {
		r, err := open(context.Background(), f.options("r"))
		if err != nil {
			t.Fatal(err)
		}
		l, err := r.Files(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		stages := map[int]bool{}
		for _, e := range l.Tracked {
			if e.Path == "a" {
				stages[e.Stage] = true
			}
			if e.IntentToAdd != (e.Path == "announced") {
				t.Errorf("intent of %q: %v", e.Path, e.IntentToAdd)
			}
		}
		if len(stages) != 3 || stages[0] {
			t.Errorf("stages %v", stages)
		}
		staged, err := r.StagedChanges(context.Background())
		if err != nil || len(staged) != 2 {
			t.Fatalf("staged %+v, %v", staged, err)
		}
		a := staged[0]
		if a.Path != "a" || !a.Unmerged || a.Deleted() || a.OldMode != ModeFile || a.NewOID != "" {
			t.Errorf("conflict %+v", a)
		}
		if staged[1].Path != "empty2" || staged[1].NewOID != emptyBlob(formatSHA1) {
			t.Errorf("empty file %+v", staged[1])
		}
	}
}

// More announced candidates than fit an argument list.
func TestManyEmptyFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	for i := range 700 {
		f.write(filepath.Join("r/e", strings.Repeat("x", 1+i%7), strings.Repeat("y", 1+i/7)), "")
	}
	f.gitIn("r", "add", "e")
	f.write("r/announced", "x\n")
	f.gitIn("r", "add", "-N", "announced")
	l, err := f.open("r").Files(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Tracked {
		if e.IntentToAdd != (e.Path == "announced") {
			t.Fatalf("intent of %q: %v", e.Path, e.IntentToAdd)
		}
	}
}

// The index git hands to a hook for a partial commit is the one that counts.
func TestHookIndex(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.write("r/a", "2\n")
	f.write("r/in/b", "2\n")
	f.gitIn("r", "add", "in/b")
	f.env = append(f.env, "GIT_INDEX_FILE="+f.path("r/.git/next-index-1.lock"))
	f.gitIn("r", "read-tree", "HEAD")
	f.gitIn("r", "add", "a")
	for _, name := range []string{".git/next-index-1.lock", f.path("r/.git/next-index-1.lock")} {
		o := f.options("r")
		o.IndexFile = name
		r, err := OpenFast(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		staged, err := r.StagedChanges(context.Background())
		if err != nil || len(staged) != 1 || staged[0].Path != "a" {
			t.Errorf("staged %+v, %v", staged, err)
		}
	}
	o := f.options("r")
	o.IndexFile = "missing"
	r, err := OpenFast(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if staged, err := r.StagedChanges(context.Background()); err == nil {
		t.Errorf("missing index: staged %+v", staged)
	}
}

// No setting of the repository, of .gitmodules or of diff hides a moved submodule.
func TestSubmoduleMoveIsSeen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("lib")
	f.repo("r")
	f.gitIn("r", "submodule", "--quiet", "add", f.path("lib"), "dep")
	f.commit("r", "dep")
	f.gitIn("r/dep", "commit", "-q", "--allow-empty", "-m", "move")
	f.gitIn("r", "add", "dep")
	f.gitIn("r", "config", "submodule.dep.ignore", "all")
	f.gitIn("r", "config", "-f", ".gitmodules", "submodule.dep.ignore", "all")
	f.gitIn("r", "config", "diff.ignoreSubmodules", "all")
	f.gitIn("r", "config", "diff.noprefix", "true")
	f.gitIn("r", "config", "diff.relative", "true")
	f.gitIn("r", "config", "core.quotePath", "true")
	staged, err := f.open("r/in").StagedChanges(context.Background())
	if err != nil || len(staged) != 1 || staged[0].NewMode != ModeSubmodule || staged[0].OldOID == staged[0].NewOID {
		t.Errorf("staged %+v, %v", staged, err)
	}
}
