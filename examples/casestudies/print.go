package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/isolategpt/isolategpt/examples/casestudies/cases"
	"github.com/isolategpt/isolategpt/isc"
)

// width is that of the whole, in characters.
const width = 2 * 58

// column is the width of each system's column.
func column(reports []*report) int { return width/len(reports) - 2 }

// printCase shows what the systems did, side by side.
func printCase(out io.Writer, c cases.Case, reports []*report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Case %d: %s\n", c.Number, c.Name)
	for _, request := range c.Requests {
		writeWrapped(&b, "  > ", request, width)
	}
	writeWrapped(&b, "  ! ", c.Attack, width)
	b.WriteString("\n")
	row(&b, reports, func(r *report) []string {
		return []string{strings.ToUpper(r.System), strings.Repeat("-", column(reports)-1)}
	})
	for _, part := range []struct {
		title string
		lines func(*report) []string
	}{
		{"plan", func(r *report) []string { return r.Plan }},
		{"dialogs", dialogLines},
		{"calls", callLines},
		{"answer", answerLines},
		{"missing", func(r *report) []string { return r.Missing }},
		{"model calls", func(r *report) []string { return []string{fmt.Sprint(r.LLMCalls)} }},
		{"attack", attackLines},
	} {
		row(&b, reports, func(r *report) []string { return titled(part.title, part.lines(r), column(reports)-1) })
	}
	b.WriteString("\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// titled are the lines under a title, or beside it where there is but one.
func titled(title string, lines []string, width int) []string {
	if len(lines) == 0 {
		lines = []string{"none"}
	}
	if len(lines) == 1 {
		return hanging(title+": "+lines[0], "", width)
	}
	out := []string{title + ":"}
	for _, line := range lines {
		out = append(out, hanging(line, "  ", width)...)
	}
	return out
}

// hanging is wrapped text whose lines after the first stand further in.
func hanging(text, indent string, width int) []string {
	lines := wrap(text, width-len(indent)-4)
	for i := range lines {
		if i > 0 {
			lines[i] = "    " + lines[i]
		}
		lines[i] = indent + lines[i]
	}
	return lines
}

// row writes the lines of each report beside the others'.
func row(b *strings.Builder, reports []*report, lines func(*report) []string) {
	var columns [][]string
	height := 0
	for _, r := range reports {
		columns = append(columns, lines(r))
		height = max(height, len(columns[len(columns)-1]))
	}
	for i := range height {
		var line strings.Builder
		for _, c := range columns {
			cell := ""
			if i < len(c) {
				cell = c[i]
			}
			line.WriteString("  " + cell + strings.Repeat(" ", max(0, column(reports)-utf8.RuneCountInString(cell))))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func dialogLines(r *report) []string {
	var out []string
	for _, d := range r.Dialogs {
		line := d.Kind
		if d.From != "" {
			line += " " + d.From + " ->"
		}
		line = strings.TrimRight(line+" "+d.To, " ")
		if d.Functionality != "" {
			line += " " + d.Functionality
		}
		if len(d.Warnings) > 0 {
			line += " [WARNING " + strings.Join(d.Warnings, ", ") + "]"
		}
		out = append(out, line+": "+d.Decision)
	}
	for _, q := range r.Questions {
		answer := "nothing was given"
		if q.Given {
			answer = "answered"
		}
		out = append(out, strings.TrimSpace("asked the user for "+q.App+": "+isc.Visible(q.Text))+" ("+answer+")")
	}
	return out
}

func callLines(r *report) []string {
	var out []string
	for _, c := range r.Calls {
		out = append(out, fmt.Sprintf("%s %s %s", c.App, c.Functionality, isc.Visible(string(c.Body))))
	}
	return out
}

// answerLines keep the answer's lines, and nothing else that a terminal would
// obey: apps wrote some of it.
func answerLines(r *report) []string {
	lines := strings.Split(r.Answer, "\n")
	for i, line := range lines {
		lines[i] = isc.Visible(line)
	}
	return lines
}

func attackLines(r *report) []string {
	if r.AttackSucceeded {
		return []string{"HAPPENED: " + isc.Visible(r.Because)}
	}
	return []string{"did not happen: " + isc.Visible(r.Because)}
}

func writeWrapped(b *strings.Builder, mark, text string, width int) {
	for i, line := range wrap(text, width-max(2, len(mark))) {
		if i > 0 {
			mark = strings.Repeat(" ", max(2, len(mark)))
		}
		b.WriteString(mark + line + "\n")
	}
}

// wrap breaks text at blanks, and words that are too long anywhere.
func wrap(text string, width int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		for utf8.RuneCountInString(word) > width {
			head := string([]rune(word)[:width])
			if line != "" {
				out, line = append(out, line), ""
			}
			out, word = append(out, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			out, line = append(out, line), word
		}
	}
	if line != "" || len(out) == 0 {
		out = append(out, line)
	}
	return out
}
