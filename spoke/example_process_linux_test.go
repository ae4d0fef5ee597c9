package spoke_test

import (
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// What a spoke's process has is known before any app is started. The program's
// main (here TestMain) has called spoke.Main first.
func ExampleProcess() {
	l := spoke.Process(spoke.ProcessConfig{})
	defer func() { _ = l.Close() }()
	isolation, err := l.Probe(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(isolation.Name, isolation.Has.Has(isc.NoNetwork|isc.NoFiles|isc.NoExec))
	// Output: process true
}
