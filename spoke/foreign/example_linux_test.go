package foreign_test

import (
	"context"
	"fmt"
	"io"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

// A program that copies its input has no more than that.
func ExampleStart() {
	p, err := foreign.Start(context.Background(), foreign.Config{
		Path: "cat",
		// Accepted: where there are no user namespaces it can see that a file exists.
		Waive: isc.NoFiles,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.WriteString(p.Stdin(), "hello\n")
	_ = p.Stdin().Close()
	answer, _ := io.ReadAll(p.Stdout())
	fmt.Printf("%s%v\n", answer, p.Isolation().Has.Has(isc.NoNetwork|isc.NoExec|isc.CleanEnv))
	fmt.Println(p.Close())
	// Output:
	// hello
	// true
	// <nil>
}

// Needs finds what an interpreter's library is linked with, too.
func ExampleNeeds() {
	_, library, err := foreign.Needs("/usr/lib/python3.12")
	if err != nil {
		return // it is not there
	}
	fmt.Println(foreign.Config{
		Path: "/usr/bin/python3",
		Args: []string{"-I", "-S", "/srv/tool.py"},
		Read: append(library, "/srv/tool.py"),
	})
}
