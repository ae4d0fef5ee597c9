package spoke

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/isolategpt/isolategpt/llm"
)

// decide asks one question over data, under a format, with no functionality and
// no memory, and asks again where the reply does not fit.
func (a *modelAgent) decide(ctx context.Context, j job) (json.RawMessage, error) {
	messages, err := decidePrompt(j)
	if err != nil {
		return nil, err
	}
	schema := answerSchema(j.answer)
	for range min(j.maxTurns, 1+maxRepairs) {
		res, err := a.model.Generate(ctx, &llm.Request{Messages: messages, Schema: schema, Purpose: "decide"})
		if err != nil {
			return nil, modelError(ctx, err)
		}
		if answer, ok := fitText(j.answer, res.Text); ok {
			return answer, nil
		}
		messages = append(messages,
			llm.Message{Role: llm.Assistant, Text: res.Text},
			llm.Message{Role: llm.User, Text: (&actionError{reason: answerMisfit}).ask()})
	}
	return nil, errors.New("spoke: decide: the model gave no answer that fits")
}
