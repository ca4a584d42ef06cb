// Package command grades shell commands, T1 to T4, by what their text says and never by what a disk holds.
//
// Grade finds every part that may run: in lists, pipelines, substitutions, functions, traps, here-documents fed to shells,
// text handed to sh -c or eval, the command behind env, xargs, find -exec or ssh. Each part is graded by the tables in
// programs.txt and by the few programs whose arguments are a language (git, sed, awk, find, tar, SQL). The highest tier
// counts; a finding never takes another one back. The context, where the repository, the working directory and the home
// folder are, only raises.
//
// What is unknown, computed, disguised, not parsable or too large is never safe: a program that no table knows is T3, one
// that only run time knows is T4, and both are unclassified, so no mode passes them.
package command
