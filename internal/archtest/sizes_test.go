package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// The hard limits.
const (
	maxDomainLines     = 70
	maxEdgeLines       = 100
	maxTestLines       = 120
	maxFileLines       = 600
	maxCommandLines    = 300
	maxMainLines       = 39
	maxNesting         = 4
	maxParameters      = 4
	maxInterfaceLength = 6
	maxExported        = 45
)

const whySize = "what fits on a screen can be read"

// edges are the packages whose functions may be longer: they are mostly steps one after the other.
func edges() []string {
	return []string{"", "shadow", "hooks", "hooks/agent", "internal/repo", "internal/config", "internal/review", "internal/sandbox", "internal/commands", "bench"}
}

// checkFunctions measures length, nesting and parameters.
func checkFunctions(sources []source) []problem {
	var found []problem
	for _, s := range sources {
		most := maxDomainLines
		switch {
		case s.test:
			most = maxTestLines
		case slices.Contains(edges(), s.dir):
			most = maxEdgeLines
		}
		s.functions(func(fn *ast.FuncDecl) {
			say := func(format string, args ...any) {
				found = append(found, problem{s.at(fn), fn.Name.Name + " " + fmt.Sprintf(format, args...), whySize})
			}
			if n := s.line(fn.End()) - s.line(fn.Pos()) + 1; n > most {
				say("has %d lines, at most %d", n, most)
			}
			if s.test || fn.Body == nil {
				return
			}
			if n := nesting(fn.Body); n > maxNesting {
				say("is nested %d deep, at most %d", n, maxNesting)
			}
			if n := parameters(s, fn.Type); n > maxParameters {
				say("has %d parameters, at most %d; then an options struct", n, maxParameters)
			}
		})
	}
	return found
}

// nesting returns how many statements that branch or loop stand inside each other at the deepest place. An "else if" is
// on the level of its "if"; a function literal starts anew.
func nesting(body ast.Node) int {
	deepest := 0
	var walk func(n ast.Node, depth int)
	walk = func(n ast.Node, depth int) {
		deepest = max(deepest, depth)
		ast.Inspect(n, func(m ast.Node) bool {
			if m == n {
				return true
			}
			switch m := m.(type) {
			case *ast.FuncLit:
				walk(m.Body, 0)
				return false
			case *ast.IfStmt:
				if outer, ok := n.(*ast.IfStmt); ok && outer.Else == m {
					walk(m, depth)
				} else {
					walk(m, depth+1)
				}
				return false
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				walk(m, depth+1)
				return false
			}
			return true
		})
	}
	walk(body, 0)
	return deepest
}

// parameters counts the parameters of a function but for its context.
func parameters(s source, f *ast.FuncType) int {
	n := 0
	for _, field := range f.Params.List {
		if name, ok := s.refers(field.Type, "context"); !ok || name != "Context" {
			n += max(len(field.Names), 1)
		}
	}
	return n
}

// checkFiles measures files.
func checkFiles(sources []source) []problem {
	var found []problem
	for _, s := range production(sources) {
		most := maxFileLines
		switch {
		case s.dir == "" && s.name == "main.go":
			most = maxMainLines
		case s.dir == "internal/commands" && s.buildsCommand():
			most = maxCommandLines
		}
		if n := strings.Count(s.text, "\n"); n > most {
			found = append(found, problem{s.at(s.file.Name), fmt.Sprintf("the file has %d lines, at most %d", n, most), whySize})
		}
	}
	return found
}

// buildsCommand reports whether the file makes a command of the command line.
func (s source) buildsCommand() bool {
	is := false
	ast.Inspect(s.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			name, of := s.refers(lit.Type, "github.com/urfave/cli/v2")
			is = is || (of && name == "Command")
		}
		return !is
	})
	return is
}

// checkInterfaces measures interfaces.
func checkInterfaces(sources []source) []problem {
	var found []problem
	for _, s := range production(sources) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if i, ok := n.(*ast.InterfaceType); ok {
				if m := i.Methods.NumFields(); m > maxInterfaceLength {
					found = append(found, problem{s.at(i), fmt.Sprintf("the interface has %d methods, at most %d", m, maxInterfaceLength), "an interface is what its one user needs"})
				}
			}
			return true
		})
	}
	return found
}

// checkExports counts what a package exports: types, functions, variables, and blocks of constants, which are one word
// with its values. Methods and fields belong to their types.
func checkExports(sources []source) []problem {
	count, at := map[string]int{}, map[string]string{}
	for _, s := range production(sources) {
		at[s.dir] = s.at(s.file.Name)
		seen := func(exported bool) {
			if exported {
				count[s.dir]++
			}
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				seen(d.Recv == nil && d.Name.IsExported())
			case *ast.GenDecl:
				if d.Tok == token.CONST {
					seen(slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool { return exports(spec) }))
					continue
				}
				for _, spec := range d.Specs {
					seen(exports(spec))
				}
			}
		}
	}
	var found []problem
	for dir, n := range count {
		if n > maxExported {
			found = append(found, problem{at[dir], fmt.Sprintf("the package exports %d names, at most %d", n, maxExported), "a package does one job"})
		}
	}
	return found
}

// exports reports whether a declaration has a name that others see.
func exports(spec ast.Spec) bool {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return spec.Name.IsExported()
	case *ast.ValueSpec:
		return slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported)
	}
	return false
}
