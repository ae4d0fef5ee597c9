package isc

import (
	"encoding/json"
	"unicode/utf8"
)

// Limits of one message: items of its lists, bytes of its texts.
const (
	maxItems    = 256
	maxProgress = 16 << 10
)

// vetting checks the parts of one message and makes its bodies canonical, as
// copies. It keeps the first thing that is wrong.
type vetting struct{ err error }

func (v *vetting) must(ok bool, reason string) {
	if v.err == nil && !ok {
		v.err = &MalformedError{Reason: reason}
	}
}

// name needs the error only to be there: its text may quote the peer.
func (v *vetting) name(n FunctionalityName) { v.must(n.Validate() == nil, "functionality name") }

func (v *vetting) handle(h Handle) { v.must(!h.IsZero(), "no handle") }

func (v *vetting) count(n int) { v.must(n > 0 && n <= maxItems, "number of items") }

func (v *vetting) text(s string, most int) { v.must(len(s) <= most && utf8.ValidString(s), "text") }

// body is a canonical copy of a value that must be there.
func (v *vetting) body(raw json.RawMessage) json.RawMessage {
	if v.err != nil {
		return nil
	}
	out, err := Canonical(raw)
	v.err = err
	return out
}

func (v *vetting) optional(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	return v.body(raw)
}

func (v *vetting) data(in []Datum) []Datum {
	v.must(len(in) <= maxItems, "number of items")
	var out []Datum
	for _, d := range in {
		v.must(validLabel(d.Name) == nil, "name of data")
		out = append(out, Datum{d.Name, v.body(d.Body)})
	}
	return out
}

// vetToHub returns a checked deep copy of a message up.
func vetToHub(m ToHub) (ToHub, error) {
	v := &vetting{}
	var out ToHub
	switch m := m.(type) {
	case Probe:
		v.name(m.Functionality)
		out = m
	case Request:
		out = v.request(m)
	case NeedData:
		out = v.needData(m)
	case Confirm:
		v.name(m.Functionality)
		out = Confirm{m.Functionality, v.body(m.Body)}
	case Progress:
		v.text(m.Text, maxProgress)
		out = m
	case Result:
		v.must(statusNames.has(m.Status) && m.Status != StatusSkipped, "status")
		v.must((m.Body != nil) == (m.Status == StatusDone), "a body exactly when done")
		out = Result{m.Status, v.optional(m.Body)}
	default:
		v.must(false, "no message of this direction")
	}
	if v.err != nil {
		return nil, v.err
	}
	return out, nil
}

func (v *vetting) request(m Request) Request {
	v.count(len(m.Calls))
	out := Request{}
	for _, c := range m.Calls {
		v.handle(c.Handle)
		out.Calls = append(out.Calls, Call{c.Handle, v.body(c.Body)})
	}
	return out
}

func (v *vetting) needData(m NeedData) NeedData {
	v.count(len(m.Fields))
	for _, f := range m.Fields {
		v.must(f.validate() == nil, "data field")
	}
	return NeedData{append([]DataField(nil), m.Fields...)}
}

// vetToSpoke returns a checked deep copy of a message down.
func vetToSpoke(m ToSpoke) (ToSpoke, error) {
	v := &vetting{}
	var out ToSpoke
	switch m := m.(type) {
	case Task:
		out = v.task(m)
	case Offer:
		v.handle(m.Handle)
		out = Offer{m.Handle, v.body(m.Request), v.body(m.Response)}
	case Response:
		out = v.response(m)
	case Data:
		out = Data{v.data(m.Values)}
	case Confirmed:
		v.must(!m.Digest.IsZero(), "no digest")
		out = m
	case Refused:
		out = m
	default:
		v.must(false, "no message of this direction")
	}
	if v.err != nil {
		return nil, v.err
	}
	return out, nil
}

func (v *vetting) task(m Task) Task {
	v.must(taskKindNames.has(m.Kind), "task kind")
	if m.Kind == TaskCall || m.Functionality != "" {
		v.name(m.Functionality)
	}
	v.must(m.Kind != TaskCall || m.Body != nil, "a call without a body")
	v.must(utf8.ValidString(m.Text), "text")
	v.must(m.MaxTurns >= 0 && m.MaxCalls >= 0, "a bound below zero")
	m.Body, m.Answer = v.optional(m.Body), v.optional(m.Answer)
	m.Data = v.data(m.Data)
	m.May = v.known(m.May)
	return m
}

func (v *vetting) known(in []Known) []Known {
	var out []Known
	for _, k := range in {
		v.name(k.Functionality)
		v.must(utf8.ValidString(k.Description), "text")
		out = append(out, Known{k.Functionality, k.Description, v.body(k.Request), v.body(k.Response)})
	}
	return out
}

func (v *vetting) response(m Response) Response {
	v.count(len(m.Bodies))
	out := Response{}
	for _, b := range m.Bodies {
		if b == nil {
			b = json.RawMessage("null")
		}
		out.Bodies = append(out.Bodies, v.body(b))
	}
	return out
}
