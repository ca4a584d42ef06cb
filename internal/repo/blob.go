package repo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/correx/correx/internal/change"
)

// largeBlob is the size in bytes from which a blob is streamed by git, because the library holds packed ones in memory.
const largeBlob = 32 << 20

// OpenBlob opens the content of a blob and returns its size. The bytes are hashed while they are read: a reader that
// comes to the end without an error has given exactly the object. A missing object is a *MissingObjectError, also in
// a partial clone (nothing is fetched); bytes that are not the object's end in a *CorruptObjectError. The reader must be
// closed, and gives nothing once ctx has ended.
func (r *Repo) OpenBlob(ctx context.Context, oid string) (io.ReadCloser, int64, error) {
	if len(oid) != r.oidLen() || !isOID(oid) {
		return nil, 0, fmt.Errorf("open blob: %q is not an object id of a %s repository", oid, r.format)
	}
	if body, size, err := r.openBlobInProcess(oid); err == nil {
		return r.verified(oid, size, body), size, nil
	}
	body, size, err := r.openBlobByGit(ctx, oid)
	if err != nil {
		return nil, 0, fmt.Errorf("open blob: %w", err)
	}
	return r.verified(oid, size, body), size, nil
}

func (r *Repo) oidLen() int {
	if r.format == formatSHA256 {
		return 64
	}
	return 40
}

func (r *Repo) openBlobInProcess(oid string) (io.ReadCloser, int64, error) {
	store := r.inProcess()
	if store == nil {
		return nil, 0, errNotHere
	}
	size, err := store.storage.EncodedObjectSize(plumbing.NewHash(oid))
	if err != nil {
		r.forget(store)
		return nil, 0, errNotHere
	}
	if size > largeBlob {
		return nil, 0, errNotHere
	}
	object, err := store.object(oid)
	if err != nil || object.Type() != plumbing.BlobObject {
		return nil, 0, errNotHere
	}
	body, err := object.Reader()
	return body, object.Size(), err
}

// openBlobByGit starts a process that ends when the reader is closed.
func (r *Repo) openBlobByGit(ctx context.Context, oid string) (io.ReadCloser, int64, error) {
	p, err := r.git.start(ctx, call{args: []string{"cat-file", "--batch"}, stdin: strings.NewReader(oid + "\n")})
	if err != nil {
		return nil, 0, err
	}
	out := bufio.NewReader(p.out)
	size, err := blobHeader(out, oid)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		// Git said nothing: its exit status and message say why.
		if _, ended := p.wait(); ended != nil {
			err = ended
		}
		return nil, 0, err
	}
	if err != nil {
		p.abandon()
		return nil, 0, err
	}
	return &gitBlob{process: p, body: io.LimitReader(out, size), rest: out}, size, nil
}

// blobHeader reads "OID TYPE SIZE" or "OID missing".
func blobHeader(out *bufio.Reader, oid string) (int64, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return 0, io.ErrUnexpectedEOF
	}
	fields := strings.Fields(line)
	if len(fields) == 2 && fields[0] == oid && fields[1] == "missing" {
		return 0, &MissingObjectError{OID: oid}
	}
	if len(fields) != 3 || fields[0] != oid {
		return 0, &OutputError{Command: "cat-file", Problem: strconv.Quote(line)}
	}
	if fields[1] != "blob" {
		return 0, fmt.Errorf("object %q is a %s, not a blob", oid, fields[1])
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return 0, &OutputError{Command: "cat-file", Problem: strconv.Quote(line)}
	}
	return size, nil
}

// gitBlob reads a blob from a git process.
type gitBlob struct {
	process *process
	body    io.Reader
	rest    io.Reader
	ended   bool
}

func (b *gitBlob) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err != io.EOF || b.ended {
		return n, err
	}
	b.ended = true
	if _, err := io.Copy(io.Discard, b.rest); err != nil {
		return n, err
	}
	if _, err := b.process.wait(); err != nil {
		return n, err
	}
	return n, io.EOF
}

func (b *gitBlob) Close() error {
	if !b.ended {
		b.ended = true
		b.process.abandon()
	}
	return nil
}

// verifiedReader hashes what passes through it.
type verifiedReader struct {
	io.ReadCloser
	hash hash.Hash
	oid  string
}

func (r *Repo) verified(oid string, size int64, body io.ReadCloser) io.ReadCloser {
	return &verifiedReader{ReadCloser: body, hash: blobHash(r.format, size), oid: oid}
}

func (v *verifiedReader) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.hash.Write(p[:n])
	if err == io.EOF {
		if found := fmt.Sprintf("%x", v.hash.Sum(nil)); found != v.oid {
			return n, &CorruptObjectError{OID: v.oid, Found: found}
		}
	}
	return n, err
}

// HeadEntry returns mode and object id of a path in HEAD's tree; both are "" where HEAD has no such path, or no commit
// yet. A folder has mode ModeTree.
func (r *Repo) HeadEntry(ctx context.Context, p change.Path) (mode, oid string, err error) {
	head, err := r.Head(ctx)
	if err != nil || head.Unborn {
		return "", "", err
	}
	if store := r.inProcess(); store != nil {
		if mode, oid, err = store.find(head.OID, p); err == nil {
			return mode, oid, nil
		}
		r.forget(store)
	}
	mode, oid, err = r.findByGit(ctx, head.OID, p)
	if err != nil {
		return "", "", fmt.Errorf("look up %q in HEAD: %w", p, err)
	}
	return mode, oid, nil
}

// find walks from a commit down to a path.
func (s *objectStore) find(commit string, p change.Path) (mode, oid string, err error) {
	if oid, err = s.treeOf(commit); err != nil {
		return "", "", err
	}
	mode = ModeTree
	for name := range strings.SplitSeq(string(p), "/") {
		if mode != ModeTree {
			return "", "", nil
		}
		if mode, oid, err = s.treeEntry(oid, name); err != nil || mode == "" {
			return "", "", err
		}
	}
	return mode, oid, nil
}

// findByGit reads "MODE TYPE OID<tab>PATH".
func (r *Repo) findByGit(ctx context.Context, commit string, p change.Path) (mode, oid string, err error) {
	out, err := r.git.run(ctx, call{args: []string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", string(p)}})
	if err != nil {
		return "", "", err
	}
	lines, err := records("ls-tree", out.out)
	if err != nil || len(lines) == 0 {
		return "", "", err
	}
	head, name, _ := strings.Cut(lines[0], "\t")
	fields := strings.Split(head, " ")
	if len(lines) != 1 || len(fields) != 3 || name != string(p) || !isOID(fields[2]) {
		return "", "", &OutputError{Command: "ls-tree", Problem: strconv.Quote(lines[0])}
	}
	return fields[0], fields[2], nil
}
