package isc

import (
	"bytes"
	"encoding/json"
	"errors"
)

// envelope is the one form of a message on a stream: its type, and the message.
type envelope struct {
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
}

// envelopeLimits leave room for the envelope around bodies that have limits of
// their own.
var envelopeLimits = Limits{Size: MaxFrame, Depth: defaultLimits.Depth + 8, Nodes: 2 * defaultLimits.Nodes}

// codec is how messages of one direction are checked, named and built.
type codec[M any] struct {
	vet  func(M) (M, error)
	name func(M) string
	// read decodes a body into the message of a type; false for no such type.
	read func(kind string, body []byte) (M, bool, error)
}

var toHubCodec = codec[ToHub]{vetToHub, toHubName, readToHub}

var toSpokeCodec = codec[ToSpoke]{vetToSpoke, toSpokeName, readToSpoke}

func toHubName(m ToHub) string {
	switch m.(type) {
	case Probe:
		return "probe"
	case Request:
		return "request"
	case NeedData:
		return "need_data"
	case Confirm:
		return "confirm"
	case Progress:
		return "progress"
	case Result:
		return "result"
	}
	return ""
}

func readToHub(kind string, body []byte) (ToHub, bool, error) {
	switch kind {
	case "probe":
		return read[ToHub, Probe](body)
	case "request":
		return read[ToHub, Request](body)
	case "need_data":
		return read[ToHub, NeedData](body)
	case "confirm":
		return read[ToHub, Confirm](body)
	case "progress":
		return read[ToHub, Progress](body)
	case "result":
		return read[ToHub, Result](body)
	}
	return nil, false, nil
}

func toSpokeName(m ToSpoke) string {
	switch m.(type) {
	case Task:
		return "task"
	case Offer:
		return "offer"
	case Response:
		return "response"
	case Data:
		return "data"
	case Confirmed:
		return "confirmed"
	case Refused:
		return "refused"
	}
	return ""
}

func readToSpoke(kind string, body []byte) (ToSpoke, bool, error) {
	switch kind {
	case "task":
		return read[ToSpoke, Task](body)
	case "offer":
		return read[ToSpoke, Offer](body)
	case "response":
		return read[ToSpoke, Response](body)
	case "data":
		return read[ToSpoke, Data](body)
	case "confirmed":
		return read[ToSpoke, Confirmed](body)
	case "refused":
		return read[ToSpoke, Refused](body)
	}
	return nil, false, nil
}

func read[M any, T any](body []byte) (M, bool, error) {
	var t T
	err := unmarshal(body, &t, envelopeLimits)
	m, ok := any(t).(M)
	return m, ok, err
}

// encode checks m and gives its bytes, at most MaxFrame.
func (c codec[M]) encode(m M) ([]byte, error) {
	m, err := c.vet(m)
	if err != nil {
		return nil, err
	}
	body, err := marshal(m)
	if err != nil {
		return nil, errors.Join(ErrMalformed, err)
	}
	frame, err := marshal(envelope{c.name(m), body})
	if err != nil {
		return nil, errors.Join(ErrMalformed, err)
	}
	if len(frame) > MaxFrame {
		return nil, ErrTooLarge
	}
	return frame, nil
}

// marshal does not escape what HTML would need: bodies keep their bytes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode is strict about the envelope, the message in it and every body in that.
func (c codec[M]) decode(frame []byte) (M, error) {
	var none M
	var e envelope
	if err := unmarshal(frame, &e, envelopeLimits); err != nil {
		return none, err
	}
	if len(e.Body) == 0 || e.Body[0] != '{' {
		return none, &MalformedError{Reason: "a message must be an object"}
	}
	m, ok, err := c.read(e.Type, e.Body)
	switch {
	case err != nil:
		return none, err
	case !ok:
		return none, &MalformedError{Reason: "no message type of this direction"}
	}
	return c.vet(m)
}
