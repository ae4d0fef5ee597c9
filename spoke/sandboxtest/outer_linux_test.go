package sandboxtest_test

import (
	"errors"
	"os"
	"strings"

	"github.com/isolategpt/isolategpt/internal/sandbox/outer"
)

// variableLost says that this process lacks the layer already.
const variableLost = "SANDBOXTEST_LOST"

// lose makes this process one of a machine that lacks a layer, if it is told to.
// It executes the program again for that.
func lose() error {
	layer := os.Getenv(variableWithout)
	if layer == "" || layer == withoutNothing || os.Getenv(variableLost) != "" {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return errors.Join(os.Setenv(variableLost, "1"), outer.Exec(strings.Split(layer, "+"), append([]string{program}, os.Args[1:]...)))
}
