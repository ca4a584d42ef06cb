// Package hooks puts correx into the git hooks of a repository and takes it out again.
//
// Vocabulary. The hooks folder is the one git uses, which the caller finds out. A hook of our own is a script made here
// and nothing else. An existing hook is joined when it is a shell script that git runs: a few lines go in after its first
// line, so that its name, its folder, its input and whatever it does to PATH stay the same. Any other existing hook is
// chained: it moves unchanged to the folder "correx-chained" in the hooks folder, and our own hook runs it, with the same
// arguments and standard input, once correx lets the commit through.
//
// Invariants:
//   - Our lines start no program but correx, by its absolute name, and so work with any PATH or none, and from any folder.
//   - A correx that is missing, cannot be executed or dies blocks, with words; so does whatever else stands at its name
//     and does not answer with the word of this run.
//   - A hook that git did not run before (not executable) is not run now.
//   - Nothing is written through a symlink: a hook that is one is chained.
//   - At no instant does a hook that stood there not stand there, and a kill at any instant leaves a state from which
//     Install and Uninstall go on.
//   - Install twice is Install once. Uninstall gives back every byte and the mode of a hook that is as it was left;
//     where it was edited since, only our lines are taken out, or nothing.
//
// It writes: hooks and the folder "correx-chained" in the hooks folder; one file per hook with what stood there before in
// the folder "hooks" of the state folder. It knows nothing of git's configuration and asks nobody anything.
package hooks
