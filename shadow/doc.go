// Package shadow makes and keeps staging areas: a copy of what a developer's working tree shows, which an agent may do
// anything to, and the record of what that copy last saw of the real tree.
//
// Vocabulary. The real tree is the developer's; the tree is the shadow's copy of it. The manifest lists every path that
// the shadow shows with its base, the pin of the real file when the shadow last saw it, and the stat of the shadow's own
// file while that still held the base. A scan finds the candidates: paths that are no longer what the manifest says. It
// decides nothing and reads no policy; what a candidate is worth is judged elsewhere, from bytes that are pinned there.
//
// On disk, under the folder that holds all shadows:
//
//	SESSION/                0700
//	SESSION/session.json    0600, the marker: which session, repository and worktree this is
//	SESSION/NAME/           the tree, named after the repository's folder
//	SESSION/NAME/.git/      a git directory of its own, which borrows the repository's objects
//
// and the manifest, in a folder of the session's own inside correx's state in the repository. The manifest is state, not a
// cache: without it nobody can say what changed, so a missing or damaged one is an error and never "no changes".
//
// Invariants. Nothing here writes to the real tree or to the repository's git directory; the tree shares no inode with
// the real one; FIFOs, sockets and devices are never opened and symlinks never followed, on either side. The git directory
// of a shadow holds no remote, no hook and no link by which a git command run there could write outside; correx itself
// never runs git over it and never reads it. A scan skips SESSION/NAME/.git and names every other spelling of ".git" it
// finds. Shadows are not flushed: after a power cut a tree may have lost writes, its manifest has not.
//
// The objects of a shadow's branches and index are the repository's, so they stay only as long as it keeps them: after a
// history rewrite and "git gc --prune=now" in the repository, git commands in an open shadow may miss objects. Scans and
// landings need none of them.
package shadow
