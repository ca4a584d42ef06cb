package repo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// GitVersion returns what git says of its version: "git version 2.39.5".
func (r *Repo) GitVersion(ctx context.Context) (string, error) { return r.git.text(ctx, "version") }

// WorktreeExists reports whether the repository still has the worktree with the given id.
func (r *Repo) WorktreeExists(id string) bool {
	name, linked := strings.CutPrefix(id, "w-")
	if !linked {
		return id == "main"
	}
	_, err := os.Lstat(filepath.Join(r.commonDir, "worktrees", name))
	return err == nil
}

// Folders are the places that belong to the repository as far as they can be told: its git directory, and the folder of each
// worktree.
func (r *Repo) Folders() []string {
	list := []string{r.Root(), r.commonDir, r.gitDir}
	if filepath.Base(r.commonDir) == ".git" {
		list = append(list, filepath.Dir(r.commonDir))
	}
	top := filepath.Join(r.commonDir, "worktrees")
	links, _ := os.ReadDir(top) // without the folder there are none
	for _, link := range links {
		if text, err := os.ReadFile(filepath.Join(top, link.Name(), "gitdir")); err == nil {
			list = append(list, filepath.Dir(strings.TrimSpace(string(text))))
		}
	}
	return list
}

// OwnIndex reports whether what is staged is read from the worktree's own index. For a partial commit, and for one of all
// that changed, git hands its hooks a temporary one.
func (r *Repo) OwnIndex() bool { return r.index == "" || r.index == filepath.Join(r.gitDir, "index") }
