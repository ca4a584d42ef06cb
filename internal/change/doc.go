// Package change holds the words that the rest of correx shares: paths inside a repository, pins, file changes, change
// sets and what is decided about them. It is plain data with small pure methods, imports only the standard library and
// writes nothing.
package change
