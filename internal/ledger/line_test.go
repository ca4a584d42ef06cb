package ledger

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sample() Event {
	return Event{
		Seq: 7, At: time.Date(2031, 1, 2, 3, 4, 5, 60, time.UTC), Type: ChangeStaged,
		ID: "e-0123456789abcdef", Cause: "e-zyxwvtsrqpnmkjhg", Actor: `person:"Zoë" <a&b>` + "\x01",
		Data: json.RawMessage(`{"a":[1,"x"]}`), Prev: strings.Repeat("a", hexDigest),
	}
}

func mustFormat(t testing.TB, e Event) string {
	t.Helper()
	line, err := formatLine(&e)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

func TestLineIsExactly(t *testing.T) {
	e := sample()
	line := mustFormat(t, e)
	covered := `{"seq":7,"at":"2031-01-02T03:04:05.00000006Z","type":"ChangeStaged","id":"e-0123456789abcdef",` +
		`"cause":"e-zyxwvtsrqpnmkjhg","actor":"person:\"Zoë\" <a&b>\u0001","data":{"a":[1,"x"]},"prev":"` + e.Prev + `"`
	want := covered + `,"hash":"` + digest([]byte(covered)) + `"}` + "\n"
	if line != want {
		t.Fatalf("got  %s\nwant %s", line, want)
	}
	back, err := parseLine([]byte(strings.TrimSuffix(line, "\n")))
	e.Hash = digest([]byte(covered))
	if diff := cmp.Diff(e, back); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	asJSON, err := encode(back)
	if err != nil || string(asJSON)+"\n" != line {
		t.Fatalf("the JSON of an event is not its line: %s, %v", asJSON, err)
	}
}

// rehash puts the right hash on a line that was tampered with, as a forger would: the form alone must refuse it.
func rehash(line string) string {
	body, _, ok := strings.Cut(line, `,"hash":"`)
	if !ok {
		return line
	}
	return body + `,"hash":"` + digest([]byte(body)) + `"}`
}

func TestLineRefusesOtherForms(t *testing.T) {
	good := strings.TrimSuffix(mustFormat(t, sample()), "\n")
	if _, err := parseLine([]byte(rehash(good))); err != nil {
		t.Fatalf("rehash breaks a good line: %v", err)
	}
	for _, c := range []struct{ old, new string }{
		{`"seq":7`, `"seq":07`},
		{`"seq":7`, `"seq":0`},
		{`"seq":7`, `"seq":-7`},
		{`"seq":7`, `"seq": 7`},
		{`"seq":7`, `"seq":`},
		{`"seq":7`, `"seq":18446744073709551616`},
		{`{"seq":7,`, `{"seq":7,"seq":8,`},
		{`{"seq"`, ` {"seq"`},
		{`{"seq"`, `{"SEQ"`},
		{`05.00000006Z`, `05.000000060Z`},
		{`05.00000006Z`, `05.00000006+00:00`},
		{`05.00000006Z`, `05.00000006+01:00`},
		{`05.00000006Z`, `99.00000006Z`},
		{`2031-`, `2031-\u0030`},
		{`ChangeStaged`, ``},
		{`ChangeStaged`, `changeStaged`},
		{`ChangeStaged`, `Change Staged`},
		{`ChangeStaged`, strings.Repeat("A", 65)},
		{`e-0123456789abcdef`, ``},
		{`e-0123456789abcdef`, `e-0123456789abcdeg0`},
		{`e-0123456789abcdef`, `e-0123456789abcdei`},
		{`e-zyxwvtsrqpnmkjhg`, `e-1`},
		{`\u0001`, "\x01"},
		{`\u0001`, `\x01`},
		{`Zoë`, `Zo\u00eb`},
		{`Zoë`, "Zo\xff"},
		{`<a`, `\u003ca`},
		{`{"a":[1,"x"]}`, `[1]`},
		{`{"a":[1,"x"]}`, `null`},
		{`{"a":[1,"x"]}`, ``},
		{`{"a":[1,"x"]}`, `{"a":1},"b":{}`},
		{`{"a":[1,"x"]}`, `{"a":`},
		{`{"a":[1,"x"]}`, "{\n}"},
		{`"cause"`, `"reason"`},
		{`,"prev"`, `, "prev"`},
		{`"prev":"aa`, `"prev":"AA`},
		{`"prev":"aa`, `"prev":"ga`},
	} {
		bad := rehash(strings.Replace(good, c.old, c.new, 1))
		if bad == good {
			t.Errorf("%q is not in the line", c.old)
		}
		if e, err := parseLine([]byte(bad)); err == nil {
			t.Errorf("%q for %q was taken: %+v", c.new, c.old, e)
		}
	}
	swapped := rehash(strings.Replace(good, `"cause":"e-zyxwvtsrqpnmkjhg","actor"`, `"actor":"x","cause"`, 1))
	for _, bad := range []string{"", "{}", "\n", good[:len(good)-1], good + " ", good + "}", good[1:], swapped, good[:hashPart]} {
		if _, err := parseLine([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestLineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := encode(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "data"))
		if err != nil {
			t.Fatal(err)
		}
		e := Event{
			Seq: rapid.Uint64Min(1).Draw(t, "seq"),
			At: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).
				UTC(),
			Type: Type(rapid.StringMatching(`[A-Z][A-Za-z]{0,20}`).Draw(t, "type")), ID: NewID(rand.Reader),
			Actor: strings.ToValidUTF8(rapid.String().Draw(t, "actor"), "?"), Data: data, Prev: digest(data),
		}
		line, err := formatLine(&e)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(line, []byte("\n")); n != 1 {
			t.Fatalf("%d newlines", n)
		}
		back, err := parseLine(line[:len(line)-1])
		if diff := cmp.Diff(e, back); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(strings.TrimSuffix(mustFormat(f, sample()), "\n")), false)
	f.Add([]byte(`{"seq":1}`), true)
	f.Add([]byte(``), false)
	f.Fuzz(func(t *testing.T, line []byte, fix bool) {
		if fix {
			line = []byte(rehash(string(line)))
		}
		e, err := parseLine(line)
		if err != nil || bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		// What is taken has one spelling only, and it is the one that would be written.
		again, err := formatLine(&e)
		if err != nil || string(again) != string(line)+"\n" {
			t.Fatalf("taken as %+v, written as %q, %v", e, again, err)
		}
	})
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID(rand.Reader)
		if !isID(id) || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
	if got := NewID(bytes.NewReader(make([]byte, idBytes))); got != "e-0000000000000000" {
		t.Fatalf("got %q", got)
	}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "random source") {
			t.Fatalf("recovered %v", r)
		}
	}()
	NewID(strings.NewReader("short"))
}

func TestHeadSlots(t *testing.T) {
	h := head{seq: 12, length: 3456, hash: strings.Repeat("b", hexDigest)}
	text := h.String()
	if len(text) != slotSize {
		t.Fatalf("a slot has %d bytes", len(text))
	}
	if got, ok := parseSlot([]byte(text)); !ok || got != h {
		t.Fatalf("%+v, %v", got, ok)
	}
	for i := range text {
		for bit := range 8 {
			b := []byte(text)
			b[i] ^= 1 << bit
			if got, ok := parseSlot(b); ok {
				t.Fatalf("byte %d bit %d flipped: read as %+v", i, bit, got)
			}
		}
		if _, ok := parseSlot([]byte(text)[:i]); ok {
			t.Fatalf("%d bytes of a slot were taken", i)
		}
	}
	for _, n := range []head{{seq: 1<<64 - 1, length: 1<<63 - 1, hash: firstPrev}, emptyHead()} {
		if got, ok := parseSlot([]byte(n.String())); !ok || got != n {
			t.Fatalf("%+v came back as %+v", n, got)
		}
	}
}
