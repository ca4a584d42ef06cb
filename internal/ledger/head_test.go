package ledger

import "testing"

// FuzzSlot: a slot of the head is believed only if it is one that would have been written.
func FuzzSlot(f *testing.F) {
	f.Add([]byte(emptyHead().String()))
	f.Add([]byte(head{seq: 12, length: 3456, hash: digest(nil)}.String()))
	f.Add(newHeadFile())
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, ok := parseSlot(b); ok && (h.String() != string(b) || h.length < 0) {
			t.Errorf("%q gives %+v", b, h)
		}
	})
}
