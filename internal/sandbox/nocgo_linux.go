//go:build linux && (amd64 || arm64) && !cgo

package sandbox

// threadsFromC: Go's runtime makes the threads, and knows them all.
const threadsFromC = false
