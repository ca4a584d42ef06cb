package textdiff

import (
	"fmt"
	"strings"
)

// Quote writes a name as git does in a patch: unchanged where it is plain, else in double quotes with C escapes, bytes
// outside ASCII as three octal digits. The result is printable ASCII.
func Quote(name string) string { return quotePrefixed("", name) }

// quotePrefixed quotes prefix and name as one.
func quotePrefixed(prefix, name string) string {
	if plain(name) {
		return prefix + name
	}
	var b strings.Builder
	b.WriteByte('"')
	b.WriteString(prefix)
	for i := 0; i < len(name); i++ {
		quoteByte(&b, name[i])
	}
	b.WriteByte('"')
	return b.String()
}

func plain(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < ' ' || c >= 0x7F || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func quoteByte(b *strings.Builder, c byte) {
	const letters = "abtnvfr" // BEL to CR
	switch {
	case c == '"' || c == '\\':
		b.WriteByte('\\')
		b.WriteByte(c)
	case c >= 7 && c <= 13:
		b.WriteByte('\\')
		b.WriteByte(letters[c-7])
	case c < ' ' || c >= 0x7F:
		fmt.Fprintf(b, "\\%03o", c)
	default:
		b.WriteByte(c)
	}
}
