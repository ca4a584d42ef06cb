package ledger

import "path/filepath"

// Report is what Verify found.
type Report struct {
	// Events is how many events the ledger holds.
	Events uint64
	// Head is the hash of the last of them, "" when there is none.
	Head string
	// TornTail is the number of bytes behind the last event that no event holds and no writer is just writing. The next
	// Update sets them aside.
	TornTail int64
}

// Verify reads the whole ledger in dir from the first event and checks every line, the chain and the head. It writes
// nothing. A *CorruptError names the first line that does not verify.
func Verify(dir string) (Report, error) {
	l := open(filepath.Clean(dir), Options{})
	torn, err := l.each(func(Event) error { return nil })
	if err != nil {
		return Report{}, err
	}
	return Report{Events: l.tip.Seq, Head: l.tip.Hash, TornTail: torn}, nil
}
