package spoke

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/stretchr/testify/require"
)

// P9: a process that floods its host side is slowed, and then closed.
func TestP9AFloodIsSlowedThenClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := fetchHost(t, nil)
		ours, theirs := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- h.serveChannel(t.Context(), ours); _ = ours.Close() }()
		client := newHostClient(theirs, func(error) {})
		defer client.close()
		began := time.Now()
		call := func() error {
			_, err := client.call(t.Context(), hostCall{Forget: &wireQuery{}})
			return err
		}
		for range paceBurst {
			require.NoError(t, call())
		}
		require.Zero(t, time.Since(began), "a burst is not slowed")
		for range maxHostCalls - paceBurst {
			require.NoError(t, call())
		}
		require.Equal(t, (maxHostCalls-paceBurst)*paceInterval, time.Since(began))
		require.Error(t, call())
		require.Equal(t, errFlood, <-done)
		_, err := theirs.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "the channel is closed, which ends the spoke")
	})
}

func TestATaskHasItsOwnNumberOfCallsAndNoNewBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := fetchHost(t, nil)
		for range 3 {
			for range maxHostCalls / 2 {
				_, err := h.admit(t.Context(), 1)
				require.NoError(t, err)
			}
			h.begin(isc.Task{})
		}
		began := time.Now()
		_, err := h.admit(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, paceInterval, time.Since(began))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errClosed)
		_, err = h.admit(ctx, 1)
		require.Equal(t, errClosed, err, "it does not hold the end up")
	})
}

// P9: large calls are slowed by their bytes, however few they are.
func TestP9BytesAreSlowedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := fetchHost(t, nil)
		began := time.Now()
		for range 2 * paceBytes / maxHostFrame {
			_, err := h.admit(t.Context(), maxHostFrame)
			require.NoError(t, err)
		}
		require.InDelta(t, time.Second, time.Since(began), float64(time.Millisecond))
	})
}

// P9: outside of a task nothing is decoded, and a few calls end the channel: a
// call that is none is refused like any other.
func TestP9OutsideOfATaskNothingIsDecoded(t *testing.T) {
	for name, end := range map[string]func(*host){
		"before the first": func(h *host) { h.running = false },
		"after a task":     (*host).finish,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := fetchHost(t, echoing)
				end(h)
				ours, theirs := net.Pipe()
				done := make(chan error, 1)
				go func() { done <- h.serveChannel(t.Context(), ours); _ = ours.Close() }()
				frame := binary.BigEndian.AppendUint32(nil, 1<<20)
				frame = append(frame, bytes.Repeat([]byte{'x'}, 1<<20)...)
				for range maxStrays {
					_, err := theirs.Write(frame)
					require.NoError(t, err)
					var reply hostReply
					require.NoError(t, readFrame(theirs, &reply))
					require.Equal(t, hostReply{Error: &wireError{Kind: llm.OverBudget, Refused: true}}, reply)
				}
				_, err := theirs.Write(frame)
				require.NoError(t, err)
				require.Equal(t, errFlood, <-done)
			})
		})
	}
}

// A refusal outside of a task is one to each kind of call.
func TestOutsideOfATaskEachCallIsRefusedInItsWay(t *testing.T) {
	h := fetchHost(t, echoing)
	h.finish()
	client := channel(t, h)
	_, err := client.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
	require.Equal(t, ErrRefused, err)
	_, err = agreed{}.model(client).Generate(t.Context(), hello)
	require.Equal(t, llm.OverBudget, llm.KindOf(err))
	_, err = client.Records(t.Context(), memory.Scope{}, memory.Query{})
	require.Equal(t, errHost, err)
	h.begin(isc.Task{})
	got, err := client.Fetch(t.Context(), HTTPRequest{Method: "GET", URL: "https://example.org/"})
	require.NoError(t, err)
	require.Equal(t, 200, got.Status)
}

// P9: a call that is larger than one of its kind can be is not decoded.
func TestP9CallsAreBoundedByTheirKind(t *testing.T) {
	text := func(v any) string {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		return string(raw)
	}
	long := strings.Repeat("<", maxURLBytes)
	fetch := HTTPRequest{Method: "PUT", URL: long, Header: map[string][]string{}, Body: make([]byte, MaxRequestBody)}
	for i := range maxHeaderFields {
		name := strings.Repeat("&", maxRequestHeaderBytes/maxHeaderFields-4-2) + strconv.Itoa(10+i)
		fetch.Header[name] = []string{""}
	}
	require.True(t, plainHeader(fetch.Header, maxHeaderFields, maxRequestHeaderBytes))
	record := wireRecord{Kind: memory.Turn, Key: strings.Repeat("<", maxKeyBytes), Value: json.RawMessage(`"` + strings.Repeat("x", maxRecordBytes-2) + `"`), Time: time.Now()}
	names := strings.Repeat(`"x":[""],`, maxHostFrame/10)
	for name, c := range map[string]struct {
		frame string
		want  bool
	}{
		"largest request":      {text(hostCall{Fetch: &fetch}), true},
		"largest record":       {text(hostCall{Append: &record}), true},
		"a prompt":             {`{"generate":` + strings.Repeat("x", maxHostFrame/2), true},
		"names of headers":     {`{"fetch":{"method":"GET","url":"x","header":{` + names + `"y":[""]}}}`, false},
		"names, and a body":    {`{"fetch":{"method":"GET","url":"x","header":{` + names + `"y":[""]},"body":"AA=="}}`, false},
		"names after a body":   {`{"fetch":{"method":"GET","url":"x","body":"AA==","header":{` + names + `"y":[""]}}}`, false},
		"a body without end":   {`{"fetch":{"method":"GET","url":"x","body":"` + strings.Repeat("A", maxFetchBody+1), false},
		"a body over the most": {text(hostCall{Fetch: &HTTPRequest{Body: make([]byte, MaxRequestBody+3)}}), false},
		"a record":             {`{"append":{"value":[` + strings.Repeat("1,", maxMemoryCall/2) + `1]}}`, false},
		"a query":              {`{"records":{"key":"` + strings.Repeat("x", maxMemoryCall), false},
		"what is none":         {`{"Generate":` + strings.Repeat("x", maxMemoryCall), false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, fits([]byte(c.frame)))
			if !c.want {
				h := fetchHost(t, echoing)
				reply, err := h.take(t.Context(), []byte(c.frame))
				require.NoError(t, err)
				require.True(t, reply.Error.Refused)
			}
		})
	}
}
