package config

import (
	"fmt"
	"strings"

	"github.com/correx/correx/internal/change"
)

// Table is a grant as it is to be written.
type Table struct {
	Ops     []change.Op
	Paths   []string
	Exact   string
	Expires string
}

// lines returns the lines of the table.
func (t Table) lines() []string {
	ops := make([]string, len(t.Ops))
	for i, op := range t.Ops {
		ops[i] = string(op)
	}
	list := []string{"[[grant]]", "ops = " + quoteAll(ops), "paths = " + quoteAll(t.Paths)}
	if t.Exact != "" {
		list = append(list, "exact = "+quoteText(t.Exact))
	}
	if t.Expires != "" {
		list = append(list, "expires = "+quoteText(t.Expires))
	}
	return list
}

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quoteText(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quoteText writes a text as a basic string. What the dialect of patterns lets in holds no control character.
func quoteText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// AppendGrant returns the content of a repository's file with a grant behind all that is there, and the grant as it reads. One
// that is there already is not written twice: then the content is nil. Every byte that was there stays; the lines end as the file's last one does, and a file without an end to its last line
// has none afterwards. What is no good file, or would be none, is an *Error.
func AppendGrant(s Source, t Table) ([]byte, Grant, error) {
	before, err := parse(s)
	if err != nil {
		return nil, Grant{}, err
	}
	text, end := string(s.Data), "\n"
	if i := strings.LastIndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		end = "\r\n"
	}
	table := strings.Join(t.lines(), end)
	if text == "" || strings.HasSuffix(text, "\n") {
		text += table + end
	} else {
		text += end + table
	}
	after, err := parse(Source{Name: s.Name, Data: []byte(text)})
	if err != nil {
		return nil, Grant{}, err
	}
	if len(after.grants) != len(before.grants)+1 || len(after.rules) != len(before.rules) || len(after.entries) != len(before.entries) {
		return nil, Grant{}, &Error{File: s.Name, Problem: "cannot take a grant at its end; write it there by hand"}
	}
	made := after.grants[len(before.grants)].grant
	for _, e := range before.grants {
		if e.grant.ID == made.ID {
			return nil, e.grant, nil
		}
	}
	return []byte(text), made, nil
}

// RemoveGrants returns the content of a repository's file without the tables of the grant with an id, and how many there
// were. A table goes from its header to the end of its last setting; every other byte stays, comments behind it too.
func RemoveGrants(s Source, id string) ([]byte, int, error) {
	l, err := parse(s)
	if err != nil {
		return nil, 0, err
	}
	text := string(s.Data)
	n := 0
	for i := len(l.grants) - 1; i >= 0; i-- {
		if l.grants[i].grant.ID == id {
			start, end := l.extent(l.grants[i].at)
			text, n = cut(text, start, end), n+1
		}
	}
	if n == 0 {
		return s.Data, 0, nil
	}
	after, err := parse(Source{Name: s.Name, Data: []byte(text)})
	if err != nil {
		return nil, 0, err
	}
	if len(after.grants) != len(l.grants)-n || len(after.rules) != len(l.rules) || len(after.entries) != len(l.entries) {
		return nil, 0, &Error{File: s.Name, Problem: fmt.Sprintf("cannot do without grant %s; take it out by hand", id)}
	}
	return []byte(text), n, nil
}

// extent returns where the table whose header is given begins and ends in its file.
func (l layer) extent(header located) (start, end int) {
	inside := false
	for _, f := range l.found {
		switch {
		case f.header && f.start == header.start:
			inside, start, end = true, f.start, f.end
		case f.header:
			inside = false
		case inside:
			end = f.end
		}
	}
	return start, end
}

// cut takes whole lines out of text. A last line without an end takes that of the line before it along.
func cut(text string, start, end int) string {
	start = strings.LastIndexByte(text[:start], '\n') + 1
	if end == len(text) && !strings.HasSuffix(text, "\n") {
		rest := strings.TrimSuffix(text[:start], "\n")
		return strings.TrimSuffix(rest, "\r")
	}
	return text[:start] + text[end:]
}
