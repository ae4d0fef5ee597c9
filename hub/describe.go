package hub

import (
	"github.com/isolategpt/isolategpt/isc"
)

// describe names a message for the trail and gives the bytes in it that count:
// its bodies, one after another.
func describe(m any) (name string, body []byte) {
	switch m := m.(type) {
	case isc.Task:
		body = append(body, m.Body...)
		for _, d := range m.Data {
			body = append(body, d.Body...)
		}
		return "task", append(body, m.Text...)
	case isc.Offer:
		return "offer", nil
	case isc.Response:
		for _, b := range m.Bodies {
			body = append(body, b...)
		}
		return "response", body
	case isc.Data:
		for _, d := range m.Values {
			body = append(body, d.Body...)
		}
		return "data", body
	case isc.Confirmed:
		return "confirmed", nil
	case isc.Refused:
		return "refused", nil
	case isc.Probe:
		return "probe", []byte(m.Functionality)
	case isc.Request:
		for _, call := range m.Calls {
			body = append(body, call.Body...)
		}
		return "request", body
	case isc.NeedData:
		for _, f := range m.Fields {
			body = append(append(body, f.Name...), f.Purpose...)
		}
		return "need_data", body
	case isc.Confirm:
		return "confirm", m.Body
	case isc.Progress:
		return "progress", []byte(m.Text)
	case isc.Result:
		return "result", m.Body
	default:
		return "unknown", nil
	}
}
