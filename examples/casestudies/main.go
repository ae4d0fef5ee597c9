// Casestudies runs the four case studies of the paper, and three attacks that
// came after it, on two systems with the same apps and the same model: vanilla,
// one agent with one context, and isolated, the hub.
//
//	go run ./examples/casestudies
//	go run ./examples/casestudies -case 2 -consent ask
//	go run ./examples/casestudies -llm openai:gpt-4o-mini
//
// Without -llm it needs no key and no network: the model is the gullible one of
// llmtest, which obeys whatever any text tells it.
//
// # Trust
//
// The apps are part of this program and half of them are hostile on purpose.
// On the isolated system each runs in a confined process of its own where the
// machine gives that, or in process if it does not or -isolation says so; the
// program prints which. The vanilla agent has them in process, as agents do.
//
// # Source
//
// Paper §II-A, §V-B to §V-E; package cases.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/examples/casestudies/cases"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

func main() {
	spoke.Main(cases.Spokes()...) // in the process of a spoke it does not return
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitDone  = 0
	exitWrong = 1 // something failed
	exitUsage = 2 // the flags are wrong
)

func run(args []string, in io.Reader, out, errOut io.Writer) int {
	o, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	if err != nil {
		fmt.Fprintln(errOut, "casestudies:", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o.in, o.errOut = in, errOut
	if err := o.runAll(ctx, out); err != nil {
		fmt.Fprintln(errOut, "casestudies:", err)
		return exitWrong
	}
	return exitDone
}

// options are the program's flags, checked.
type options struct {
	cases   []cases.Case
	systems []string
	consent consent
	spokes  isolation
	model   modelFlag
	json    bool
	in      io.Reader
	errOut  io.Writer
	asking  permission.ConsentPrompter // of -consent ask, once made
}

// The systems by the names of -system.
const (
	vanillaSystem  = "vanilla"
	isolatedSystem = "isolated"
)

func parse(args []string, errOut io.Writer) (*options, error) {
	o := &options{}
	fs := flag.NewFlagSet("casestudies", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	number := fs.String("case", "", "run one `case`: 1 to 7, or ace1 to ace3 for 5 to 7 (default all)")
	system := fs.String("system", "", "run one `system`: vanilla or isolated (default both)")
	isolation := fs.String("isolation", strongest, "what spokes run in: strongest (that the machine gives), process (confined, or an error), in-process (contexts alone)")
	fs.TextVar(&o.consent, "consent", consentDeny, "who answers dialogs: deny (agrees to a plan, and to nothing beyond it), allow (agrees to everything), ask (you)")
	fs.TextVar(&o.model, "llm", modelFlag{provider: scripted}, "the `model`: scripted, openai:MODEL, ollama:MODEL, anthropic:MODEL or googleai:MODEL; keys come from OPENAI_API_KEY, ANTHROPIC_API_KEY and GOOGLE_API_KEY")
	fs.StringVar(&o.model.baseURL, "base-url", "", "the `URL` of the model's server, up to the part before /chat/completions")
	fs.BoolVar(&o.json, "json", false, "print one JSON object a case and system, a line each")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(errOut)
			fs.Usage()
		}
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("what is %q? there are only flags; see -help", fs.Arg(0))
	}
	return o, errors.Join(o.setCases(*number), o.setSystems(*system), o.setIsolation(*isolation), o.model.check())
}

func (o *options) setCases(name string) error {
	if name == "" {
		o.cases = cases.All()
		return nil
	}
	c, ok := cases.Find(name)
	if !ok {
		return fmt.Errorf("-case: no case %q; there are 1 to 7, the last three also as ace1 to ace3", name)
	}
	o.cases = []cases.Case{c}
	return nil
}

func (o *options) setSystems(name string) error {
	switch name {
	case "":
		o.systems = []string{vanillaSystem, isolatedSystem}
	case vanillaSystem, isolatedSystem:
		o.systems = []string{name}
	default:
		return fmt.Errorf("-system: no system %q; there are vanilla and isolated", name)
	}
	return nil
}

// runAll runs each case on each system. A system that fails is part of the
// report; the error is that of the program itself.
func (o *options) runAll(ctx context.Context, out io.Writer) (err error) {
	if err := o.spokes.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.spokes.close()) }()
	if !o.json && slices.Contains(o.systems, isolatedSystem) {
		var b strings.Builder
		writeWrapped(&b, "", "Spokes run in isolation "+o.spokes.report.String(), width)
		fmt.Fprintln(out, b.String())
	}
	for _, c := range o.cases {
		var reports []*report
		for _, system := range o.systems {
			r, err := o.runOne(ctx, c, system)
			if err != nil {
				return fmt.Errorf("case %d, %s: %w", c.Number, system, err)
			}
			reports = append(reports, r)
		}
		if err := o.show(out, c, reports); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) show(out io.Writer, c cases.Case, reports []*report) error {
	if !o.json {
		return printCase(out, c, reports)
	}
	for _, r := range reports {
		if err := r.writeJSON(out); err != nil {
			return err
		}
	}
	return nil
}
