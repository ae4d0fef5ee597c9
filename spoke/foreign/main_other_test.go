//go:build !linux

package foreign_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/spoke"
)

func TestMain(m *testing.M) {
	spoke.Main()
	goleak.VerifyTestMain(m)
}
