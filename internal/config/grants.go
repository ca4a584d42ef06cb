package config

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// tableGrant is the name of the array of tables that grants stand in.
const tableGrant = "grant"

// momentFormat is how moments are kept, in UTC.
const momentFormat = "2006-01-02T15:04:05Z"

// Grant is a [[grant]] table of a repository's file.
type Grant struct {
	// Grant is what it covers. Its Void is "not trusted" in a file that a person does not trust; whether it has expired is
	// for a clock to say.
	tiers.Grant
	// Texts are its patterns as they are written.
	Texts []string
	// Expires is when it stops to count, in UTC as 2006-01-02T15:04:05Z; empty for never.
	Expires string
	// File is the file that it stands in.
	File string
}

// grantEntry is one [[grant]] table of a file.
type grantEntry struct {
	at     located
	fields map[string]entry
	grant  Grant
}

// grantKeys returns the settings of a grant.
func grantKeys() []key {
	return []key{
		{name: "grant.ops", kind: kindStrings, check: func(v any) error { return some(v, checkOps(v)) }},
		{name: "grant.paths", kind: kindStrings, check: func(v any) error { return some(v, checkPatterns(v)) }},
		{name: "grant.exact", kind: kindString, check: checkDigest},
		{name: "grant.expires", kind: kindString, check: func(v any) error { _, err := parseMoment(v.(string)); return err }},
	}
}

func checkDigest(v any) error {
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(v.(string)) {
		return fmt.Errorf("expected the 64 digits of a change's digest, found %q", v)
	}
	return nil
}

// parseMoment reads a date, which stands for its first second in UTC, or a date and a time.
func parseMoment(s string) (string, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = time.Parse(time.DateOnly, s)
	}
	if err != nil || t.UTC().Year() < 0 || t.UTC().Year() > 9999 {
		return "", fmt.Errorf(`expected a moment such as "2030-01-31T18:00:00Z" or "2030-01-31", found %q`, s)
	}
	return t.UTC().Format(momentFormat), nil
}

// beginGrant starts the grant whose header stands at f.
func (l *layer) beginGrant(f located, value any) error {
	if !f.array {
		is := kindOf(value)
		return f.wrong(l.file, fmt.Sprintf("expected [[grant]] with a grant's settings below it, found %s", article(is)))
	}
	if len(l.grants) == maxPatterns {
		return f.wrong(l.file, fmt.Sprintf("stands here more than %d times", maxPatterns))
	}
	l.grants = append(l.grants, grantEntry{at: f, fields: map[string]entry{}})
	return nil
}

// finishGrants makes grants of the tables that were read.
func (l *layer) finishGrants() error {
	patterns := 0
	for i := range l.grants {
		e := &l.grants[i]
		for _, name := range []string{"grant.ops", "grant.paths"} {
			if _, ok := e.fields[name]; !ok {
				return e.at.wrong(l.file, fmt.Sprintf("has no %q", strings.TrimPrefix(name, "grant.")))
			}
		}
		g := Grant{File: l.file, Texts: texts(e.fields["grant.paths"].value)}
		if patterns += len(g.Texts); patterns > maxPatterns {
			return e.at.wrong(l.file, fmt.Sprintf("brings the patterns of all grants to %d, at most %d are allowed", patterns, maxPatterns))
		}
		for _, text := range g.Texts {
			p, err := tiers.ParsePattern(text)
			if err != nil {
				return e.at.wrong(l.file, err.Error())
			}
			g.Paths = append(g.Paths, p)
		}
		for _, op := range texts(e.fields["grant.ops"].value) {
			g.Ops = append(g.Ops, change.Op(op))
		}
		if exact, ok := e.fields["grant.exact"]; ok {
			g.Exact = exact.value.(string)
		}
		if expires, ok := e.fields["grant.expires"]; ok {
			var err error
			if g.Expires, err = parseMoment(expires.value.(string)); err != nil {
				return e.at.wrong(l.file, err.Error())
			}
		}
		g.Scope, g.Source, g.ID = "project", place(l.file, e.at.at.line), g.id()
		e.grant = g
	}
	return nil
}

// id names a grant by what it says, so that it keeps its name wherever it stands in a file.
func (g Grant) id() string {
	h := sha256.New()
	for _, op := range g.Ops {
		fmt.Fprintf(h, "%s\x00", op)
	}
	fmt.Fprintf(h, "\x00%s\x00\x00%s\x00%s", strings.Join(g.Texts, "\x00"), g.Exact, g.Expires)
	const letters, digits = "0123456789abcdefghjkmnpqrstvwxyz", 10
	return "g-" + base32.NewEncoding(letters).EncodeToString(h.Sum(nil))[:digits]
}

// grantsOf returns the grants of a file, and that they count if it is trusted.
func (l layer) grantsOf(trusted bool) []Grant {
	var list []Grant
	for _, e := range l.grants {
		g := e.grant
		if !trusted {
			g.Void = "not trusted"
		}
		list = append(list, g)
	}
	return list
}

// misplaced tells of grants in the user's own file.
func (l layer) misplaced() []Notice {
	var notices []Notice
	for _, e := range l.grants {
		notices = append(notices, Notice{File: l.file, Line: e.at.at.line, Key: tableGrant, Text: `counts only in a repository's file; in your own a [[rule]] with action "allow" does it`})
	}
	return notices
}
