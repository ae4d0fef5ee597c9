//go:build !race

package sandboxtest_test

const raced = false
