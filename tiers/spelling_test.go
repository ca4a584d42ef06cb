package tiers

import (
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
)

// FuzzSpelling: a name that is never let in, or is protected, is so in the other spellings that a file system may take for it.
func FuzzSpelling(f *testing.F) {
	for _, name := range []string{".git/config", "a/.GIT", "git~1", ".g\u200cit", ".correx-x", ".correx.toml", ".env", "a.pem", "\u0130.\u0131", "e\u0301", "\xff.git", "a:b", `x\..\.git`} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := change.ParsePath(raw)
		if err != nil {
			return
		}
		for _, name := range strings.Split(raw, "/") {
			if once := foldName(name); foldName(once) != once {
				t.Errorf("%q folds to %q, and that to %q", name, once, foldName(once))
			}
		}
		was, _ := Protects(p, nil)
		for _, other := range []string{raw + ".", raw + " ", raw + "::$DATA", strings.ToUpper(raw), strings.ToLower(raw), "sub/" + raw, raw[:1] + "\u200d" + raw[1:]} {
			if raw[0] >= 0x80 || strings.HasSuffix(raw, ":") {
				continue
			}
			now, _ := Protects(change.Path(other), nil)
			if was.Level == Never && now.Level != Never {
				t.Errorf("%q is never let in, %q is %v", raw, other, now.Level)
			}
		}
	})
}
