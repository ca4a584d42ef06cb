package shadow

import (
	"errors"
	"fmt"

	"github.com/correx/correx/internal/change"
)

// ErrManifest is in the chain of every error that says a manifest cannot be used.
var ErrManifest = errors.New("shadow manifest")

// ErrExists is returned by Open when the session has a shadow already.
var ErrExists = errors.New("shadow exists")

// ErrNoClone is returned by Open when the clone backend was asked for by name and the file system cannot share the
// content of the real tree's files with the shadow's.
var ErrNoClone = errors.New("the file system cannot clone files")

// ErrUnknownBase is in the chain when nobody can say any more what a path's real file was when the shadow was opened: it
// was cloned without being read, and changed before anybody looked. The path is stale until it is reset.
var ErrUnknownBase = errors.New("base is unknown")

// ManifestError says why a manifest cannot be used: it is missing (then also fs.ErrNotExist), damaged, or of another
// session. What the shadow holds cannot be told from what was there before, until the shadow is closed or reset.
type ManifestError struct {
	Path    string
	Problem error
}

// Error says which manifest, and what is wrong with it.
func (e *ManifestError) Error() string {
	return fmt.Sprintf("shadow manifest %q: %v", e.Path, e.Problem)
}

// Unwrap returns ErrManifest and the problem.
func (e *ManifestError) Unwrap() []error { return []error{ErrManifest, e.Problem} }

// MarkerError is returned by Locate when a marker is there and cannot be read.
type MarkerError struct {
	Path    string
	Problem error
}

// Error says which marker, and what is wrong with it.
func (e *MarkerError) Error() string { return fmt.Sprintf("shadow marker %q: %v", e.Path, e.Problem) }

// Unwrap returns the problem.
func (e *MarkerError) Unwrap() error { return e.Problem }

// TreeError is returned when a shadow's tree is not there or is not a folder that belongs to the shadow.
type TreeError struct {
	Tree    string
	Problem string
}

// Error says which tree, and what is wrong with it.
func (e *TreeError) Error() string { return fmt.Sprintf("shadow tree %q: %s", e.Tree, e.Problem) }

// ChangedError is returned by Write when a shadow's file is not what was expected there; it was left alone.
type ChangedError struct {
	Path            change.Path
	Expected, Found change.Pin
}

// Error names the path and both pins.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("shadow file %q: found %s, expected %s", e.Path, pinWords(e.Found), pinWords(e.Expected))
}

// LimitError is returned by Scan when a shadow holds more than a scan takes in.
type LimitError struct {
	What  string
	Limit int
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("scan of the shadow: more than %d %s", e.Limit, e.What)
}

// SourceError is returned by Open when the description of the repository cannot be turned into a shadow.
type SourceError struct {
	// What is the part of the description: "ref", "config", "copied file".
	What    string
	Value   string
	Problem string
}

// Error names the part and what is wrong with it.
func (e *SourceError) Error() string { return fmt.Sprintf("%s %q: %s", e.What, e.Value, e.Problem) }

func pinWords(p change.Pin) string {
	switch {
	case !p.Exists():
		return "nothing"
	case p.SHA256 == "":
		return string(p.Kind)
	}
	return fmt.Sprintf("%s %.12s", p.GitMode(), p.SHA256)
}
