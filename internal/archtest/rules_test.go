package archtest

import (
	"fmt"
	"go/token"
	"strings"
	"testing"
)

// tree makes sources out of texts by file name.
func tree(t *testing.T, files map[string]string) []source {
	t.Helper()
	fset := token.NewFileSet()
	var all []source
	for name, text := range files {
		s, err := newSource(fset, name, text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, s)
	}
	return all
}

// ours returns the source of a package that imports the given packages.
func ours(pkg string, imports ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Package %s is made up.\npackage %s\n", pkg, pkg)
	for _, i := range imports {
		fmt.Fprintf(&b, "import _ %q\n", i)
	}
	return b.String()
}

// body returns the source of a package whose one function holds lines, with imports in front.
func body(imports, lines string) string {
	return "// Package p is made up.\npackage p\n" + imports + "\nfunc f() {\n" + lines + "\n}\n"
}

// trial is a small tree, and what a rule should say about it: parts of the one problem, or "" for none.
type trial struct {
	name  string
	check func([]source) []problem
	files map[string]string
	want  string
}

func try(t *testing.T, trials []trial) {
	t.Helper()
	for _, c := range trials {
		found := c.check(tree(t, c.files))
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%s: says %v", c.name, found)
		case c.want != "" && len(found) != 1:
			t.Errorf("%s: says %v, want one problem", c.name, found)
		case c.want != "" && !strings.Contains(found[0].String(), c.want):
			t.Errorf("%s: says %s\nwant %s", c.name, found[0], c.want)
		}
	}
}

// one is a tree of one file.
func one(name, text string) map[string]string { return map[string]string{name: text} }

func TestImportRules(t *testing.T) {
	try(t, []trial{
		{"allowed", checkImports, one("tiers/x.go", ours("tiers", module+"/internal/change", "strings")), ""},
		{"pure imports durable", checkImports, one("tiers/x.go", ours("tiers", module+"/internal/durable")), "tiers/x.go:3: imports internal/durable; it is pure"},
		{"change imports anything", checkImports, one("internal/change/x.go", ours("change", module+"/tiers")), "know nobody"},
		{"middle imports middle", checkImports, one("undo/x.go", ours("undo", module+"/internal/ledger")), "meets in internal/gate"},
		{"middle imports gate", checkImports, one("internal/apply/x.go", ours("apply", module+"/internal/gate")), "imports internal/gate"},
		{"edge imports edge", checkImports, one("shadow/x.go", ours("shadow", module+"/internal/repo")), "edges never import each other"},
		{"edge imports middle", checkImports, one("hooks/x.go", ours("hooks", module+"/internal/ledger")), "edges never import"},
		{"config builds a policy", checkImports, one("internal/config/x.go", ours("config", module+"/tiers")), ""},
		{"gate imports commands", checkImports, one("internal/gate/x.go", ours("gate", module+"/internal/commands")), "orders the steps"},
		{"main imports gate", checkImports, one("main.go", ours("main", module+"/internal/gate")), "hands the world"},
		{"tests may", checkImports, one("tiers/x_test.go", ours("tiers", module+"/internal/gate")), ""},
		{"a suite of tests", checkImports, one("internal/durable/durabletest/x.go", ours("durabletest", module+"/internal/durable", module+"/internal/change")), ""},
		{"a suite that reaches further", checkImports, one("internal/durable/durabletest/x.go", ours("durabletest", module+"/internal/gate")), "imports internal/gate"},
		{"unknown folder", checkImports, one("util/x.go", ours("util")), "not in the layout"},
		{"library at home", checkLibraries, one("internal/config/x.go", ours("config", "github.com/BurntSushi/toml")), ""},
		{"library elsewhere", checkLibraries, one("internal/gate/x.go", ours("gate", "github.com/BurntSushi/toml")), "only internal/config reads settings"},
		{"part of a library", checkLibraries, one("shadow/x.go", ours("shadow", "github.com/go-git/go-git/v5/plumbing")), "read only"},
		{"similar name", checkLibraries, one("internal/config/x.go", ours("config", "github.com/BurntSushi/tomlette")), "needs a reason"},
		{"new library", checkLibraries, one("shadow/x.go", ours("shadow", "example.com/lib")), "needs a reason"},
		{"standard library", checkLibraries, one("shadow/x.go", ours("shadow", "encoding/json", module)), ""},
		{"clock in a pure package", checkPurity, one("grants/x.go", ours("grants", "time")), "handed in"},
		{"time as a type", checkPurity, one("internal/change/x.go", ours("change", "time")), ""},
		{"files in a pure package", checkPurity, one("tiers/x.go", ours("tiers", "os")), "imports os"},
	})
}

