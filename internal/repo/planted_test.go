package repo

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
)

// vector is a way to make git run a program that lies in the tree.
type vector struct {
	name string
	// plant sets it up; mark is the planted program, which leaves a file "ran" behind.
	plant func(f *fixture, mark string)
	// control is a git command an unguarded caller might use, which runs the program.
	control []string
	// programs are paths in the tree that must be reported.
	programs []change.Path
}

func vectors() []vector {
	set := func(pairs ...string) func(*fixture, string) {
		return func(f *fixture, mark string) {
			for i := 0; i < len(pairs); i += 2 {
				f.gitIn("r", "config", pairs[i], strings.ReplaceAll(pairs[i+1], "MARK", mark))
			}
		}
	}
	with := func(attributes string, rest func(*fixture, string)) func(*fixture, string) {
		return func(f *fixture, mark string) {
			f.write("r/.gitattributes", attributes+"\n")
			rest(f, mark)
		}
	}
	return []vector{
		{name: "fsmonitor", plant: set("core.fsmonitor", "MARK"), control: []string{"status"}, programs: []change.Path{"tool/mark"}},
		{name: "fsmonitor, relative", plant: set("core.fsmonitor", "tool/mark"), control: []string{"status"}, programs: []change.Path{"tool/mark"}},
		{name: "clean filter", plant: with("a filter=x", set("filter.x.clean", "sh tool/mark")), control: []string{"add", "a"}, programs: []change.Path{"tool/mark"}},
		{name: "clean filter on status", plant: with("a filter=x", set("filter.x.clean", "\"$(git rev-parse --show-toplevel)\"/tool/mark")), control: []string{"status"}, programs: []change.Path{"tool/mark"}},
		{name: "process filter", plant: with("a filter=x", set("filter.x.process", "MARK --serve")), control: []string{"add", "a"}, programs: []change.Path{"tool/mark"}},
		{name: "textconv", plant: with("a diff=x", set("diff.x.textconv", "MARK")), control: []string{"diff"}, programs: []change.Path{"tool/mark"}},
		{name: "diff driver", plant: with("a diff=x", set("diff.x.command", "./tool/mark")), control: []string{"diff"}, programs: []change.Path{"tool/mark"}},
		{name: "external diff", plant: set("diff.external", "MARK"), control: []string{"diff"}, programs: []change.Path{"tool/mark"}},
		{name: "hooks folder", plant: func(f *fixture, mark string) {
			for _, hook := range []string{"post-index-change", "reference-transaction", "pre-commit", "post-checkout"} {
				f.script("r/tool/hooks/"+hook, "#!/bin/sh\n"+mark+"\n")
			}
			f.gitIn("r", "config", "core.hooksPath", "tool/hooks")
		}, control: []string{"update-ref", "refs/heads/x", "HEAD"}, programs: []change.Path{"tool/hooks"}},
		{name: "hook that is a link", plant: func(f *fixture, mark string) {
			if err := os.Symlink("../../tool/mark", f.path("r/.git/hooks/reference-transaction")); err != nil {
				f.t.Fatal(err)
			}
		}, control: []string{"update-ref", "refs/heads/x", "HEAD"}, programs: []change.Path{"tool/mark"}},
		{name: "ssh command", plant: partial("core.sshCommand", "MARK"), control: []string{"cat-file", "-p", "HEAD~:a"}, programs: []change.Path{"tool/mark"}},
		{name: "remote helper", plant: func(f *fixture, mark string) {
			partial("protocol.ext.allow", "always")(f, mark)
			f.gitIn("r", "config", "remote.origin.url", "ext::"+mark)
		}, control: []string{"cat-file", "-p", "HEAD~:a"}},
		{name: "include in the tree", plant: func(f *fixture, mark string) {
			f.write("r/tool/config", "[core]\n fsmonitor = "+mark+"\n[filter \"x\"]\n clean = "+mark+"\n")
			f.write("r/.gitattributes", "a filter=x\n")
			f.gitIn("r", "config", "include.path", "../tool/config")
		}, control: []string{"status"}, programs: []change.Path{"tool/config", "tool/mark"}},
		{name: "submodule filter", plant: func(f *fixture, mark string) {
			f.write("r/dep/.gitattributes", "a filter=x\n")
			f.gitIn("r/dep", "config", "filter.x.clean", mark)
			f.gitIn("r/dep", "config", "core.fsmonitor", mark)
			f.write("r/dep/a", "changed\n")
		}, control: []string{"status"}},
		{name: "PATH entry in the tree", plant: func(f *fixture, mark string) {
			f.script("r/tool/bin/git", "#!/bin/sh\n"+mark+"\n")
			f.script("r/tool/bin/helper", "#!/bin/sh\n"+mark+"\n")
			f.gitIn("r", "config", "core.fsmonitor", "helper")
			for i, entry := range f.env {
				if path, ok := strings.CutPrefix(entry, "PATH="); ok {
					f.env[i] = "PATH=tool/bin:" + f.path("r/tool/bin") + ":" + path
				}
			}
		}, control: []string{"status"}},
	}
}

