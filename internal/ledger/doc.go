// Package ledger keeps the append-only log of everything that was asked, decided and done.
//
// It knows envelopes, not meanings: an Event has a sequence number, a time, a type, an id, the id of the event that caused
// it, an actor, and data that belongs to whoever owns the type. State is what the events say when they are read from the
// first one; everything else is a cache. A later event supersedes an earlier one, nothing is ever edited.
//
// On disk, in one folder (0700, files 0600):
//
//   - events.jsonl: an event a line, members in the order seq, at, type, id, cause, actor, data, prev, hash, without spaces
//     between them. prev is the hash of the line before (64 zeros in the first), hash the SHA-256, in lower-case
//     hexadecimal, of the line's bytes up to and not including `,"hash":`.
//   - head: two slots, at bytes 0 and 4096, that are written in turn; each holds the sequence number of an event, the length
//     of the log up to and including it, its hash, and a checksum of those three. The valid slot with the higher number is
//     the head. It is written after the log's flush and before anybody is told, and is not flushed itself: after a power cut
//     it may lag behind the log, never lead. It is made, flushed, before the log is.
//   - ledger.lock: held by whoever appends. Order of locks: landing, then ledger.
//   - torn-…: what was cut off the end of the log, kept for a person to look at.
//
// What holds: up to the length in the head everything verifies, or reading ends with a *CorruptError. Beyond it, whole
// chained events count (they were written, and their writer was stopped before the head was); they are flushed before
// anybody acts on them. From the first byte there that does not verify to the end is the torn tail, which was never
// acknowledged: the next writer copies it aside, cuts it off and appends a LedgerRepaired event.
//
// Readers take no lock and never write. They read the head before the log: in the other order a log that grows in between
// looks cut. When they find bytes beyond the head they look whether a writer is at work, since a writer whose disk is full
// takes back what it wrote.
package ledger
