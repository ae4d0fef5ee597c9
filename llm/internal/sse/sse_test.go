package sse_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm/internal/sse"
)

type event struct{ name, data string }

func read(r io.Reader) (events []event, err error) {
	reader := sse.NewReader(r)
	for {
		e, err := reader.Next()
		if err != nil {
			return events, err
		}
		events = append(events, event{e.Name, string(e.Data)})
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	for _, c := range []struct {
		name, in string
		want     []event
		err      error
	}{
		{"events", "data: a\n\ndata: b\n\n", []event{{"", "a"}, {"", "b"}}, io.EOF},
		{"without the space", "data:a\n\n", []event{{"", "a"}}, io.EOF},
		{"several lines", "data: a\ndata: b\ndata\n\n", []event{{"", "a\nb\n"}}, io.EOF},
		{"comments, other fields, CR", ": hello\r\nid: 1\r\nretry: 5\r\nevent: error\r\ndata: a\r\n\r\n", []event{{"error", "a"}}, io.EOF},
		{"a name belongs to one event", "event: x\n\ndata: a\n\n", []event{{"", "a"}}, io.EOF},
		{"the last empty line may be missing", "data: a\n\ndata: [DONE]\n", []event{{"", "a"}, {"", "[DONE]"}}, io.EOF},
		{"cut within a line", "data: a\n\ndata: b", []event{{"", "a"}}, io.ErrUnexpectedEOF},
		{"long line", "data: " + long + "\n\n", []event{{"", long}}, io.EOF},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []event{{"", "a"}}, io.EOF},
		{"nothing", "", nil, io.EOF},
		{"empty data", "data:\n\n", []event{{"", ""}}, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(strings.NewReader(c.in))
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, got)
			got, err = read(iotest.OneByteReader(strings.NewReader(c.in)))
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestReaderBoundsLinesAndEvents(t *testing.T) {
	_, err := read(io.MultiReader(strings.NewReader("data: "), endless("x")))
	require.ErrorIs(t, err, sse.ErrTooLarge)
	_, err = read(endless("data: x\n"))
	require.ErrorIs(t, err, sse.ErrTooLarge)
	_, err = read(endless("event: x\n"))
	require.ErrorIs(t, err, sse.ErrTooLarge)
}

type endless string

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e[i%len(e)]
	}
	return len(p) / len(e) * len(e), nil
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"data: a\n\n", ":\n\nevent: x\ndata: {}\r\n\r\n", "data", "\xef\xbb\xbf"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := read(bytes.NewReader(in))
		require.Error(t, err)
		size := 0
		for _, e := range whole {
			size += len(e.data)
		}
		require.LessOrEqual(t, size, len(in))
		pieces, err2 := read(iotest.OneByteReader(bytes.NewReader(in)))
		require.Equal(t, whole, pieces, "how the bytes arrive makes no difference")
		require.Equal(t, err, err2)
	})
}
