// Package faultfs makes routines that write meet a disk that fails, a process that is killed and a machine that loses its
// power, at any one step. Only tests import it.
//
// Vocabulary. A step is one change of a file, a name or a folder, or one flush. A fault strikes at one step, counted from
// 1. Each runs a routine with a fault at step 1, 2, 3, … until a run ends in which none struck, so that no step is
// forgotten and no list of steps has to be kept.
//
// There are two ways to strike. Fault is asked by a fake that stands between a package and its disk; it reaches what the
// fake covers, in the same process, anywhere. Run starts a real program and strikes at its system calls, with nothing in
// the program that knows of it; it needs Linux on amd64 and the right to trace a process of one's own.
//
// A power cut takes what was not flushed. Run hands out the steps that were carried out, and Disk says what the machine
// may find of them afterwards: all that was flushed, and of the rest nothing, all, or any part. Disk puts that into the
// place of what is there, each file under the inode that it had.
package faultfs
