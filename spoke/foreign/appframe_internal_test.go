package foreign

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

func TestALineOfAProgramIsReadStrictly(t *testing.T) {
	for _, good := range []string{
		`{"result":{"text":"x"}}`, `{"result":null}`, `{"error":"failed"}`, `{"error":"refused"}`, `{"error":"missing"}`, `{"error":"budget"}`,
		`{"use":{"name":"a.b","body":{}}}`, `{"need":[{"name":"home","purpose":"x"}]}`, `{"confirm":{"name":"a.b","body":{}}}`, `{"progress":""}`,
		" {\"result\":1}\r",
	} {
		_, err := decodeUp([]byte(good))
		require.NoError(t, err, good)
	}
	for _, bad := range []string{
		``, `{}`, `null`, `[]`, `1`, `garbage`, `{"result":1}{"result":2}`, `{"result":1,"result":2}`, `{"result":1,"error":"failed"}`,
		`{"result":1,"need":[]}`, `{"progress":"x","use":null}`, `{"result":1,"error":""}`, `{"use":{}}`, `{"confirm":{"name":"a.b"}}`, `{"use":{"body":{}}}`, `{"need":[]}`, `{"need":null}`, `{"use":null}`, `{"progress":null}`, `{"error":""}`, `{"error":"other"}`, `{"error":null}`,
		`{"Result":1}`, `{"other":1}`, `{"use":{"name":"a.b","body":{},"as":"mail"}}`, `{"need":[{"name":"home","purpose":"x","why":"y"}]}`,
		`{"result":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "{\"result\":\"\xff\"}",
	} {
		_, err := decodeUp([]byte(bad))
		require.ErrorIs(t, err, ErrLine, bad)
	}
}

func FuzzALineOfAProgram(f *testing.F) {
	f.Add([]byte(`{"use":{"name":"a.b","body":{"x":1}}}`))
	f.Add([]byte(`{"need":[{"name":"home","purpose":"x"}]}`))
	f.Add([]byte(`{"result":{"a":[1,2,{"b":null}]}}`))
	f.Add([]byte(`{"error":"budget"}`))
	f.Add([]byte(`{"progress":"\u2028"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		u, err := decodeUp(line)
		if err != nil {
			require.ErrorIs(t, err, ErrLine)
			return
		}
		again, err := json.Marshal(u)
		require.NoError(t, err)
		same, err := decodeUp(again)
		require.NoError(t, err, "%s", again)
		require.Equal(t, u, same)
		if u.Result != nil {
			_, err := isc.Canonical(u.Result)
			require.NoError(t, err)
		}
	})
}

func TestALineIsBounded(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	in := bufio.NewReader(strings.NewReader("a\n\n" + long + "\n" + long + "x\nb"))
	for _, want := range []string{"a", "", long} {
		got, err := readLine(in)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		require.NotNil(t, got)
	}
	_, err := readLine(in)
	require.ErrorIs(t, err, ErrLine)

	_, err = readLine(bufio.NewReader(strings.NewReader("no end")))
	require.Equal(t, io.EOF, err)
	endless := bufio.NewReader(endlessLine{})
	_, err = readLine(endless)
	require.ErrorIs(t, err, ErrLine)
}

type endlessLine struct{}

func (endlessLine) Read(p []byte) (int, error) { return copy(p, strings.Repeat("x", len(p))), nil }

func TestWhatIsSaidToAProgramIsOneLine(t *testing.T) {
	for _, d := range []down{
		{Call: &task{Functionality: "a.b", Body: json.RawMessage("{\n\"x\": \"<\\u2028\\n>\"}")}},
		{Value: json.RawMessage("null")}, {Values: map[string]json.RawMessage{}}, {Error: failed},
	} {
		line, err := d.encode()
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(line), "\n"))
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(line, &members))
		require.Len(t, members, 1)
	}
}

// TestOnlyAWordOfAnErrorReachesAProgram: its text stays where it is.
func TestOnlyAWordOfAnErrorReachesAProgram(t *testing.T) {
	for want, err := range map[word]error{
		"budget": errors.Join(spoke.ErrRefused, spoke.ErrBudget), "refused": spoke.ErrRefused, "missing": spoke.ErrMissing, "failed": errors.New("secret"),
	} {
		got := wordFor(err)
		require.Equal(t, want, got)
		require.Equal(t, got, wordFor(got.err()))
	}
}
