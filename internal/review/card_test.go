package review

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/textdiff"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func pinOf(data, mode string) change.Pin {
	if mode == "" {
		return change.Absent()
	}
	sum := sha256.Sum256([]byte(data))
	p := change.Pin{Kind: change.KindFile, Perm: 0o644, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	switch mode {
	case textdiff.ModeExecutable:
		p.Perm = 0o755
	case textdiff.ModeSymlink:
		p.Kind, p.Perm = change.KindSymlink, 0
	}
	return p
}

// edit is a file of a set with its contents.
type edit struct {
	op               change.Op
	path, from       change.Path
	old, new         string
	oldMode, newMode string
	hidden           int
}

// cardOf makes the input of a card from edits.
func cardOf(edits ...edit) CardInput {
	in := CardInput{ID: 12, State: "waiting", Origin: change.OriginShadow, Fresh: true, Checked: 2 * time.Second, Age: 3 * time.Minute}
	var parts []textdiff.File
	for _, e := range edits {
		added, removed := textdiff.Stats([]byte(e.old), []byte(e.new))
		f := change.FileChange{Path: e.path, OldPath: e.from, Op: e.op, Base: pinOf(e.old, e.oldMode), Proposed: pinOf(e.new, e.newMode), Added: added, Removed: removed, Hidden: e.hidden}
		f.Binary = textdiff.IsBinary([]byte(e.old + e.new))
		in.Files = append(in.Files, f)
		parts = append(parts, textdiff.File{
			Path: e.path, OldPath: e.from, OldMode: e.oldMode, NewMode: e.newMode, Similarity: 90,
			Old: textdiff.Content{Bytes: []byte(e.old)}, New: textdiff.Content{Bytes: []byte(e.new)},
		})
	}
	in.Diff = func(w io.Writer) error {
		for _, p := range parts {
			if err := textdiff.Patch(w, p, textdiff.PatchOptions{}); err != nil {
				return err
			}
		}
		return nil
	}
	return in
}

const (
	plainFile = textdiff.ModeFile
	program   = textdiff.ModeExecutable
	link      = textdiff.ModeSymlink
)

func lines(n int, change int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if i == change {
			b.WriteString("\treturn fmt.Errorf(\"step: %w\", err)\n")
		} else {
			fmt.Fprintf(&b, "\tstep(%d)\n", i)
		}
	}
	return b.String()
}

