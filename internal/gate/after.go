package gate

import (
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// changedTree answers what the real tree would hold after a set landed, as far as the set decides it.
type changedTree struct {
	present map[change.Path]bool
	removed map[change.Path]bool
}

// afterLanding notes what files put in place and take away.
func afterLanding(files []change.FileChange) changedTree {
	t := changedTree{present: map[change.Path]bool{}, removed: map[change.Path]bool{}}
	for _, f := range files {
		for _, st := range f.Steps() {
			if !st.Result.Exists() {
				t.removed[st.Path] = true
				continue
			}
			t.present[st.Path] = true
			for _, up := range st.Path.Ancestors() {
				t.present[up] = true
			}
		}
	}
	return t
}

// removesAbove reports whether the set takes away something on the way to p.
func (t changedTree) removesAbove(p change.Path) bool {
	for _, up := range p.Ancestors() {
		if t.removed[up] {
			return true
		}
	}
	return false
}

// has reports whether p stands after the landing.
func (g *Gate) has(t changedTree, p change.Path) bool {
	if t.present[p] {
		return true
	}
	if t.removed[p] {
		return false
	}
	_, err := g.tree.Lstat(p)
	return err == nil
}

// looksBare reports whether landing c would complete a folder that git takes for a repository, and whose configuration it
// would then obey.
func (g *Gate) looksBare(c change.FileChange, after changedTree) bool {
	if !c.Proposed.Exists() {
		return false
	}
	for _, dir := range tiers.BareRepositoryFolders(c.Path) {
		if tiers.IsBareRepository(dir, func(p change.Path) bool { return g.has(after, p) }) {
			return true
		}
	}
	return false
}

// shadowsMakefile reports whether c creates a spelling of Makefile that make reads before one that is there.
func (g *Gate) shadowsMakefile(c change.FileChange, after changedTree) bool {
	if c.Base.Exists() && c.Op != change.OpRename {
		return false
	}
	for _, p := range tiers.MakefileShadows(c.Path) {
		if g.has(after, p) {
			return true
		}
	}
	return false
}
