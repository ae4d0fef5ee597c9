package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/isolategpt/isolategpt/spoke/sandboxtest"
)

// writeTable has a line for each attack and a column for each isolation.
func writeTable(out io.Writer, all []isolationRun) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nATTACK")
	for _, r := range all {
		fmt.Fprint(t, "\t", r.Name)
	}
	fmt.Fprint(t, "\tBREAKS\n")
	for i, row := range all[0].Rows {
		fmt.Fprint(t, row.Attack)
		for _, r := range all {
			fmt.Fprint(t, "\t", cell(r.Rows[i]))
		}
		breaks := row.Guarantee.String()
		if row.Guarantee == 0 {
			breaks = "nothing that is promised"
		}
		fmt.Fprintf(t, "\t%s\n", breaks)
	}
	_ = t.Flush()
	fmt.Fprintln(out)
	for _, r := range all {
		fmt.Fprintln(out, summary(r))
	}
}

func cell(r sandboxtest.Row) string {
	switch {
	case r.Contradicts():
		return "BROKEN"
	case !r.Refused:
		return "works"
	case !r.Control:
		return "-" // it works nowhere, and so shows nothing
	default:
		return "refused"
	}
}

func summary(r isolationRun) string {
	refused, nowhere, worked, broken := 0, 0, 0, 0
	for _, row := range r.Rows {
		switch {
		case !row.Refused:
			worked++
		case row.Control:
			refused++
		default:
			nowhere++
		}
		if row.Contradicts() {
			broken++
		}
	}
	s := fmt.Sprintf("%s: of %d attacks %d refused, %d possible nowhere on this machine, %d worked",
		r.Name, len(r.Rows), refused, nowhere, worked)
	if broken > 0 {
		s += fmt.Sprintf(", %d OF THEM AGAINST WHAT IS CLAIMED", broken)
	}
	return s
}
