package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/correx/correx/internal/change"
)

// BlobInput is content at a path that git has not seen.
type BlobInput struct {
	Path change.Path
	// Pin says what it is; kind and size count.
	Pin change.Pin
	// Open gives the bytes of the file, or the target of the symlink. It may be called more than once.
	Open func() (io.ReadCloser, error)
}

// BlobIDs returns the object ids git would store for the inputs with "git add", its conversions included: line ends,
// $Id$, working-tree encodings and Git LFS pointers. It is "" where that cannot be known without running a program
// that a filter names, and for what is neither a file nor a symlink. Nothing is stored.
func (r *Repo) BlobIDs(ctx context.Context, files []BlobInput) (map[change.Path]string, error) {
	ids := make(map[change.Path]string, len(files))
	if len(files) == 0 {
		return ids, nil
	}
	c, err := r.newConverter(ctx, files)
	if err != nil {
		return nil, fmt.Errorf("object ids: %w", err)
	}
	for _, f := range files {
		if ids[f.Path], err = c.id(ctx, f); err != nil {
			return nil, fmt.Errorf("object id of %q: %w", f.Path, err)
		}
	}
	return ids, nil
}

// converter knows git's conversions for a set of paths.
type converter struct {
	repo       *Repo
	git        runner
	config     configuration
	autocrlf   string
	attributes map[change.Path]attributes
}

func (r *Repo) newConverter(ctx context.Context, files []BlobInput) (*converter, error) {
	config, err := r.settings(ctx)
	if err != nil {
		return nil, err
	}
	c := &converter{repo: r, config: config}
	if c.git, err = r.reader(ctx); err != nil {
		return nil, err
	}
	if s, ok := config.last("core.autocrlf"); ok {
		switch {
		case strings.EqualFold(s.Value, "input"):
			c.autocrlf = "input"
		case s.isTrue():
			c.autocrlf = "true"
		}
	}
	var paths []change.Path
	for _, f := range files {
		if f.Pin.Kind == change.KindFile {
			paths = append(paths, f.Path)
		}
	}
	c.attributes, err = r.attributesOf(ctx, c.git, paths)
	return c, err
}

// attributesOf asks git for the attributes of paths, which need not exist.
func (r *Repo) attributesOf(ctx context.Context, git runner, paths []change.Path) (map[change.Path]attributes, error) {
	found := make(map[change.Path]attributes, len(paths))
	if len(paths) == 0 {
		return found, nil
	}
	stdin := strings.NewReader(strings.Join(pathspecs(paths), "\x00") + "\x00")
	args := []string{"check-attr", "-z", "--stdin", "text", "crlf", "eol", "ident", "filter", "working-tree-encoding"}
	out, err := git.run(ctx, call{args: args, stdin: stdin})
	if err != nil {
		return nil, err
	}
	fields, err := records("check-attr", out.out)
	if err != nil {
		return nil, err
	}
	if len(fields) != 3*6*len(paths) {
		return nil, &OutputError{Command: "check-attr", Problem: strconv.Itoa(len(fields)) + " fields for " +
			strconv.Itoa(len(paths)) + " paths"}
	}
	for ; len(fields) > 0; fields = fields[18:] {
		found[change.Path(fields[0])] = attributes{
			text: fields[2], crlf: fields[5], eol: fields[8], ident: fields[11], filter: fields[14], encoding: fields[17],
		}
	}
	return found, nil
}

// id computes one object id; "" for unknown.
func (c *converter) id(ctx context.Context, f BlobInput) (string, error) {
	switch f.Pin.Kind {
	case change.KindSymlink:
		return c.hash(f, f.Pin.Size, copyAll)
	case change.KindFile:
	default:
		return "", nil
	}
	a := c.attributes[f.Path]
	if named(a.filter) && c.filterDefined(a.filter) {
		if !c.isLFS(a.filter) {
			return "", nil
		}
		return c.lfsID(f)
	}
	stats := textStats{size: f.Pin.Size}
	action := eolFor(a, c.autocrlf)
	if action != eolKeep {
		var err error
		if stats, err = gatherFrom(f); err != nil {
			return "", err
		}
	}
	guessed := action == eolGuess && stats.crlf > 0 && !stats.binary()
	if guessed {
		kept, err := c.indexHasCRLF(ctx, f.Path)
		if err != nil {
			return "", err
		}
		guessed = !kept
	}
	if named(a.encoding) {
		if action == eolGuess {
			// What git does with line ends here depends on the index, which its hash-object does not look at.
			return "", nil
		}
		return c.hashByGit(ctx, f)
	}
	convert, size := copyAll, stats.size
	if guessed || action == eolText && stats.crlf > 0 {
		convert, size = withoutCR, stats.size-stats.crlf
	}
	if a.ident == "set" {
		return c.hashIdent(f, convert, size)
	}
	return c.hash(f, size, convert)
}

