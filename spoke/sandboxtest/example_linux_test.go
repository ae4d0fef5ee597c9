package sandboxtest_test

import (
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

func ExampleRun() {
	launcher := spoke.Process(spoke.ProcessConfig{})
	defer func() { _ = launcher.Close() }()
	rows, err := sandboxtest.Run(context.Background(), sandboxtest.Config{
		Confined: launcher,
		Control:  sandboxtest.Unconfined(),
		Attacks:  []string{"read-passwd", "tcp-connect", "exec-shell"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rows {
		fmt.Printf("%s breaks %s: works unconfined %t, refused in a %s %t\n", r.Attack, r.Guarantee, r.Control, r.Isolation, r.Refused)
	}
	// Output:
	// read-passwd breaks no-files: works unconfined true, refused in a process true
	// tcp-connect breaks no-network, hub-only: works unconfined true, refused in a process true
	// exec-shell breaks no-exec: works unconfined true, refused in a process true
}
