package textdiff

import "errors"

// ErrNoChange is returned by Patch for a file whose two sides are the same in path, mode and content, or are both
// absent: a patch cannot say that.
var ErrNoChange = errors.New("both sides are the same")

// ErrMode is returned by Patch for a mode that git does not record for what stands in a folder.
var ErrMode = errors.New("not the mode of a file, symlink or submodule")

// ErrChange is returned by Partly for a change that does not fit the contents or the changes before it.
var ErrChange = errors.New("change does not fit")
