package repo

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

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
	// mu orders all reading: the library builds its list of packs without a lock.
	mu      sync.Mutex
	storage *filesystem.Storage
	objects string
	// packs says that packed objects are read here too. The library reads the whole index of every pack, and those of
	// borrowed object folders anew each time, so large and borrowed ones are left to git.
	packs bool
}

const (
	// mostOfIndexes is the size in bytes of all pack indexes together up to which they are read.
	mostOfIndexes = 8 << 20
	// objectCacheSize is the memory in bytes for objects that others are stored as differences from.
	objectCacheSize = 8 << 20
)

// inProcess returns the store, or nil where only git can read the repository.
func (r *Repo) inProcess() *objectStore {
	if r.format != formatSHA1 {
		return nil
	}
	r.objectsMu.Lock()
	defer r.objectsMu.Unlock()
	if r.objects == nil {
		r.objects = openStore(r.gitDir, r.commonDir)
	}
	return r.objects
}

func openStore(gitDir, commonDir string) *objectStore {
	s := &objectStore{objects: filepath.Join(commonDir, "objects")}
	_, err := os.Lstat(filepath.Join(s.objects, "info", "alternates"))
	s.packs = os.IsNotExist(err) && indexSizes(filepath.Join(s.objects, "pack")) <= mostOfIndexes
	dir := dotgit.NewRepositoryFilesystem(osfs.New(gitDir), osfs.New(commonDir))
	s.storage = filesystem.NewStorageWithOptions(dir, cache.NewObjectLRU(objectCacheSize),
		filesystem.Options{LargeObjectThreshold: largeBlob})
	return s
}

// indexSizes adds up the pack indexes in a folder, in bytes.
func indexSizes(dir string) int64 {
	var sum int64
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".idx") {
			continue
		}
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
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
	store.mu.Lock()
	defer store.mu.Unlock()
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

// object finds an object: a loose one always, a packed one where packs are read here.
func (s *objectStore) object(oid string) (plumbing.EncodedObject, error) {
	if !s.packs {
		if _, err := os.Lstat(filepath.Join(s.objects, oid[:2], oid[2:])); err != nil {
			return nil, errNotHere
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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
	if o.Type() != want || o.Size() > largeBlob {
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
