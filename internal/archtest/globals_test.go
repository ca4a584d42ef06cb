package archtest

import (
	"go/ast"
	"go/token"
	"strings"
)

// checkInit finds init functions.
func checkInit(sources []source) []problem {
	var found []problem
	for _, s := range production(sources) {
		s.functions(func(fn *ast.FuncDecl) {
			if fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, problem{s.at(fn), "declares init", "what runs before main runs for every command, and in no order one can see"})
			}
		})
	}
	return found
}

// checkGlobals finds package variables that could change. A variable with a value, which no file of its package assigns
// to, takes the address of or deletes from, and which others cannot reach, is a constant that Go cannot write as one.
func checkGlobals(sources []source) []problem {
	const why = "a package has no state: what two calls share is handed to both"
	var found []problem
	for _, s := range production(sources) {
		for _, v := range s.variables() {
			for i, name := range v.Names {
				switch {
				case name.Name == "_":
				case len(v.Values) == 0 && !hasEmbed(v, s):
					found = append(found, problem{s.at(name), "declares the variable " + name.Name + " without a value", why})
				case len(v.Values) == 1 && len(v.Names) > 1, i < len(v.Values) && s.guarded(v.Values[i]):
					found = append(found, problem{s.at(name), "declares the variable " + name.Name + ", whose value is made to change", why})
				case ast.IsExported(name.Name) && (i >= len(v.Values) || !s.isSentinel(v.Values[i])):
					found = append(found, problem{s.at(name), "exports the variable " + name.Name, "another package could change it"})
				}
				for _, at := range changes(production(sources), s, v, name.Name) {
					found = append(found, problem{at, "changes the package variable " + name.Name, why})
				}
			}
		}
	}
	return found
}

// variables returns the package variables declared in s.
func (s source) variables() []*ast.ValueSpec {
	var all []*ast.ValueSpec
	for _, d := range s.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if v.Doc == nil {
					v.Doc = g.Doc
				}
				all = append(all, v)
			}
		}
	}
	return all
}

func hasEmbed(v *ast.ValueSpec, s source) bool {
	if v.Doc == nil {
		return false
	}
	for _, c := range v.Doc.List {
		if strings.HasPrefix(c.Text, "//go:embed ") && s.line(c.Pos()) < s.line(v.Pos()) {
			return true
		}
	}
	return false
}

// guarded reports whether a value is of a kind that exists to be changed: a lock, an atomic, a channel.
func (s source) guarded(value ast.Expr) bool {
	is := false
	ast.Inspect(value, func(n ast.Node) bool {
		if name, ok := s.refers(n, "sync"); ok && !strings.HasPrefix(name, "OnceValue") {
			is = true
		}
		if _, ok := s.refers(n, "sync/atomic"); ok {
			is = true
		}
		if _, ok := n.(*ast.ChanType); ok {
			is = true
		}
		return !is
	})
	return is
}

// isSentinel reports whether a value is an error made by errors.New.
func (s source) isSentinel(value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := s.refers(call.Fun, "errors")
	return ok && name == "New"
}

// changes returns where files of the package of s change its variable name, declared by spec.
func changes(sources []source, s source, spec *ast.ValueSpec, name string) []string {
	var at []string
	for _, o := range sources {
		if o.dir != s.dir {
			continue
		}
		is := func(e ast.Expr) bool {
			id := root(e)
			return id != nil && id.Name == name && (id.Obj == nil || id.Obj.Decl == spec)
		}
		ast.Inspect(o.file, func(n ast.Node) bool {
			hit := false
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					hit = hit || (n.Tok != token.DEFINE && is(left))
				}
			case *ast.IncDecStmt:
				hit = is(n.X)
			case *ast.UnaryExpr:
				hit = n.Op == token.AND && is(n.X)
			case *ast.RangeStmt:
				hit = n.Tok == token.ASSIGN && ((n.Key != nil && is(n.Key)) || (n.Value != nil && is(n.Value)))
			case *ast.CallExpr:
				id, ok := n.Fun.(*ast.Ident)
				hit = ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 && is(n.Args[0])
			}
			if hit {
				at = append(at, o.at(n))
			}
			return true
		})
	}
	return at
}

// root returns the identifier that an expression starts from: x for x[i].f.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}
