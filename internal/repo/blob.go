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
	object, err := store.object(oid)
	if err != nil {
		r.forget(store)
		return nil, 0, err
	}
	if object.Type() != plumbing.BlobObject || object.Size() > largeBlob {
		return nil, 0, errNotHere
	}
	body, err := object.Reader()
	return body, object.Size(), err
}

// fewBlobs is how many blobs are opened one by one before a process for all of them costs less.
const fewBlobs = 8

// EachBlob calls do with the size and content of each blob, in the order of oids, and ends with its first error. For many
// blobs it takes one git process. The promises about content are those of OpenBlob, and hold whether or not do reads to
// the end: when EachBlob returns nil, every blob was whole.
func (r *Repo) EachBlob(ctx context.Context, oids []string, do func(oid string, size int64, content io.Reader) error) error {
	for _, oid := range oids {
		if len(oid) != r.oidLen() || !isOID(oid) {
			return fmt.Errorf("open blob: %q is not an object id of a %s repository", oid, r.format)
		}
	}
	if len(oids) > fewBlobs {
		if err := r.eachBlobByGit(ctx, oids, do); err != nil {
			return fmt.Errorf("open blobs: %w", err)
		}
		return nil
	}
	for _, oid := range oids {
		body, size, err := r.OpenBlob(ctx, oid)
		if err != nil {
			return err
		}
		err = readWhole(oid, size, body, do)
		body.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// readWhole hands content to do, and reads what do left.
func readWhole(oid string, size int64, content io.Reader, do func(string, int64, io.Reader) error) error {
	if err := do(oid, size, content); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, content)
	return err
}

func (r *Repo) eachBlobByGit(ctx context.Context, oids []string, do func(string, int64, io.Reader) error) error {
	stdin := strings.NewReader(strings.Join(oids, "\n") + "\n")
	p, err := r.git.start(ctx, call{args: []string{"cat-file", "--batch", "--buffer"}, stdin: stdin})
	if err != nil {
		return err
	}
	out := bufio.NewReaderSize(p.out, 64<<10)
	for _, oid := range oids {
		if err := r.nextBlob(out, oid, do); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				// Git stopped in the middle: its exit status and message say why.
				if _, ended := p.wait(); ended != nil {
					return ended
				}
				return err
			}
			p.abandon()
			return err
		}
	}
	_, err = p.wait()
	return err
}

// nextBlob reads one header, the content and the line end after it.
func (r *Repo) nextBlob(out *bufio.Reader, oid string, do func(string, int64, io.Reader) error) error {
	size, err := blobHeader(out, oid)
	if err != nil {
		return err
	}
	content := r.verified(oid, size, io.NopCloser(io.LimitReader(out, size)))
	if err := readWhole(oid, size, content, do); err != nil {
		return err
	}
	_, err = out.Discard(1)
	return err
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
