package spoke

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

func TestHostFramesAreExact(t *testing.T) {
	good := `{"generate":{"messages":[{"role":"user","text":"hi"}],"purpose":"agent"}}`
	require.NoError(t, decodeFrame([]byte(good), new(hostCall)))
	for name, bad := range map[string]string{
		"space":        strings.Replace(good, ":", ": ", 1),
		"unknown key":  `{"generate":{"messages":[],"purpose":"agent","key":"x"}}`,
		"case":         `{"Generate":{"messages":[],"purpose":"agent"}}`,
		"twice":        `{"forget":{"last":1},"forget":{"last":2}}`,
		"unknown role": `{"generate":{"messages":[{"role":"root","text":"hi"}],"purpose":"agent"}}`,
		"trailing":     good + `{}`,
		"label":        `{"append":{"kind":1,"value":{},"label":"user"}}`,
		"empty":        ``,
		"null":         `null`,
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, decodeFrame([]byte(bad), new(hostCall)), errFrame)
		})
	}
}

func TestHostFramesAreBounded(t *testing.T) {
	var b bytes.Buffer
	require.ErrorIs(t, writeFrame(&b, strings.Repeat("x", maxHostFrame)), errFrameSize)
	require.Zero(t, b.Len())
	var s string
	require.ErrorIs(t, readFrame(strings.NewReader("\xff\xff\xff\xff"), &s), errFrameSize)
	require.Error(t, readFrame(strings.NewReader("\x00\x01\x00\x00\""), &s))
}

// What a host side reads of a process never panics, and what it accepts is what
// writeFrame would have written.
func FuzzHostCall(f *testing.F) {
	for _, c := range []hostCall{
		{Generate: toWireRequest(&llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hi"}},
			Tools: []llm.Tool{{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)}}})},
		{Append: &wireRecord{Kind: memory.Turn, Value: json.RawMessage(`{"task":"x"}`)}},
		{Records: &wireQuery{Last: 3}}, {Forget: &wireQuery{Key: "k"}},
		{Fetch: &HTTPRequest{Method: "POST", URL: "https://example.org/?<", Header: map[string][]string{"X": {"a"}}, Body: []byte{0, 255}}},
	} {
		var b bytes.Buffer
		if err := writeFrame(&b, c); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		var c hostCall
		if readFrame(bytes.NewReader(frame), &c) != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, writeFrame(&b, c))
		require.True(t, bytes.HasPrefix(frame, b.Bytes()))
		// A call that is none is an error, and any call is answered.
		h, err := newHost(Spec{LLM: llm.Func(nil)})
		require.NoError(t, err)
		if _, err := h.answer(t.Context(), c); err != nil {
			require.ErrorIs(t, err, errFrame)
		}
	})
}
