package llm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
)

func TestRecorderKeepsCopiesOfEveryCall(t *testing.T) {
	var out bytes.Buffer
	r := llm.Record(&out)
	m := r.Wrap(&fake{shown: []string{"d"}, answer: failing(errors.New("no luck"))})
	req := user("hello")
	req.Purpose = "plan"
	_, err := m.Generate(t.Context(), req)
	require.ErrorContains(t, err, "no luck")
	_, res, err := drain(llm.Stream(t.Context(), m, req))
	require.NoError(t, err)
	res.Text = "changed"
	req.Messages[0].Text = "changed"

	calls := r.Calls()
	require.Len(t, calls, 2)
	require.ErrorContains(t, calls[0].Err, "no luck")
	require.Equal(t, "done", calls[1].Response.Text)
	require.Equal(t, "hello", calls[1].Request.Messages[0].Text)
	calls[1].Response.Text = "changed"
	require.Equal(t, "done", r.Calls()[1].Response.Text)

	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	var line struct {
		Error   string
		Request *llm.Request
	}
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &line))
	require.Equal(t, "no luck", line.Error)
	require.Equal(t, "plan", line.Request.Purpose)
	require.Equal(t, llm.User, line.Request.Messages[0].Role)
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestReplyThatCannotBeRecordedIsWithheld(t *testing.T) {
	m := llm.Record(fullDisk{}).Wrap(&fake{answer: saying("secret")})
	res, err := m.Generate(t.Context(), user("hello"))
	require.ErrorContains(t, err, "no space left")
	require.Nil(t, res)
	_, res, err = drain(llm.Stream(t.Context(), m, user("hello")))
	require.Error(t, err)
	require.Nil(t, res)
}
