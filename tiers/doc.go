// Package tiers grades proposed file changes and says which of them may land without a person.
//
// Words: a tier (T0 to T4) says what a change reaches, a reason code why it does not simply pass, a verdict what becomes
// of it: auto, ask or deny. The envelope is the set of limits inside which a T2 change lands by itself in mode auto. A
// protection is a name that is never small: protected names ask, correx's own names ask in every mode, and names of git's
// own folder are refused to everybody.
//
// Judge is the whole policy: a pure function from facts and a Policy to a Result. What is needed to know about a path
// (does git ignore it, is its parent a symlink) is handed in as facts; nothing here looks at a disk, a clock or the
// environment, and nothing is written. These hold for every input:
//
//   - there is always a verdict, and it names what settled it;
//   - the same facts and policy give the same verdict, in whatever order the files come;
//   - the stricter word wins: a refusal over what always asks, that over a rule that allows, that over mode and envelope;
//   - what is not classified asks, in every mode that passes anything;
//   - adding a protected pattern, or a rule that asks or denies, never loosens a verdict;
//   - a rule that allows covers the paths and ops that it names and nothing else, and is no way past what always asks.
//
// Patterns are a dialect of their own, described at ParsePattern. A protected name is matched in every spelling that some
// file system takes for the same name: letter case, Unicode normal forms, ignorable code points, trailing dots and spaces,
// alternate data streams, 8.3 short names.
package tiers
