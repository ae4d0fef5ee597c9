// Package foreign is the inside of a process that becomes a program that is not
// ours. The process begins as this program, hears on its one connection what it
// is to be confined to, confines itself, reports what its attempts to break out
// showed, makes one more attempt that only its parent can judge, and executes the program only when its parent, having read the report,
// says so. Nothing of the program runs before that.
//
// The exchange, each a frame (see [ReadFrame]) unless it is said otherwise:
//
//	down  the profile
//	up    with a proxy: one byte that carries the listener's descriptor
//	up    a Report with the isolation, or with an error
//	down  a Hold: an attempt at the memory's limit, which its parent must see
//	down  a Go, before which it lets go what it held
//	up    the end of the stream, when the program is executed; else a Report with an error
//
// The parent's side is package spoke/foreign.
//
// # Source
//
// The paper has no programs but its own. docs/adr/0010-guarantees.md (who
// confines and probes), docs/adr/0011-remote-hosts.md (the proxy).
package foreign
