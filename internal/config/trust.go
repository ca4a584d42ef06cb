package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/correx/correx/tiers"
)

// Trusted is the bytes of a repository's file that a person trusts.
type Trusted struct {
	// File is RepositoryFile or LocalFile.
	File string
	Data []byte
}

// Digest returns the SHA-256 of the bytes of a file.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// asTrusted stands behind a file's name where its last trusted bytes are meant.
const asTrusted = " as it was trusted"

// file is a layer with its place among the others.
type file struct {
	layer
	number  int
	trusted bool
}

// read reads every layer there is: the user's file, the repository's two, and what was trusted of these where they hold
// something else now, or are not there.
func (in Sources) read() ([]file, error) {
	var files []file
	for number, source := range []Source{in.User, in.Repository, in.Local} {
		if source.Data == nil {
			continue
		}
		l, err := parse(source)
		if err != nil {
			return nil, err
		}
		files = append(files, file{layer: l, number: number, trusted: number != layerUser && in.trusts(fileOf(number), source.Data)})
	}
	for number, source := range []Source{layerRepository: in.Repository, layerLocal: in.Local} {
		for _, t := range in.Trusted {
			if number == layerUser || t.File != fileOf(number) || in.trusts(t.File, source.Data) {
				continue
			}
			l, err := parse(Source{Name: t.File + asTrusted, Data: t.Data})
			if err != nil {
				return nil, err
			}
			files = append(files, file{layer: l, number: layerFloors + number})
		}
	}
	return files, nil
}

// trusts reports whether data, nil for no file, is what a person trusts of a file.
func (in Sources) trusts(file string, data []byte) bool {
	return data != nil && slices.ContainsFunc(in.Trusted, func(t Trusted) bool { return t.File == file && Digest(t.Data) == Digest(data) })
}

func fileOf(number int) string {
	if number == layerLocal {
		return LocalFile
	}
	return RepositoryFile
}

// Stamp returns a digest of all that was read and of what is trusted, which tells these settings from others.
func (in Sources) Stamp() string {
	h := sha256.New()
	for _, data := range [][]byte{in.User.Data, in.Repository.Data, in.Local.Data} {
		fmt.Fprintf(h, "%t %s\n", data != nil, Digest(data))
	}
	for _, t := range in.Trusted {
		fmt.Fprintf(h, "%s %s\n", t.File, Digest(t.Data))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Loosening is one thing by which a repository's file would let pass more.
type Loosening struct {
	// Line and Last are the first and the last line of it.
	Line, Last int
	// Key is the setting, or "rule" or "grant".
	Key string
	// Text says what it would do.
	Text string
}

// loosening makes a Loosening of the setting, or the table, that stands at a place.
func (l layer) loosening(at point, key, text string) Loosening {
	out := Loosening{Line: at.line, Last: at.line, Key: key, Text: text}
	inside := false
	for _, f := range l.found {
		switch {
		case f.at == at:
			inside = true
			out.Last = f.at.line
		case inside && (f.header || (key != tableRule && key != tableGrant)):
			return out
		case inside:
			out.Last = f.at.line
		}
		for _, item := range f.items {
			if inside {
				out.Last = max(out.Last, item.line)
			}
		}
	}
	return out
}

// Loosens says what a file would loosen if a person trusted it, measured by what the user's
// own file and the built-in settings say.
func Loosens(user, of Source) ([]Loosening, error) {
	c := Default()
	for number, source := range []Source{user, of} {
		if source.Data == nil {
			continue
		}
		l, err := parse(source)
		if err != nil {
			return nil, err
		}
		if number == layerUser {
			l.replace(&c, layerUser)
			continue
		}
		return l.tighten(&c, layerRepository), nil
	}
	return nil, nil
}

// Drops says what the bytes that are trusted of a file make stricter, and would not any more if a person trusted those in of
// instead. Lines are those of the trusted bytes.
func Drops(user, of Source, trusted []byte) ([]Loosening, error) {
	c := Default()
	for number, source := range []Source{user, of} {
		if source.Data == nil {
			continue
		}
		l, err := parse(source)
		if err != nil {
			return nil, err
		}
		l.replace(&c, number)
	}
	l, err := parse(Source{Name: of.Name + asTrusted, Data: trusted})
	if err != nil {
		return nil, err
	}
	var list []Loosening
	for _, k := range keys() {
		e, ok := l.entries[k.name]
		if ok && !k.own && k.compare(&c, e.value) < 0 && (k.name != "protect.paths" || !c.protects(texts(e.value))) {
			list = append(list, l.loosening(e.at, k.name, show(e.value)+" holds no more"))
		}
	}
	for _, e := range l.rules {
		known := slices.ContainsFunc(c.Policy.Rules, func(r tiers.Rule) bool { return r.String() == e.rule.String() })
		if e.rule.Action != tiers.ActionAllow && !known {
			list = append(list, l.loosening(e.at.at, tableRule, e.rule.String()+" holds no more"))
		}
	}
	slices.SortStableFunc(list, func(a, b Loosening) int { return cmp.Compare(a.Line, b.Line) })
	return list, nil
}

// leftOut tells of what an untrusted file would loosen, and of what it cannot say at all.
func (l layer) leftOut(rest []Loosening) []Notice {
	notices := l.inVain()
	for _, x := range rest {
		notices = append(notices, Notice{File: l.file, Line: x.Line, Key: x.Key, Text: x.Text + ", so it is left out"})
	}
	slices.SortStableFunc(notices, func(a, b Notice) int { return cmp.Compare(a.Line, b.Line) })
	if len(rest) > 0 {
		notices = append(notices, Notice{
			File: l.file, Line: rest[0].Line, Key: rest[0].Key, Text: "this file is not trusted as it is; a person can look at what it loosens: correx trust",
		})
	}
	return notices
}

// hold puts into c what makes it stricter still, of a file as it was trusted, and reports whether anything did.
func (l layer) hold(c *Config, number int) bool {
	without := len(c.Policy.Rules)
	floor := c.Floor
	l.lowerFloor(c)
	held := c.Floor != floor
	for _, k := range keys() {
		e, ok := l.entries[k.name]
		if !ok || k.own || k.compare(c, e.value) >= 0 || (k.name == "protect.paths" && c.protects(texts(e.value))) {
			continue
		}
		k.set(c, e)
		c.Policy.Source[k.name] = place(l.file, e.at.line)
		held = true
	}
	known := slices.Clone(c.Policy.Rules)
	l.addRules(c, false, number)
	c.Policy.Rules = slices.DeleteFunc(c.Policy.Rules, func(r tiers.Rule) bool {
		return r.Layer == number && slices.ContainsFunc(known, func(k tiers.Rule) bool { return k.String() == r.String() })
	})
	return held || len(c.Policy.Rules) > without
}

// protects reports whether c protects all of these patterns.
func (c *Config) protects(patterns []string) bool {
	return !slices.ContainsFunc(patterns, func(text string) bool {
		return !slices.ContainsFunc(c.Policy.Protect, func(p tiers.Protect) bool { return p.Pattern.String() == text })
	})
}

// gone tells that the last trusted bytes of a file still tighten.
func (l layer) gone() Notice {
	return Notice{File: strings.TrimSuffix(l.file, asTrusted), Line: 1, Key: "trust", Text: "is not what a person trusted; what that made stricter still holds: correx trust"}
}
