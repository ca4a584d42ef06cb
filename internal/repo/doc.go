// Package repo is git at the edge: it finds the repository of a working tree and reads what git knows about it, and
// it changes nothing in it.
//
// Vocabulary. The root is the top folder of the working tree; the git directory is that worktree's own one; the
// common directory holds what all worktrees of the repository share. "In the tree" means below the root and not
// below either of those two.
//
// Objects and HEAD are read in this process where the repository allows it. Where git's own semantics are the point
// (index, ignore rules, attributes, refs, configuration) a git process answers.
//
// Invariants:
//   - Every git process is started by one function (start). It gets an argument list, never a shell line; an
//     environment made anew, in which no GIT_* of the caller survives but the ones that say where the user's
//     configuration is; and a PATH without relative entries and without entries in the tree.
//   - On Linux with Landlock a git process can execute the git program and the ELF loader, and nothing else. So what
//     a configuration or attribute in reach of an agent names as a program does not run. (The loader itself stays
//     executable: it has to be. No command used here hands an argument of a configuration to a program.)
//   - Plumbing commands only, none of which looks for changed content in the working tree, because that runs filters.
//   - The exit status is looked at before the output. What git refuses is an error that carries git's own words; it is
//     never an empty answer.
//   - A missing object is an error, and bytes of a blob are hashed while they are read.
//
// The package writes nothing.
package repo
