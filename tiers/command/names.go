package command

import (
	"path"
	"strings"
	"unicode"
)

// Names are looked at once or more for every word of a command, so nothing here is a regular expression.

// steersAgent reports whether p gives an agent or an editor its rights, or names programs that it starts.
func steersAgent(p string) bool {
	for p != "" {
		var name string
		name, p, _ = strings.Cut(p, "/")
		switch name = strings.ToLower(name); {
		case strings.HasPrefix(name, ".correx"), oneOf(name, ".git .claude .cursor .codex .gemini .mcp.json mcp.json .vscode"):
			return true
		}
	}
	return false
}

// secretFile reports whether a path is named like a place for secrets.
func secretFile(p string) bool {
	p = strings.ToLower(p)
	base := path.Base(p)
	if strings.HasSuffix(base, ".pub") {
		return false
	}
	if rest, ok := strings.CutPrefix(base, ".env."); ok && oneOf(rest, "example sample template dist default defaults") {
		return false
	}
	return secretBase(base) || secretFolder(p)
}

// secretFolder reports whether a folder on the way is one for secrets.
func secretFolder(p string) bool {
	if strings.Contains(p, "/proc/") || strings.HasSuffix(p, "/.docker/config.json") {
		return true
	}
	for i := strings.Index(p, "/."); i >= 0; {
		p = p[i+1:]
		name, _, _ := strings.Cut(p, "/")
		if oneOf(name, ".ssh .gnupg .aws .azure .kube") {
			return true
		}
		i = strings.Index(p, "/.")
	}
	return false
}

func secretBase(base string) bool {
	if rest, ok := strings.CutPrefix(base, ".env"); ok && (rest == "" || strings.IndexByte(".*?[", rest[0]) >= 0) {
		return true
	}
	if oneOf(base, ".envrc .netrc _netrc .pgpass .my.cnf .npmrc .pypirc .git-credentials .htpasswd htpasswd .vault-token .dockercfg .s3cfg .boto .token "+
		"credentials secret secrets password passwords environ") {
		return true
	}
	for _, prefix := range []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "kubeconfig"} {
		if strings.HasPrefix(base, prefix) {
			return true
		}
	}
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 {
		return strings.HasSuffix(base, "_history")
	}
	name, ext := base[:dot], base[dot+1:]
	switch {
	case oneOf(ext, "pem key p8 p12 pfx ppk jks keystore kdbx tfstate ovpn agekey"):
		return true
	case oneOf(ext, "json toml yaml yml txt env csv ini"):
		name = strings.TrimSuffix(name, "s")
		return strings.HasSuffix(name, "secret") || strings.HasSuffix(name, "credential") || strings.HasSuffix(name, "password") || strings.HasPrefix(base, "service-account") && ext == "json"
	}
	return strings.HasSuffix(base, "_history")
}

// secretName reports whether a variable is named like a secret.
func secretName(name string) bool {
	if strings.IndexFunc(name, unicode.IsLower) >= 0 {
		name = strings.ToUpper(name)
	}
	for _, part := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "APIKEY", "API_KEY", "PRIVATE", "ACCESS_KEY"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for _, end := range []string{"_KEY", "_PASS", "_PWD", "AUTH"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == "KEY"
}

// steering reports whether a variable changes what later commands do: where programs and settings are found, what they run.
func steering(name, _ string) bool {
	if steers[name] {
		return true
	}
	for _, s := range steersFrom {
		if strings.HasPrefix(name, s) {
			return true
		}
	}
	for _, s := range steersTo {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return strings.HasPrefix(name, "CGO_") && strings.Contains(name, "FLAGS")
}

var (
	steers = set(`PATH IFS HOME ENV BASH_ENV SHELL SHELLOPTS BASHOPTS CDPATH GLOBIGNORE TMPDIR ZDOTDIR GCONV_PATH LOCPATH NLSPATH GOFLAGS GOPROXY GOSUMDB GOINSECURE GOTOOLCHAIN
		GOROOT GOPATH GOBIN GOENV GOWORK CC CXX CPP LD AR AS RUSTC RUSTFLAGS RUSTDOC CARGO_HOME JAVA_HOME CLASSPATH LESS LESSOPEN LESSCLOSE MANOPT BROWSER FCEDIT TAR_OPTIONS GREP_OPTIONS
		GZIP MAKEFLAGS MAKEFILES MFLAGS KUBECONFIG PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 FIGNORE TIMEFORMAT histchars HISTFILE INPUTRC HTTP_PROXY HTTPS_PROXY http_proxy https_proxy ALL_PROXY
		all_proxy AWKPATH AWKLIBPATH POSIXLY_CORRECT WGETRC VISUAL PHPRC PHP_INI_SCAN_DIR LUA_INIT LUA_PATH LUA_CPATH R_PROFILE R_PROFILE_USER DOTNET_STARTUP_HOOKS VIMINIT EXINIT
		RIPGREP_CONFIG_PATH PSQLRC _JAVA_OPTIONS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS`)
	steersFrom = strings.Fields(`BASH_FUNC_ LD_ DYLD_ XDG_ GIT_ TERMINFO MALLOC_ PYTHON PERL RUBY GEM_ BUNDLE_ NODE_ NPM_ npm_config_ YARN_ PIP_ UV_ GONOSUM RUSTUP_ CARGO_TARGET_ CARGO_BUILD_
		CARGO_ALIAS_ MAVEN_ GRADLE_ LESSKEY SUDO_ SSH_ RSYNC_ CMAKE_ DOCKER_ AWS_ DEBUGINFOD_ OPENSSL_ SSL_CERT_ CURL_ TF_CLI_ HELM_ ANSIBLE_ NIX_ COMPOSER_ JULIA_ FZF_DEFAULT_`)
	steersTo = strings.Fields("_WRAPPER _OPTIONS _OPTS _ADDOPTS PAGER EDITOR")
)
