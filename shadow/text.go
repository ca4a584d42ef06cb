package shadow

import (
	"encoding/json"
	"unicode/utf8"
)

// rawText is text from outside, such as a path of the operating system, that need not be UTF-8. In JSON it is a string,
// or {"b64": "…"} where a string would change it.
type rawText string

type encodedText struct {
	B64 []byte `json:"b64"`
}

// MarshalJSON writes the two forms described at rawText.
func (t rawText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(encodedText{B64: []byte(t)})
}

// UnmarshalJSON reads the two forms described at rawText.
func (t *rawText) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var enc encodedText
		if err := json.Unmarshal(data, &enc); err != nil {
			return err
		}
		*t = rawText(enc.B64)
		return nil
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*t = rawText(s)
	return nil
}
