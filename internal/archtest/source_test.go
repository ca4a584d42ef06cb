package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/correx/correx"

// source is one file of Go.
type source struct {
	dir, name string // the folder, with slashes, "" for the root
	test      bool
	text      string
	fset      *token.FileSet
	file      *ast.File
	imports   map[string]string // import paths by the names they have in this file
}

// problem is a place where a rule is broken.
type problem struct{ at, what, why string }

func (p problem) String() string { return p.at + ": " + p.what + "; " + p.why }

// at returns the place of n.
func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", path.Join(s.dir, s.name), s.line(n.Pos()))
}

func (s source) line(p token.Pos) int { return s.fset.Position(p).Line }

// newSource parses a file. Its name is relative to the root of the module.
func newSource(fset *token.FileSet, name, text string) (source, error) {
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return source{}, err
	}
	s := source{name: path.Base(name), text: text, fset: fset, file: file, imports: map[string]string{}}
	if s.dir = path.Dir(name); s.dir == "." {
		s.dir = ""
	}
	s.test = strings.HasSuffix(name, "_test.go")
	for _, spec := range file.Imports {
		target := strings.Trim(spec.Path.Value, `"`)
		called := path.Base(regexp.MustCompile(`/v\d+$`).ReplaceAllString(target, ""))
		if spec.Name != nil {
			called = spec.Name.Name
		}
		s.imports[called] = target
	}
	return s, nil
}

// load parses every file of the module, and reads its pages.
func load(t *testing.T) (sources []source, pages map[string]string) {
	t.Helper()
	root := "../.."
	fset, pages := token.NewFileSet(), map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || name == "vendor" || (strings.HasPrefix(name, ".") && name != ".." && name != ".ci") {
				return filepath.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		isGo := strings.HasSuffix(name, ".go")
		if !isGo && !slices.Contains([]string{".md", ".sh", ".toml", ".example", ".txtar"}, path.Ext(name)) && path.Base(name) != "Makefile" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !isGo {
			pages[name] = string(text)
			return nil
		}
		s, err := newSource(fset, name, string(text))
		if err != nil {
			return err
		}
		sources = append(sources, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) == 0 {
		t.Fatal("no files were found")
	}
	return sources, pages
}

// rule looks at all files for one kind of problem.
type rule struct {
	name  string
	check func([]source) []problem
}

// rules returns every rule on Go files.
func rules() []rule {
	return []rule{
		{"imports", checkImports},
		{"libraries", checkLibraries},
		{"purity", checkPurity},
		{"writes", checkWrites},
		{"world", checkWorld},
		{"go-git", checkGoGit},
		{"init", checkInit},
		{"globals", checkGlobals},
		{"functions", checkFunctions},
		{"files", checkFiles},
		{"interfaces", checkInterfaces},
		{"exports", checkExports},
		{"comments", checkDocumented},
		{"package comments", checkPackageComments},
		{"words", checkWords},
		{"errors", checkErrorTexts},
		{"panics", checkPanics},
		{"suppressions", checkSuppressions},
	}
}

// TestArchitecture applies every rule to the module.
func TestArchitecture(t *testing.T) {
	sources, _ := load(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, p := range r.check(sources) {
				t.Error(p)
			}
		})
	}
}

// TestPages checks what is no Go.
func TestPages(t *testing.T) {
	_, pages := load(t)
	for _, p := range checkPages(pages) {
		t.Error(p)
	}
}

// production returns the files that are no tests.
func production(sources []source) []source {
	return slices.DeleteFunc(slices.Clone(sources), func(s source) bool { return s.test })
}

// refers reports whether n is "name.Something" of the package imported from target, and returns the Something.
func (s source) refers(n ast.Node, target string) (string, bool) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	id, ok := sel.X.(*ast.Ident)
	// An identifier with an object is a variable of this file that hides the package.
	if !ok || id.Obj != nil || s.imports[id.Name] != target {
		return "", false
	}
	return sel.Sel.Name, true
}

// functions calls f with every function declared in s.
func (s source) functions(f func(*ast.FuncDecl)) {
	for _, d := range s.file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			f(fn)
		}
	}
}
