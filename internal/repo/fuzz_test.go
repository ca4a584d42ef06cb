package repo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzParseEntry(f *testing.F) {
	f.Add("H 100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\ta\tb")
	f.Add("M 160000 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 3\t../x")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := parseEntry(line)
		if err == nil && (e.Path == "" || !isOID(e.OID) || len(e.Mode) != 6 || !strings.HasSuffix(line, "\t"+string(e.Path))) {
			t.Errorf("%q gives %+v", line, e)
		}
	})
}

func FuzzParseStaged(f *testing.F) {
	oid := "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	f.Add(":100644 100755 "+oid+" "+oid+" M", "a")
	f.Add(":000000 000000 "+oid+" "+oid+" U", "a")
	f.Add(":100644 000000 "+oid+" "+oid+" D", "/a")
	f.Fuzz(func(t *testing.T, head, name string) {
		s, err := parseStaged(head, name)
		if err == nil && (string(s.Path) != name || !s.Unmerged && s.Deleted() != (s.NewOID == "")) {
			t.Errorf("%q gives %+v", head, s)
		}
	})
}

func FuzzCommandPaths(f *testing.F) {
	f.Add("\"$(git rev-parse --show-toplevel)/bin/x\" ~/y --z=../w ''")
	f.Fuzz(func(t *testing.T, line string) {
		r := &Repo{root: "/tree", gitDir: "/tree/.git", commonDir: "/tree/.git", env: environment{"HOME": "/home/x"}}
		for _, p := range r.commandPaths(line) {
			if p == "" || p.Base() == ".git" && p.Dir() == "" {
				t.Errorf("%q names %q", line, p)
			}
		}
	})
}

// The configuration file is the repository's own, but a hook must not fall over it.
func FuzzPlainFormat(f *testing.F) {
	f.Add([]byte("[core]\nrepositoryformatversion = 1\nbare = false\n[extensions]\nobjectformat = sha256\n"))
	f.Add([]byte("[core]\n\tbare\n"))
	f.Add([]byte("[core]\nworktree = x\n[extensions \"x\"]\ny = z\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, "config"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		format, ok := plainFormat(dir, dir, false)
		if ok && format != formatSHA1 && format != formatSHA256 {
			t.Errorf("format %q", format)
		}
	})
}

func FuzzConversions(f *testing.F) {
	f.Add([]byte("a\r\nb\r$Id: x$"))
	f.Fuzz(func(t *testing.T, content []byte) {
		stats, err := gather(bytes.NewReader(content))
		if err != nil || stats.size != int64(len(content)) {
			t.Fatalf("%+v, %v", stats, err)
		}
		var out bytes.Buffer
		if err := withoutCR(&out, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if want := bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")); !bytes.Equal(out.Bytes(), want) || int64(len(want)) != stats.size-stats.crlf {
			t.Errorf("%q gives %q, %d line ends counted", content, out.Bytes(), stats.crlf)
		}
		if short := shortIdent(content); len(short) > len(content) || bytes.Count(short, []byte("\n")) != bytes.Count(content, []byte("\n")) {
			t.Errorf("%q gives %q", content, short)
		}
	})
}
