package repo

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// objectStore reads loose and packed objects and refs of a sha1 repository in this process. It is used below the level
// at which the library looks at repository extensions: those that matter here are the object format, which is checked,
// and the ref storage, with which HEAD does not resolve and git is asked.
type objectStore struct {
	storage *filesystem.Storage
}

// inProcess returns the store, or nil where only git can read the repository.
func (r *Repo) inProcess() *objectStore {
	if r.format != formatSHA1 {
		return nil
	}
	r.objectsMu.Lock()
	defer r.objectsMu.Unlock()
	if r.objects == nil {
		dir := dotgit.NewRepositoryFilesystem(osfs.New(r.gitDir), osfs.New(r.commonDir))
		options := filesystem.Options{AlternatesFS: osfs.New("/", osfs.WithBoundOS())}
		r.objects = &objectStore{filesystem.NewStorageWithOptions(dir, cache.NewObjectLRUDefault(), options)}
	}
	return r.objects
}

// forget drops the store after a miss, because it does not notice packs that came after it was opened.
func (r *Repo) forget(stale *objectStore) {
	r.objectsMu.Lock()
	defer r.objectsMu.Unlock()
	if r.objects == stale {
		r.objects = nil
	}
}

// headInProcess answers only where HEAD leads to a commit; everything else is for git to say.
func (r *Repo) headInProcess() (Head, bool) {
	store := r.inProcess()
	if store == nil {
		return Head{}, false
	}
	ref, err := store.storage.Reference(plumbing.HEAD)
	if err != nil {
		return Head{}, false
	}
	var h Head
	if ref.Type() == plumbing.SymbolicReference {
		h.Ref = ref.Target().String()
		if ref, err = store.storage.Reference(ref.Target()); err != nil {
			return Head{}, false
		}
	}
	if ref.Type() != plumbing.HashReference || ref.Hash().IsZero() {
		return Head{}, false
	}
	h.OID = ref.Hash().String()
	return h, true
}

// object returns an object's type and size and a reader of its content.
func (s *objectStore) object(oid string) (plumbing.EncodedObject, error) {
	o, err := s.storage.EncodedObject(plumbing.AnyObject, plumbing.NewHash(oid))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotHere, err)
	}
	return o, nil
}

// bytesOf returns the whole content of an object of one type.
func (s *objectStore) bytesOf(oid string, want plumbing.ObjectType) ([]byte, error) {
	o, err := s.object(oid)
	if err != nil {
		return nil, err
	}
	if o.Type() != want {
		return nil, fmt.Errorf("%w: %q is a %s", errNotHere, oid, o.Type())
	}
	reader, err := o.Reader()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotHere, err)
	}
	defer reader.Close()
	data, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotHere, err)
	}
	return data, nil
}

// treeOf returns the id of a commit's tree.
func (s *objectStore) treeOf(commit string) (string, error) {
	data, err := s.bytesOf(commit, plumbing.CommitObject)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	tree, ok := strings.CutPrefix(line, "tree ")
	if !ok || !isOID(tree) {
		return "", fmt.Errorf("%w: commit %q names no tree", errNotHere, commit)
	}
	return tree, nil
}

// treeEntry finds a name in a tree. A name that is not there is mode "".
func (s *objectStore) treeEntry(tree, name string) (mode, oid string, err error) {
	data, err := s.bytesOf(tree, plumbing.TreeObject)
	if err != nil {
		return "", "", err
	}
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		entryMode, entryName, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < 20 {
			return "", "", fmt.Errorf("%w: tree %q has an entry that is not whole", errNotHere, tree)
		}
		if entryName == name {
			if len(entryMode) == 5 {
				entryMode = "0" + entryMode
			}
			return entryMode, fmt.Sprintf("%x", rest[:20]), nil
		}
		data = rest[20:]
	}
	return "", "", nil
}
