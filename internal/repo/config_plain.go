package repo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// configFile is a file of git's configuration and the scope it stands for.
type configFile struct{ scope, name string }

// plainConfigLimit is the size in bytes up to which a file is read in this process.
const plainConfigLimit = 64 << 10

// plainConfig reads the configuration without a git process, which a commit would wait for. It answers only where nothing
// is out of the ordinary: the places of all files are known, nothing is included, and no value needs unquoting. Everything
// else is for git to read.
func (r *Repo) plainConfig() (configuration, bool) {
	files, ok := r.plainFiles()
	if !ok {
		return configuration{}, false
	}
	var c configuration
	for _, f := range files {
		if !r.addPlain(&c, f) {
			return configuration{}, false
		}
	}
	if s, found := c.used("extensions.worktreeconfig"); found && s.isTrue() {
		if !r.addPlain(&c, configFile{"worktree", filepath.Join(r.gitDir, "config.worktree")}) {
			return configuration{}, false
		}
	}
	return c, true
}

// plainFiles returns the files that git reads for this repository, in its order. Where git was installed in a place of its
// own, or the environment names other files, only git knows them.
func (r *Repo) plainFiles() ([]configFile, bool) {
	home := r.env["HOME"]
	if r.git.program.file != "/usr/bin/git" || !filepath.IsAbs(home) || r.env["GIT_CONFIG_GLOBAL"] != "" || r.env["GIT_CONFIG_SYSTEM"] != "" {
		return nil, false
	}
	var files []configFile
	if r.env["GIT_CONFIG_NOSYSTEM"] == "" {
		files = append(files, configFile{"system", "/etc/gitconfig"})
	} else if r.env["GIT_CONFIG_NOSYSTEM"] != "1" {
		return nil, false
	}
	own := r.env["XDG_CONFIG_HOME"]
	if own == "" {
		own = filepath.Join(home, ".config")
	}
	return append(files,
		configFile{"global", filepath.Join(own, "git", "config")},
		configFile{"global", filepath.Join(home, ".gitconfig")},
		configFile{"local", filepath.Join(r.commonDir, "config")},
	), true
}

// addPlain appends the settings of one file; a missing one has none.
func (r *Repo) addPlain(c *configuration, f configFile) bool {
	data, err := os.ReadFile(f.name)
	if os.IsNotExist(err) {
		return true
	}
	if err != nil || len(data) > plainConfigLimit || !plainText(data) {
		return false
	}
	parsed := config.New()
	if config.NewDecoder(bytes.NewReader(data)).Decode(parsed) != nil {
		return false
	}
	inTree, _ := r.inTree(f.name)
	add := func(section string, options config.Options) bool {
		for _, o := range options {
			if o.Value == "" {
				return false
			}
			c.settings = append(c.settings, Setting{
				Key: section + "." + strings.ToLower(o.Key), Value: o.Value, Scope: f.scope, Origin: f.name, InTree: inTree,
			})
		}
		return true
	}
	for _, s := range parsed.Sections {
		name := strings.ToLower(s.Name)
		if name == "include" || name == "includeif" || !add(name, s.Options) {
			return false
		}
		for _, sub := range s.Subsections {
			if !add(name+"."+sub.Name, sub.Options) {
				return false
			}
		}
	}
	return true
}

// plainText reports whether no line holds what readers of the format may take differently, or what git refuses: quotes,
// comments and tabs within values, backslashes, control characters, sections and settings in one line, old-style subsections, other
// characters in names.
func plainText(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		line = strings.Trim(line, " \t\r\n")
		switch {
		case strings.ContainsFunc(line, func(r rune) bool {
			return r < ' ' && r != '\t' || r == '\\' || r == 0x7f || r == 0xfeff || unicode.IsSpace(r) && r > 0x7f
		}):
			return false
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			if !plainSection(line) {
				return false
			}
		default:
			key, value, found := strings.Cut(line, "=")
			key = strings.TrimRight(key, " \t")
			if !found || !plainName(key) || !isLetter(key[0]) || strings.ContainsAny(line, `"#;`) || strings.Contains(strings.TrimLeft(value, " \t"), "\t") {
				return false
			}
		}
	}
	return true
}

// plainSection reports whether line is [name] or [name "subsection"] and nothing else.
func plainSection(line string) bool {
	inner, closed := strings.CutSuffix(line[1:], "]")
	name, sub, extended := strings.Cut(inner, `"`)
	if extended {
		var ended bool
		sub, ended = strings.CutSuffix(sub, `"`)
		bare := strings.TrimRight(name, " \t")
		closed = closed && ended && bare != name && !strings.ContainsAny(sub, `"#;=]`)
		name = bare
	}
	return closed && plainName(name)
}

// plainName reports whether s may be the name of a section, or of a setting if it begins with a letter.
func plainName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f || r != '-' && !isLetter(byte(r)) && (r < '0' || r > '9') })
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
