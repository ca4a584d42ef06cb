package shadow

import (
	"fmt"
	"strings"
)

// ConfigCopied reports whether the value of a key, spelled as "git config --list" does, is taken over into a shadow's own
// config. Not taken over is what names remotes and submodules, other config files, hooks and folders of the real
// repository, and what the shadow sets for itself. Of a partial clone only the fact is kept, so that git in the shadow
// puts up with the objects that are missing.
func ConfigCopied(key string) bool {
	section, sub, name, ok := splitKey(key)
	if !ok {
		return false
	}
	switch section {
	case "remote":
		return sub != "" && (name == "promisor" || name == "partialclonefilter")
	case "extensions":
		return sub == "" && name == "partialclone"
	case "url", "branch", "include", "includeif", "submodule", "gc", "maintenance", "worktree", "receive", "uploadpack":
		return false
	case "core":
		switch name {
		case "repositoryformatversion", "bare", "worktree", "hookspath", "fsmonitor", "untrackedcache", "checkstat",
			"trustctime", "logallrefupdates", "alternaterefscommand", "sharedrepository", "prefersymlinkrefs", "gitproxy",
			"sshcommand":
			return false
		}
	}
	return true
}

// splitKey takes a config key apart; section and name come in lower case.
func splitKey(key string) (section, sub, name string, ok bool) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first <= 0 || last == len(key)-1 {
		return "", "", "", false
	}
	section, name = strings.ToLower(key[:first]), strings.ToLower(key[last+1:])
	if last > first {
		sub = key[first+1 : last]
		if sub == "" {
			return "", "", "", false
		}
	}
	if !keyWord(section) || !keyWord(name) || !letter(name[0]) || strings.ContainsAny(sub, "\n\x00") {
		return "", "", "", false
	}
	return section, sub, name, true
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' }

func keyWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letter(c) && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != ""
}

// configText returns the content of the shadow's config file.
func configText(src Source) (string, error) {
	var b strings.Builder
	sha256 := src.ObjectFormat == "sha256"
	version := 0
	for _, kv := range src.Config {
		if section, _, name, ok := splitKey(kv[0]); ok && section == "extensions" && name == "partialclone" {
			version = 1
		}
	}
	if sha256 {
		version = 1
	}
	// The stat data in the copied index is the real tree's. Size and modification time are preserved, the rest is not,
	// so git must not look at it. What the index remembers of folders is of another place too.
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %d\n\tbare = false\n\tlogallrefupdates = true\n"+
		"\tcheckstat = minimal\n\ttrustctime = false\n\tfsmonitor = false\n\tuntrackedcache = false\n\thookspath = .git/hooks\n", version)
	if sha256 {
		b.WriteString("[extensions]\n\tobjectformat = sha256\n")
	}
	b.WriteString("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	for _, kv := range src.Config {
		if !ConfigCopied(kv[0]) {
			continue
		}
		if strings.IndexByte(kv[1], 0) >= 0 {
			return "", &SourceError{What: "config", Value: kv[0], Problem: "the value holds a NUL byte"}
		}
		section, sub, name, _ := splitKey(kv[0])
		if sub != "" {
			section += ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub) + `"`
		}
		fmt.Fprintf(&b, "[%s]\n\t%s = %s\n", section, name, configValue(kv[1]))
	}
	return b.String(), nil
}

// configValue quotes a value so that git reads back the same bytes.
func configValue(v string) string {
	// A carriage return survives only where no line feed follows, and none can: it comes out as "\n".
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(v) + `"`
}
