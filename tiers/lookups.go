package tiers

import (
	"path"
	"strings"

	"github.com/correx/correx/internal/change"
)

// ResolveLink returns where a symlink at path at with the given target leads, by the letters alone: what further symlinks
// on the way do is for a look at the disk. Inside is false for a target that leaves the repository, or that is absolute; to
// is "" for the root.
func ResolveLink(at change.Path, target string) (to change.Path, inside bool) {
	slashed := strings.ReplaceAll(target, `\`, "/")
	if target == "" || strings.HasPrefix(slashed, "/") || (len(slashed) > 1 && slashed[1] == ':') {
		return "", false
	}
	for _, form := range []string{slashed, target} {
		joined := path.Join(string(at.Dir()), form)
		if joined == ".." || strings.HasPrefix(joined, "../") {
			return "", false
		}
		to = change.Path(joined)
	}
	if to == "." {
		return "", true
	}
	return to, true
}

// MakefileShadows returns the files beside p that make would no longer read if p were there.
func MakefileShadows(p change.Path) []change.Path {
	var names []string
	switch {
	case foldName(p.Base()) == "gnumakefile", foldName(p.Base()) == "bsdmakefile":
		names = []string{"makefile", "Makefile"}
	case p.Base() == "makefile":
		names = []string{"Makefile"}
	}
	var shadowed []change.Path
	for _, name := range names {
		shadowed = append(shadowed, p.Dir().Join(name))
	}
	return shadowed
}

// BareRepositoryFolders returns the folders that p could help to look like a bare repository: those in which it would be
// HEAD, commondir or config, or lie in objects, refs or hooks. The root is no such folder, since it has a ".git".
func BareRepositoryFolders(p change.Path) []change.Path {
	var folders []change.Path
	for _, up := range append(p.Ancestors(), p) {
		folder := up.Dir()
		if folder == "" {
			continue
		}
		switch foldName(up.Base()) {
		case "objects", "refs", "hooks":
			folders = append(folders, folder)
		case "head", "commondir", "config":
			if up == p {
				folders = append(folders, folder)
			}
		}
	}
	return folders
}

// IsBareRepository reports whether git would take folder for a bare repository: it holds HEAD and either objects and refs
// or a commondir that names another place for them. Exists is asked about the tree as it would be after landing, for files
// and for folders alike.
func IsBareRepository(folder change.Path, exists func(change.Path) bool) bool {
	if !exists(folder.Join("HEAD")) {
		return false
	}
	return exists(folder.Join("commondir")) || (exists(folder.Join("objects")) && exists(folder.Join("refs")))
}
