// Wasmapp runs an app that is a WebAssembly module, which it builds itself. The
// app has memory, time and the hub; on Linux it runs inside a confined process
// besides.
//
//	go run ./examples/wasmapp
//	go run ./examples/wasmapp -isolation wasm
//
// It needs the Go tool, and no key and no network: one canned plan stands in for
// a model.
//
// # Trust
//
// The app is wholly the attacker's; see package wasm. Its manifest is declared
// here, so that nothing of the module is looked at before it is launched: in a
// process, and there alone, if it is to have one.
//
// # Source
//
// Paper §IV-A, App. A-A; docs/adr/0010-guarantees.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/isolategpt/isolategpt/permission/terminal"
	"github.com/isolategpt/isolategpt/spoke"
)

func main() {
	spoke.Main() // its spokes that are processes begin as this program
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitDone  = 0
	exitWrong = 1 // something failed
	exitUsage = 2 // the flags are wrong
)

func run(args []string, in io.Reader, out, errOut io.Writer) int {
	wanted, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	if err != nil {
		fmt.Fprintln(errOut, "wasmapp:", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runOnce(ctx, wanted, in, out, errOut); err != nil {
		fmt.Fprintln(errOut, "wasmapp:", err)
		return exitWrong
	}
	return exitDone
}

// parse gives the wanted isolation.
func parse(args []string, errOut io.Writer) (string, error) {
	fs := flag.NewFlagSet("wasmapp", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	wanted := fs.String("isolation", strongest, "what the module runs in: strongest (that the machine gives), process (in a confined one, or an error), wasm (in this program)")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(errOut)
			fs.Usage()
		}
		return "", err
	}
	if fs.NArg() > 0 {
		return "", fmt.Errorf("what is %q? there are only flags; see -help", fs.Arg(0))
	}
	switch *wanted {
	case strongest, process, inWasm:
		return *wanted, nil
	default:
		return "", fmt.Errorf("-isolation: no isolation %q; there are %s, %s and %s", *wanted, strongest, process, inWasm)
	}
}

func runOnce(ctx context.Context, wanted string, in io.Reader, out, errOut io.Writer) error {
	dir, err := os.MkdirTemp("", "wasmapp")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p, err := install(ctx, dir, wanted)
	if err != nil {
		return err
	}
	defer p.close()
	if p.note != nil {
		fmt.Fprintln(errOut, "a process cannot be confined here:", p.note)
	}
	answer, isolation, err := ask(ctx, p, terminal.New(in, errOut))
	if err != nil {
		return err
	}
	fmt.Fprintln(errOut, "isolation:", isolation)
	fmt.Fprintln(out, answer)
	return nil
}