// cards are the inputs of the golden files.
func cards() map[string]CardInput {
	usual := cardOf(
		edit{op: change.OpEdit, path: ".github/workflows/ci.yml", old: "on: push\n", new: "on: [push]\npermissions: write-all\n", oldMode: plainFile, newMode: plainFile},
		edit{op: change.OpEdit, path: "internal/db/migrate.go", old: "func Migrate() {\n" + lines(12, 0), new: "func Migrate() {\n" + lines(12, 7), oldMode: plainFile, newMode: plainFile},
		edit{op: change.OpCreate, path: "docs/migrate.md", new: "# Migrating\n", newMode: plainFile},
		edit{op: change.OpDelete, path: "old_test.go", old: "package db\n", oldMode: plainFile},
	)
	usual.Verdict = change.Verdict{
		Outcome: change.Ask, Tier: change.T4, Risk: change.RiskHigh, SettledBy: "protect",
		Reasons: []change.Reason{change.ProtectedTarget, change.DestructiveOperation, change.MultiFile},
		Why:     []string{`protected path ".github/**"`, `deletes "old_test.go"`, "4 files, limit 1 (auto.max_files)"},
	}
	usual.Reasons = [][]change.Reason{{change.ProtectedTarget}, nil, nil, {change.DestructiveOperation}}
	usual.Agent, usual.Session, usual.Branch, usual.Position, usual.Waiting = "claude-code", "s-4k7q", "main", 1, 2
	usual.Message = "Make CI faster.\nAlso tidy up the tests and the migration, which was in the way of it for a long time.\nMore words.\nAnd more."
	usual.History = []Earlier{{ID: 9, State: "rejected", Reason: "keep the old test"}}

	tricky := cardOf(
		edit{op: change.OpEdit, path: "src/\u0430uth.go", old: "if isAdmin {\r\n", new: "if isAdmin /*\u202e } \u2066if safe\u2069*/ {\n", oldMode: plainFile, newMode: plainFile, hidden: 4},
		edit{op: change.OpEdit, path: "bom.txt", old: "a\n", new: "\ufeffa\n", oldMode: plainFile, newMode: plainFile},
		edit{op: change.OpCreate, path: "\x1b]0;owned\a.sh", new: "#!/bin/sh\n", newMode: program},
		edit{op: change.OpSymlink, path: " lead", new: "/etc/passwd", newMode: link},
	)
	tricky.Message = "fine\n\nAPPROVED  #12\x1b[2J\x1b[H"
	tricky.Agent = "bot\nwho      a person"
	tricky.Verdict = change.Verdict{Outcome: change.Ask, Tier: change.T3, Risk: change.RiskHigh, Why: []string{"link out of the repository \"\u202e\""}, Reasons: []change.Reason{change.OutsideRepository}}

	unseen := cardOf(
		edit{op: change.OpEdit, path: "logo.png", old: "\x89PNG\x00", new: "\x89PNG\x00\x01", oldMode: plainFile, newMode: plainFile},
		edit{op: change.OpEdit, path: "app.min.js", old: strings.Repeat("w;", 5000) + "\n", new: strings.Repeat("w;", 4999) + "W;\n", oldMode: plainFile, newMode: plainFile},
	)
	unseen.Undo = "yes, for 30 days"
	unseen.Fresh, unseen.Moved = false, []change.Path{"logo.png"}

	kinds := cardOf(
		edit{op: change.OpRename, path: "b/new name.go", from: "a/old.go", old: lines(9, 0), new: lines(9, 4), oldMode: plainFile, newMode: program},
		edit{op: change.OpRetype, path: "conf", old: "k = 1\n", new: "elsewhere/conf", oldMode: plainFile, newMode: link},
		edit{op: change.OpChmod, path: "run.sh", old: "#!/bin/sh\n", new: "#!/bin/sh\n", oldMode: program, newMode: plainFile},
		edit{op: change.OpCreate, path: "empty", newMode: plainFile},
		edit{op: change.OpEdit, path: "eof.txt", old: "a\nb", new: "a\nb\n", oldMode: plainFile, newMode: plainFile},
	)
	kinds.Origin = change.OriginCommit
	kinds.Worktree, kinds.Commit, kinds.Stage = "feature", "9f2c1ab", "refactor"

	decided := cardOf(edit{op: change.OpEdit, path: "a.go", old: "a\n", new: "b\n", oldMode: plainFile, newMode: plainFile})
	decided.State = "rejected"
	decided.Decision = &change.Decision{Kind: change.Rejected, By: "person:dana", Reason: "not\nnow", Steering: "use the other one"}
	old, new := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\nend", "1\n[hunk 9 of 9]\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12\n13\nend\n"
	hunks := cardOf(
		edit{op: change.OpEdit, path: "a.txt", old: old, new: new, oldMode: plainFile, newMode: program},
		edit{op: change.OpEdit, path: "one.txt", old: "a\n", new: "b\n", oldMode: plainFile, newMode: plainFile},
		edit{op: change.OpRetype, path: "conf", old: "k = 1\n", new: "elsewhere", oldMode: plainFile, newMode: link},
		edit{op: change.OpRename, path: "moved", from: "was", old: old, new: new, oldMode: plainFile, newMode: plainFile},
		edit{op: change.OpOverwrite, path: "z.txt", old: new, new: old, oldMode: plainFile, newMode: plainFile},
	)
	hunks.State, hunks.Part = "partially accepted", "hunks 1,3 of the 3 in a.txt"
	hunks.Decision = &change.Decision{Kind: change.Approved, By: "person:dana"}

	some := cardOf(edit{op: change.OpEdit, path: "a.txt", old: old, new: strings.Replace(new, "four", "4", 1), oldMode: plainFile, newMode: plainFile})
	some.Hunks, some.Of = []int{2, 7}, 9
	return map[string]CardInput{
		"usual": usual, "tricky": tricky, "unseen": unseen, "kinds": kinds, "decided": decided, "hunks": hunks, "some": some,
	}
}

