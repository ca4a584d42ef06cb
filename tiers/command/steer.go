package command

import (
	"strings"
)

// steering reports whether a variable changes what later commands do: where programs and settings are found, what they run.
func steering(name, _ string) bool { return steers.MatchString(name) }

var steers = pattern(`^(PATH|IFS|HOME|ENV|BASH_ENV|SHELL|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|CDPATH|GLOBIGNORE|TMPDIR|ZDOTDIR|LD_.*|DYLD_.*|XDG_.*|GIT_.*|GCONV_PATH|LOCPATH|` +
	`NLSPATH|TERMINFO.*|MALLOC_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|NODE_.*|NPM_.*|npm_config_.*|YARN_.*|PIP_.*|UV_.*|GOFLAGS|GOPROXY|GOSUMDB|GONOSUM.*|` +
	`GOINSECURE|GOTOOLCHAIN|GOROOT|GOPATH|GOBIN|GOENV|GOWORK|CC|CXX|CPP|LD|AR|AS|CGO_.*FLAGS.*|.*_WRAPPER|RUSTC|RUSTFLAGS|RUSTDOC|RUSTUP_.*|CARGO_(HOME|TARGET_.*|BUILD_.*|ALIAS_.*)|` +
	`JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_.*|GRADLE_.*|LESS|LESSOPEN|LESSCLOSE|LESSKEY.*|MANPAGER|MANOPT|PAGER|EDITOR|VISUAL|BROWSER|FCEDIT|SUDO_.*|SSH_.*|RSYNC_.*|TAR_OPTIONS|` +
	`GREP_OPTIONS|GZIP|MAKEFLAGS|MAKEFILES|MFLAGS|CMAKE_.*|DOCKER_.*|KUBECONFIG|AWS_.*|PROMPT_COMMAND|PS[0-4]|FIGNORE|TIMEFORMAT|histchars|HISTFILE|INPUTRC|` +
	`HTTPS?_PROXY|https?_proxy|ALL_PROXY|all_proxy|AWKPATH|AWKLIBPATH|POSIXLY_CORRECT|DEBUGINFOD_.*|OPENSSL_.*|SSL_CERT_.*|CURL_.*|WGETRC|.*_OPTIONS|.*_OPTS)$`)

// runsText reports whether a shell, or a program, runs the text of a variable.
func runsText(name string) bool {
	switch name {
	case "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "GIT_SSH_COMMAND", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND",
		"PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE", "SSH_ASKPASS", "SUDO_ASKPASS", "SHELL", "RUSTC_WRAPPER", "CC", "CXX", "FCEDIT", "RSYNC_RSH":
		return true
	}
	return false
}

// benign reports whether a steering variable has a value that steers nowhere.
func benign(name, value string) bool {
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER":
		return value == "cat" || value == ""
	case "EDITOR", "GIT_EDITOR", "VISUAL", "GIT_SEQUENCE_EDITOR":
		return value == "true" || value == ":"
	case "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_PAGER_IN_USE":
		return strings.Trim(value, "01") == ""
	case "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
		"NODE_ENV", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8", "NPM_CONFIG_LOGLEVEL", "npm_config_loglevel",
		"AWS_REGION", "AWS_DEFAULT_REGION", "CARGO_TERM_COLOR", "NODE_NO_WARNINGS", "PYTHONWARNINGS", "RUST_BACKTRACE", "DOCKER_BUILDKIT", "GIT_MERGE_AUTOEDIT":
		return true
	case "CC", "CXX":
		return compilers[value]
	case "GOFLAGS":
		return value == "" || goFlag.MatchString(value)
	case "LESS":
		return value == "" || flagsOnly.MatchString(value)
	}
	return false
}

var (
	compilers = set("gcc g++ clang clang++ cc c++")
	goFlag    = pattern(`^(-mod=(mod|vendor|readonly)|-count=1|-v|-race|-buildvcs=(false|true|auto)|-trimpath)$`)
	flagsOnly = pattern(`^-?[FRXSiMN]+$`)
)
