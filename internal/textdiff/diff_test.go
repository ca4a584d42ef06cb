package textdiff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sound checks what must hold of every diff: it leads from old to new, its hunks name the lines they hold, its counts
// are those of the hunks, and it is the same when made again.
func sound(t rapid.TB, old, new []byte) Diff {
	t.Helper()
	d := Lines(old, new)
	hunks := d.Hunks(Context)
	all, err := Partly(old, new, d.Changes())
	if err != nil || !bytes.Equal(all.New(), new) {
		t.Fatalf("making the changes of %q to %q: got %q, %v", old, new, all.New(), err)
	}
	var first, again bytes.Buffer
	added, removed := 0, 0
	end := 0
	for _, h := range hunks {
		if h.OldStart < end {
			t.Fatalf("hunk %+v begins before line %d", h, end)
		}
		end = h.OldStart + h.OldCount
		if err := d.WriteHunk(&first, h); err != nil {
			t.Fatal(err)
		}
		for _, c := range h.Changes {
			added, removed = added+c.NewCount, removed+c.OldCount
		}
	}
	if added != d.Added() || removed != d.Removed() {
		t.Fatalf("counts +%d -%d, hunks hold +%d -%d", d.Added(), d.Removed(), added, removed)
	}
	e := Lines(old, new)
	for _, h := range e.Hunks(Context) {
		if err := e.WriteHunk(&again, h); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Fatalf("two diffs of the same bytes differ:\n%s\n%s", first.Bytes(), again.Bytes())
	}
	return d
}

func TestLines(t *testing.T) {
	tests := []struct {
		name, old, new string
		want           string
	}{
		{"nothing", "", "", ""},
		{"same", "a\n", "a\n", ""},
		{"create", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"empty it", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"newline at the end goes", "a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		{"newline at the end comes", "x\na", "x\na\n", "@@ -1,2 +1,2 @@\n x\n-a\n\\ No newline at end of file\n+a\n"},
		{"no newline on both sides", "x\na", "y\na", "@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n"},
		{"only LF ends a line", "a\fb\vc\nd\u2028e\u0085f\ng\n", "a\fb\vc\nd\u2028e\u0085f\nG\n",
			"@@ -1,3 +1,3 @@\n a\fb\vc\n d\u2028e\u0085f\n-g\n+G\n"},
		{"CR is content", "a\r\nb\r", "a\nb\r", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n\\ No newline at end of file\n"},
		{"invalid bytes differ", "caf\xe9\n", "caf\xe8\n", "@@ -1 +1 @@\n-caf\xe9\n+caf\xe8\n"},
		{"byte order mark", "\ufeffa\n", "a\n", "@@ -1 +1 @@\n-\ufeffa\n+a\n"},
		{"surrogate bytes", "\xed\xa0\x80\n", "\xed\xa0\x81\n", "@@ -1 +1 @@\n-\xed\xa0\x80\n+\xed\xa0\x81\n"},
		{"section", "func a() {\n1\n2\n3\n4\n5\n}\n", "func a() {\n1\n2\n3\n4\nfive\n}\n",
			"@@ -3,5 +3,5 @@ func a() {\n 2\n 3\n 4\n-5\n+five\n }\n"},
		{"section is cut between characters", "f" + strings.Repeat("\u00fc", 60) + "\n1\n2\n3\n4\n", "f" + strings.Repeat("\u00fc", 60) + "\n1\n2\n3\n5\n",
			"@@ -2,4 +2,4 @@ f" + strings.Repeat("\u00fc", 39) + "\n 1\n 2\n 3\n-4\n+5\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := sound(t, []byte(tt.old), []byte(tt.new))
			var out strings.Builder
			for _, h := range d.Hunks(Context) {
				if err := d.WriteHunk(&out, h); err != nil {
					t.Fatal(err)
				}
			}
			if out.String() != tt.want {
				t.Errorf("got\n%q\nwant\n%q", out.String(), tt.want)
			}
		})
	}
}

// TestFarApart is the input that mixes up lines where they are numbered as characters: 100,000 different ones.
func TestFarApart(t *testing.T) {
	var old, new bytes.Buffer
	for i := 1; i <= 100000; i++ {
		fmt.Fprintf(&old, "row %d\n", i)
		switch i {
		case 11:
			new.WriteString("row eleven\n")
		case 60011:
			new.WriteString("row late\n")
		default:
			fmt.Fprintf(&new, "row %d\n", i)
		}
	}
	d := sound(t, old.Bytes(), new.Bytes())
	hunks := d.Hunks(Context)
	if len(hunks) != 2 || hunks[1].OldStart != 60007 || d.Added() != 2 || d.Removed() != 2 {
		t.Errorf("got %d hunks, +%d -%d: %+v", len(hunks), d.Added(), d.Removed(), hunks)
	}
}

// TestHardInputs has the shapes in which a comparison could take for ever: nothing unique, everything moved, one line
// repeated, two interleaved.
func TestHardInputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	few := func(n, kinds int) []byte {
		var b bytes.Buffer
		for range n {
			fmt.Fprintf(&b, "line %d\n", rng.IntN(kinds))
		}
		return b.Bytes()
	}
	shuffled := func(n int) []byte {
		var b bytes.Buffer
		for _, i := range rng.Perm(n) {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.Bytes()
	}
	const n = 20000
	tests := []struct {
		name     string
		old, new []byte
	}{
		{"two kinds", few(n, 2), few(n, 2)},
		{"fifty kinds", few(n, 50), few(n, 50)},
		{"shuffled", shuffled(n), shuffled(n)},
		{"one line", bytes.Repeat([]byte("x\n"), n), bytes.Repeat([]byte("x\n"), n/2)},
		{"interleaved", bytes.Repeat([]byte("a\nb\n"), n/2), bytes.Repeat([]byte("b\na\na\n"), n/3)},
		{"wide gap", few(1, 1), few(n, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := sound(t, tt.old, tt.new)
			t.Logf("+%d -%d", d.Added(), d.Removed())
		})
	}
}

// TestShortestWhereSmall compares the number of changed lines with that of the shortest script.
func TestShortestWhereSmall(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "\n", "}\n"})
		old := rapid.SliceOfN(line, 0, 40).Draw(rt, "old")
		new := rapid.SliceOfN(line, 0, 40).Draw(rt, "new")
		d := Lines([]byte(strings.Join(old, "")), []byte(strings.Join(new, "")))
		if want := len(old) + len(new) - 2*common(old, new); d.Added()+d.Removed() != want {
			rt.Fatalf("%q to %q: +%d -%d, shortest is %d", old, new, d.Added(), d.Removed(), want)
		}
	})
}

