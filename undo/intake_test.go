package undo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// TestIntake stores more than wait at once, some of them twice and some that the store has.
func TestIntake(t *testing.T) {
	dir := t.TempDir()
	s := OpenStore(dir)
	put(t, s, "content 3")
	in := s.Intake()
	for i := range 2*openImages + 10 {
		content := fmt.Sprintf("content %d", i%(openImages+50))
		sha, size, err := in.Put(strings.NewReader(content))
		if err != nil || sha != sum(content) || size != int64(len(content)) {
			t.Fatalf("put %q: %s, %d, %v", content, sha, size, err)
		}
	}
	if err := errors.Join(in.Settle(), in.Settle(), in.Close()); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := s.Each(func(sha string, _ int64) error { n++; return s.Check(sha) }); err != nil || n != openImages+50 {
		t.Fatalf("%d images, %v", n, err)
	}
	if strings.Contains(names(t, dir), ".correx-") {
		t.Errorf("left %s", names(t, dir))
	}
}

// TestIntakeThatEnds leaves nothing of what was not settled.
func TestIntakeThatEnds(t *testing.T) {
	dir := t.TempDir()
	s := OpenStore(dir)
	in := s.Intake()
	broken := errors.New("broken")
	if _, _, err := in.Put(strings.NewReader("whole")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := in.Put(io.MultiReader(strings.NewReader("part"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Fatalf("put: %v", err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "" {
		t.Errorf("left %s", got)
	}
}

// TestIntakeMeetsSpoiltImages refuses content of which the store holds a spoilt image, whether it was there before or came
// in between.
func TestIntakeMeetsSpoiltImages(t *testing.T) {
	for _, late := range []bool{false, true} {
		dir := t.TempDir()
		s := OpenStore(dir)
		in := s.Intake()
		spoil := func() {
			put(t, s, "content")
			if err := os.Chmod(s.path(sum("content")), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.path(sum("content")), []byte("CONTENT"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if !late {
			spoil()
		}
		_, _, err := in.Put(strings.NewReader("content"))
		if late {
			spoil()
			err = errors.Join(err, in.Settle())
		}
		var corrupt *CorruptImageError
		if !errors.As(err, &corrupt) {
			t.Errorf("late %v: %v", late, err)
		}
		if err := in.Close(); err != nil || strings.Contains(names(t, dir), ".correx-") {
			t.Errorf("left %s, %v", names(t, dir), err)
		}
	}
}
