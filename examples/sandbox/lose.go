package main

import (
	"errors"
	"os"

	"github.com/isolategpt/isolategpt/internal/sandbox/outer"
)

// variableLost says which layer this process lacks already.
const variableLost = "ISOLATEGPT_EXAMPLE_LOST"

// lose makes this process one of a machine that lacks a layer. It executes the
// program again, with the same arguments, and returns in that alone.
func lose(layer string) error {
	if os.Getenv(variableLost) == layer {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return errors.Join(os.Setenv(variableLost, layer), outer.Exec([]string{layer}, append([]string{program}, os.Args[1:]...)))
}
