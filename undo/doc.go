// Package undo makes it possible to take a landed change back: it keeps the images of what was and what came, makes the
// credentials that allow an undo, and turns a landed set around.
//
// An image is the content of a regular file, or the target of a symlink, as bytes. The store keeps images under their
// SHA-256, each once and for all sets: <store>/ab/abcdef…, 64 hexadecimal characters, mode 0600, in folders of mode 0700.
// Nothing there is ever changed; an image is whole and flushed before it gets its name, and is hashed again whenever it is
// read. Being a folder of correx's own and no git objects, images leak through no push and are dropped by no git gc.
//
// Whoever stores images holds store.lock shared until the event that names them is flushed; whoever drops images holds it
// alone, so that none is dropped between being stored and being named.
//
// A credential is a secret that takes back exactly one landed change. It is shown once, by the process that landed the
// change. Only its digest is stored, in the closing event of the landing.
//
// Taking back is a change set like any other: Revert gives its file changes, and preflight, verdict, journal and ledger
// treat it as they treat all sets. Nothing here writes the working tree.
package undo
