// Package textdiff turns two contents into lines, hunks and git patches. It is pure: bytes in, bytes out, no clock, no
// files, no process, so the same bytes give the same answer under any load.
//
// A line ends with LF and with nothing else; the last line of a content may lack it, and "a" and "a\n" are different
// lines. Lines are compared as bytes, never decoded. A change is a run of old lines replaced by a run of new lines; a
// hunk is one or more changes with the lines around them, as git groups them. What a person calls a hunk, and chooses by
// its number, is a change: it is the same whatever is shown around it.
//
// Invariants:
//   - making all changes of a Diff in the old content gives exactly the new content;
//   - making any of them gives the old content with just those lines replaced (Partly);
//   - the counts are those of the changes shown, however coarse the comparison had to become;
//   - a patch holds every byte needed to get from one side to the other, and git apply takes it in a repository that
//     holds only the old side.
//
// How lines are matched: lines that occur on one side only are set apart first (which loses nothing); what is left is
// compared exactly where that is cheap, cut at lines that occur once on each side where it is not, and cut at the
// furthest point reached where there are none. The work is bounded by a constant times the number of lines. Last, each
// change is slid to the place where git would show it.
package textdiff
