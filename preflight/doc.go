// Package preflight looks at what is proposed before anything is decided, and writes nothing in the tree. It pins both
// ends of a change, puts their bytes into the image store, and from those bytes alone says what the change is: its op,
// how many lines and bytes, what was renamed or copied, whether it is binary, whether it hides characters. The patch a
// person is shown comes from the same bytes.
//
// Vocabulary: an image is the content of a pin in the store, named by its SHA-256. The ends of a path are its pins before
// and after. Kept is the share of old content that is still there.
//
// Invariants:
//   - a pin returned by Take names bytes that are in the store, hashed as they were stored;
//   - the same ends and options give the same changes, in the same order;
//   - at most the two contents of one file are held at a time, besides small fingerprints while renames are looked for;
//   - what is too large to compare line by line says so and keeps its pins.
package preflight
