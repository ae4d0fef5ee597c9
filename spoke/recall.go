package spoke

import (
	"context"
	"encoding/json"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
)

// recentTurns is how many earlier turns an agent is reminded of.
const recentTurns = 6

// turn is what an agent remembers of a task.
type turn struct {
	Task   string          `json:"task"`
	Answer json.RawMessage `json:"answer"`
}

// recall gives the latest summary and the recent turns. A memory that fails reminds of nothing:
// a spoke without its memory knows less and may do no more.
//
// Source: paper §IV-B3.
func (a *modelAgent) recall(ctx context.Context) []isc.Datum {
	working, err := memory.Working(ctx, a.view, recentTurns)
	if err != nil {
		return nil
	}
	records := working.Turns
	if working.Summary != nil {
		records = append([]memory.Record{*working.Summary}, records...)
	}
	var out []isc.Datum
	for _, r := range records {
		if body, err := isc.Canonical(r.Value); err == nil {
			out = append(out, isc.Datum{Name: "memory", Body: body})
		}
	}
	return out
}

// remember keeps the turn. What cannot be kept is lost, and the task is done
// all the same.
func (a *modelAgent) remember(ctx context.Context, task string, answer json.RawMessage) {
	value, err := json.Marshal(turn{Task: task, Answer: answer})
	if err != nil {
		return
	}
	_ = a.view.Append(ctx, memory.Record{Kind: memory.Turn, Value: value})
}
