package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// bursts is how many bursts of saves each kind of saver makes.
const bursts = 150

// saver saves a file again and again, as programs do.
type saver struct {
	name string
	save func(path, text string) error
}

var savers = []saver{
	{"by rename", func(path, text string) error {
		if err := os.WriteFile(path+".tmp", []byte(text), 0o644); err != nil {
			return err
		}
		return os.Rename(path+".tmp", path)
	}},
	{"in place", func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) }},
	{"slowly in place", func(path, text string) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return err
		}
		for i := range len(text) {
			if _, err = f.WriteString(text[i : i+1]); err != nil {
				break
			}
		}
		return errors.Join(err, f.Close())
	}},
	{"appending", func(path, text string) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		err = f.Truncate(0)
		for i := 0; err == nil && i < len(text); i += 3 {
			_, err = f.WriteString(text[i:min(i+3, len(text))])
		}
		return errors.Join(err, f.Close())
	}},
	{"through a mapping", saveThroughMapping},
	{"remove and create", func(path, text string) error {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o644)
	}},
}

// saveThroughMapping closes the file before it writes: the mapping alone is what holds it.
func saveThroughMapping(path, text string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	var mapped []byte
	if err = f.Truncate(int64(len(text))); err == nil {
		mapped, err = unix.Mmap(int(f.Fd()), 0, len(text), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	for i := range len(text) {
		mapped[i] = text[i]
	}
	return unix.Munmap(mapped)
}

// TestSavesAreNeverLost lets a saver race landings of every kind on one path. After each burst the last save must stand,
// unless a landing was made against it; once in a while it may be kept beside instead.
func TestSavesAreNeverLost(t *testing.T) {
	for _, s := range savers {
		for _, slow := range []bool{false, true} {
			for _, kind := range []string{"edit", "delete", "symlink"} {
				t.Run(fmt.Sprintf("%s/%s/slow %v", s.name, kind, slow), func(t *testing.T) { lander{kind, slow}.race(t, s) })
			}
		}
	}
}

// lander is somebody who lands over whatever is there.
type lander struct {
	kind string
	slow bool
}

func (l lander) race(t *testing.T, s saver) {
	root, _ := build(t, layout{"f": file("start")})
	path := filepath.Join(root, "f")
	landed, refused, kept, beside := 0, 0, 0, 0
	for burst := range bursts {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			_ = os.Remove(path)
			must(t, os.WriteFile(path, []byte("start"), 0o644))
		}
		var done atomic.Bool
		var saving sync.WaitGroup
		last := ""
		saving.Go(func() {
			defer done.Store(true)
			for i := range 6 {
				text := fmt.Sprintf("save %d of burst %d", i, burst)
				if err := s.save(path, text); err != nil {
					t.Error(err)
					return
				}
				last = text
			}
		})
		// over is what landings were made against.
		over := map[string]bool{}
		for attempt := 0; !done.Load() || attempt == 0; attempt++ {
			base, out, err := l.land(t, root, fmt.Sprintf("%d-%d", burst, attempt))
			kept += len(out.Kept)
			switch {
			case err == nil:
				landed++
				over[base.SHA256] = true
			case errors.Is(err, ErrUnfinished):
				t.Fatal(err)
			default:
				refused++
			}
		}
		saving.Wait()
		list, _ := read(t, root)
		found := list["f"].text == last || over[file(last).pin().SHA256]
		if l.kind == "symlink" {
			// Who writes in place writes through the link that stands there, to the file it names.
			for p, n := range list {
				found = found || strings.HasPrefix(string(p), "landed ") && n.text == last
				if strings.HasPrefix(string(p), "landed ") {
					must(t, os.Remove(filepath.Join(root, string(p))))
				}
			}
		}
		if !found {
			// Held up between two of its own calls for as long as two saves take, the engine cannot tell which was the later.
			if beside++; !isKept(list, last) || beside > bursts/10 {
				t.Fatalf("burst %d: the last save %q is lost, or is the %dth that is only kept: the tree holds %+v", burst, last, beside, list)
			}
		}
		for p := range list {
			if strings.HasPrefix(p.Base(), reservedPrefix) {
				t.Fatalf("burst %d: %q was left", burst, p)
			}
		}
	}
	t.Logf("%d landings, %d refused, %d saves kept beside, %d of them the last", landed, refused, kept, beside)
	if landed+refused < bursts {
		t.Fatal("the race did not take place")
	}
}

// isKept reports whether a visible name beside f holds the text.
func isKept(l layout, text string) bool {
	for p, n := range l {
		if strings.HasPrefix(p.Base(), "f.correx-kept-") && n.text == text {
			return true
		}
	}
	return false
}

// land pins what is there and lands something over it.
func (l lander) land(t *testing.T, root, id string) (change.Pin, Outcome, error) {
	t.Helper()
	store := memory{}
	e := newEngine(t, root, store, &faults{slow: l.slow})
	defer e.Close()
	var text strings.Builder
	base, err := e.root.Pin("f", &text)
	var busy *durable.BusyError
	if errors.As(err, &busy) || err == nil && base.Kind != change.KindFile {
		return change.Absent(), Outcome{}, errors.New("nothing to land over")
	}
	must(t, err)
	store[base.SHA256] = text.String()
	result := file("landed " + id)
	store[result.pin().SHA256] = result.text
	step := change.Step{Path: "f", Base: base, Result: result.pin()}
	switch l.kind {
	case "delete":
		step.Result = change.Absent()
	case "symlink":
		step.Result = lnk(result.text).pin()
	}
	var c counter
	out, err := e.Land(context.Background(), Landing{ID: id, Steps: []change.Step{step}}, c.commit)
	return base, out, err
}

// TestHeldOpen lands over a file that somebody opened for writing before, and writes to only afterwards.
func TestHeldOpen(t *testing.T) {
	s := scenario{"edit", layout{"f": file("old"), "pkg/a": file("1"), "gone": file("g")}, layout{"f": file("new"), "pkg": file("p")}}
	for _, path := range []string{"f", "pkg/a", "gone"} {
		root, state := build(t, s.before)
		l, store := s.landing()
		w, err := os.OpenFile(filepath.Join(root, path), os.O_WRONLY, 0)
		must(t, err)
		e := newEngine(t, root, store, nil)
		var c counter
		_, err = e.Land(context.Background(), l, c.commit)
		var stale *StaleError
		if !errors.As(err, &stale) || len(stale.Paths) != 1 || string(stale.Paths[0].Path) != path || stale.Paths[0].Why != whyWriting {
			t.Errorf("%q: %v", path, err)
		}
		_, err = w.WriteString("late words")
		must(t, errors.Join(err, w.Close()))
		if got, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(got) != "late words" {
			t.Errorf("%q holds %q, %v", path, got, err)
		}
		expectNoJournal(t, state)
	}
}

// TestOpenedInTheInstantBefore opens the file for writing at each step of the landing, and writes at each later one.
func TestOpenedInTheInstantBefore(t *testing.T) {
	for _, unknown := range []bool{false, true} {
		for opened := 1; ; opened++ {
			more := false
			for later := 1; later < 40; later += 3 {
				if more = openThenWrite(t, unknown, opened, opened+later); !more {
					break
				}
			}
			if !more {
				break
			}
		}
	}
}

func openThenWrite(t *testing.T, unknown bool, opened, wrote int) (more bool) {
	t.Helper()
	s := scenario{"edit", layout{"f": file("old")}, layout{"f": file("new")}}
	n := 0
	f := &faults{nobodyKnows: unknown}
	r := newTrial(t, s, f)
	var w *os.File
	f.Before = func(string) {
		n++
		var err error
		if n == opened {
			w, err = os.OpenFile(filepath.Join(r.root, "f"), os.O_WRONLY|os.O_APPEND, 0)
		}
		if n == wrote && w != nil {
			_, err = w.WriteString(theirs)
			err = errors.Join(err, w.Close())
		}
		must(t, err)
	}
	out, _, err := r.land(t)
	if n < wrote {
		return false
	}
	if errors.Is(err, ErrUnfinished) {
		t.Fatal(err)
	}
	// The words must be at the path, or in a file that the outcome names.
	places := []change.Path{"f"}
	for _, k := range out.Kept {
		places = append(places, k.Where)
	}
	got, _ := read(t, r.root)
	for _, p := range places {
		if strings.HasSuffix(got[p].text, theirs) {
			return true
		}
	}
	if unknown && r.committed && slices.ContainsFunc(f.Trace()[:wrote-1], func(op string) bool { return strings.HasPrefix(op, "unlink ") }) {
		// Where nobody can be asked, who writes to a removed file writes to a removed file.
		return true
	}
	t.Fatalf("opened at %d (%s), wrote at %d (%s): lost; committed %v, kept %v, %v",
		opened, f.Trace()[opened-1], wrote, f.Trace()[wrote-1], r.committed, out.Kept, got)
	return false
}

// TestSpecialFileInTheInstantBefore puts a FIFO at the path just before it is switched: it is neither opened nor lost.
func TestSpecialFileInTheInstantBefore(t *testing.T) {
	for _, s := range []scenario{
		{"edit", layout{"f": file("old")}, layout{"f": file("new")}},
		{"delete", layout{"f": file("old"), "x": file("x")}, layout{"x": file("x")}},
	} {
		f := &faults{}
		r := newTrial(t, s, f)
		path := filepath.Join(r.root, "f")
		once := false
		f.Before = func(op string) {
			if !once && (op == "exchange f" || op == "move away f") {
				once = true
				must(t, os.Remove(path))
				must(t, unix.Mkfifo(path, 0o644))
			}
		}
		_, _, err := r.land(t)
		var stale *StaleError
		if !errors.As(err, &stale) || stale.Paths[0].Found.Kind != change.KindOther || r.committed {
			t.Fatalf("%s: %v", s.name, err)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Type() != os.ModeNamedPipe {
			t.Errorf("%s: %v, %v", s.name, info, err)
		}
		if entries, err := os.ReadDir(r.root); err != nil || len(entries) != len(s.before) {
			t.Errorf("%s: %v, %v", s.name, entries, err)
		}
	}
}
