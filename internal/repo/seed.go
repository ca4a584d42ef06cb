package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Seed is what a git directory of its own needs to show the same state as this working tree's, without sharing
// anything that can be written. Names of files are absolute, and "" where the file does not exist.
type Seed struct {
	ObjectFormat string
	// ObjectDir is the folder to borrow objects from. It may borrow from others itself.
	ObjectDir string
	Head      Head
	Refs      []Ref
	// Config holds the settings that decide what git makes of files, and who commits, with the values that count here.
	Config []ConfigValue
	// Index is the worktree's index; SharedIndexes are the files a split index may refer to.
	Index         string
	SharedIndexes []string
	// Exclude, Attributes and SparseCheckout belong in "info"; Shallow beside HEAD.
	Exclude, Attributes, SparseCheckout, Shallow string
	// PartialClone names the remote that a partial clone left objects at; "" for a whole one.
	PartialClone string
}

// ConfigValue is a setting to copy.
type ConfigValue struct{ Key, Value string }

// ShadowSeed collects the seed. Settings that stand in files in the tree are left out.
func (r *Repo) ShadowSeed(ctx context.Context) (Seed, error) {
	c, err := r.settings(ctx)
	if err != nil {
		return Seed{}, fmt.Errorf("read what a shadow needs: %w", err)
	}
	s := Seed{ObjectFormat: r.format, ObjectDir: filepath.Join(r.commonDir, "objects")}
	if s.Head, err = r.Head(ctx); err != nil {
		return Seed{}, fmt.Errorf("read what a shadow needs: %w", err)
	}
	if s.Refs, err = r.Refs(ctx); err != nil {
		return Seed{}, fmt.Errorf("read what a shadow needs: %w", err)
	}
	files := []struct {
		to  *string
		dir string
		rel string
	}{
		{&s.Index, r.gitDir, "index"},
		{&s.Exclude, r.commonDir, "info/exclude"},
		{&s.Attributes, r.commonDir, "info/attributes"},
		{&s.SparseCheckout, r.gitDir, "info/sparse-checkout"},
		{&s.Shallow, r.commonDir, "shallow"},
	}
	for _, f := range files {
		name := filepath.Join(f.dir, filepath.FromSlash(f.rel))
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			*f.to = name
		}
	}
	entries, err := os.ReadDir(r.gitDir)
	if err != nil {
		return Seed{}, fmt.Errorf("read what a shadow needs: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "sharedindex.") && e.Type().IsRegular() {
			s.SharedIndexes = append(s.SharedIndexes, filepath.Join(r.gitDir, e.Name()))
		}
	}
	s.Config = r.seedConfig(c)
	if remote, ok := c.last("extensions.partialclone"); ok {
		s.PartialClone = remote.Value
	}
	return s, nil
}

// seedKeys are the settings a shadow needs to see files as this working tree does.
func seedKeys() []string {
	return []string{
		"core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.symlinks", "core.ignorecase",
		"core.precomposeunicode", "core.protecthfs", "core.protectntfs", "core.longpaths", "core.checkstat",
		"core.trustctime", "core.bigfilethreshold", "core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse",
		"core.excludesfile", "core.attributesfile", "i18n.commitencoding",
		"user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email",
	}
}

// seedConfig picks the settings in a fixed order: the listed ones, then the filters that belong to this repository
// alone (those of the user reach a shadow by themselves).
func (r *Repo) seedConfig(c configuration) []ConfigValue {
	var values []ConfigValue
	for _, key := range seedKeys() {
		s, ok := c.last(key)
		if !ok {
			continue
		}
		value := s.Value
		if s.Implicit {
			value = "true"
		}
		if key == "core.excludesfile" || key == "core.attributesfile" {
			name, err := r.expandPath(value)
			if err != nil || value == "" {
				continue
			}
			value = absolute(r.root, name)
		}
		values = append(values, ConfigValue{key, value})
	}
	var filters []ConfigValue
	for _, s := range c.settings {
		local := s.Scope == "local" || s.Scope == "worktree"
		if local && s.InTree == "" && strings.HasPrefix(s.Key, "filter.") && !s.Implicit {
			filters = append(filters, ConfigValue{s.Key, s.Value})
		}
	}
	slices.SortStableFunc(filters, func(a, b ConfigValue) int { return strings.Compare(a.Key, b.Key) })
	return append(values, filters...)
}
