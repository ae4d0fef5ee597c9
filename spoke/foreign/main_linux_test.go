package foreign_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/spoke"
)

func TestMain(m *testing.M) {
	spoke.Main() // a program is a process of this one first
	beHub()
	takeNamespaces()
	takeSeccomp()
	goleak.VerifyTestMain(m)
}
