package durable

import "os"

// CheckPrivate checks that dir is a folder and not a link to one. Who may write to it is a matter of access lists that it
// inherits from the user's profile or the repository, and is not judged.
func CheckPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &PrivateError{Path: dir, Problem: "expected a folder, found " + typeWord(info.Mode())}
	}
	return nil
}
