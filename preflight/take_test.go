package preflight

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// restless is a tree whose file is another one each of the first times it is read.
type restless struct {
	writes int
	busy   bool
}

func (r *restless) Pin(p change.Path, w io.Writer) (change.Pin, error) {
	r.writes--
	if r.writes < 0 {
		_, err := io.WriteString(w, "steady")
		return memory{}.of("steady"), err
	}
	if _, err := io.WriteString(w, "st"); err != nil {
		return change.Pin{}, err
	}
	if r.busy {
		return change.Pin{}, &durable.BusyError{Path: p}
	}
	return memory{}.of("steady"), nil
}

func (m memory) of(data string) change.Pin {
	sum, size, _ := m.Put(strings.NewReader(data))
	return change.Pin{Kind: change.KindFile, Perm: 0o644, Size: size, SHA256: sum}
}

// failing is a store that gives up after some bytes.
type failing struct{ memory }

var errFull = errors.New("no space left")

func (failing) Put(r io.Reader) (string, int64, error) {
	if _, err := io.CopyN(io.Discard, r, 3); err != nil && err != io.EOF {
		return "", 0, err
	}
	return "", 0, errFull
}

func TestTake(t *testing.T) {
	dir := t.TempDir()
	big := strings.Repeat("0123456789abcdef\n", 100000)
	for name, data := range map[string]string{"f": "a\n", "empty": "", "d/e": "e", "big": big} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"l": "no/where", "out": "/etc/passwd", "dl": "d"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "f"), 0o750); err != nil {
		t.Fatal(err)
	}
	root, err := durable.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tests := []struct {
		path change.Path
		kind change.Kind
		data string
	}{
		{"f", change.KindFile, "a\n"}, {"empty", change.KindFile, ""}, {"big", change.KindFile, big}, {"d/e", change.KindFile, "e"},
		{"l", change.KindSymlink, "no/where"}, {"out", change.KindSymlink, "/etc/passwd"},
		{"d", change.KindDir, ""}, {"missing", change.KindAbsent, ""}, {"dl/e", change.KindAbsent, ""}, {"f/x", change.KindAbsent, ""},
	}
	for _, tt := range tests {
		images := memory{}
		pin, err := Take(root, images, tt.path)
		if err != nil || pin.Kind != tt.kind {
			t.Errorf("%s: %+v, %v", tt.path, pin, err)
			continue
		}
		if tt.kind != change.KindFile && tt.kind != change.KindSymlink {
			if len(images) != 0 || pin.SHA256 != "" {
				t.Errorf("%s: stored %d images, %+v", tt.path, len(images), pin)
			}
			continue
		}
		if string(images[pin.SHA256]) != tt.data || pin.Size != int64(len(tt.data)) || len(images) != 1 {
			t.Errorf("%s: stored %d images, %+v", tt.path, len(images), pin)
		}
		if tt.path == "f" && pin.Perm != 0o750 {
			t.Errorf("permission bits %o", pin.Perm)
		}
	}
}

// TestTakeUnsteady reads again what changed, and gives up when it does not come to rest. What it returns is what it
// stored.
func TestTakeUnsteady(t *testing.T) {
	for _, busy := range []bool{false, true} {
		t.Run(fmt.Sprint(busy), func(t *testing.T) {
			images := memory{}
			pin, err := Take(&restless{writes: takes - 1, busy: busy}, images, "f")
			if err != nil || string(images[pin.SHA256]) != "steady" {
				t.Errorf("%+v, %v", pin, err)
			}
			var unsteady *UnsteadyError
			if pin, err = Take(&restless{writes: takes, busy: busy}, images, "f"); !errors.As(err, &unsteady) {
				t.Errorf("%+v, %v", pin, err)
			}
		})
	}
}

func TestTakeStoreFails(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"big": strings.Repeat("x", 1<<20), "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := durable.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []change.Path{"big", "empty"} {
		if pin, err := Take(root, failing{}, name); !errors.Is(err, errFull) {
			t.Errorf("%s: %+v, %v", name, pin, err)
		}
	}
}
