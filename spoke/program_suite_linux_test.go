package spoke_test

import (
	"testing"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
)

// suiteProgram is a separate program that serves the suite's apps.
const suiteProgram = `package main

import (
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
)

func main() { spoke.Main(spoketest.Apps()...) }
`

func TestSeparateProgram(t *testing.T) {
	cfg := quick
	cfg.Program = compile(t, suiteProgram, "CGO_ENABLED=0")
	spoketest.TestLauncher(t, func(testing.TB) spoke.Launcher { return spoke.Process(cfg) })
}
