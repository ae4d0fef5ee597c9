//go:build (amd64 || arm64) && cgo

package sandbox_test

const bigStacks = true
