package foreign_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/internal/foreign"
	"github.com/isolategpt/isolategpt/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFramesComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.StringMatching(`[ -~]{0,20}`))
		in := sandbox.Profile{Memory: rapid.Int64().Draw(t, "memory"), Hub: rapid.Int().Draw(t, "hub"), Program: &sandbox.Program{
			Path: rapid.StringMatching(`/[a-z/]*`).Draw(t, "path"), Args: text.Draw(t, "args"), Env: text.Draw(t, "env"),
		}}
		var b bytes.Buffer
		require.NoError(t, foreign.WriteFrame(&b, in))
		var out sandbox.Profile
		require.NoError(t, foreign.ReadFrame(&b, &out))
		want, _ := json.Marshal(in)
		have, _ := json.Marshal(out)
		require.JSONEq(t, string(want), string(have))
		require.Zero(t, b.Len())
	})
}

func TestBadFramesAreRefused(t *testing.T) {
	for name, frame := range map[string]string{
		"empty":          "\x00\x00\x00\x00",
		"too large":      "\xff\xff\xff\xff{}",
		"no JSON":        "\x00\x00\x00\x01{",
		"unknown member": "\x00\x00\x00\x09{\"no\":1  }",
		"two values":     "\x00\x00\x00\x04{}{}",
	} {
		t.Run(name, func(t *testing.T) {
			var g foreign.Go
			require.ErrorContains(t, foreign.ReadFrame(strings.NewReader(frame), &g), "malformed frame")
			require.False(t, g.Go)
		})
	}
	var g foreign.Go
	require.Equal(t, io.EOF, foreign.ReadFrame(strings.NewReader(""), &g))
	require.Equal(t, io.ErrUnexpectedEOF, foreign.ReadFrame(strings.NewReader("\x00\x00\x00\x04"), &g))
	require.Error(t, foreign.WriteFrame(io.Discard, strings.Repeat("x", foreign.MaxFrame)))
}

func TestMainReturnsInAnOrdinaryProcess(t *testing.T) {
	foreign.Main("")
	foreign.Main("1") // a spoke of ours
	require.True(t, foreign.Called())
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x0b{\"go\":true}"))
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		var report foreign.Report
		if err := foreign.ReadFrame(r, &report); err != nil {
			return
		}
		require.LessOrEqual(t, len(b)-r.Len()-4, foreign.MaxFrame)
		var again bytes.Buffer
		require.NoError(t, foreign.WriteFrame(&again, report))
		var back foreign.Report
		require.NoError(t, foreign.ReadFrame(&again, &back))
		require.Equal(t, report, back)
	})
}
