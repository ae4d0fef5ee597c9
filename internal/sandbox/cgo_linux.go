//go:build linux && (amd64 || arm64) && cgo

package sandbox

// threadsFromC: a C library makes the threads. Calls on all of them find them in
// /proc, and their stacks are large.
const threadsFromC = true
