package repo

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/correx/correx/internal/change"
)

func textInput(p, content string) BlobInput {
	return BlobInput{
		Path: change.Path(p), Pin: change.Pin{Kind: change.KindFile, Size: int64(len(content))},
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	}
}

// sampleContents are what git's guess about text turns on.
func sampleContents() map[string]string {
	long := strings.Repeat("line of text\r\n", 20000)
	return map[string]string{
		"lf": "a\nb\n", "crlf": "a\r\nb\r\n", "mixed": "a\r\nb\n", "noeol": "a\r\nb", "lonecr": "a\rb\r\n", "nul": "a\r\n\x00",
		"empty": "", "cr-at-end": "a\r\nb\r", "crcrlf": "a\r\r\n", "control": "a\r\n\x01", "control-much": strings.Repeat("x", 127) + "\r\n\x01",
		"control-little": strings.Repeat("x", 128) + "\r\n\x01", "dos-eof": "a\r\n\x1a", "bom": "\ufeffa\r\nb\r\n", "latin": "\xe9\r\n",
		"long": long, "long-nul": long + "\x00", "id": "$Id$ and $Id: 1234 $\n", "id-crlf": "$Id: x $\r\n", "id-line": "$Id: no\nend$\n",
		"id-odd": "$$Id: a $Id: b $ $Id:$ $Id $Id:", "id-open": "$Id: x",
	}
}

// attributeLines are rules that change what git stores; "" stands for none.
func attributeLines() []string {
	return []string{"", "text", "-text", "text=auto", "eol=lf", "eol=crlf", "text=auto eol=crlf", "text=auto eol=lf", "crlf",
		"-crlf", "crlf=input", "crlf=auto", "binary", "ident", "text ident", "-text eol=crlf", "text=auto ident", "!text eol=lf"}
}

// checkAgainstAdd compares the ids of files with what "git add" stores. unknown counts the answers that were left open.
func checkAgainstAdd(t *testing.T, f *fixture, dir string, files map[string]string) (unknown int) {
	t.Helper()
	r := f.open(dir)
	var inputs []BlobInput
	for name, content := range files {
		inputs = append(inputs, textInput(name, content))
	}
	ids, err := r.BlobIDs(context.Background(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	f.gitIn(dir, "add", "-A")
	for _, line := range nulFields(f.gitIn(dir, "ls-files", "-s", "-z")) {
		head, name, _ := strings.Cut(line, "\t")
		content, ours := files[name]
		if !ours {
			continue
		}
		switch id := ids[change.Path(name)]; id {
		case strings.Fields(head)[1]:
		case "":
			unknown++
		default:
			t.Errorf("%s: id %s, git stores %s for %.40q", name, id, strings.Fields(head)[1], content)
		}
	}
	return unknown
}

func TestBlobIDsMatchGitAdd(t *testing.T) {
	t.Parallel()
	for _, autocrlf := range []string{"false", "true", "input"} {
		t.Run(autocrlf, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.gitIn(".", "init", "-q", "r")
			var rules strings.Builder
			committed, files := map[string]string{}, map[string]string{}
			for i, line := range attributeLines() {
				dir := fmt.Sprintf("d%d", i)
				if line != "" {
					fmt.Fprintf(&rules, "/%s/** %s\n", dir, line)
				}
				for name, content := range sampleContents() {
					files[dir+"/fresh/"+name] = content
					files[dir+"/over-crlf/"+name] = content
					files[dir+"/over-lf/"+name] = content
					committed[dir+"/over-crlf/"+name] = "old\r\nold\r\n"
					committed[dir+"/over-lf/"+name] = "old\nold\n"
				}
			}
			f.gitIn("r", "config", "core.autocrlf", "false")
			for name, content := range committed {
				f.write("r/"+name, content)
			}
			f.commit("r", "old")
			f.write("r/.gitattributes", rules.String())
			f.gitIn("r", "config", "core.autocrlf", autocrlf)
			for name, content := range files {
				f.write("r/"+name, content)
			}
			unknown := checkAgainstAdd(t, f, "r", files)
			if unknown > 0 {
				t.Errorf("%d of %d unknown", unknown, len(files))
			}
		})
	}
}

func TestBlobIDsProperty(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	bytes := rapid.SliceOfN(rapid.SampledFrom([]byte("ab \r\n\r\n\t\x00\x01\x1a\x7f\xff$Id:")), 0, 40)
	rapid.Check(t, func(rt *rapid.T) {
		f.gitIn("r", "config", "core.autocrlf", rapid.SampledFrom([]string{"false", "true", "input"}).Draw(rt, "autocrlf"))
		rule := rapid.SampledFrom(attributeLines()).Draw(rt, "rule")
		f.write("r/.gitattributes", "* "+rule+"\n")
		files := map[string]string{}
		for i := range 12 {
			content := string(bytes.Draw(rt, "content"))
			files[fmt.Sprintf("p%d", i)] = content
			f.write(fmt.Sprintf("r/p%d", i), content)
		}
		checkAgainstAdd(t, f, "r", files)
		if t.Failed() {
			rt.Fatalf("rule %q", rule)
		}
	})
}

func TestBlobIDsOfSpecialPaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r", "--object-format=sha256")
	if err := os.Symlink("a\r\nb", f.path("r/link")); err != nil {
		t.Fatal(err)
	}
	f.write("r/.gitattributes", "*.u text working-tree-encoding=UTF-16LE-BOM\n*.bin filter=lfs\n*.x filter=undefined\n*.y filter=own\n")
	f.write("r/t.u", "\xff\xfea\x00\n\x00")
	f.write("r/t.x", "x\n")
	r := f.open("r")
	for name, args := range map[string]string{"clean": "git-lfs clean -- %f", "smudge": "git-lfs smudge -- %f", "process": "git-lfs filter-process", "required": "true"} {
		f.gitIn("r", "config", "filter.lfs."+name, args)
	}
	f.gitIn("r", "config", "filter.own.clean", "tr a b")
	link := textInput("link", "a\r\nb")
	link.Pin.Kind = change.KindSymlink
	folder := textInput("in", "")
	folder.Pin.Kind = change.KindDir
	big := strings.Repeat("0123456789abcdef\n", 100)
	ids, err := r.BlobIDs(context.Background(), []BlobInput{link, folder, textInput("t.u", "\xff\xfea\x00\n\x00"), textInput("t.x", "x\n"),
		textInput("b.bin", big), textInput("small.bin", "version https://git-lfs.github.com/spec/v1\n"), textInput("e.bin", ""), textInput("c.y", "a\n")})
	if err != nil {
		t.Fatal(err)
	}
	f.write("r/pointer", fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(big)), len(big)))
	pointer := strings.TrimSpace(f.gitIn("r", "hash-object", "pointer"))
	f.gitIn("r", "add", "link", "t.u", "t.x")
	for _, name := range []string{"link", "t.u", "t.x"} {
		if want := strings.Fields(f.gitIn("r", "ls-files", "-s", name))[1]; ids[change.Path(name)] != want {
			t.Errorf("%s: id %q, git stores %s", name, ids[change.Path(name)], want)
		}
	}
	for _, name := range []change.Path{"in", "small.bin", "c.y"} {
		if id, ok := ids[name]; !ok || id != "" {
			t.Errorf("%s: id %q, expected it to be unknown", name, id)
		}
	}
	if ids["e.bin"] != emptyBlob(formatSHA256) || ids["b.bin"] != pointer {
		t.Errorf("pointers: %q, %q", ids["e.bin"], ids["b.bin"])
	}
}

