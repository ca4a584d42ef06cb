package shadow

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MarkerName is the name of the file that lies beside a shadow's tree and says what the tree is.
const MarkerName = "session.json"

// markerLimit bounds what is read of a marker.
const markerLimit = 64 << 10

// Marker says which session a shadow is, and of what.
type Marker struct {
	Session string
	// Tree is the shadow's copy of the working tree, as an absolute path of the operating system.
	Tree string
	// CommonDir and GitDir are the repository's, as absolute paths of the operating system at the time of opening.
	CommonDir string
	GitDir    string
	// Root is the working tree's, as an absolute path of the operating system at the time of opening.
	Root string
	// Worktree is the id under which correx knows the worktree.
	Worktree string
	// State is the folder that holds the manifest.
	State string
}

// storedMarker is the marker's form on disk. Members may be added; names and meanings stay.
type storedMarker struct {
	Version   int     `json:"version"`
	Session   string  `json:"session"`
	Tree      rawText `json:"tree"`
	CommonDir rawText `json:"common_dir"`
	GitDir    rawText `json:"git_dir"`
	Root      rawText `json:"root"`
	Worktree  string  `json:"worktree"`
	State     rawText `json:"state"`
}

func (m Marker) encode() ([]byte, error) {
	data, err := json.MarshalIndent(storedMarker{
		Version: 1, Session: m.Session, Tree: rawText(m.Tree), CommonDir: rawText(m.CommonDir),
		GitDir: rawText(m.GitDir), Root: rawText(m.Root), Worktree: m.Worktree, State: rawText(m.State),
	}, "", "  ")
	return append(data, '\n'), err
}

// Locate reports whether dir, an absolute path, is a shadow's tree or lies inside one, and whose. Where trees lie inside
// each other the outermost counts: an agent can make folders that look like a shadow below its own tree, but not above
// it. A marker that cannot be read is an error, since dir may then be inside a shadow.
func Locate(dir string) (Marker, bool, error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	var found Marker
	inside := false
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		parent := filepath.Dir(at)
		if parent == at {
			return found, inside, nil
		}
		m, err := readMarker(filepath.Join(parent, MarkerName))
		switch {
		case errors.Is(err, errNoMarker):
			continue
		case err != nil:
			return Marker{}, false, err
		}
		if filepath.Base(m.Tree) == filepath.Base(at) {
			// The folder may have been moved since; where it is now counts.
			m.Tree = at
			found, inside = m, true
		}
	}
}

// errNoMarker is returned when what stands at a marker's path, if anything, is not correx's.
var errNoMarker = errors.New("no marker")

// readMarker reads the marker at path.
func readMarker(path string) (Marker, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return Marker{}, errNoMarker
	}
	if err != nil {
		// A folder above that cannot be searched holds no marker of this user's.
		if errors.Is(err, fs.ErrPermission) {
			return Marker{}, errNoMarker
		}
		return Marker{}, err
	}
	if info.Size() > markerLimit {
		return Marker{}, errNoMarker
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Marker{}, &MarkerError{Path: path, Problem: err}
	}
	return parseMarker(data)
}

// parseMarker reads a marker's bytes. Other programs have files of the same name, so what does not hold the members of a
// marker is none.
func parseMarker(data []byte) (Marker, error) {
	var s storedMarker
	if err := json.Unmarshal(data, &s); err != nil {
		return Marker{}, fmt.Errorf("%w: %w", errNoMarker, err)
	}
	if s.Version < 1 || !validSession(s.Session) || s.Tree == "" || s.State == "" || s.CommonDir == "" {
		return Marker{}, errNoMarker
	}
	return Marker{
		Session: s.Session, Tree: string(s.Tree), CommonDir: string(s.CommonDir),
		GitDir: string(s.GitDir), Root: string(s.Root), Worktree: s.Worktree, State: string(s.State),
	}, nil
}

// treeName returns the name of the tree's folder for a repository at root.
func treeName(root string) string {
	name := filepath.Base(filepath.Clean(root))
	switch {
	case name == "." || name == string(filepath.Separator) || gitAlias(name) || reserved(name):
		return "tree"
	case strings.EqualFold(name, MarkerName), strings.EqualFold(name, clockName):
		return name + ".tree"
	}
	return name
}
