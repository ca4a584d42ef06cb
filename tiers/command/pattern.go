package command

import (
	"regexp"
	"sync"
)

// lazyPattern is a regular expression that is compiled when it is first asked: most commands of correx grade nothing, and
// the commit hook must not pay for it.
type lazyPattern func() *regexp.Regexp

func pattern(text string) lazyPattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

func (p lazyPattern) MatchString(s string) bool { return p().MatchString(s) }
