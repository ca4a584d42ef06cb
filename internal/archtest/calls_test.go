package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

const whyWrites = "only internal/durable writes files, by primitives named for what they promise"

// systemWrites are the system calls that change a file system, by the names they have in syscall and golang.org/x/sys.
func systemWrites() []string {
	return strings.Fields(`Openat2 Creat Rename Renameat Renameat2 RenamexNp RenameatxNp Link Linkat Symlink Symlinkat Unlink Unlinkat Rmdir
		Mkdir Mkdirat Mknod Mknodat Mkfifo Mkfifoat Chmod Fchmod Fchmodat Chown Fchown Fchownat Lchown Truncate Ftruncate Fallocate Write Pwrite Pwritev Writev
		Fsync Fdatasync Sync Syncfs SyncFileRange Setxattr Fsetxattr Lsetxattr Removexattr Fremovexattr Lremovexattr IoctlFileClone IoctlFileCloneRange
		IoctlFileDedupeRange CopyFileRange Sendfile Splice Utime Utimes UtimesNanoAt Futimes Lutimes Clonefile Clonefileat Fclonefileat MoveFile MoveFileEx
		CreateFile DeleteFile RemoveDirectory SetFileAttributes`)
}

// checkWrites finds everything outside internal/durable that could change a file.
func checkWrites(sources []source) []problem {
	writers := map[string][]string{
		"os": strings.Fields(`Create CreateTemp WriteFile Rename Link Symlink Remove RemoveAll Mkdir MkdirAll MkdirTemp Chmod Chown Lchown Chtimes Truncate CopyFS
			OpenRoot OpenInRoot`),
		"syscall":                  systemWrites(),
		"golang.org/x/sys/unix":    systemWrites(),
		"golang.org/x/sys/windows": systemWrites(),
		"io/ioutil":                {"WriteFile", "TempFile", "TempDir"},
	}
	consts := constants(sources)
	var found []problem
	for _, s := range production(sources) {
		// internal/faultfs makes the disk that a power cut leaves; rooms keeps it out of every program.
		if s.dir == "internal/durable" || s.dir == "internal/faultfs" {
			continue
		}
		opened := map[ast.Node]bool{}
		ast.Inspect(s.file, func(n ast.Node) bool {
			for target, names := range writers {
				if name, ok := s.refers(n, target); ok && slices.Contains(names, name) {
					found = append(found, problem{s.at(n), "uses " + path.Base(target) + "." + name, whyWrites})
				}
			}
			if call, ok := n.(*ast.CallExpr); ok {
				if flags := s.openFlags(call.Fun); flags >= 0 && flags < len(call.Args) && s.readOnly(call.Args[flags], consts, 0) {
					opened[call.Fun] = true
				}
			} else if s.openFlags(n) >= 0 && !opened[n] {
				found = append(found, problem{s.at(n), "opens a file with flags that are not plainly read-only", whyWrites})
			}
			return true
		})
	}
	return found
}

// openFlags returns which argument of the function n holds the flags that a file is opened with, or -1 for a function
// that opens none.
func (s source) openFlags(n ast.Node) int {
	if name, ok := s.refers(n, "os"); ok && name == "OpenFile" {
		return 1
	}
	for _, target := range []string{"syscall", "golang.org/x/sys/unix", "golang.org/x/sys/windows"} {
		switch name, _ := s.refers(n, target); name {
		case "Open":
			return 1
		case "Openat":
			return 2
		}
	}
	return -1
}

// constants collects the values of package-level constants, by folder and name. A name that files of several systems
// declare has several.
func constants(sources []source) map[string][]constant {
	all := map[string][]constant{}
	for _, s := range production(sources) {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i < len(v.Values) {
						all[s.dir+"\x00"+name.Name] = append(all[s.dir+"\x00"+name.Name], constant{s, v.Values[i]})
					}
				}
			}
		}
	}
	return all
}

// constant is the value of a constant and the file it stands in.
type constant struct {
	source source
	value  ast.Expr
}

