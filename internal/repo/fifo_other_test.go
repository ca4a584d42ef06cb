//go:build !unix

package repo

import "testing"

func makeFIFO(t *testing.T, _ string) {
	t.Helper()
	t.Skip("the platform has no FIFOs in folders")
}
