package change

import (
	"encoding/json"
	"testing"
)

// FuzzPathJSON: a path that is read is one that ParsePath takes, and comes back as it was.
func FuzzPathJSON(f *testing.F) {
	for _, text := range []string{`"a/b"`, `{"b64":"/w=="}`, `""`, `"../x"`, `"a\u0000"`, `{"b64":"YS9iLw=="}`, `null`, `"\ud800"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p, back Path
		if json.Unmarshal(data, &p) != nil || p == "" {
			return
		}
		if _, err := ParsePath(string(p)); err != nil {
			t.Errorf("%q was read: %v", data, err)
		}
		text, err := json.Marshal(p)
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != p {
			t.Errorf("%q comes back as %q, %v", p, back, err)
		}
	})
}
