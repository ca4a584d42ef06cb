package shadow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// List returns the markers of all shadows below parent, in the order of their names. A folder that holds no marker, or one
// that cannot be read, is passed over; no parent is no shadow.
func List(parent string) ([]Marker, error) {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Marker
	for _, e := range entries {
		if m, err := readMarker(filepath.Join(parent, e.Name(), MarkerName)); err == nil {
			list = append(list, m)
		}
	}
	return list, nil
}

// Of returns the marker of the shadow whose tree is given.
func Of(tree string) (Marker, error) {
	return readMarker(filepath.Join(filepath.Dir(tree), MarkerName))
}

// Repoint tells a shadow where its repository is now: m replaces its marker, and the objects its git directory borrows are
// those in objectDirs. After a failure the marker may be new and the borrowed objects the old ones; Repoint again. A git
// directory that the agent took away or rebuilt is left as it is.
func Repoint(m Marker, objectDirs []string) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(filepath.Dir(m.Tree), MarkerName), data, 0o600); err != nil {
		return err
	}
	text, err := alternatesText(objectDirs)
	if err != nil {
		return err
	}
	tree, err := durable.OpenRoot(m.Tree)
	if err != nil {
		return err
	}
	defer tree.Close()
	const name = change.Path(".git/objects/info/alternates")
	if info, err := tree.Lstat(name); err != nil || info.Kind != change.KindFile {
		return nil
	}
	if err := tree.Remove(name); err != nil {
		return err
	}
	return tree.WriteFile(name, strings.NewReader(text), 0o644, 0)
}