func TestCallRules(t *testing.T) {
	osImport := `import "os"`
	try(t, []trial{
		{"write outside durable", checkWrites, one("shadow/x.go", body(osImport, `os.Rename("a", "b")`)), "shadow/x.go:5: uses os.Rename; only internal/durable"},
		{"write in durable", checkWrites, one("internal/durable/x.go", body(osImport, `os.Rename("a", "b")`)), ""},
		{"write in a test", checkWrites, one("shadow/x_test.go", body(osImport, `os.Rename("a", "b")`)), ""},
		{"renamed import", checkWrites, one("shadow/x.go", body(`import fs "os"`, `fs.RemoveAll("a")`)), "uses os.RemoveAll"},
		{"passed on", checkWrites, one("shadow/x.go", body(osImport, `g(os.Remove)`)), "uses os.Remove"},
		{"hidden by a variable", checkWrites, one("shadow/x.go", body(osImport, `os := thing{}; os.Rename("a", "b")`)), ""},
		{"system call", checkWrites, one("shadow/x.go", body(`import "golang.org/x/sys/unix"`, `unix.Unlinkat(1, "a", 0)`)), "uses unix.Unlinkat"},
		{"open to read", checkWrites, one("shadow/x.go", body(osImport, `os.OpenFile("a", os.O_RDONLY|syscall.O_NOFOLLOW, 0)`)), ""},
		{"open to write", checkWrites, one("shadow/x.go", body(osImport, `os.OpenFile("a", os.O_RDONLY|os.O_CREATE, 0)`)), "not plainly read-only"},
		{"open by a number", checkWrites, one("shadow/x.go", body(osImport, `os.OpenFile("a", 2, 0)`)), "not plainly read-only"},
		{"open passed on", checkWrites, one("shadow/x.go", body(osImport, `g(os.OpenFile)`)), "not plainly read-only"},
		{"open by variable", checkWrites, one("shadow/x.go", body(osImport, `n := g(); os.OpenFile("a", n, 0)`)), "not plainly read-only"},
		{"open by constant", checkWrites, one("shadow/x.go", body(osImport, `os.OpenFile("a", flags, 0)`)+"const flags = os.O_RDONLY | other\nconst other = os.O_NOFOLLOW\n"), ""},
		{"open by a bad constant", checkWrites, one("shadow/x.go", body(osImport, `os.OpenFile("a", flags, 0)`)+"const flags = os.O_RDWR\n"), "not plainly read-only"},
		{"one constant for each system", checkWrites, map[string]string{
			"shadow/x.go": body(osImport, `os.OpenFile("a", flags, 0)`), "shadow/a.go": "package p\nconst flags = 0\n", "shadow/b.go": "package p\nimport \"os\"\nconst flags = os.O_TRUNC\n",
		}, "not plainly read-only"},
		{"open by parameter", checkWrites, one("shadow/x.go", body(osImport, `open(0); open(os.O_RDONLY)`)+"func open(n int) { os.OpenFile(\"a\", n, 0) }\n"), ""},
		{"open by a bad parameter", checkWrites, one("shadow/x.go", body(osImport, `open(0); open(os.O_RDWR)`)+"func open(n int) { os.OpenFile(\"a\", n, 0) }\n"), "not plainly read-only"},
		{"open by anybody's parameter", checkWrites, one("shadow/x.go", body(osImport, `Open(0)`)+"func Open(n int) { os.OpenFile(\"a\", n, 0) }\n"), "not plainly read-only"},
		{"system call that opens", checkWrites, one("shadow/x.go", body(`import "golang.org/x/sys/unix"`, `unix.Openat(1, "a", unix.O_PATH, 0)`)), ""},
		{"system call that opens to write", checkWrites, one("shadow/x.go", body(`import "golang.org/x/sys/unix"`, `unix.Openat(1, "a", unix.O_WRONLY, 0)`)), "not plainly read-only"},
		{"clock", checkWorld, one("internal/gate/x.go", body(`import "time"`, `g(time.Now)`)), "uses time.Now"},
		{"environment", checkWorld, one("internal/commands/submit.go", body(osImport, `os.Getenv("X")`)), "internal/commands/env.go"},
		{"environment at home", checkWorld, one("internal/commands/env.go", body(osImport, `os.Getenv("X")`)), ""},
		{"exit in main", checkWorld, one("main.go", body(osImport, `os.Exit(1)`)), ""},
		{"exit elsewhere", checkWorld, one("internal/commands/app.go", body(osImport, `os.Exit(1)`)), "uses os.Exit"},
		{"print", checkWorld, one("hooks/x.go", body(`import "fmt"`, `fmt.Println("x")`)), "uses fmt.Println"},
		{"print to a writer", checkWorld, one("hooks/x.go", body(`import "fmt"`, `fmt.Fprintln(w, "x")`)), ""},
		{"random", checkWorld, one("undo/x.go", body(`import "crypto/rand"`, `rand.Read(b)`)), "a random source is handed in"},
		{"worse random", checkWorld, one("undo/x.go", ours("undo", "math/rand/v2")), "a random source is handed in"},
		{"go-git writes", checkGoGit, one("internal/repo/x.go", body(`import git "github.com/go-git/go-git/v5"`, `r.Storer.SetReference(ref)`)), "read only here"},
		{"go-git's working tree", checkGoGit, one("internal/repo/x.go", body(`import git "github.com/go-git/go-git/v5"`, `r.Worktree()`)), "calls Worktree"},
		{"go-git's own discovery", checkGoGit, one("internal/repo/x.go", body(`import git "github.com/go-git/go-git/v5"`, `git.PlainOpen("x")`)), "calls PlainOpen"},
		{"another's Worktree", checkGoGit, one("internal/gate/x.go", body("", `s.Worktree()`)), ""},
	})
}