// partial makes the old blob of "a" one that is left at a remote, which is asked over ssh.
func partial(key, value string) func(*fixture, string) {
	return func(f *fixture, mark string) {
		old := strings.TrimSpace(f.gitIn("r", "rev-parse", "HEAD~:a"))
		if err := os.Remove(f.path("r/.git/objects/" + old[:2] + "/" + old[2:])); err != nil {
			f.t.Fatal(err)
		}
		for _, pair := range [][2]string{{"remote.origin.url", "ssh://host.invalid/x"}, {"remote.origin.promisor", "true"},
			{"core.repositoryFormatVersion", "1"}, {"extensions.partialClone", "origin"}, {key, strings.ReplaceAll(value, "MARK", mark)}} {
			f.gitIn("r", "config", pair[0], pair[1])
		}
	}
}

// readEverything calls all there is to call, on paths the vectors care about. Errors are fine; running things is not.
func readEverything(f *fixture, guard func(*Repo)) {
	ctx := context.Background()
	for _, open := range []func(context.Context, Options) (*Repo, error){Open, OpenFast} {
		r, err := open(ctx, f.options("r"))
		if err != nil {
			f.t.Fatal(err)
		}
		guard(r)
		if _, err := r.Files(ctx); err != nil {
			f.t.Error(err)
		}
		if _, err := r.StagedChanges(ctx); err != nil {
			f.t.Error(err)
		}
		if _, err := r.BlobIDs(ctx, []BlobInput{textInput("a", "new\r\n"), textInput("dep/a", "new\n"), textInput("n", "x\n")}); err != nil {
			f.t.Error(err)
		}
		if _, err := r.Ignored(ctx, []change.Path{"a", "n", "dep/a"}, nil); err != nil {
			f.t.Error(err)
		}
		_, _, _ = r.OpenBlob(ctx, f.oldBlob)
		_, _, _ = r.openBlobByGit(ctx, f.oldBlob)
		_, _ = r.Head(ctx)
		_, _ = r.headByGit(ctx)
		_, _, _ = r.HeadEntry(ctx, "a")
		_, _ = r.Refs(ctx)
		_, _ = r.HooksDir(ctx)
		_, _ = r.ShadowSeed(ctx)
		_, _ = r.InTreeSettings(ctx)
	}
}

func plantedFixture(t *testing.T, v vector) *fixture {
	f := newFixture(t)
	f.repo("lib")
	f.repo("r")
	f.gitIn("r", "submodule", "--quiet", "add", f.path("lib"), "dep")
	f.write("r/a", "2\n")
	f.commit("r", "second")
	f.oldBlob = strings.TrimSpace(f.gitIn("r", "rev-parse", "HEAD~:a"))
	mark := f.script("r/tool/mark", "#!/bin/sh\necho ran >>'"+f.path("ran")+"'\n")
	f.write("r/staged", "x\n")
	f.gitIn("r", "add", "staged")
	v.plant(f, mark)
	f.write("r/a", "3\n")
	return f
}

func (f *fixture) ran() bool {
	_, err := os.Lstat(f.path("ran"))
	return err == nil
}

// Nothing planted in the tree runs: with the kernel's help, and where that is missing.
func TestNothingPlantedRuns(t *testing.T) {
	t.Parallel()
	for _, v := range vectors() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			control := plantedFixture(t, v)
			out, _ := control.try("r", v.control...)
			if !control.ran() {
				t.Fatalf("positive control: git %q did not run what was planted: %s", v.control, out)
			}
			f := plantedFixture(t, v)
			// Setting up may run it already.
			_ = os.Remove(f.path("ran"))
			readEverything(f, func(*Repo) {})
			if f.ran() {
				t.Error("confined: a planted program ran")
			}
			readEverything(f, func(r *Repo) { r.git.program.executable = nil })
			if f.ran() {
				t.Error("not confined: a planted program ran")
			}
			paths, err := f.open("r").Programs(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range v.programs {
				if !strings.Contains(strings.Join(pathspecs(paths), "\x00")+"\x00", string(want)+"\x00") {
					t.Errorf("%q is not reported as a program: %q", want, paths)
				}
			}
		})
	}
}
