package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReadMissing(t *testing.T) {
	dir := t.TempDir()
	repository, local, err := ReadRepository(dir)
	if err != nil || repository.Data != nil || local.Data != nil || repository.Name != RepositoryFile || local.Name != LocalFile {
		t.Errorf("%+v, %+v, %v", repository, local, err)
	}
	for _, path := range []string{"", filepath.Join(dir, "config.toml"), filepath.Join(dir, "correx", "config.toml")} {
		if s, err := ReadUser(path); err != nil || s.Data != nil {
			t.Errorf("ReadUser(%q) = %+v, %v", path, s, err)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, RepositoryFile), "mode = 'deny'")
	write(t, filepath.Join(dir, LocalFile), "")
	repository, local, err := ReadRepository(dir)
	if err != nil || string(repository.Data) != "mode = 'deny'" || local.Data == nil || len(local.Data) != 0 {
		t.Errorf("%+v, %+v, %v", repository, local, err)
	}
	// The user's own file may be a symlink; a repository's may not, wherever it leads.
	link := filepath.Join(dir, "link.toml")
	if err := os.Symlink(RepositoryFile, link); err != nil {
		t.Skip(err)
	}
	if s, err := ReadUser(link); err != nil || string(s.Data) != "mode = 'deny'" || s.Name != link {
		t.Errorf("ReadUser of a symlink = %+v, %v", s, err)
	}
}

func TestReadRepositoryRefuses(t *testing.T) {
	for name, put := range map[string]func(t *testing.T, path string){
		"symbolic link": func(t *testing.T, path string) {
			write(t, path+".real", "")
			if err := os.Symlink(filepath.Base(path)+".real", path); err != nil {
				t.Skip(err)
			}
		},
		"symbolic link ": func(t *testing.T, path string) { // dangling
			if err := os.Symlink("nowhere", path); err != nil {
				t.Skip(err)
			}
		},
		"not a regular file": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"not a regular file ": fifo,
		"cannot be read": func(t *testing.T, path string) {
			write(t, path, "")
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
			if f, err := os.Open(path); err == nil {
				f.Close()
				t.Skip("modes do not bind this user")
			}
		},
		"more than 262144 bytes": func(t *testing.T, path string) { write(t, path, strings.Repeat("#", maxBytes+1)) },
	} {
		for _, file := range []string{RepositoryFile, LocalFile} {
			t.Run(name+" "+file, func(t *testing.T) {
				dir := t.TempDir()
				put(t, filepath.Join(dir, file))
				repository, local, err := ReadRepository(dir)
				if err == nil {
					_, _, err = Load(Sources{Repository: repository, Local: local})
				}
				var bad *Error
				if !errors.As(err, &bad) || bad.File != file || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
					t.Errorf("got %v", err)
				}
				if name == "cannot be read" && !errors.Is(err, fs.ErrPermission) {
					t.Errorf("the cause is lost: %v", err)
				}
			})
		}
	}
}
