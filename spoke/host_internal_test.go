package spoke

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

func newTestHost(t *testing.T) (*host, *[]*llm.Request) {
	t.Helper()
	asked := new([]*llm.Request)
	model := llm.Func(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		*asked = append(*asked, req)
		return &llm.Response{Text: "ok", Finish: llm.FinishStop}, nil
	})
	h, err := newHost(Spec{LLM: model, Memory: memory.NewView(memory.InMemory(), memory.AppScope("ann", "app")), Limits: Limits{MaxTurns: 3}})
	require.NoError(t, err)
	return h, asked
}

var hello = &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hi"}}, Purpose: "plan"}

// P1: whatever a spoke does, it spends only within a task and its bounds.
func TestP1TheHostSideServesOnlyWithinATask(t *testing.T) {
	h, asked := newTestHost(t)
	ctx := t.Context()
	generate := func() error {
		_, err := hostModel{h}.Generate(ctx, hello)
		return err
	}
	record := memory.Record{Kind: memory.Turn, Value: json.RawMessage(`{}`)}
	remember := func() error { return hostMemory{h}.Append(ctx, memory.Scope{}, record) }
	recall := func() error {
		_, err := hostMemory{h}.Records(ctx, memory.Scope{}, memory.Query{})
		return err
	}
	require.Equal(t, llm.OverBudget, llm.KindOf(generate()))
	require.Error(t, remember())
	require.Error(t, recall())

	h.begin(isc.Task{MaxTurns: 99})
	for range 3 {
		require.NoError(t, generate())
	}
	require.Equal(t, llm.OverBudget, llm.KindOf(generate()), "a task cannot raise the bound")
	for range maxChanges {
		require.NoError(t, remember())
	}
	require.Error(t, remember())
	require.NoError(t, recall())

	h.begin(isc.Task{Private: true})
	require.NoError(t, generate())
	require.Error(t, remember())
	require.Error(t, recall())

	h.finish()
	require.Equal(t, llm.OverBudget, llm.KindOf(generate()))
	require.Len(t, *asked, 4)
}

func TestP1ASpokeSetsNoLabelAndNoPurpose(t *testing.T) {
	h, asked := newTestHost(t)
	h.begin(isc.Task{})
	require.NoError(t, hostMemory{h}.Append(t.Context(), memory.HubScope("ann"),
		memory.Record{Kind: memory.Entity, Key: "k", Value: json.RawMessage(`1`), Label: isc.UserLabel()}))
	records, err := h.view.Records(t.Context(), memory.Query{})
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.False(t, records[0].Label.IsTrusted())
	require.Nil(t, h.generate(t.Context(), toWireRequest(hello)).Error)
	require.Equal(t, "agent", (*asked)[0].Purpose)
}

// P9: whatever comes over the channel ends it, or is one bounded call.
func TestP9AHostileProcessOnlyEndsItsChannel(t *testing.T) {
	for name, bytes := range map[string]string{
		"garbage":   "GET / HTTP/1.1\r\n\r\n",
		"too large": "\x7f\xff\xff\xff",
		"no call":   "\x00\x00\x00\x02{}",
		"two calls": "\x00\x00\x00\x19" + `{"records":{},"forget":{}}`[:25],
		"not JSON":  "\x00\x00\x00\x01x",
	} {
		t.Run(name, func(t *testing.T) {
			h, asked := newTestHost(t)
			h.begin(isc.Task{})
			ours, theirs := net.Pipe()
			done := make(chan error, 1)
			go func() { done <- h.serveChannel(t.Context(), ours); _ = ours.Close() }()
			go func() { _, _ = io.WriteString(theirs, bytes) }()
			_, err := theirs.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
			require.Error(t, <-done)
			require.Empty(t, *asked)
		})
	}
}

func TestMemoryOfASpokeIsBounded(t *testing.T) {
	h, _ := newTestHost(t)
	h.begin(isc.Task{})
	for name, r := range map[string]memory.Record{
		"no kind":  {Value: json.RawMessage(`1`)},
		"no JSON":  {Kind: memory.Turn, Value: json.RawMessage(`x`)},
		"large":    {Kind: memory.Turn, Value: json.RawMessage(`"` + strings.Repeat("x", maxRecordBytes) + `"`)},
		"long key": {Kind: memory.Entity, Key: strings.Repeat("x", maxKeyBytes+1), Value: json.RawMessage(`1`)},
	} {
		require.Error(t, hostMemory{h}.Append(t.Context(), memory.Scope{}, r), name)
	}
}
