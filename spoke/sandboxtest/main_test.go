package sandboxtest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

func TestMain(m *testing.M) {
	sandboxtest.Main()
	if err := lose(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
