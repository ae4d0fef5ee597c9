package hub_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/spoke"
)

func TestMain(m *testing.M) {
	spoke.Main(append(processApps(), caller())...)
	if os.Getenv("GOLEAK_OFF") == "" {
		goleak.VerifyTestMain(m)
	}
	os.Exit(m.Run())
}
