package command

import (
	"path"
	"strings"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// finding is one thing that is known about a part.
type finding struct {
	tier   change.Tier
	reason change.Reason
	why    string
}

// resolve returns the clean absolute path of a word, or "" where it cannot be told.
func (g *grader) resolve(sc *scope, a arg) string {
	p := a.text
	switch {
	case !a.known:
		return ""
	case strings.HasPrefix(p, "/"):
		return path.Clean(p)
	case sc.cwd == "":
		return ""
	}
	return path.Join(sc.cwd, p)
}

func within(p, root string) bool {
	root = path.Clean(root)
	return p != "" && path.IsAbs(root) && (p == root || root == "/" || strings.HasPrefix(p, root+"/"))
}

func (g *grader) inRoot(p string) bool { return g.in.Root != "" && within(p, g.in.Root) }

// device reports whether p is a file that holds nothing.
func device(p string) bool {
	switch p {
	case "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/full":
		return true
	}
	return strings.HasPrefix(p, "/dev/fd/")
}

// isNetwork reports whether bash opens a connection for p.
func isNetwork(p string) bool {
	return strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/")
}

// reads says what reading a path comes to.
func (g *grader) reads(sc *scope, a arg) finding {
	if a.lister || a.text == "" && a.known {
		return finding{tier: change.T1}
	}
	p := g.resolve(sc, a)
	switch {
	case p == "":
		return finding{change.T3, change.Unclassified, "reads a path that only run time knows"}
	case device(p):
		return finding{tier: change.T1}
	case isNetwork(p):
		return finding{change.T3, change.OutsideRepository, "opens a network connection"}
	case strings.Contains(a.text, "://"):
		return finding{change.T3, change.OutsideRepository, "reads from an address"}
	case secretFile(p):
		return finding{change.T3, change.ProtectedTarget, "reads what may hold secrets"}
	case a.glob && hiddenGlob(p):
		return finding{change.T3, change.ProtectedTarget, "reads hidden files, which may hold secrets"}
	case g.inRoot(p), within(p, "/tmp"), within(p, "/usr"):
		return finding{tier: change.T1}
	}
	return finding{change.T3, change.OutsideRepository, "reads outside the repository"}
}

// writes says what creating or replacing a path comes to.
func (g *grader) writes(sc *scope, a arg) finding {
	if a.lister {
		return finding{tier: change.T2, why: "changes files of the repository"}
	}
	p := g.resolve(sc, a)
	switch {
	case p == "":
		return finding{change.T4, change.Unclassified, "writes to a path that only run time knows"}
	case device(p):
		return finding{tier: change.T1}
	case isNetwork(p):
		return finding{change.T3, change.OutsideRepository, "opens a network connection"}
	case g.inRoot(p):
		return g.writesInside(change.Path(strings.TrimPrefix(strings.TrimPrefix(p, path.Clean(g.in.Root)), "/")), a.glob)
	case within(p, "/tmp"):
		return finding{tier: change.T2, why: "writes a scratch file"}
	}
	return finding{change.T4, change.OutsideRepository, "writes outside the repository"}
}

func (g *grader) writesInside(p change.Path, glob bool) finding {
	if p == "" {
		return finding{tier: change.T2, why: "writes in the repository"}
	}
	guarded := finding{change.T4, change.ProtectedTarget, "writes what git, correx or an agent goes by"}
	first, _, _ := strings.Cut(string(p), "/")
	if glob && (strings.HasPrefix(first, ".") || first == "" || first[0] == '[' || first[0] == '?') {
		return guarded
	}
	if known, ok := g.inside[p]; ok {
		return known
	}
	g.inside[p] = g.protectedInside(p, guarded)
	return g.inside[p]
}

// protectedInside looks at the folders of a path first, each of them once for all paths.
func (g *grader) protectedInside(p change.Path, guarded finding) finding {
	above := finding{tier: change.T2, why: "writes in the repository"}
	if i := strings.LastIndexByte(string(p), '/'); i > 0 {
		above = g.writesInside(p[:i], false)
	}
	if above.tier == change.T4 || steersAgent(string(p)) {
		return guarded
	}
	protection, ok := tiers.Protects(p, nil)
	switch {
	case !ok:
		return above
	case protection.Level >= tiers.HardAsk:
		return guarded
	}
	return finding{change.T3, change.ProtectedTarget, "writes a protected name, which " + protection.Why}
}
