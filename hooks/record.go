package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// record is what stood in a hook's place when correx was put there. It is stored as JSON; members may be added, and those
// there are keep their names and meaning.
type record struct {
	Version int    `json:"version"`
	Hook    string `json:"hook"`
	// Kind is "none", "joined" or "chained".
	Kind string `json:"kind"`
	// Mode holds the permission bits of a regular file.
	Mode uint32 `json:"mode,omitempty"`
	// Content holds the bytes of a regular file, Target those of a symlink's target.
	Content []byte `json:"content,omitempty"`
	Target  []byte `json:"target,omitempty"`
}

const (
	kindNone    = "none"
	kindJoined  = "joined"
	kindChained = "chained"
)

// recordDir holds the records, in the state folder.
const recordDir = "hooks"

// recordPath tells the hooks folders of one repository apart: another core.hooksPath is another folder.
func recordPath(state, dir, name string) string {
	digest := sha256.Sum256([]byte(dir))
	return filepath.Join(state, recordDir, fmt.Sprintf("%s-%x.json", name, digest[:6]))
}

// readRecord returns the record, or ok false where there is none that can be read: it is only ever an additional check.
func readRecord(state, dir, name string) (r record, ok bool) {
	data, err := os.ReadFile(recordPath(state, dir, name))
	if err != nil {
		return record{}, false
	}
	err = json.Unmarshal(data, &r)
	return r, err == nil && r.Version == 1 && r.Hook == name
}

// keepRecord stores what is about to be replaced.
func (w writer) keepRecord(state, dir string, r record) error {
	r.Version = 1
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file := recordPath(state, dir, r.Hook)
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := w.mkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return w.writeFile(file, data, 0o600)
}

// hook is what stands at a hook's path.
type hook struct {
	name, path string
	exists     bool
	// link is the target where the hook is a symlink, isLink says that it is one.
	link    string
	isLink  bool
	content []byte
	mode    fs.FileMode
	// chained is where a hook that could not be joined is, or would be.
	chained    string
	hasChained bool
	parts      parts
	ours       bool
}

// mostOfHook is the size in bytes up to which a hook is read. A larger one is a program, and chained unread.
const mostOfHook = 4 << 20

// look reads a hook without following links.
func look(dir, name string) (hook, error) {
	h := hook{name: name, path: filepath.Join(dir, name), chained: filepath.Join(dir, ChainedDir, name)}
	switch info, err := os.Lstat(h.chained); {
	case err == nil && info.IsDir():
		return h, &ConflictError{Path: h.chained, Problem: "expected a hook, found a folder; move it away"}
	case err == nil:
		h.hasChained = true
	case !absent(err):
		return h, err
	}
	info, err := os.Lstat(h.path)
	if absent(err) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	h.exists, h.mode = true, info.Mode().Perm()
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		h.isLink = true
		h.link, err = os.Readlink(h.path)
		return h, err
	case !info.Mode().IsRegular():
		return h, &ConflictError{Path: h.path, Problem: "expected a file, found something else; move it away"}
	case info.Size() > mostOfHook:
		return h, nil
	}
	if h.content, err = os.ReadFile(h.path); err != nil {
		return h, err
	}
	var problem string
	if h.parts, h.ours, problem = take(h.content); problem != "" {
		return h, &ConflictError{Path: h.path, Problem: problem}
	}
	return h, nil
}

// absent reports whether an error says that nothing stands there, not even the folder.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// record describes the hook as it stands, to be kept before it is changed.
func (h hook) record(kind string) record {
	r := record{Hook: h.name, Kind: kind}
	if h.isLink {
		r.Target = []byte(h.link)
	} else if h.exists {
		r.Mode, r.Content = uint32(h.mode), h.content
	}
	return r
}

// checkDir refuses a hooks folder that is something else. One that is missing is fine.
func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%w: hooks folder %q, expected an absolute name", ErrUsage, dir)
	}
	info, err := os.Stat(dir)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &FolderError{Path: dir}
	}
	return nil
}
