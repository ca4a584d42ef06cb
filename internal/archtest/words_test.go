package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const whyDocumented = "a reader should not have to open the code to know what a name promises"

// promised are methods whose promise is that of an interface everybody knows.
func promised() []string { return []string{"Error", "Unwrap", "String"} }

// checkDocumented finds exported names without a comment. One comment over a block of constants or variables will do.
func checkDocumented(sources []source) []problem {
	var found []problem
	for _, s := range production(sources) {
		miss := func(n ast.Node, name string, docs ...*ast.CommentGroup) {
			for _, doc := range docs {
				if doc != nil && strings.TrimSpace(doc.Text()) != "" {
					return
				}
			}
			found = append(found, problem{s.at(n), name + " is exported without a comment", whyDocumented})
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				ofInterface := d.Recv != nil && slices.Contains(promised(), d.Name.Name)
				if d.Name.IsExported() && !ofInterface && (d.Recv == nil || ast.IsExported(receiver(d))) {
					miss(d, d.Name.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if !exports(spec) {
						continue
					}
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						miss(spec, spec.Name.Name, d.Doc, spec.Doc)
					case *ast.ValueSpec:
						miss(spec, spec.Names[0].Name, d.Doc, spec.Doc, spec.Comment)
					}
				}
			}
		}
	}
	return found
}

// receiver returns the name of the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if index, ok := t.(*ast.IndexExpr); ok {
		t = index.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// checkPackageComments finds packages that do not say what they are.
func checkPackageComments(sources []source) []problem {
	first, documented := map[string]string{}, map[string]bool{}
	for _, s := range production(sources) {
		if first[s.dir] == "" {
			first[s.dir] = s.at(s.file.Name)
		}
		documented[s.dir] = documented[s.dir] || s.file.Doc != nil
	}
	var found []problem
	for dir, at := range first {
		if !documented[dir] {
			found = append(found, problem{at, "the package has no comment", whyDocumented})
		}
	}
	return found
}

// unfinished are marks of work that is not done, and traces of one machine.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b|/work/(main|shared)\b`)

// checkWords looks for them in comments, and anywhere for paths of a machine.
func checkWords(sources []source) []problem {
	const why = "what is in the tree is done; what is not stands in an issue"
	var found []problem
	for _, s := range sources {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if word := unfinished.FindString(c.Text); word != "" {
					found = append(found, problem{s.at(c), fmt.Sprintf("a comment says %q", word), why})
				}
			}
		}
	}
	return found
}

// checkErrorTexts holds the texts of errors to their style.
func checkErrorTexts(sources []source) []problem {
	const why = "an error is a chain of lower-case clauses that says what is wrong, with what was expected and found"
	front := regexp.MustCompile(`^(failed to|could not|unable to|error\b)`)
	capital := regexp.MustCompile(`^[A-Z][a-z]`)
	var found []problem
	for _, s := range production(sources) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			isNew, isErrorf := false, false
			if name, ok := s.refers(call.Fun, "errors"); ok {
				isNew = name == "New"
			}
			if name, ok := s.refers(call.Fun, "fmt"); ok {
				isErrorf = name == "Errorf"
			}
			lit, ok := call.Args[0].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING || (!isNew && !isErrorf) {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			switch {
			case front.MatchString(text):
				found = append(found, problem{s.at(call), fmt.Sprintf("an error begins with %q", front.FindString(text)), why})
			case capital.MatchString(text):
				found = append(found, problem{s.at(call), "an error begins with a capital letter", why})
			case text == "" || strings.ContainsAny(text[len(text)-1:], ".!\n"):
				found = append(found, problem{s.at(call), "an error ends like a sentence, or is empty", why})
			}
			return true
		})
	}
	return found
}

// checkPanics finds panics that do not say what would have to be broken for them.
func checkPanics(sources []source) []problem {
	var found []problem
	for _, s := range production(sources) {
		commented := map[int]bool{}
		for _, group := range s.file.Comments {
			for line := s.line(group.Pos()); line <= s.line(group.End()); line++ {
				commented[line] = true
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" && id.Obj == nil {
					if line := s.line(call.Pos()); !commented[line] && !commented[line-1] {
						found = append(found, problem{s.at(call), "panics without a comment", "say what would have to be broken to get here, or return an error"})
					}
				}
			}
			return true
		})
	}
	return found
}

// checkSuppressions counts what tells a linter to look away.
func checkSuppressions(sources []source) []problem {
	const most = 5
	suppress := regexp.MustCompile(`^//\s?(nolint|lint:(?:file-)?ignore)\b`)
	var found []problem
	n := 0
	for _, s := range sources {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if !suppress.MatchString(c.Text) {
					continue
				}
				if n++; n > most {
					found = append(found, problem{s.at(c), fmt.Sprintf("suppression number %d, at most %d", n, most), "a rule that needs exceptions is mended, or dropped"})
				}
				if len(strings.Fields(c.Text)) < 4 {
					found = append(found, problem{s.at(c), "a suppression without a reason", "the next reader has to know whether it still holds"})
				}
			}
		}
	}
	return found
}

// checkPages holds pages to their limits.
func checkPages(pages map[string]string) []problem {
	limits := map[string]int{"docs/architecture.md": 250}
	var found []problem
	for name, text := range pages {
		if most := limits[name]; most > 0 && strings.Count(text, "\n") > most {
			found = append(found, problem{name, fmt.Sprintf("the page has %d lines, at most %d", strings.Count(text, "\n"), most), "a map that has to be studied is none"})
		}
		for i, line := range strings.Split(text, "\n") {
			if word := unfinished.FindString(line); word != "" {
				found = append(found, problem{fmt.Sprintf("%s:%d", name, i+1), fmt.Sprintf("the page says %q", word), "what is in the tree is done"})
			}
		}
	}
	return found
}
