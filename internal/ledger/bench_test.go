package ledger

import (
	"strings"
	"testing"
)

// fill makes a ledger of n events of about the usual size, a thousand to an Update.
func fill(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	l := openTest(b, dir)
	data := map[string]string{"path": "src/some/where/file.go", "text": strings.Repeat("x", 250)}
	for done := 0; done < n; {
		var list []Draft
		for ; done < n && len(list) < 1000; done++ {
			list = append(list, Draft{Type: ChangeStaged, Actor: "person:someone", Data: data})
		}
		if _, err := l.Update(b.Context(), func([]Event) ([]Draft, error) { return list, nil }); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func BenchmarkVerify(b *testing.B) {
	const events = 100000
	dir := fill(b, events)
	b.ReportAllocs()
	for b.Loop() {
		if r, err := Verify(dir); err != nil || r.Events != events {
			b.Fatal(r, err)
		}
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkUpdate(b *testing.B) {
	l := openTest(b, fill(b, 1000))
	for b.Loop() {
		mustAdd(b, l, 1)
	}
}

// BenchmarkRefreshNothing is what a waiting command pays for a signal.
func BenchmarkRefreshNothing(b *testing.B) {
	l := openTest(b, fill(b, 1000))
	if _, err := l.Refresh(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if events, err := l.Refresh(); err != nil || len(events) != 0 {
			b.Fatal(events, err)
		}
	}
}
