// Package sandbox is what a process does to itself before it runs code that may
// be an attacker's: it gives up, for good, what that code must not have, and then
// tries from inside to get it back.
//
// [Confine] applies every layer that this system has (limits, not dumpable, no
// new privileges, an empty root, no capabilities, Landlock, a seccomp filter). No
// layer is trusted to work. What Confine reports is what its attempts showed:
// a guarantee is in the report only if each attempt to break it failed with the
// very error that a refusal gives. An attempt that worked, that failed in another
// way, or that could not be made, leaves the guarantee out.
//
// Confinement is of the whole process, all of its threads and all that it starts
// or becomes, and there is no way back. It is for Linux on amd64 and arm64;
// elsewhere every function gives [errors.ErrUnsupported].
//
// What is not kept apart: time, the kernel's name and version, the load of the
// processors; and a hole in the kernel is outside of what this can promise.
//
// # Source
//
// Paper §IV-B (each app in an isolated spoke). The paper's artifact isolates by
// processes with seccomp; layers and probes are ours: docs/adr/0010-guarantees.md.
package sandbox