func TestCardGolden(t *testing.T) {
	for name, in := range cards() {
		for _, width := range []int{80, 40} {
			var b bytes.Buffer
			in.Width = width
			if _, err := Card(&b, in); err != nil {
				t.Fatal(err)
			}
			golden(t, fmt.Sprintf("card_%s_%d.golden", name, width), b.String())
			for line := range strings.SplitSeq(b.String(), "\n") {
				if columns(line, 0) > width {
					t.Errorf("%s at %d: %d columns: %q", name, width, columns(line, 0), line)
				}
				if strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && textdiff.Hidden(r) }) {
					t.Errorf("%s at %d: hidden characters in %q", name, width, line)
				}
			}
			var coloured bytes.Buffer
			in.Colour = true
			if _, err := Card(&coloured, in); err != nil {
				t.Fatal(err)
			}
			if stripColour(coloured.String()) != b.String() {
				t.Errorf("%s at %d: coloured says\n%s", name, width, coloured.String())
			}
			in.Colour = false
		}
	}
}

func TestCardResult(t *testing.T) {
	all := cards()
	for name, want := range map[string]CardResult{
		"usual":   {FullyShown: true},
		"decided": {FullyShown: true},
		"kinds":   {FullyShown: true},
		"tricky":  {FullyShown: true, Escapes: 4},
		"unseen":  {CutLines: 2, Unread: 1},
	} {
		if got, err := Card(io.Discard, all[name]); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
	short := all["usual"]
	short.Diff = all["decided"].Diff
	if got, err := Card(io.Discard, short); err != nil || got.FullyShown || got.Unread != 3 {
		t.Errorf("a diff that lacks files: %+v, %v", got, err)
	}
	short.Diff = nil
	if got, err := Card(io.Discard, short); err != nil || got.FullyShown {
		t.Errorf("no diff: %+v, %v", got, err)
	}
}

func TestCardErrors(t *testing.T) {
	broken := errors.New("broken")
	in := cards()["usual"]
	if _, err := Card(brokenWriter{broken}, in); !errors.Is(err, broken) {
		t.Errorf("writer: %v", err)
	}
	in.Diff = func(io.Writer) error { return broken }
	if _, err := Card(io.Discard, in); !errors.Is(err, broken) {
		t.Errorf("diff: %v", err)
	}
}

// TestCardShowsEverything puts the rows of a card together again: every changed line of any content is on it, whatever
// the width.
func TestCardShowsEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.OneOf(rapid.StringMatching(`[ -~]{0,120}`), rapid.StringMatching(`[\t\x{4e2d}\x{0301}> +\-]{0,60}`), rapid.String())
		text := func(name string) string {
			var b strings.Builder
			for _, s := range rapid.SliceOfN(line, 0, 8).Draw(rt, name) {
				b.WriteString(strings.NewReplacer("\n", "", "\x00", "").Replace(s) + "\n")
			}
			return b.String()
		}
		old, new := text("old"), text("new")
		if old == new {
			return
		}
		in := cardOf(edit{op: change.OpEdit, path: "f", old: old, new: new, oldMode: plainFile, newMode: plainFile})
		in.Width = rapid.SampledFrom([]int{0, 10, 40, 80}).Draw(rt, "width")
		var b strings.Builder
		res, err := Card(&b, in)
		if err != nil || !res.FullyShown {
			rt.Fatalf("%+v, %v", res, err)
		}
		shown := map[string]bool{}
		current := ""
		for row := range strings.SplitSeq(b.String(), "\n") {
			if rest, ok := strings.CutPrefix(row, ">"); ok {
				current += rest
				continue
			}
			shown[current] = true
			current = row
		}
		d := textdiff.Lines([]byte(old), []byte(new))
		for i := range d.Changes() {
			if number := fmt.Sprintf("[hunk %d of %d]", i+1, len(d.Changes())); shown[number] != (len(d.Changes()) > 1) {
				rt.Fatalf("%s is on the card: %t\n%s", number, shown[number], b.String())
			}
		}
		if n := strings.Count("\n"+b.String(), "\n[hunk "); len(d.Changes()) > 1 && n != len(d.Changes()) {
			rt.Fatalf("%d numbers for %d hunks:\n%s", n, len(d.Changes()), b.String())
		}
		for _, c := range d.Changes() {
			for sign, data := range map[string][]byte{"-": d.OldBytes(c), "+": d.NewBytes(c)} {
				for part := range strings.Lines(string(data)) {
					want, _ := escape(strings.TrimSuffix(strings.TrimSuffix(part, "\n"), "\r"), keepTab)
					if !shown[sign+want] && !shown[sign+want+"<U+000D>"] {
						rt.Fatalf("%q is not on the card at width %d:\n%s", sign+want, in.Width, b.String())
					}
				}
			}
		}
	})
}
