// Package filter makes seccomp filters: a policy names calls and conditions on
// their arguments, and becomes a program in the kernel's instruction set (classic
// BPF) that answers exactly so.
//
// A filter cannot follow a pointer, so a policy speaks of numbers alone: calls,
// flags, descriptors. Calls in another convention than the processor's own (x32,
// 32 bits) end the process. Making one is for every system, installing one for
// Linux on amd64 and arm64.
//
// # Source
//
// Linux, Documentation/userspace-api/seccomp_filter.rst; call numbers by
// golang.org/x/sys/unix. The paper's artifact names its allowed calls through
// libseccomp.
package filter