// named reports whether an attribute has a value of its own.
func named(value string) bool {
	return value != "unspecified" && value != "unset" && value != "set" && value != ""
}

// filterDefined reports whether any configuration gives the driver something to do when git stores a file.
func (c *converter) filterDefined(driver string) bool {
	for _, name := range []string{"clean", "process", "required"} {
		if s, ok := c.config.used("filter." + driver + "." + name); ok && s.Value != "" {
			return true
		}
	}
	return false
}

// isLFS reports whether the driver is Git LFS as it installs itself. Its pointers need no program to be computed.
func (c *converter) isLFS(driver string) bool {
	for _, s := range c.config.settings {
		if strings.HasPrefix(s.Key, "lfs.extension.") {
			return false
		}
	}
	clean, _ := c.config.used("filter." + driver + ".clean")
	process, _ := c.config.used("filter." + driver + ".process")
	return clean.Value == "git-lfs clean -- %f" &&
		(process.Value == "" || process.Value == "git-lfs filter-process" || process.Value == "git-lfs filter-process --skip")
}

// lfsID is the id of the pointer Git LFS stores in place of the content. Content that may be a pointer already is
// stored in a form only Git LFS knows.
func (c *converter) lfsID(f BlobInput) (string, error) {
	const mostOfPointer = 1024
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	digest := sha256.New()
	n, err := io.Copy(digest, in)
	switch {
	case err != nil:
		return "", err
	case n == 0:
		return emptyBlob(c.repo.format), nil
	case n < mostOfPointer:
		return "", nil
	}
	pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", digest.Sum(nil), n)
	h := blobHash(c.repo.format, int64(len(pointer)))
	io.WriteString(h, pointer)
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// indexHasCRLF reports whether the content staged for a path is text with CRLF. Git then leaves line ends alone.
func (c *converter) indexHasCRLF(ctx context.Context, p change.Path) (bool, error) {
	entries, err := c.repo.indexEntries(ctx, p)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		// In a conflict the second stage, our side, stands for the path.
		if e.Path != p || e.Stage != 0 && e.Stage != 2 || e.Submodule() {
			continue
		}
		body, _, err := c.repo.OpenBlob(ctx, e.OID)
		if err != nil {
			return false, err
		}
		defer body.Close()
		stats, err := gather(body)
		return err == nil && stats.crlf > 0 && !stats.binary(), err
	}
	return false, nil
}

// hashByGit lets git convert and hash content. No filter is at work on the path, so git runs nothing.
func (c *converter) hashByGit(ctx context.Context, f BlobInput) (string, error) {
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := c.git.run(ctx, call{args: []string{"hash-object", "-t", "blob", "--stdin", "--path=" + string(f.Path)}, stdin: in})
	if err != nil {
		return "", err
	}
	id := strings.TrimSuffix(string(out.out), "\n")
	if !isOID(id) {
		return "", &OutputError{Command: "hash-object", Problem: strconv.Quote(id)}
	}
	return id, nil
}

// hash computes the id of content that is size bytes long once it is converted.
func (c *converter) hash(f BlobInput, size int64, convert func(io.Writer, io.Reader) error) (string, error) {
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	count := &countingWriter{w: blobHash(c.repo.format, size)}
	if err := convert(count, in); err != nil {
		return "", err
	}
	if count.n != size {
		return "", fmt.Errorf("content is %d bytes, expected %d", count.n, size)
	}
	return count.sum(), nil
}

// hashIdent is hash for a file whose $Id$ git puts back to its short form. It is done in memory, and left open for
// content that is not a text a person keeps an $Id$ in.
func (c *converter) hashIdent(f BlobInput, convert func(io.Writer, io.Reader) error, size int64) (string, error) {
	if size > largeBlob {
		return "", nil
	}
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	var content bytes.Buffer
	if err := convert(&content, io.LimitReader(in, largeBlob)); err != nil {
		return "", err
	}
	short := shortIdent(content.Bytes())
	h := blobHash(c.repo.format, int64(len(short)))
	h.Write(short)
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

func copyAll(w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, r)
	return err
}

func gatherFrom(f BlobInput) (textStats, error) {
	in, err := f.Open()
	if err != nil {
		return textStats{}, err
	}
	defer in.Close()
	return gather(in)
}
