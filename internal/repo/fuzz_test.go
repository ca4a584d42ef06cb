package repo

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

func FuzzBlobHeader(f *testing.F) {
	oid := "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	for _, line := range []string{oid + " blob 12\n", oid + " missing\n", oid + " tree 3\n", oid + " blob -1\n", "x blob 1\n", oid + " blob 1"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		size, err := blobHeader(bufio.NewReader(bytes.NewReader(line)), oid)
		if err == nil && (size < 0 || !bytes.HasPrefix(line, []byte(oid)) || !bytes.Contains(line, []byte("\n"))) {
			t.Errorf("%q gives %d", line, size)
		}
	})
}

// FuzzPlainConfig: whatever file is read without git, git reads the same way.
func FuzzPlainConfig(f *testing.F) {
	for _, text := range []string{
		"[user]\n\tname = dev\n", "[CORE]\n HooksPath=a\n[core]\nhookspath = b c\n", "[filter \"X y\"]\n\tclean = ./tool --flag\n", "# a\n; b\n[a]\nb = c\n",
		"[a]\r\n\tk = v\r\n", "[a]\nk = \tv\t \n", "[a \"b]c\"]\nk=v\n", "[a\"b\"]\nk = v\n", "[a b]\nk = v\n", "[a]\nk-1 = v\n", "[a]\nk_1 = v\n", "[a]\nk k = v\n", "k = v\n", "[a]\n= v\n",
		"[a]\nk = v\tw\n", "[a ]\nk = v\n", "[\u00e9]\nk = v\n", "[a]\n1k = v\n", "[a]\nk = v\u00a0\n", "[a] \nk = v\n", "[a\t\"b\"]\nk = v\n", "[a \"b\" ]\nk = v\n",
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	name := filepath.Join(dir, "config")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var c configuration
		if !(&Repo{root: filepath.Join(dir, "tree")}).addPlain(&c, configFile{"local", name}) {
			return
		}
		var got strings.Builder
		for _, s := range c.settings {
			got.WriteString(s.Key + "\n" + s.Value + "\x00")
		}
		cmd := exec.Command("git", "config", "-z", "--list", "--file", name)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		want, err := cmd.Output()
		if err != nil || inOrder(got.String()) != inOrder(string(want)) {
			t.Errorf("%q is read as %q, git says %q, %v", content, got.String(), want, err)
		}
	})
}

// inOrder sorts settings by their keys and keeps the order of those with one key.
func inOrder(list string) string {
	lines := strings.SplitAfter(list, "\x00")
	slices.SortStableFunc(lines, func(a, b string) int {
		a, _, _ = strings.Cut(a, "\n")
		b, _, _ = strings.Cut(b, "\n")
		return strings.Compare(a, b)
	})
	return strings.Join(lines, "")
}
