package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// columns is the width that nothing passes.
const columns = 80

// maxName is how many columns of a display name are shown beside the id.
const maxName = 40

var questions = map[permission.Kind]string{
	permission.SelectApp:    "Which app shall do this?",
	permission.InstallApp:   "May this app be installed?",
	permission.ApprovePlan:  "May this plan run?",
	permission.ShareData:    "May this data of yours go to this app?",
	permission.Collaborate:  "May this app's request go to another app?",
	permission.Deliver:      "May this answer go back to the app that asked?",
	permission.SendRemote:   "May this be sent to this host?",
	permission.Change:       "May this app change this?",
	permission.Irreversible: "May this be done, once?",
}

var effects = map[isc.Effect]string{
	isc.Read:         "[r] READS, changes nothing",
	isc.Write:        "[w] CHANGES things",
	isc.Irreversible: "[!] CANNOT BE UNDONE",
}

var lifetimes = map[permission.Decision]string{
	permission.AllowOnce:      "for this once",
	permission.AllowSession:   "until you close this session",
	permission.AllowPermanent: "until you revoke it",
}

func cannotBeUndone(r permission.Request) bool {
	return r.Kind == permission.Irreversible ||
		(r.Kind == permission.Collaborate || r.Kind == permission.Change) && r.Effect == isc.Irreversible
}

// Render is the dialog for r as text, at most 80 columns wide, without the line
// that asks for a key. To the left of a bar, and on lines without one, stand only
// words of this package and of the gate.
func Render(r permission.Request) string { return render(r, &view{}) }

func render(r permission.Request, v *view) string {
	var b strings.Builder
	header(&b, r, v)
	assessment(&b, r)
	if r.Query != "" {
		b.WriteString("You asked:\n" + bars("", v.text(visible(r.Query))))
	}
	if r.Purpose != "" {
		b.WriteString("The app says:\n" + bars("", v.text(visible(r.Purpose))))
	}
	options(&b, r, v)
	flows(&b, r, v)
	payload(&b, r, v)
	if r.WithheldBecause != "" {
		b.WriteString(paragraph("Not offered for longer: ", visible(r.WithheldBecause)))
	}
	return b.String()
}

// renderAll is everything that Render may have shortened, in full.
func renderAll(r permission.Request) string {
	var b strings.Builder
	v := &view{full: true}
	b.WriteString("-- in full --\n")
	for _, p := range append([]permission.Party{r.From, r.To}, r.Options...) {
		if p.Name != "" {
			b.WriteString(bars(partyID(p.ID), visible(p.Name)))
		}
	}
	b.WriteString("You asked:\n" + bars("", visible(r.Query)))
	b.WriteString("The app says:\n" + bars("", visible(r.Purpose)))
	flows(&b, r, v)
	payload(&b, r, v)
	b.WriteString("-- end --\n")
	return b.String()
}

// abridged counts what Render left out or shortened.
func abridged(r permission.Request) int {
	v := &view{}
	render(r, v)
	return v.abridged
}

func header(b *strings.Builder, r permission.Request, v *view) {
	title := fmt.Sprintf("CONSENT %d of %d", r.Index, r.Of)
	if warned(r) {
		b.WriteString(strings.Repeat("!", columns) + "\n" + title + "  WARNING\n")
	} else {
		b.WriteString(strings.Repeat("-", columns) + "\n" + title + "\n")
	}
	b.WriteString(questions[r.Kind] + "\n")
	if r.Probe {
		b.WriteString("asked     only to learn whether someone serves it\n")
	}
	if r.Kind != permission.ApprovePlan {
		party(b, "from      ", r.From, v)
	}
	if r.To.ID != "" || r.Kind == permission.Deliver {
		party(b, "to        ", r.To, v)
	}
	if r.Functionality != "" {
		b.WriteString(paragraph("function  ", word(string(r.Functionality))))
	}
	if r.Functionality != "" || r.Kind == permission.Irreversible {
		b.WriteString("effect    " + effects[r.Effect] + "\n")
	}
	if r.Host != "" {
		b.WriteString(bars("host      ", visible(r.Host)))
	}
	if r.Degraded != "" {
		b.WriteString(bars("isolation lacks", visible(r.Degraded)))
	}
}

func warned(r permission.Request) bool {
	return slices.ContainsFunc(r.Assessment, func(f permission.Finding) bool { return f.Warning })
}

