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
	g.inside[p] = protectedInside(p, guarded)
	return g.inside[p]
}

func protectedInside(p change.Path, guarded finding) finding {
	if steersAgent(string(p)) {
		return guarded
	}
	for _, q := range append(p.Ancestors(), p) {
		protection, ok := tiers.Protects(q, nil)
		switch {
		case !ok:
		case protection.Level >= tiers.HardAsk:
			return guarded
		default:
			return finding{change.T3, change.ProtectedTarget, "writes a protected name, which " + protection.Why}
		}
	}
	return finding{tier: change.T2, why: "writes in the repository"}
}

// steersAgent reports whether p gives an agent or an editor its rights, or names programs that it starts.
func steersAgent(p string) bool {
	return agentFile.MatchString(strings.ToLower(p))
}

var agentFile = pattern(`(^|/)(\.git|\.correx[^/]*|\.claude|\.cursor|\.codex|\.gemini|\.mcp\.json|mcp\.json|\.vscode/(settings|tasks|launch|mcp)\.json|\.vscode)(/|$)`)

// secretFile reports whether a path is named like a place for secrets.
func secretFile(p string) bool {
	base := strings.ToLower(path.Base(p))
	if publicSecret.MatchString(base) {
		return false
	}
	return secretPath.MatchString(strings.ToLower(p))
}

var (
	publicSecret = pattern(`^\.env\.(example|sample|template|dist|defaults?)$|\.pub$`)
	secretPath   = pattern(`(^|/)(\.env([.*?][^/]*)?|\.envrc|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.htpasswd|\.vault-token|` +
		`id_(rsa|dsa|ecdsa|ed25519)[^/]*|[^/]*\.(pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx)|(credentials|secrets?)(\.(json|toml|ya?ml|txt|env))?|` +
		`[^/]*(secrets?|credentials?|passwords?)\.(json|toml|ya?ml|csv|txt|env|ini)|passwords?|htpasswd|kubeconfig[^/]*|[^/]*\.(tfstate|ovpn|agekey)|\.(dockercfg|s3cfg|boto|token)|service-account[^/]*\.json|[^/]*_history|environ)$|/\.(ssh|gnupg|aws|azure|kube|docker/config\.json)(/|$)|/proc/`)
	secretVariable = pattern(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE|ACCESS_KEY|_KEY$|^KEY$|_PASS$|_PWD$|AUTH$)`)
)

// secretName reports whether a variable is named like a secret.
func secretName(name string) bool { return secretVariable.MatchString(name) }
