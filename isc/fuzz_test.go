package isc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"
	"unicode/utf8"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/stretchr/testify/require"
)

// tape is a stream that plays what is given and keeps what is written.
type tape struct {
	in  *bytes.Reader
	out bytes.Buffer
}

func (t *tape) Read(b []byte) (int, error)  { return t.in.Read(b) }
func (t *tape) Write(b []byte) (int, error) { return t.out.Write(b) }
func (t *tape) Close() error                { return nil }

func played(b []byte) *tape { return &tape{in: bytes.NewReader(b)} }

// replay receives one message of each frame, sends it again, and requires that
// the second time around nothing changes.
func replay[In any](t *testing.T, input []byte, recv func(io.ReadWriteCloser) func(context.Context) (In, error),
	send func(io.ReadWriteCloser) func(context.Context, In) error,
) {
	next := recv(played(input))
	for range 16 {
		m, err := next(t.Context())
		if err != nil {
			require.Zero(t, m)
			return
		}
		first := played(nil)
		require.NoError(t, send(first)(t.Context(), m))
		again, err := recv(played(first.out.Bytes()))(t.Context())
		require.NoError(t, err)
		require.Equal(t, m, again)
	}
}

func FuzzToHubFrames(f *testing.F) {
	for _, m := range upMessages() {
		w := played(nil)
		require.NoError(f, isc.NewSpokeConn(w).Send(f.Context(), m))
		f.Add(w.out.Bytes())
	}
	f.Add(frame(`{"type":"probe","body":{"functionality":"a","functionality":"b"}}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		replay(t, input,
			func(s io.ReadWriteCloser) func(context.Context) (isc.ToHub, error) { return isc.NewHubConn(s).Recv },
			func(s io.ReadWriteCloser) func(context.Context, isc.ToHub) error { return isc.NewSpokeConn(s).Send })
	})
}

func FuzzToSpokeFrames(f *testing.F) {
	for _, m := range downMessages() {
		w := played(nil)
		require.NoError(f, isc.NewHubConn(w).Send(f.Context(), m))
		f.Add(w.out.Bytes())
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		replay(t, input,
			func(s io.ReadWriteCloser) func(context.Context) (isc.ToSpoke, error) { return isc.NewSpokeConn(s).Recv },
			func(s io.ReadWriteCloser) func(context.Context, isc.ToSpoke) error { return isc.NewHubConn(s).Send })
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1,2.50,-0],"a":"\u00e9\ud83d\ude00"}`, `{"a":1,"A":2}`, `"\ud800"`, `1e400`, `[[[[]]]]`, " null\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := isc.Canonical(raw)
		if err != nil {
			require.ErrorIs(t, err, isc.ErrMalformed)
			require.Nil(t, out)
			return
		}
		require.True(t, json.Valid(raw), "stricter than the standard library, never laxer")
		require.True(t, utf8.Valid(out))
		again, err := isc.Canonical(out)
		require.NoError(t, err)
		require.Equal(t, out, again)
		var a, b any
		require.NoError(t, numbers(string(raw), &a))
		require.NoError(t, numbers(string(out), &b))
		require.Equal(t, a, b)
	})
}

func FuzzFormatSchema(f *testing.F) {
	for _, s := range []string{
		rideSchema, `{"$ref":"#"}`, `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{"$id":"x","$ref":"x#/$defs/y"}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","id":"a","exclusiveMinimum":true,"minimum":1}`, `true`,
		`{"patternProperties":{"(?=a)":{}},"pattern":"(?<n>a)","format":"nope"}`, `{"$dynamicRef":"#a","$dynamicAnchor":"a"}`,
		`{"type":"object","properties":{"to":{"x-isolate-role":"destination"}},"if":{},"then":{"items":[{}]}}`,
	} {
		f.Add([]byte(s), []byte(`{"a":[1,"x",null]}`))
	}
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		format, err := isc.ParseFormat(schema)
		if err != nil {
			require.Nil(t, format)
			return
		}
		format.Closed()
		for _, field := range format.Fields() {
			_, ok := format.At(field.Pointer)
			require.True(t, ok)
		}
		again, err := isc.ParseFormat(format.Schema())
		require.NoError(t, err)
		require.Equal(t, format.Digest(), again.Digest())
		bare, err := isc.ParseFormat(format.Bare())
		require.NoError(t, err)
		out, err := format.Check(value)
		_, bareErr := bare.Check(value)
		require.Equal(t, err == nil, bareErr == nil)
		if err == nil {
			_, err = again.Check(out)
			require.NoError(t, err)
		}
	})
}

func FuzzFormatValue(f *testing.F) {
	format := isc.MustFormat(rideSchema)
	f.Add(rideBody)
	f.Add([]byte(`{"from":"a","to":"b","when":"2026-01-30T10:00:00Z","seats":1,"Seats":9}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := format.Check(body)
		if err != nil {
			require.Nil(t, out)
			return
		}
		again, err := format.Check(out)
		require.NoError(t, err)
		require.Equal(t, out, again)
		var ride struct {
			Seats int `json:"seats"`
		}
		require.NoError(t, json.Unmarshal(out, &ride))
		require.True(t, ride.Seats >= 1 && ride.Seats <= 8, "what a careless reader sees was checked")
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(manifestText))
	f.Add([]byte(`{"id":"hub","name":"Hub","functionalities":[{"name":"a","request":true,"response":{"$ref":"#"}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := isc.DecodeManifest(text)
		if err != nil {
			require.Empty(t, m)
			return
		}
		require.NoError(t, m.Validate())
		require.False(t, m.Vouched)
		raw, err := json.Marshal(m)
		require.NoError(t, err)
		again, err := isc.DecodeManifest(raw)
		require.NoError(t, err)
		require.Equal(t, m.Digest(), again.Digest())
		require.False(t, m.Digest().IsZero())
	})
}