func TestGlobalRules(t *testing.T) {
	decl := func(text string) map[string]string { return one("undo/x.go", "package p\n"+text) }
	try(t, []trial{
		{"init", checkInit, decl("func init() {}\n"), "declares init"},
		{"a method named init", checkInit, decl("type t int\nfunc (t) init() {}\n"), ""},
		{"sentinel", checkGlobals, decl("import \"errors\"\nvar ErrX = errors.New(\"x\")\n"), ""},
		{"table", checkGlobals, decl("var names = map[string]int{\"a\": 1}\nfunc f() int { return names[\"a\"] }\n"), ""},
		{"computed once", checkGlobals, decl("import \"sync\"\nvar x = sync.OnceValue(f)\nfunc f() int { return 1 }\n"), ""},
		{"interface check", checkGlobals, decl("var _ error = (*t)(nil)\n"), ""},
		{"embedded file", checkGlobals, decl("import _ \"embed\"\n//go:embed x.txt\nvar text string\n"), ""},
		{"no value", checkGlobals, decl("var count int\n"), "without a value"},
		{"lock", checkGlobals, decl("import \"sync\"\nvar mu = &sync.Mutex{}\n"), "made to change"},
		{"exported", checkGlobals, decl("var Names = []string{\"a\"}\n"), "another package could change it"},
		{"assigned", checkGlobals, decl("var x = 1\nfunc f() { x = 2 }\n"), "undo/x.go:3: changes the package variable x"},
		{"element assigned", checkGlobals, decl("var x = map[string]int{}\nfunc f() { x[\"a\"]++ }\n"), "changes the package variable x"},
		{"address taken", checkGlobals, decl("var x = 1\nfunc f() *int { return &x }\n"), "changes the package variable x"},
		{"deleted from", checkGlobals, decl("var x = map[string]int{}\nfunc f() { delete(x, \"a\") }\n"), "changes the package variable x"},
		{"local of the same name", checkGlobals, decl("var x = 1\nfunc f() { x := 1; x = 2; _ = x }\n"), ""},
		{"in another file", checkGlobals, map[string]string{"undo/x.go": "package p\nvar x = 1\n", "undo/y.go": "package p\nfunc f() { x = 2 }\n"}, "undo/y.go:2: changes"},
		{"in another package", checkGlobals, map[string]string{"undo/x.go": "package p\nvar x = 1\n", "hooks/y.go": "package q\nfunc f(x int) { x = 2 }\n"}, ""},
	})
}

