// Package apply holds the one engine that changes the real tree.
//
// # Words
//
// A landing takes a set of steps, each one path going from its base pin to its result pin, into the working tree: whole or
// not at all. A move is what the engine does at one name: put (nothing stood there), take (nothing will), or swap. Steps
// above and below each other are one move at the topmost path, a file becoming a folder or a folder becoming a file. A
// move's home is the folder that holds its working names: the staged name, where the new content waits, and the aside
// name, where something taken out waits. The journal is the short record of the landing in progress.
//
// # Steps of a landing
//
//  1. every path is compared with its base, every pre-image is read from the store; nothing is written;
//  2. the journal says intent: steps, homes, folders to make;
//  3. new contents are written under their staged names, given owner, permission bits, extended attributes and ACL of
//     what they replace, flushed and read back;
//  4. the journal says ready: inode and permission bits of everything staged;
//  5. missing folders are made;
//  6. each name is switched, and what came out is compared with its base: takes first, then swaps, then puts;
//  7. the folders are still where their paths lead, and are flushed;
//  8. the commit point: the caller's closing event is flushed;
//  9. what came out is removed, emptied folders go, the journal is cleared.
//
// Before the commit point every failure goes back, after it only step 9 is repeated. Nothing is rolled forward. Recover is
// the same going back, or the same step 9, after a crash; both judge by what the disk holds, and follow folders that were
// renamed since. RecoverUnrecorded goes back without a journal, by the working names.
//
// # Invariants
//
//   - What came out of a name is removed only if it is the base in full (kind, permission bits, size, digest or target)
//     and nobody has it open for writing; the store holds those bytes. Anything else is put back, and what comes out then
//     is judged the same way, until nothing foreign comes out. What cannot be put back because the name was taken again is
//     kept under a visible name beside it.
//   - What lands has the digest of its result pin, read back from the disk's own file after its flush.
//   - Paths are resolved beneath the root without following a symlink. A name that any system could take for .git, a name
//     beginning .correx-, and a path inside another repository are refused.
//   - A flush that fails stops the engine with the journal left. The exception is a full disk before anything was
//     switched: then only new files of the engine's own are in doubt, and they are removed.
//
// # On disk
//
// In the engine's folder: landing.lock, and journal (0600, JSON and its checksum) while a landing is in progress. In the
// tree, while a landing is in progress: names .correx-ID-N (staged), .correx-ID-Na (aside) and .correx-ID-Nb (a base
// brought from the store). For good, only where
// somebody saved into what was being replaced: NAME.correx-kept-ID.
//
// BUG: a program that looks a name up before an exchange, is held up, and opens what it found only after that was compared
// and removed writes into a removed file. What came out is asked about twice, when it is compared and when it is removed,
// so it must be held up between these very two instants of its own; nothing a program can do closes that gap.
//
// BUG: where two files of somebody else meet while going back, the one that was opened by its name stands in the tree and the
// other is kept beside it. Held up between two calls for as long as several saves take, the engine may take the earlier for
// the later: both are still there.
//
// Where the file system has no exchange, a swap moves the old content aside, looks at it, and moves the new one in; the
// name is then missing for an instant, and nothing is ever renamed over. Elsewhere than on Linux nobody can be asked
// whether a file is open for writing; what came out is then read once more before it is removed.
package apply
