// Sandbox tries to break out of spokes on the machine that it stands on, and
// prints what came of each attempt.
//
//	go run ./examples/sandbox
//	go run ./examples/sandbox -json
//	go run ./examples/sandbox -attack tcp-connect
//
// A line is one attack: what it would break, what came of it in a confined
// process, in one that gets no namespaces (as in many containers), and in an
// ordinary process. Only where the attack works in the last does a refusal in
// the others show something. Its exit code is 1 if an attack worked although the
// isolation claims what it breaks, and 2 if nothing could be shown.
//
// # Trust
//
// The attacks are harmless: they are aimed at what the program makes for them.
// See package sandboxtest.
//
// # Source
//
// ADR 10.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

func main() {
	sandboxtest.Main() // in the process of a spoke it does not return
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitHolds   = 0
	exitBroken  = 1 // what is claimed does not hold
	exitNothing = 2 // nothing could be shown
)

func run(args []string, out, errOut io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		o.flags.SetOutput(errOut)
		o.flags.Usage()
		return exitHolds
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var broken bool
	if err == nil {
		broken, err = o.print(ctx, out, errOut)
	}
	switch {
	case err != nil:
		fmt.Fprintln(errOut, "sandbox:", err)
		return exitNothing
	case broken:
		return exitBroken
	default:
		return exitHolds
	}
}

// options are the program's flags.
type options struct {
	flags   *flag.FlagSet
	json    bool
	attacks []string // nil: all
	without string
}

func parse(args []string) (*options, error) {
	o := &options{flags: flag.NewFlagSet("sandbox", flag.ContinueOnError)}
	o.flags.SetOutput(io.Discard)
	attack := o.flags.String("attack", "", "run one attack, by its `name` (default all)")
	o.flags.BoolVar(&o.json, "json", false, "print one JSON object an isolation and attack, a line each")
	o.flags.StringVar(&o.without, "without", "", "run one isolation alone, as on a machine that lacks a `layer`: namespaces, landlock or seccomp")
	if err := o.flags.Parse(args); err != nil {
		return o, err
	}
	if o.flags.NArg() > 0 {
		return o, fmt.Errorf("what is %q? there are only flags; see -help", o.flags.Arg(0))
	}
	if *attack != "" {
		o.attacks = []string{*attack}
	}
	return o, nil
}

// print runs what is asked for and says whether something is broken.
func (o *options) print(ctx context.Context, out, errOut io.Writer) (bool, error) {
	all, err := o.runs(ctx)
	if err != nil {
		return false, err
	}
	reports := out
	if o.json {
		reports = errOut // so that every line of out is an object alike
	}
	for _, r := range all {
		if _, err := io.WriteString(reports, r.Report); err != nil {
			return false, err
		}
	}
	broken := false
	var b bytes.Buffer
	for _, r := range all {
		for _, row := range r.Rows {
			broken = broken || row.Contradicts()
			if o.json {
				if err := json.NewEncoder(&b).Encode(row); err != nil {
					return false, err
				}
			}
		}
	}
	if !o.json {
		writeTable(&b, all)
	}
	_, err = out.Write(b.Bytes())
	return broken, err
}
