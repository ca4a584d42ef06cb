// Package durable is the only package that writes files. Each primitive is named for its promise, and its comment lists the
// system calls of a good run and what a crash between any two of them leaves.
//
// Vocabulary. To flush is to make the system put bytes, or a folder's names, on the disk (fsync). An exchange swaps two
// names in one step; a move without replacing fails where the new name is taken. A Root is a folder opened once, beneath
// which every path is resolved without following a symlink; a Dir is one folder of it. A lock is an advisory lock of a
// file that is never removed; it is free when its holder dies.
//
// There are two halves. One is for correx's own state: locks, whole files replaced at once, files made once, files that
// are appended to, incoming images. The other is for trees, the real one and shadows: Root, Dir and what lands through
// them. State files are 0600 and their folders 0700.
//
// Invariants. A symlink at the end of a name is never written through. An error that is ErrFlush leaves open what is on the
// disk: whoever gets one stops and lets the next process judge by what it finds. A failed write leaves the old content, or
// nothing where there was nothing.
package durable
