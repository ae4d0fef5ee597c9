//go:build race

package sandboxtest_test

// raced says that the race detector is on, which makes processes slow to start.
const raced = true
