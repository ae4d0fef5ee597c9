package spoke

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

// maxHostFrame bounds a frame between a spoke's process and its host side, in
// bytes of JSON.
const maxHostFrame = 4 << 20

// hostCall is one request up. Exactly one member is set.
type hostCall struct {
	Generate *wireRequest `json:"generate,omitempty"`
	Append   *wireRecord  `json:"append,omitempty"`
	Records  *wireQuery   `json:"records,omitempty"`
	Forget   *wireQuery   `json:"forget,omitempty"`
	Fetch    *HTTPRequest `json:"fetch,omitempty"`
}

// hostReply is the one reply to a call.
type hostReply struct {
	Response  *wireResponse `json:"response,omitempty"`
	Records   []wireRecord  `json:"records,omitempty"`
	Forgotten int           `json:"forgotten,omitempty"`
	Fetched   *HTTPResponse `json:"fetched,omitempty"`
	Error     *wireError    `json:"error,omitempty"`
}

// wireError is all of an error that a spoke learns: a provider's text may hold
// addresses and parts of keys.
type wireError struct {
	Kind       llm.Kind      `json:"kind"`
	Status     int           `json:"status,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Refused    bool          `json:"refused,omitempty"` // of a request to a remote host
}

type wireRequest struct {
	Messages    []wireMessage   `json:"messages"`
	Tools       []wireTool      `json:"tools,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Purpose     string          `json:"purpose"`
}

type wireMessage struct {
	Role   llm.Role   `json:"role"`
	Text   string     `json:"text,omitempty"`
	Calls  []wireCall `json:"calls,omitempty"`
	CallID string     `json:"call_id,omitempty"`
}

type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type wireCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type wireResponse struct {
	Text   string     `json:"text,omitempty"`
	Calls  []wireCall `json:"calls,omitempty"`
	Finish llm.Finish `json:"finish"`
	Input  int        `json:"input,omitempty"`
	Output int        `json:"output,omitempty"`
}

// wireRecord has no label: a spoke is not told labels and cannot set one.
type wireRecord struct {
	Kind  memory.Kind     `json:"kind"`
	Key   string          `json:"key,omitempty"`
	Value json.RawMessage `json:"value"`
	Time  time.Time       `json:"time,omitzero"`
}

type wireQuery struct {
	Kind memory.Kind `json:"kind,omitempty"`
	Key  string      `json:"key,omitempty"`
	Last int         `json:"last,omitempty"`
}

// The errors of host frames.
var (
	errFrameSize = errors.New("spoke: host frame: too large")
	errFrame     = errors.New("spoke: host frame: malformed")
)

// writeFrame writes v: 4 bytes of length, most significant first, then JSON.
func writeFrame(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("spoke: host frame: %w", err)
	}
	if len(body) > maxHostFrame {
		return errFrameSize
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	_, err = w.Write(append(frame, body...))
	return err
}

// readFrame reads one frame into v, which [decodeFrame] must accept.
func readFrame(r io.Reader, v any) error {
	body, err := readBytes(r)
	if err != nil {
		return err
	}
	return decodeFrame(body, v)
}

// readBytes reads one frame's JSON.
func readBytes(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxHostFrame {
		return nil, errFrameSize
	}
	// Memory is taken as the bytes come, not as their number is claimed.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, r, int64(n)); err != nil {
		return nil, fmt.Errorf("spoke: host frame: %w", io.ErrUnexpectedEOF)
	}
	return body.Bytes(), nil
}

// decodeFrame accepts exactly the bytes that [writeFrame] writes for the value
// that they decode to. Both ends are one program, so whatever differs (an
// unknown, doubled or case-changed key, space, data behind the value) was not
// written by it.
func decodeFrame(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return errFrame
	}
	again, err := json.Marshal(v)
	if err != nil || !bytes.Equal(again, body) {
		return errFrame
	}
	return nil
}