// readOnly reports whether flags for os.OpenFile can be seen to open for reading only.
func (s source) readOnly(flags ast.Expr, consts map[string][]constant, depth int) bool {
	harmless := strings.Fields("O_RDONLY O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY O_PATH O_NOCTTY O_LARGEFILE")
	switch e := flags.(type) {
	case *ast.BasicLit:
		return e.Value == "0"
	case *ast.ParenExpr:
		return s.readOnly(e.X, consts, depth)
	case *ast.BinaryExpr:
		return e.Op == token.OR && s.readOnly(e.X, consts, depth) && s.readOnly(e.Y, consts, depth)
	case *ast.SelectorExpr:
		return slices.Contains(harmless, e.Sel.Name)
	case *ast.Ident:
		values := consts[s.dir+"\x00"+e.Name]
		if obj := e.Obj; obj != nil && obj.Kind != ast.Con {
			return s.readOnlyParameter(obj.Decl, e.Name, consts, depth)
		}
		for _, c := range values {
			if depth > 3 || !c.source.readOnly(c.value, consts, depth+1) {
				return false
			}
		}
		return len(values) > 0
	}
	return false
}

// readOnlyParameter reports whether name, declared by decl, is a parameter of a function that is only called, in this file, with flags that
// can be seen to open for reading only.
func (s source) readOnlyParameter(decl any, name string, consts map[string][]constant, depth int) bool {
	field, ok := decl.(*ast.Field)
	if !ok || depth > 3 {
		return false
	}
	calls, good := 0, true
	s.functions(func(fn *ast.FuncDecl) {
		index := parameterIndex(fn, field, name)
		if index < 0 || fn.Recv != nil || ast.IsExported(fn.Name.Name) {
			return
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && id.Name == fn.Name.Name && index < len(call.Args) {
					calls++
					good = good && s.readOnly(call.Args[index], consts, depth+1)
				}
			}
			return true
		})
	})
	return calls > 0 && good
}

func parameterIndex(fn *ast.FuncDecl, field *ast.Field, name string) int {
	i := 0
	for _, f := range fn.Type.Params.List {
		for _, n := range f.Names {
			if f == field && n.Name == name {
				return i
			}
			i++
		}
	}
	return -1
}

// checkWorld keeps clock, environment, streams and randomness in two files.
func checkWorld(sources []source) []problem {
	world := map[string][]string{
		"time": {"Now", "Since", "Until"},
		"os": strings.Fields(`Getenv LookupEnv Environ ExpandEnv Setenv Unsetenv Clearenv Getwd Chdir Exit Args Stdin Stdout Stderr UserHomeDir UserConfigDir
			UserCacheDir TempDir Executable Hostname`),
		"os/exec": {"LookPath"},
		"fmt":     {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"log":     {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Default", "SetOutput"},
	}
	var found []problem
	for _, s := range production(sources) {
		if s.dir == "" || (s.dir == "internal/commands" && strings.HasPrefix(s.name, "env")) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			for target, names := range world {
				if name, ok := s.refers(n, target); ok && slices.Contains(names, name) {
					found = append(found, problem{s.at(n), "uses " + path.Base(target) + "." + name, "what the outside world is comes from internal/commands/env.go, as values"})
				}
			}
			if _, ok := s.refers(n, "crypto/rand"); ok && s.dir != "internal/durable" {
				found = append(found, problem{s.at(n), "uses crypto/rand", "a random source is handed in"})
			}
			return true
		})
		for _, spec := range s.file.Imports {
			if strings.HasPrefix(strings.Trim(spec.Path.Value, `"`), "math/rand") {
				found = append(found, problem{s.at(spec), "imports math/rand", "a random source is handed in"})
			}
		}
	}
	return found
}

// checkGoGit finds what could write to a repository through go-git.
func checkGoGit(sources []source) []problem {
	writes := strings.Fields(`SetReference CheckAndSetReference RemoveReference SetIndex SetConfig SetEncodedObject PackRefs Worktree PlainOpen PlainOpenWithOptions
		PlainInit PlainInitWithOptions PlainClone PlainCloneContext Init Clone CreateTag DeleteTag CreateBranch DeleteBranch CreateRemote DeleteRemote Push Fetch Prune RepackObjects`)
	var found []problem
	for _, s := range production(sources) {
		uses := false
		for _, target := range s.imports {
			uses = uses || strings.HasPrefix(target, "github.com/go-git/go-git/")
		}
		if !uses {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(writes, sel.Sel.Name) {
				found = append(found, problem{s.at(call), "calls " + sel.Sel.Name, "go-git is read only here: it takes none of git's locks and runs none of its hooks"})
			}
			return true
		})
	}
	return found
}
