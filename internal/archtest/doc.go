// Package archtest holds the house's rules as a test: which package may import which, who writes files, who may look at
// the clock and the environment, how long a function may get, what has to be documented. Each rule prints the place, what
// is wrong and why the rule is there. There is no code here but tests.
//
// A rule is a function from parsed files to problems, so the rules themselves are tested on small sources in memory.
// Files of all systems are read, whatever their build constraints. A folder that does not exist yet breaks no rule; one
// that is in no table does.
package archtest
