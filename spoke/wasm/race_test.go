//go:build race

package wasm_test

// underRace says that the compiler, which is code like any other, is ten times
// slower than it is.
const underRace = true
