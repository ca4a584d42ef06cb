package shadow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/durable"
)

// writeGitDir makes the git directory of the tree. It is a whole repository of its own but for its objects, which it
// borrows by objects/info/alternates: git never writes through that but to renew the time of an object it reuses.
//
// Steps: folders, HEAD, packed-refs, the copied files (the index with its times, which git needs to tell which entries
// are young), alternates, and config last, without which the folder is no repository.
func writeGitDir(root *durable.Root, src Source) error {
	for _, dir := range []change.Path{".git/objects/info", ".git/objects/pack", ".git/refs/heads", ".git/refs/tags", ".git/info"} {
		if err := root.MkdirAll(dir); err != nil {
			return err
		}
	}
	head, err := headText(src)
	if err != nil {
		return err
	}
	refs, err := packedRefs(src)
	if err != nil {
		return err
	}
	alternates, err := alternatesText(src.ObjectDirs)
	if err != nil {
		return err
	}
	config, err := configText(src)
	if err != nil {
		return err
	}
	if err := copyGitFiles(root, src.CopyFiles); err != nil {
		return err
	}
	for _, f := range []struct {
		name change.Path
		text string
	}{{".git/HEAD", head}, {".git/packed-refs", refs}, {".git/objects/info/alternates", alternates}, {".git/config", config}} {
		if err := root.WriteFile(f.name, strings.NewReader(f.text), 0o644, 0); err != nil {
			return err
		}
	}
	return nil
}

// copyGitFiles copies the files that git keeps beside the objects and refs, times included.
func copyGitFiles(root *durable.Root, files map[string]string) error {
	for name, from := range files {
		if !copiedName(name) {
			return &SourceError{What: "copied file", Value: name, Problem: "not one that a shadow takes over"}
		}
		if err := copyGitFile(root, change.Path(".git/"+name), from); err != nil {
			return fmt.Errorf("copy %q: %w", from, err)
		}
	}
	return nil
}

func copyGitFile(root *durable.Root, name change.Path, from string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("found %v, expected a regular file", info.Mode().Type())
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	// The time is taken from what was opened: git replaces these files by renaming.
	if info, err = f.Stat(); err != nil {
		return err
	}
	return root.WriteFile(name, f, 0o644, info.ModTime().UnixNano())
}

// copiedName reports whether a file of the git directory may be taken over. The names are those that hold what a shadow
// has of its own from the start; none of them can hold a link into another repository.
func copiedName(name string) bool {
	switch name {
	case "index", "shallow", "info/exclude", "info/attributes", "info/sparse-checkout", "info/grafts",
		"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "ORIG_HEAD", "SQUASH_MSG":
		return true
	}
	hash, ok := strings.CutPrefix(name, "sharedindex.")
	return ok && hexadecimal(hash)
}

func hexadecimal(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != ""
}

// objectID reports whether s is an object id of the repository's format.
func objectID(s, format string) bool {
	size := 40
	if format == "sha256" {
		size = 64
	}
	return len(s) == size && hexadecimal(s)
}

func headText(src Source) (string, error) {
	h := src.Head
	switch {
	case h.Ref != "" && refName(h.Ref):
		return "ref: " + h.Ref + "\n", nil
	case h.Ref == "" && objectID(h.OID, src.ObjectFormat):
		return h.OID + "\n", nil
	}
	return "", &SourceError{What: "HEAD", Value: h.Ref + h.OID, Problem: "neither a branch nor a commit"}
}

// refName reports whether name can stand in a ref file: what git itself checks, as far as it could break the format or
// name something outside refs.
func refName(name string) bool {
	if !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".lock") {
		return false
	}
	for i := range len(name) {
		if name[i] <= ' ' || name[i] == 0x7f {
			return false
		}
	}
	return !strings.Contains(name, "..") && !strings.Contains(name, "//") && !strings.Contains(name, "/.")
}

// privateRefs are refs that mean something only together with files of the worktree they are of.
var privateRefs = [...]string{"refs/stash", "refs/bisect/", "refs/rewritten/", "refs/worktree/"}

func privateRef(name string) bool {
	for _, p := range privateRefs {
		if name == p || strings.HasSuffix(p, "/") && strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func packedRefs(src Source) (string, error) {
	refs := slices.Clone(src.Refs)
	if h := src.Head; h.Ref != "" && !h.Unborn && !slices.ContainsFunc(refs, func(r Ref) bool { return r.Name == h.Ref }) {
		refs = append(refs, Ref{Name: h.Ref, OID: h.OID})
	}
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	b.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for _, r := range refs {
		if privateRef(r.Name) {
			continue
		}
		if !refName(r.Name) {
			return "", &SourceError{What: "ref", Value: r.Name, Problem: "not the name of a ref"}
		}
		if !objectID(r.OID, src.ObjectFormat) || r.Peeled != "" && !objectID(r.Peeled, src.ObjectFormat) {
			return "", &SourceError{What: "ref", Value: r.Name, Problem: "its object id is not one of the repository's format"}
		}
		b.WriteString(r.OID + " " + r.Name + "\n")
		if r.Peeled != "" && r.Peeled != r.OID {
			b.WriteString("^" + r.Peeled + "\n")
		}
	}
	return b.String(), nil
}

// alternatesText returns objects/info/alternates for dirs. A name that the plain form cannot hold is quoted as C does.
func alternatesText(dirs []string) (string, error) {
	var b strings.Builder
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) || strings.IndexByte(dir, 0) >= 0 {
			return "", &SourceError{What: "object folder", Value: dir, Problem: "not an absolute path"}
		}
		dir = filepath.ToSlash(dir)
		if strings.ContainsAny(dir, "\n\"\\") {
			dir = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(dir) + `"`
		}
		b.WriteString(dir + "\n")
	}
	return b.String(), nil
}