// common is the length of the longest common subsequence, the slow and plain way.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

// TestMeet drives the search for large gaps on small ones, where the library would be asked instead.
func TestMeet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.Int32Range(0, 4)
		a := rapid.SliceOfN(id, 1, 30).Draw(rt, "a")
		b := rapid.SliceOfN(id, 1, 30).Draw(rt, "b")
		limit := rapid.IntRange(1, 40).Draw(rt, "limit")
		left, right := trim(side{a, positions(len(a))}, side{b, positions(len(b))})
		if len(left.ids) == 0 || len(right.ids) == 0 {
			return
		}
		i, j, exact := meet(left.ids, right.ids, limit)
		n, m := len(left.ids), len(right.ids)
		if i < 0 || j < 0 || i > n || j > m || i+j == 0 || i+j == n+m {
			rt.Fatalf("meet(%v, %v, %d) cuts at %d, %d", left.ids, right.ids, limit, i, j)
		}
		whole := common(words(left.ids), words(right.ids))
		parts := common(words(left.ids[:i]), words(right.ids[:j])) + common(words(left.ids[i:]), words(right.ids[j:]))
		if exact && parts != whole {
			rt.Fatalf("meet(%v, %v, %d) cuts at %d, %d: %d of %d lines left in common", left.ids, right.ids, limit, i, j, parts, whole)
		}
		if !exact && n+m-2*whole <= 2*limit-2 {
			rt.Fatalf("meet(%v, %v, %d) did not find a script of %d", left.ids, right.ids, limit, n+m-2*whole)
		}
	})
}

func words(ids []int32) []string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprint(id))
	}
	return out
}

func TestSpell(t *testing.T) {
	ids := make([]int32, smallGap+1)
	for i := range ids {
		ids[i] = int32(i)
	}
	seen := map[rune]bool{}
	for _, r := range string(spell(ids, map[int32]rune{})) {
		if seen[r] || r == '\ufffd' {
			t.Fatalf("character %U stands for two lines or for none", r)
		}
		seen[r] = true
	}
}

// drawPair draws an old content and one made from it by edits, of lines with and without LF, CR, invalid bytes and
// repetitions.
func drawPair(rt *rapid.T) (old, new []byte) {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "}\n", "\treturn nil\n", "a\r\n", "\xff\xfe\n", "x\ry\n", "func f() {\n", "\u2028\n"}),
		rapid.StringMatching(`[a-c ]{0,3}\n`),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string {
			return strings.ReplaceAll(string(b), "\x00", "0") + "\n"
		}),
	)
	base := rapid.SliceOfN(line, 0, 60).Draw(rt, "base")
	edited := append([]string(nil), base...)
	for range rapid.IntRange(0, 6).Draw(rt, "edits") {
		at := rapid.IntRange(0, len(edited)).Draw(rt, "at")
		end := rapid.IntRange(at, min(len(edited), at+5)).Draw(rt, "end")
		with := rapid.SliceOfN(line, 0, 4).Draw(rt, "with")
		edited = append(append(append([]string(nil), edited[:at]...), with...), edited[end:]...)
	}
	old, new = []byte(strings.Join(base, "")), []byte(strings.Join(edited, ""))
	if len(old) > 0 && rapid.Bool().Draw(rt, "old without newline") {
		old = old[:len(old)-1]
	}
	if len(new) > 0 && rapid.Bool().Draw(rt, "new without newline") {
		new = new[:len(new)-1]
	}
	return old, new
}

func TestLinesProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old, new := drawPair(rt)
		sound(rt, old, new)
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("b\na"))
	f.Add([]byte("\xff\n\r\n"), []byte("\xfe\n\n"))
	f.Add([]byte(""), []byte("\n\n\n"))
	f.Fuzz(func(t *testing.T, old, new []byte) { sound(t, old, new) })
}
