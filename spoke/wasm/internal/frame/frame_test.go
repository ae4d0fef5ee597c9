package frame_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/wasm/internal/frame"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		raw string
		ok  bool
	}{
		{`{"use":{"name":"a.b","body":{"x":1}}}`, true},
		{`{"need":{"fields":[{"name":"x","purpose":"y"}]}}`, true},
		{`{"confirm":{"name":"a.b","body":null}}`, true},
		{`{"progress":""}`, true},
		{`{"fetch":{"method":"GET","url":"https://x/","body":"AAA="}}`, true},
		{`{"done":{"body":{}}}`, true},
		{`{"done":{"error":"refused"}}`, true},
		{`{"done":{}}`, true},
		{`{"use":{}}`, false},
		{`{"use":{"name":"","body":null}}`, false},
		{`{"confirm":{"name":"a.b"}}`, false},
		{`{"need":{}}`, false},
		{`{"need":{"fields":[]}}`, false},
		{`{}`, false},
		{`null`, false},
		{`[]`, false},
		{``, false},
		{`{"done":null}`, false},
		{`{"done":{},"progress":"x"}`, false},
		{`{"done":{},"done":{}}`, false},
		{`{"Done":{}}`, false},
		{`{"done":{}} {}`, false},
		{`{"done":{"error":"no such word"}}`, false},
		{`{"done":{"more":1}}`, false},
		{`{"progress":1}`, false},
	} {
		_, err := frame.Decode([]byte(c.raw))
		require.Equal(t, c.ok, err == nil, "%s: %v", c.raw, err)
		require.True(t, err == nil || errors.Is(err, frame.ErrFrame))
	}
}

func TestErrorsCrossAsWords(t *testing.T) {
	for _, err := range []error{spoke.ErrRefused, spoke.ErrMissing, spoke.ErrBudget, spoke.ErrEnded} {
		word := frame.ErrorOf(fmt.Errorf("a secret: %w", err))
		require.NotContains(t, word, "secret")
		require.Equal(t, err, word.Err())
	}
	require.Equal(t, frame.Failed, frame.ErrorOf(errors.New("a secret")))
	require.Error(t, frame.Failed.Err())
	require.Error(t, frame.Error("anything").Err())
	require.NoError(t, frame.ErrorOf(nil).Err())
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"use":{"name":"a.b","body":{"x":1}}}`, `{"need":{"fields":[{"name":"x","purpose":"y"}]}}`, `{"progress":"x"}`,
		`{"fetch":{"method":"GET","url":"u","header":{"a":["b"]},"body":"AAA="}}`, `{"done":{"body":[1],"error":"budget"}}`, `{"done":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		up, err := frame.Decode(raw)
		if err != nil {
			require.Equal(t, frame.Up{}, up)
			return
		}
		again, err := json.Marshal(up)
		require.NoError(t, err)
		back, err := frame.Decode(again)
		require.NoError(t, err, "%s", again)
		once, err := json.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(again), string(once))
	})
}
