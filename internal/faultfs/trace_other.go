//go:build !linux || !amd64

package faultfs

// Do reports ErrNoTrace.
func (r Run) Do() (Outcome, error) { return Outcome{}, ErrNoTrace }
