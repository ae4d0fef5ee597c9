package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

// isolationRun is what came of all attacks in one isolation.
type isolationRun struct {
	Name   string
	Report string // what the isolation is, in words
	Rows   []sandboxtest.Row
}

// runs are one without a layer, or all three.
func (o *options) runs(ctx context.Context) ([]isolationRun, error) {
	if o.without != "" {
		if err := lose(o.without); err != nil {
			return nil, fmt.Errorf("giving up %s: %w", o.without, err)
		}
		r, err := o.confined(ctx, "process without "+o.without)
		return []isolationRun{r}, err
	}
	full, err := o.confined(ctx, "process")
	if err != nil {
		return nil, err
	}
	less, err := o.again(ctx, "namespaces")
	if err != nil {
		return nil, err
	}
	return []isolationRun{full, less, unconfined(full)}, nil
}

// confined runs the attacks in confined processes.
func (o *options) confined(ctx context.Context, name string) (r isolationRun, err error) {
	launcher := spoke.Process(spoke.ProcessConfig{Grace: 300 * time.Millisecond})
	defer func() { err = errors.Join(err, launcher.Close()) }()
	is, err := launcher.Probe(ctx)
	if err != nil {
		return r, err
	}
	is.Name = name
	rows, err := sandboxtest.Run(ctx, sandboxtest.Config{
		Confined: launcher, Control: sandboxtest.Unconfined(), Name: name, Attacks: o.attacks,
	})
	return isolationRun{Name: name, Report: describe(is), Rows: rows}, err
}

// again runs this program once more, which gives up a layer first: there is no
// way back from that.
func (o *options) again(ctx context.Context, layer string) (isolationRun, error) {
	path, err := os.Executable()
	if err != nil {
		return isolationRun{}, err
	}
	cmd := exec.CommandContext(ctx, path, "-json", "-without", layer) // #nosec G204 -- it is this program
	cmd.Args[0] = os.Args[0]
	for _, p := range o.attacks {
		cmd.Args = append(cmd.Args, "-attack", p)
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != exitBroken {
		return isolationRun{}, fmt.Errorf("without %s: %w: %s", layer, err, strings.TrimSpace(errOut.String()))
	}
	r := isolationRun{Name: "process without " + layer, Report: errOut.String()}
	for d := json.NewDecoder(&out); ; {
		var row sandboxtest.Row
		err := d.Decode(&row)
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("without %s: %w", layer, err)
		}
		r.Rows = append(r.Rows, row)
	}
}

// unconfined are the controls of a run as an isolation of their own.
func unconfined(of isolationRun) isolationRun {
	r := isolationRun{Name: "unconfined", Report: "unconfined: an ordinary process, the control\n"}
	for _, row := range of.Rows {
		r.Rows = append(r.Rows, sandboxtest.Row{
			Isolation: r.Name, Attack: row.Attack, Guarantee: row.Guarantee,
			Refused: !row.Control, Control: row.Control,
		})
	}
	return r
}

// describe says what an isolation is made of.
func describe(i isc.Isolation) string {
	var b strings.Builder
	fmt.Fprintln(&b, i)
	for _, l := range i.Layers {
		applied := "yes"
		if !l.Applied {
			applied = "no"
		}
		fmt.Fprintf(&b, "  %-24s %-3s %s\n", l.Name, applied, l.Detail)
	}
	return b.String()
}