func TestSizeRules(t *testing.T) {
	long := func(n int) string { return body("", strings.Repeat("g()\n", n-3)+"g()") }
	deep := "if a {\nfor {\nswitch {\ncase b:\nif c {\n%s\n}\n}\n}\n}"
	command := "package p\nimport \"github.com/urfave/cli/v2\"\nfunc f() any { return &cli.Command{} }\n"
	var names strings.Builder
	for i := range 46 {
		fmt.Fprintf(&names, "func F%d() {}\n", i)
	}
	try(t, []trial{
		{"70 lines", checkFunctions, one("undo/x.go", long(70)), ""},
		{"71 lines", checkFunctions, one("undo/x.go", long(71)), "f has 71 lines, at most 70"},
		{"100 lines at the edge", checkFunctions, one("shadow/x.go", long(100)), ""},
		{"101 lines at the edge", checkFunctions, one("shadow/x.go", long(101)), "at most 100"},
		{"121 lines in a test", checkFunctions, one("undo/x_test.go", long(121)), "at most 120"},
		{"four deep", checkFunctions, one("undo/x.go", body("", fmt.Sprintf(deep, "g()"))), ""},
		{"five deep", checkFunctions, one("undo/x.go", body("", fmt.Sprintf(deep, "for {\n}"))), "nested 5 deep"},
		{"else if", checkFunctions, one("undo/x.go", body("", "if a {\n} else if b {\n} else if c {\n} else if d {\n} else if e {\n}")), ""},
		{"a function literal starts anew", checkFunctions, one("undo/x.go", body("", fmt.Sprintf(deep, "g(func() {\nif d {\n}\n})"))), ""},
		{"four parameters and a context", checkFunctions, one("undo/x.go", "package p\nimport \"context\"\nfunc f(ctx context.Context, a, b int, c string, d ...int) {}\n"), ""},
		{"five parameters", checkFunctions, one("undo/x.go", "package p\nfunc f(a, b int, c string, d, e int) {}\n"), "has 5 parameters"},
		{"600 lines", checkFiles, one("undo/x.go", "package p\n"+strings.Repeat("\n", 599)), ""},
		{"601 lines", checkFiles, one("undo/x.go", "package p\n"+strings.Repeat("\n", 600)), "601 lines"},
		{"301 lines of a command", checkFiles, one("internal/commands/x.go", command+strings.Repeat("\n", 298)), "at most 300"},
		{"301 lines that are no command", checkFiles, one("internal/commands/x.go", "package p\n"+strings.Repeat("\n", 300)), ""},
		{"40 lines of main", checkFiles, one("main.go", "package main\n"+strings.Repeat("\n", 39)), "40 lines, at most 39"},
		{"six methods", checkInterfaces, one("undo/x.go", "package p\ntype T interface {\na(); b(); c(); d(); e(); f()\n}\n"), ""},
		{"seven methods", checkInterfaces, one("undo/x.go", "package p\ntype T interface {\na(); b(); c(); d(); e(); f(); g()\n}\n"), "7 methods"},
		{"46 names", checkExports, one("undo/x.go", "package p\n"+names.String()), "exports 46 names"},
		{"46 methods", checkExports, one("undo/x.go", "package p\n"+strings.ReplaceAll(names.String(), "func ", "func (t) ")), ""},
		{"constants are one word", checkExports, one("undo/x.go", "package p\nconst (\n"+strings.ReplaceAll(strings.ReplaceAll(names.String(), "func ", ""), "() {}", " = 1")+")\n"), ""},
	})
}

