package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Head is where HEAD is.
type Head struct {
	// Ref is the branch as a full name; "" while HEAD is detached.
	Ref string
	// OID is the commit; "" while the branch has none yet.
	OID    string
	Unborn bool
}

// Ref is a branch, a tag or another name of an object.
type Ref struct {
	// Name is the full name, "refs/heads/main".
	Name, OID string
	// Symbolic is the name it points to, for a symbolic one.
	Symbolic string
}

// Head returns where HEAD is. A HEAD that cannot be read, or names something broken, is an error and not an unborn
// branch.
func (r *Repo) Head(ctx context.Context) (Head, error) {
	if h, ok := r.headInProcess(); ok {
		return h, nil
	}
	h, err := r.headByGit(ctx)
	if err != nil {
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	return h, nil
}

func (r *Repo) headByGit(ctx context.Context) (Head, error) {
	var h Head
	symbolic, err := r.git.run(ctx, call{args: []string{"symbolic-ref", "-q", "HEAD"}, answers: []int{1}})
	if err != nil {
		return Head{}, err
	}
	h.Ref = strings.TrimSuffix(string(symbolic.out), "\n")
	resolved, err := r.git.run(ctx, call{args: []string{"rev-parse", "-q", "--verify", "HEAD^{commit}"}, answers: []int{1}})
	if err != nil {
		return Head{}, err
	}
	h.OID = strings.TrimSuffix(string(resolved.out), "\n")
	switch {
	case isOID(h.OID):
		return h, nil
	case h.Ref == "":
		return Head{}, &OutputError{Command: "rev-parse", Problem: "HEAD names no commit and no branch"}
	}
	if err := r.checkUnborn(ctx, h.Ref); err != nil {
		return Head{}, err
	}
	h.OID, h.Unborn = "", true
	return h, nil
}

// checkUnborn makes sure that a branch without a commit is one that does not exist, and not one that is broken.
func (r *Repo) checkUnborn(ctx context.Context, ref string) error {
	out, err := r.git.run(ctx, call{args: []string{"for-each-ref", "--format=%(objectname)", ref}})
	if err != nil {
		return err
	}
	if len(out.out) > 0 || len(out.warnings) > 0 {
		return &OutputError{Command: "for-each-ref", Problem: fmt.Sprintf("%q names no commit: %q", ref, out.warnings)}
	}
	loose := filepath.Join(r.commonDir, filepath.FromSlash(ref))
	if info, err := os.Lstat(loose); err == nil && !info.IsDir() {
		return &OutputError{Command: "rev-parse", Problem: fmt.Sprintf("%q exists and names no commit", ref)}
	}
	return nil
}

// Refs returns every ref but HEAD and its like, sorted by name.
func (r *Repo) Refs(ctx context.Context) ([]Ref, error) {
	out, err := r.git.run(ctx, call{args: []string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}})
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	var refs []Ref
	for line := range strings.Lines(string(out.out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(fields) != 3 || !isOID(fields[0]) {
			return nil, fmt.Errorf("list refs: %w", &OutputError{Command: "for-each-ref", Problem: fmt.Sprintf("%q", line)})
		}
		refs = append(refs, Ref{OID: fields[0], Name: fields[1], Symbolic: fields[2]})
	}
	return refs, nil
}
