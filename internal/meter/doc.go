// Package meter looks from outside at what a process makes the system hold for
// it, and ends one that holds too much.
//
// Limits that a process sets itself forget memory that is made unwritable, count
// what its runtime has reserved as if it were free, do not count page tables, and
// do not bound the threads of a superuser. What the system says of a process in
// /proc/PID/status counts them all, at a price: a process is ended only after it
// was seen, so for a moment it may have more. How long a moment, see [Bound].
//
// A [Meter] reads one process. [Prove] shows that it sees what it must. A
// [Watcher] looks at any number of processes from one goroutine.
//
// Only Linux has such a file; elsewhere [Open] fails.
//
// # Source
//
// The paper has no such bound. docs/adr/0010-guarantees.md.
package meter
