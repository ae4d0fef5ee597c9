package spoke

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
)

// liar is an agent that does not keep to the format.
type liar struct{}

func (liar) delegate(context.Context, *conversation, job) (json.RawMessage, error) {
	return json.RawMessage(`"free words"`), nil
}
func (liar) decide(context.Context, job) (json.RawMessage, error) { panic("no") }

// Rule 2: what leaves a spoke is checked by its operator, whatever the agent
// says that it is.
func TestRule2TheOperatorChecksItsOwnAgent(t *testing.T) {
	hub, end := isc.Pipe()
	defer func() { _ = hub.Close() }()
	o := &operator{conn: end, agent: liar{}}
	for _, kind := range []isc.TaskKind{isc.TaskDelegate, isc.TaskDecide, 0, 9} {
		require.NoError(t, o.serve(t.Context(), isc.Task{Kind: kind, Answer: json.RawMessage(`{"type":"boolean"}`)}))
		m, err := hub.Recv(t.Context())
		require.NoError(t, err)
		require.Equal(t, isc.Result{Status: isc.StatusFailed}, m)
	}
}

func TestATaskWithoutAnAnswerFormatFails(t *testing.T) {
	hub, end := isc.Pipe()
	defer func() { _ = hub.Close() }()
	o := &operator{conn: end, agent: liar{}}
	require.NoError(t, o.serve(t.Context(), isc.Task{Kind: isc.TaskDelegate}))
	m, err := hub.Recv(t.Context())
	require.NoError(t, err)
	require.Equal(t, isc.Result{Status: isc.StatusFailed}, m)
}
