package change

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Path names a file inside a repository: components joined by "/", relative to the root of the working tree, as raw
// bytes. It is never empty, absolute, or with an empty, "." or ".." component, and never holds a NUL. The empty value
// stands for "no path" (and, where a folder is meant, for the root).
//
// In JSON a path that is valid UTF-8 is a string; any other is {"b64": "…"} (standard base64), so that no two paths
// collapse into one.
type Path string

// ParsePath checks raw against the rules of Path and returns it unchanged.
func ParsePath(raw string) (Path, error) {
	if raw == "" {
		return "", fmt.Errorf("path is empty")
	}
	if strings.IndexByte(raw, 0) >= 0 {
		return "", fmt.Errorf("path %q holds a NUL byte", raw)
	}
	for part := range strings.SplitSeq(raw, "/") {
		switch part {
		case "":
			return "", fmt.Errorf("path %q is absolute or has an empty component", raw)
		case ".", "..":
			return "", fmt.Errorf("path %q has a %q component", raw, part)
		}
	}
	return Path(raw), nil
}

// Dir returns the folder that holds p, or "" for a path at the root.
func (p Path) Dir() Path {
	if i := strings.LastIndexByte(string(p), '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// Base returns the last component of p.
func (p Path) Base() string {
	return string(p[strings.LastIndexByte(string(p), '/')+1:])
}

// Join returns the path of name inside p; p may be "" for the root. The name must be a single component.
func (p Path) Join(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "/" + Path(name)
}

// Under reports whether p is dir or lies below it. Every path is under "".
func (p Path) Under(dir Path) bool {
	return dir == "" || p == dir || (len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir)
}

// Ancestors returns the folders above p, outermost first: "a" and "a/b" for "a/b/c".
func (p Path) Ancestors() []Path {
	var up []Path
	for i := 0; i < len(p); i++ {
		if p[i] == '/' {
			up = append(up, p[:i])
		}
	}
	return up
}

type encodedPath struct {
	B64 []byte `json:"b64"`
}

// MarshalJSON writes the two forms described at Path.
func (p Path) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(p)) {
		return json.Marshal(string(p))
	}
	return json.Marshal(encodedPath{B64: []byte(p)})
}

// UnmarshalJSON reads the two forms described at Path. An empty string is the empty path; anything else must satisfy
// ParsePath.
func (p *Path) UnmarshalJSON(data []byte) error {
	var raw string
	if len(data) > 0 && data[0] == '{' {
		var enc encodedPath
		if err := json.Unmarshal(data, &enc); err != nil {
			return err
		}
		raw = string(enc.B64)
	} else if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if raw == "" {
		*p = ""
		return nil
	}
	parsed, err := ParsePath(raw)
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}
