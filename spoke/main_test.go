package spoke_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
)

func TestMain(m *testing.M) {
	cab, err := taxi()
	if err != nil {
		panic(err)
	}
	spoke.Main(append(append(spoketest.Apps(), childApps()...), cab)...)
	actAsParent()
	actAsEcho()
	goleak.VerifyTestMain(m)
}
