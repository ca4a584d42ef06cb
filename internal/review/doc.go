// Package review renders what a person sees: the approval card, a diff that is safe to look at, the message of a commit
// hook that stops, and one line about a change set. It takes values and writes text; it has no clock, no environment, no
// files, and it decides nothing.
//
// Vocabulary: untrusted text is whatever comes from an agent or from the repository: paths, contents, purposes, names. An
// escape is the visible form of a character that would not be seen as what it is, <U+202E>, or of a byte that is not
// UTF-8, <0xE9>.
//
// Invariants:
//   - untrusted text reaches the output only through the escapes, which drop nothing and are counted;
//   - every line of an agent's own words begins with a label that says so;
//   - nothing is left out without its number: a card that does not show everything says so in its result;
//   - colour is only ever added to signs and words that say the same;
//   - the same input gives the same bytes.
package review