func TestWordRules(t *testing.T) {
	decl := func(text string) map[string]string { return one("undo/x.go", "package p\n"+text) }
	mark := "TO" + "DO"
	try(t, []trial{
		{"documented", checkDocumented, decl("// F is one.\nfunc F() {}\n// C are some.\nconst (\nA = 1\nB = 2\n)\n"), ""},
		{"function", checkDocumented, decl("func F() {}\n"), "undo/x.go:2: F is exported without a comment"},
		{"method", checkDocumented, decl("// T is one.\ntype T int\nfunc (T) M() {}\n"), "M is exported without"},
		{"method of a type nobody sees", checkDocumented, decl("type t int\nfunc (t) M() {}\n"), ""},
		{"method everybody knows", checkDocumented, decl("// T is one.\ntype T int\nfunc (*T) Error() string { return \"\" }\n"), ""},
		{"type", checkDocumented, decl("type T int\n"), "T is exported without"},
		{"constant", checkDocumented, decl("const A = 1\n"), "A is exported without"},
		{"package comment", checkPackageComments, decl(""), "the package has no comment"},
		{"package comment in another file", checkPackageComments, map[string]string{"undo/x.go": "package p\n", "undo/doc.go": ours("p")}, ""},
		{"unfinished", checkWords, decl("// " + mark + ": more\n"), "a comment says"},
		{"unfinished in a test", checkWords, one("undo/x_test.go", "package p\n// FIX"+"ME\n"), "a comment says"},
		{"a word that holds it", checkWords, decl("// " + mark + "S are many.\n"), ""},
		{"error text", checkErrorTexts, one("undo/x.go", body(`import "fmt"`, `fmt.Errorf("path %q: expected %d, found %d", p, a, b)`)), ""},
		{"failed to", checkErrorTexts, one("undo/x.go", body(`import "fmt"`, `fmt.Errorf("failed to read: %w", err)`)), `begins with "failed to"`},
		{"capital", checkErrorTexts, one("undo/x.go", body(`import "errors"`, `errors.New("Broken file")`)), "capital"},
		{"a name in capitals", checkErrorTexts, one("undo/x.go", body(`import "errors"`, `errors.New("HEAD is unborn")`)), ""},
		{"full stop", checkErrorTexts, one("undo/x.go", body(`import "errors"`, `errors.New("it broke.")`)), "ends like a sentence"},
		{"panic", checkPanics, one("undo/x.go", body("", `panic("x")`)), "panics without a comment"},
		{"panic that says why", checkPanics, one("undo/x.go", body("", "// Only a broken table leads here.\npanic(\"x\")")), ""},
		{"suppression without a reason", checkSuppressions, decl("//nolint:errcheck\nvar x = 1\n"), "without a reason"},
		{"suppression with one", checkSuppressions, decl("//nolint:errcheck // closed for reading only\nvar x = 1\n"), ""},
		{"six suppressions", checkSuppressions, decl(strings.Repeat("//nolint:x // for a reason\n\n", 6)), "suppression number 6"},
	})
	for name, c := range map[string]struct {
		pages map[string]string
		want  int
	}{
		"a map":           {map[string]string{"docs/architecture.md": strings.Repeat("x\n", 250)}, 0},
		"a long map":      {map[string]string{"docs/architecture.md": strings.Repeat("x\n", 251)}, 1},
		"another page":    {map[string]string{"docs/format.md": strings.Repeat("x\n", 500)}, 0},
		"unfinished page": {map[string]string{"README.md": "a\n" + mark + "\n"}, 1},
	} {
		if got := checkPages(c.pages); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEveryRuleIsTried: a rule that no trial breaks could be one that finds nothing.
func TestEveryRuleIsTried(t *testing.T) {
	broken := tree(t, map[string]string{
		"tiers/x.go": "package tiers\nimport (\n\"os\"\n\"time\"\n\"errors\"\n_ \"example.com/lib\"\n_ \"" + module + "/internal/gate\"\n)\nvar Count int\nfunc init() {}\n" +
			"func F(a, b, c, d, e int) { os.Remove(\"\"); time.Now(); errors.New(\"Bad thing\"); panic(1) }\n// FIX" + "ME\n//nolint\n" +
			"type T interface { a(); b(); c(); d(); e(); f(); g() }\n" + strings.Repeat("\n", 600),
		"internal/repo/x.go": "package repo\nimport git \"github.com/go-git/go-git/v5\"\nfunc f() { git.PlainOpen(\"\") }\n",
	})
	var many strings.Builder
	many.WriteString("package undo\n")
	for i := range 46 {
		fmt.Fprintf(&many, "type T%d int\n", i)
	}
	broken = append(broken, tree(t, one("undo/x.go", many.String()))...)
	for _, r := range rules() {
		if len(r.check(broken)) == 0 {
			t.Errorf("the rule on %s finds nothing wrong", r.name)
		}
	}
}
