package main

import (
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// The values of -isolation.
const (
	strongest = "strongest"
	process   = "process"
	inProcess = "in-process"
)

// isolation is where the spokes of the isolated system run.
type isolation struct {
	wanted   string
	launcher spoke.Launcher // once opened
	report   isc.Isolation  // what a spoke has in it
	close    func() error
}

func (o *options) setIsolation(name string) error {
	switch name {
	case strongest, process, inProcess:
		o.spokes.wanted = name
		return nil
	default:
		return fmt.Errorf("-isolation: no isolation %q; there are %s, %s and %s", name, strongest, process, inProcess)
	}
}

// open finds out what the machine gives.
func (i *isolation) open(ctx context.Context) error {
	i.close = func() error { return nil }
	i.launcher, i.report = spoke.InProcess(), isc.Isolation{Name: inProcess}
	if i.wanted == inProcess {
		return nil
	}
	p := spoke.Process(spoke.ProcessConfig{})
	report, err := p.Probe(ctx)
	if missing := isc.FullIsolation.Without(report.Has); err == nil && missing != 0 {
		err = &spoke.UnmetError{Isolation: report, Missing: missing}
	}
	switch {
	case err == nil:
		i.launcher, i.report, i.close = p, report, p.Close
		return nil
	case i.wanted == strongest:
		return p.Close() // in process; the report says so
	default:
		return fmt.Errorf("-isolation %s: %w", i.wanted, err)
	}
}