func TestBlobIDsFailures(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	r := f.open("r")
	gone := errors.New("gone")
	bad := textInput("a", "x\n")
	bad.Open = func() (io.ReadCloser, error) { return nil, gone }
	if _, err := r.BlobIDs(context.Background(), []BlobInput{bad}); !errors.Is(err, gone) {
		t.Errorf("unreadable content: %v", err)
	}
	short := textInput("a", "x\n")
	short.Pin.Size = 7
	if ids, err := r.BlobIDs(context.Background(), []BlobInput{short}); err == nil {
		t.Errorf("content shorter than its pin: %v", ids)
	}
}

func TestOpenBlob(t *testing.T) {
	t.Parallel()
	for _, format := range []string{formatSHA1, formatSHA256} {
		f := newFixture(t)
		f.repo("r", "--object-format="+format)
		large := strings.Repeat("0123456789abcdef", 1<<16)
		f.write("r/large", large)
		f.write("r/empty", "")
		f.commit("r", "more")
		r := f.open("r")
		oid := func(name string) string { return strings.TrimSpace(f.gitIn("r", "rev-parse", name)) }
		if readBlob(t, r, oid("HEAD:large")) != large || readBlob(t, r, oid("HEAD:empty")) != "" {
			t.Error("content differs")
		}
		body, size, err := r.openBlobByGit(context.Background(), oid("HEAD:large"))
		if err != nil || size != int64(len(large)) {
			t.Fatalf("by git: %d bytes, %v", size, err)
		}
		if _, err := io.ReadFull(body, make([]byte, 10)); err != nil {
			t.Error(err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
		missing := strings.Repeat("12", r.oidLen()/2)
		var gone *MissingObjectError
		if _, _, err := r.OpenBlob(context.Background(), missing); !errors.As(err, &gone) {
			t.Errorf("missing object: %v", err)
		}
		for _, bad := range []string{"", "HEAD", oid("HEAD"), oid("HEAD:in"), oid("HEAD:a")[:10], oid("HEAD:a") + "\n" + oid("HEAD:in"), "--all"} {
			if _, _, err := r.OpenBlob(context.Background(), bad); err == nil {
				t.Errorf("%q was opened as a blob", bad)
			}
		}
		checkEachBlob(t, r, oid("HEAD:large"), large, missing)
		// A pack that came after the store was opened.
		f.write("r/late", "late\n")
		f.commit("r", "late")
		f.gitIn("r", "gc", "-q", "--prune=now")
		if readBlob(t, r, oid("HEAD:late")) != "late\n" || readBlob(t, r, oid("HEAD:a")) != "1\n" {
			t.Error("content differs after gc")
		}
	}
}

// checkEachBlob reads few and many blobs, and stops in the middle.
func checkEachBlob(t *testing.T, r *Repo, oid, content, missing string) {
	t.Helper()
	for _, n := range []int{0, 1, fewBlobs, fewBlobs + 1, 50} {
		oids := make([]string, n)
		for i := range oids {
			oids[i] = oid
		}
		count := 0
		err := r.EachBlob(context.Background(), oids, func(got string, size int64, in io.Reader) error {
			count++
			if count%2 == 0 {
				return nil
			}
			data, err := io.ReadAll(in)
			if string(data) != content || size != int64(len(content)) || got != oid {
				t.Errorf("%d bytes of %q", len(data), got)
			}
			return err
		})
		if err != nil || count != n {
			t.Errorf("%d of %d blobs, %v", count, n, err)
		}
		stop := errors.New("stop")
		err = r.EachBlob(context.Background(), oids, func(string, int64, io.Reader) error { return stop })
		if n > 0 && !errors.Is(err, stop) {
			t.Errorf("stopped: %v", err)
		}
		var gone *MissingObjectError
		err = r.EachBlob(context.Background(), append(oids, missing), func(string, int64, io.Reader) error { return nil })
		if !errors.As(err, &gone) {
			t.Errorf("missing object: %v", err)
		}
	}
}

// A damaged object never ends well, whoever reads it.
func TestDamagedBlob(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("r")
	oid := strings.TrimSpace(f.gitIn("r", "rev-parse", "HEAD:a"))
	f.write("r/b", "some other content\n")
	other := strings.TrimSpace(f.gitIn("r", "hash-object", "-w", "b"))
	object := func(oid string) string { return f.path("r/.git/objects/" + oid[:2] + "/" + oid[2:]) }
	whole, err := os.ReadFile(object(oid))
	if err != nil {
		t.Fatal(err)
	}
	swapped, err := os.ReadFile(object(other))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"swapped": swapped, "cut": whole[:len(whole)-3], "empty": {}, "garbage": []byte("x")} {
		if err := os.Remove(object(oid)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(object(oid), content, 0o444); err != nil {
			t.Fatal(err)
		}
		body, _, err := f.open("r").OpenBlob(context.Background(), oid)
		if err == nil {
			_, err = io.ReadAll(body)
			body.Close()
		}
		if err == nil {
			t.Errorf("%s: read without an error", name)
		}
		many := append(make([]string, 0), oid)
		for len(many) <= fewBlobs {
			many = append(many, oid)
		}
		if err := f.open("r").EachBlob(context.Background(), many, func(string, int64, io.Reader) error { return nil }); err == nil {
			t.Errorf("%s: all read without an error", name)
		}
	}
}

func TestPartialCloneMissingBlob(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo("up")
	f.write("up/a", "2\n")
	f.commit("up", "second")
	f.gitIn("up", "config", "uploadpack.allowFilter", "true")
	f.gitIn("up", "config", "uploadpack.allowAnySHA1InWant", "true")
	f.gitIn(".", "clone", "-q", "--filter=blob:none", "file://"+f.path("up"), "r")
	old := strings.TrimSpace(f.gitIn("up", "rev-parse", "HEAD~:a"))
	r := f.open("r")
	if _, _, err := r.OpenBlob(context.Background(), old); err == nil {
		t.Error("an object that was left at the remote was fetched")
	}
	seed, err := r.ShadowSeed(context.Background())
	if err != nil || seed.PartialClone != "origin" && f.gitIn("r", "config", "--get-regexp", "promisor|partial") == "" {
		t.Errorf("partial clone of %q, %v", seed.PartialClone, err)
	}
	if got := f.gitIn("r", "cat-file", "-p", old); got != "1\n" {
		t.Errorf("positive control: git itself fetched %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.GitDir(), "objects")); err != nil {
		t.Error(err)
	}
}
