package command

import (
	"strings"
)

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
	if strings.HasPrefix(name, "GIT_TRACE") {
		return oneOf(value, "0 1 2 true false")
	}
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
	case "NODE_OPTIONS":
		rest, ok := strings.CutPrefix(value, "--max-old-space-size=")
		return ok && isNumber(rest)
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