// party is one side: the stable id, and behind the bar the name it gives itself.
func party(b *strings.Builder, role string, p permission.Party, v *view) {
	name := p.Name
	if name == "" {
		name = string(p.ID)
	}
	if p.ID == "" {
		b.WriteString(role + partyID(p.ID) + "\n")
		return
	}
	b.WriteString(bars(role+partyID(p.ID), v.name(visible(name))))
}

func partyID(id isc.AppID) string {
	if id == "" {
		return "the hub, for you"
	}
	return word(string(id))
}

func assessment(b *strings.Builder, r permission.Request) {
	for _, f := range r.Assessment {
		mark := "  note: "
		if f.Warning {
			mark = "! Hub: "
		}
		b.WriteString(paragraph(mark, visible(f.Reason)+" ("+word(string(f.Code))+")"))
	}
}

func options(b *strings.Builder, r permission.Request, v *view) {
	for i, p := range r.Options {
		party(b, fmt.Sprintf("%4d      ", i+1), p, v)
	}
}

func flows(b *strings.Builder, r permission.Request, v *view) {
	for _, f := range r.Flows {
		head := fmt.Sprintf("step %s: ", word(f.Step))
		party(b, head, f.App, v)
		b.WriteString(paragraph("     does ", word(string(f.Functionality))+"  "+effects[f.Effect]))
		for _, in := range f.Inputs {
			value := "from " + v.text(visible(in.Source))
			if len(in.Literal) > 0 {
				value = "= " + visible(readable(in.Literal)) // in full: the plan decides by it
			}
			b.WriteString(bars("", visible(in.Name)+" "+value))
			b.WriteString(provenance(in.Label))
		}
	}
}

// payload is every value. A plan has been told step by step; its own form is for
// who wants to see it.
func payload(b *strings.Builder, r permission.Request, v *view) {
	all := leaves(r.Payload)
	if len(all) == 0 {
		return
	}
	if r.Kind == permission.ApprovePlan && len(r.Flows) > 0 && v.leaveOut() {
		fmt.Fprintf(b, "The plan as data, %d values: v shows it\n", len(all))
		return
	}
	fmt.Fprintf(b, "Exactly this, %d values:\n", len(all))
	for _, l := range all {
		value := l.value
		if !isTarget(l, r.Fields) {
			value = v.text(value)
		}
		b.WriteString(bars("", l.name+" = "+value) + sources(l, r.Fields))
	}
}

// isTarget says whether l decides where something goes or what it is done to,
// and so is never shortened.
func isTarget(l leaf, fields []permission.PayloadField) bool {
	return slices.ContainsFunc(fields, func(f permission.PayloadField) bool {
		return f.Role.IsTarget() && covers(f.Pointer, l.pointer)
	})
}

// sources are the hub's words on l, each once.
func sources(l leaf, fields []permission.PayloadField) string {
	var out []string
	for _, f := range fields {
		if words := provenance(f.Label); covers(f.Pointer, l.pointer) && !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	return strings.Join(out, "")
}

// covers says whether what a field's pointer selects is the value at pointer or
// holds it; "*" selects every part. What is no pointer is taken to select all.
func covers(field, pointer string) bool {
	want, have := strings.Split(field, "/"), strings.Split(pointer, "/")
	if want[0] != "" {
		return true
	}
	if len(want) > len(have) {
		return false
	}
	for i, token := range want {
		if token != "*" && token != have[i] {
			return false
		}
	}
	return true
}

// provenance is the hub's word on a value, on a line of its own; what the user
// said needs none.
func provenance(l isc.Label) string {
	if l.IsTrusted() && !l.IsSensitive() {
		return ""
	}
	return paragraph("    ^ source: ", visible(l.String()))
}

func help(r permission.Request) string {
	var b strings.Builder
	b.WriteString("d  deny; a reason may follow: d not now\n")
	for _, k := range []string{"o", "s", "p"} {
		if slices.Contains(r.Offered, keys[k]) {
			fmt.Fprintf(&b, "%s  allow %s\n", k, lifetimes[keys[k]])
		}
	}
	b.WriteString("v  show everything in full\n")
	b.WriteString("Right of a bar ( | ) stands what others wrote. Enter denies.\n")
	return b.String()
}
