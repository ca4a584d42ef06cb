//go:build unix && !linux && !darwin

package durable

// renameNew renames from to to, or fails with fs.ErrExist when anything stands there.
func renameNew(from, to string) error { return linkNew(from, to) }
