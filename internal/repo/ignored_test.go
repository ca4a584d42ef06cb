package repo

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/correx/correx/internal/change"
)

func ignoredPaths(t *testing.T, r *Repo, dirs map[change.Path]bool, paths ...change.Path) []string {
	t.Helper()
	covered, err := r.Ignored(context.Background(), paths, dirs)
	if err != nil {
		t.Fatal(err)
	}
	var out []change.Path
	for p := range covered {
		out = append(out, p)
	}
	return strs(out)
}

func TestIgnoreRulesFromEverywhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.gitIn("r", "config", "core.excludesFile", f.path("glob"))
	f.write("glob", "*.g\n")
	f.write("r/.git/info/exclude", "*.i\n")
	f.write("r/.gitignore", "\ufefffirst.b\n*.sp \nkeep\\ \n\\#h\n\\!bang\nlib/*\n!lib/in\n/top\nd/**/e\nbuild/\n:colon\n")
	f.write("r/in/.gitignore", "deep\n")
	paths := []change.Path{"a.g", "a.i", "first.b", "a.sp", "keep ", "keep", "#h", "!bang", "lib/out", "lib/in", "top",
		"sub/top", "d/e", "d/x/y/e", "build", "x/build", "build/deep/file", "in/deep", "deep", ":colon", "a", "in/b",
		"tracked.g", ".git/config", "sub/.git/x"}
	f.write("r/tracked.g", "x\n")
	f.gitIn("r", "add", "-f", "tracked.g")
	r := f.open("r")
	want := []string{"!bang", "#h", ":colon", "a.g", "a.i", "a.sp", "build/deep/file", "d/e", "d/x/y/e", "first.b", "in/deep",
		"keep ", "lib/out", "top", "tracked.g"}
	if d := cmp.Diff(want, ignoredPaths(t, r, nil, paths...)); d != "" {
		t.Error(d)
	}
	dirs := map[change.Path]bool{"build": true, "x/build": true, "lib": true}
	if d := cmp.Diff([]string{"build", "x/build"}, ignoredPaths(t, r, dirs, "build", "x/build", "lib", "y/build")); d != "" {
		t.Error(d)
	}
}

// Git refuses a whole batch because of one path beyond a symlink.
func TestIgnoredBeyondSymlink(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.write("elsewhere/x", "x\n")
	f.write("r/.gitignore", "modules/\nlinked\n*.log\n")
	for _, name := range []string{"modules", "linked", "plain"} {
		if err := os.Symlink(f.path("elsewhere"), f.path("r/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := f.try("r", "check-ignore", "--no-index", "plain/x"); err == nil || !strings.Contains(out, "beyond a symbolic") {
		t.Fatalf("git takes it now: %s", out)
	}
	r := f.open("r")
	got := ignoredPaths(t, r, nil, "modules/x", "modules/a/b", "linked/x", "plain/x", "a.log", "a", "plain", "linked", "modules")
	if d := cmp.Diff([]string{"a.log", "linked", "linked/x"}, got); d != "" {
		t.Error(d)
	}
	// A link that is not known about when the batch is made costs nothing but that path.
	q := ignoreQuery{repo: r, git: r.git, rules: map[string]ignoreRule{}}
	var batch []string
	for i := range 200 {
		batch = append(batch, fmt.Sprintf("./%d.log", i))
	}
	batch[137] = "./plain/x.log"
	if err := q.ask(context.Background(), batch); err != nil || len(q.rules) != 199 {
		t.Errorf("%d ignored, %v", len(q.rules), err)
	}
}

func TestIgnoredHugeBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	f.write("r/.gitignore", "*.log\n")
	var paths []change.Path
	for i := range 60000 {
		paths = append(paths, change.Path(fmt.Sprintf("folder-%d/some/quite/long/name/of/a/file-%d.%s", i%50, i, []string{"log", "txt"}[i%2])))
	}
	covered, err := f.open("r").Ignored(context.Background(), paths, nil)
	if err != nil || len(covered) != 30000 {
		t.Errorf("%d ignored, %v", len(covered), err)
	}
}

// For every folder, git is asked about the imagined one here and about the real one there.
func TestIgnoredImaginedFolders(t *testing.T) {
	t.Parallel()
	rules := []string{"x", "x/", "/x/", "x/*", "x/**", "**/x", "**/x/", "*", "*/", "x\n!x/", "x/\n!x", "*\n!x/", "*\n!x", "/*\n!/x/\n/x/*\n!/x/y/",
		"x*/", "[x]", "!x", "x/y", "x/y/", "y", "**/y/**", "/**", "x/\n!x/y", "x \ny/"}
	dirs := map[change.Path]bool{"x": true, "x/y": true, "x/y/z": true, "z": true, "z/x": true, "z/x/y": true}
	for i, rule := range rules {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			f := newFixture(t)
			f.gitIn(".", "init", "-q", "real")
			f.gitIn(".", "init", "-q", "imagined")
			f.write("real/.gitignore", rule+"\n")
			f.write("imagined/.gitignore", rule+"\n")
			var paths []change.Path
			for p := range dirs {
				if err := os.MkdirAll(f.path("real/"+string(p)), 0o755); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, p)
			}
			f.write("imagined/z", "a file\n")
			want := ignoredPaths(t, f.open("real"), dirs, paths...)
			got := ignoredPaths(t, f.open("imagined"), dirs, paths...)
			for p := range dirs {
				real, imagined := slices.Contains(want, string(p)), slices.Contains(got, string(p))
				everything := strings.HasPrefix(rule, "*") || strings.Contains(rule, "/*")
				if imagined && !real || real && !imagined && !everything {
					t.Errorf("rule %q: %q ignored %v, expected %v", rule, p, imagined, real)
				}
			}
		})
	}
}
