package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/correx/correx/internal/durable"
)

// TrustStore keeps what a person trusts, outside the repository: a file for each of the two that a repository can have.
type TrustStore struct {
	// Dir is the folder it keeps them in; it is private to the user.
	Dir string
	// Repository is the path of the common git directory, which all worktrees share.
	Repository string
}

// trustRecord is one file of the store.
type trustRecord struct {
	Version    int    `json:"version"`
	Repository string `json:"repository"`
	File       string `json:"file"`
	SHA256     string `json:"sha256"`
	// Content is the bytes that are trusted, which are UTF-8.
	Content string `json:"content"`
}

// path returns where the trust in a file is kept.
func (s TrustStore) path(file string) string {
	return filepath.Join(s.Dir, Digest([]byte(s.Repository + "\x00" + file))[:32]+".json")
}

// Read returns what is trusted of the repository's files. A folder that others can write to, and a record that is not what
// it was, are an *Error: to go on without them could be to go on with less.
func (s TrustStore) Read() ([]Trusted, error) {
	if err := durable.CheckPrivate(s.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, &Error{File: s.Dir, Problem: "cannot be used", Err: err}
	}
	var list []Trusted
	for _, file := range []string{RepositoryFile, LocalFile} {
		at := s.path(file)
		found, err := read(at, at, os.Lstat, noFollow)
		if err != nil {
			return nil, err
		}
		if found.Data == nil {
			continue
		}
		var r trustRecord
		err = json.Unmarshal(found.Data, &r)
		if err == nil && (r.Version != 1 || r.File != file || r.Repository != s.Repository || r.SHA256 != Digest([]byte(r.Content))) {
			err = fmt.Errorf("it does not fit its digest, or this repository")
		}
		if err != nil {
			return nil, &Error{File: at, Problem: "is not what correx trust wrote; remove it to trust nothing", Err: err}
		}
		list = append(list, Trusted{File: file, Data: []byte(r.Content)})
	}
	return list, nil
}

// Keeps reports whether what a person's command makes of a file is trusted if data, nil for no file, was there: that was
// trusted, or nothing was, so that all of it is that person's.
func (s TrustStore) Keeps(file string, data []byte) (bool, error) {
	list, err := s.Read()
	if err != nil {
		return false, err
	}
	for _, t := range list {
		if t.File == file {
			return data != nil && Digest(t.Data) == Digest(data), nil
		}
	}
	return data == nil, nil
}

// Trust keeps that the given bytes of a file are trusted, in place of what was. After success that is on the disk; after a
// failure the old or the new holds.
func (s TrustStore) Trust(file string, data []byte) error {
	if err := durable.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	if err := durable.CheckPrivate(s.Dir); err != nil {
		return err
	}
	text, err := json.Marshal(trustRecord{Version: 1, Repository: s.Repository, File: file, SHA256: Digest(data), Content: string(data)})
	if err != nil {
		return err
	}
	if len(text) >= maxBytes {
		return &Error{File: file, Problem: "is too large to be trusted"}
	}
	return durable.WriteFile(s.path(file), append(text, '\n'), 0o600)
}

// Forget trusts nothing of a file any more. Nothing to forget is no error.
func (s TrustStore) Forget(file string) error { return durable.Remove(s.path(file)) }
